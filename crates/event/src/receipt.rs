//! Receipts: what was given to a model, so that it can be rebuilt and compared to the byte.

use serde::{Deserialize, Serialize};

use crate::{Digest, EventHash, ModelName, RunId, Seq};

/// A prompt that was given out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Receipt {
    /// The run it was made for.
    pub run: RunId,
    /// The run's attempt.
    pub attempt: u32,
    /// The version of the renderer; the same version over the same record gives the same bytes.
    pub renderer: u32,
    /// The model it was made for, where that is known.
    pub model: Option<ModelName>,
    /// How many tokens that model takes, as far as it was known.
    pub window_tokens: Option<u64>,
    /// The parts of the system prompt, each kept as a blob.
    pub system: Vec<Digest>,
    /// The tools, each kept as a blob.
    pub tools: Vec<Digest>,
    /// The transcript.
    pub transcript: TranscriptReceipt,
    /// The blocks at the end, in order.
    pub blocks: Vec<Digest>,
    /// Over all parts in order.
    pub prompt: EventHash,
}

/// The transcript of a prompt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TranscriptReceipt {
    /// The newest event of the session when it was made.
    pub through: Seq,
    /// How many parts it has.
    pub parts: u32,
    /// How many bytes they have.
    pub bytes: u64,
    /// Over the parts' hashes, each with the one before.
    pub chain: EventHash,
}
