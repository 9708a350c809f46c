//! Tools as a model is told of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool as a model is told of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolContract {
    /// The name by which it is called.
    pub name: String,
    /// When and how to call it.
    pub description: String,
    /// The JSON Schema of its arguments, as text.
    pub parameters: String,
}

impl ToolContract {
    /// A tool with the schema of its arguments.
    pub fn new(name: &str, description: &str, parameters: &Value) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: parameters.to_string(),
        }
    }

    /// The exact bytes that receipts are made over: JSON, without line breaks.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Strings always become JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
