//! Answers, as text for people and as JSON.

use serde::Serialize;
use serde_json::Value;

use crate::exit::Exit;

/// How an answer is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One object.
    Json,
}

/// What a command has to say.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    text: Vec<u8>,
    json: Value,
}

/// The version of the JSON of every command: fields are only ever added.
const SCHEMA_VERSION: u64 = 1;

impl Answer {
    /// An answer as text, which gets a newline at its end, and as a JSON object.
    pub(crate) fn new(text: impl Into<String>, json: &impl Serialize) -> Self {
        let mut text: String = text.into();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Self::exact(text.into_bytes(), json)
    }

    /// An answer whose text is written to the byte.
    pub(crate) fn exact(text: Vec<u8>, json: &impl Serialize) -> Self {
        Self { exit: Exit::Ok, text, json: serde_json::to_value(json).unwrap_or(Value::Null) }
    }

    /// The same answer with another exit code.
    pub(crate) fn with_exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    pub(crate) fn bytes(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Text => self.text.clone(),
            Format::Json => {
                let mut object =
                    serde_json::Map::from_iter([("schema_version".to_owned(), SCHEMA_VERSION.into())]);
                if let Value::Object(fields) = &self.json {
                    object.extend(fields.clone());
                }
                let mut bytes = Value::Object(object).to_string().into_bytes();
                bytes.push(b'\n');
                bytes
            }
        }
    }
}
