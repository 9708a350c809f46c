//! Messages and the blocks they are made of.

use serde::{Deserialize, Serialize};

use crate::{BlobId, EventHash, LineNumber, Seq, SessionId};

/// One message of a transcript: what a person, an agent or the runtime said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// The role in which a model sees it.
    pub role: Role,
    /// Who really wrote it.
    pub author: Author,
    /// The content, in order.
    pub blocks: Vec<Block>,
    /// The markdown as typed, where the writer's editor keeps one apart from the blocks.
    pub markdown: Option<String>,
    /// Lines of context the host put beside the message: what was open, selected, or running.
    pub context_lines: Vec<String>,
    /// Files and images that came with it, by blob.
    pub attachments: Vec<Attachment>,
    /// Tokens as the provider counted them, for an assistant's message.
    pub usage: Option<Usage>,
    /// The model that wrote it, where one did and its name is known.
    pub model: Option<ModelName>,
    /// The original of a message that a continuation copied.
    pub continued_from: Option<MessageOrigin>,
    /// Where an imported message stood.
    pub provenance: Option<Provenance>,
}

impl Message {
    /// A message of one text block and nothing else.
    pub fn text(role: Role, author: Author, text: impl Into<String>) -> Self {
        Self {
            role,
            author,
            blocks: vec![Block::Text(text.into())],
            markdown: None,
            context_lines: Vec::new(),
            attachments: Vec::new(),
            usage: None,
            model: None,
            continued_from: None,
            provenance: None,
        }
    }
}

/// The role in which a model sees a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Said to the model.
    User,
    /// Said by the model.
    Assistant,
    /// Instructions of the host.
    System,
}

/// Who wrote a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A person.
    User,
    /// An agent.
    Agent,
    /// The runtime or the host.
    System,
    /// Something outside that starts a run: a timer, a webhook.
    Trigger,
}

/// One piece of a message's content.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Plain text.
    Text(String),
    /// The model's reasoning, as far as the provider shows it.
    Thinking(Thinking),
    /// A request to run a tool.
    ToolCall(ToolCall),
    /// A picture, by blob.
    Image(Attachment),
    /// A document, by blob.
    File(Attachment),
}

/// A model's reasoning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Thinking {
    /// The readable text; may be empty.
    pub text: String,
    /// The provider's opaque proof that it wrote the text; may be empty.
    pub signature: String,
}

/// A request of a model to run a tool. Its place inside our record is a [`crate::CallSite`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call: opaque, perhaps empty, perhaps repeated in another run.
    pub provider_id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, as the model wrote them.
    pub arguments: String,
}

/// A file or picture kept as a blob. Its id is the blob's, so that it resolves in any session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attachment {
    /// The blob that holds the bytes.
    pub blob: BlobId,
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The file's name; may be empty.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
}

/// Tokens of one model response as the provider counted them; a number it did not give stays unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: Option<u64>,
    /// Tokens the model wrote.
    pub output: Option<u64>,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: Option<u64>,
}

impl Usage {
    /// Tokens of the prompt: uncached, read from the cache, and written to it; none if none of them was counted.
    pub fn prompt_tokens(&self) -> Option<u64> {
        let parts = [self.input, self.cache_read, self.cache_write];
        let is_known = parts.iter().any(Option::is_some);
        is_known.then(|| parts.into_iter().flatten().fold(0, u64::saturating_add))
    }
}

/// A provider and its name of a model.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ModelName {
    /// The provider; may be empty where a transcript does not say.
    pub provider: String,
    /// The provider's name of the model.
    pub model: String,
}

/// The original of a message that a continuation copied into the successor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MessageOrigin {
    /// The session that holds the original.
    pub session: SessionId,
    /// The original's number there.
    pub seq: Seq,
    /// The original's id.
    pub event: EventHash,
}

/// Where an imported event stood in its source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Provenance {
    /// The line, from 1.
    pub line: LineNumber,
    /// The source's own id of the record; empty where it has none.
    pub original_id: String,
    /// The source's own id of the record it answers; empty where it has none.
    pub parent_id: String,
}
