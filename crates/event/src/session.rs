//! Events about a session itself.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Edge, ImportSource, ModelName, Plan};

/// The first event of every session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SessionStarted {
    /// The agent the session belongs to.
    pub agent: AgentId,
    /// The title; empty where none was given.
    pub title: Title,
    /// The live status in words; may be empty.
    pub description: String,
    /// The folder the agent works in; empty where there is none.
    pub working_directory: String,
    /// The model chosen for this session, where one was.
    pub model: Option<ModelOverride>,
    /// The plan carried over from a predecessor.
    pub plan: Option<Plan>,
    /// How the session came from another, with the manifest; none for one that began by itself.
    pub edge: Option<Box<Edge>>,
    /// The transcript of another program that this session was imported from.
    pub import: Option<ImportSource>,
}

/// The session was given a title.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SessionTitled {
    /// The new title.
    pub title: Title,
}

/// The session's live status changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SessionDescribed {
    /// The new status in words; may be empty.
    pub description: String,
}

/// A person went back from this session to the one that it goes on from. Nothing is deleted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WentBack {
    /// Why, in words; may be empty.
    pub note: String,
}

/// A title and who gave it. A user's title wins over an agent's, an agent's over a fallback.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Title {
    /// The title; empty where none is known.
    pub text: String,
    /// Who gave it.
    pub source: TitleSource,
}

/// Who gave a title, the weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleSource {
    /// Made from the first user message.
    #[default]
    Fallback,
    /// The agent.
    Agent,
    /// A person.
    User,
}

/// A model chosen for one session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModelOverride {
    /// The model.
    pub name: ModelName,
    /// The provider's settings as JSON text; empty for none.
    pub settings: String,
}
