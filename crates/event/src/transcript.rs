//! Events of a transcript other than messages: results of tools, errors, what could not be read, and what was lost.

use serde::{Deserialize, Serialize};

use crate::{
    BlobId, Block, ByteRange, ContinuationId, EventHash, Kind, LineNumber, Provenance, Seq, SeqRange,
    SessionId, TranscriptEvent,
};

/// What a tool gave back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that it answers.
    pub call: CallRef,
    /// The tool's name; empty where a transcript does not say.
    pub tool: String,
    /// Whether the tool did what was asked.
    pub status: ResultStatus,
    /// The content, in order.
    pub blocks: Vec<Block>,
    /// What of the record the tool read, so that later reads of a source can be counted.
    pub touched: Vec<Touched>,
    /// The continuation that the call made, if it made one.
    pub continuation: Option<ContinuationId>,
    /// Where an imported result stood.
    pub provenance: Option<Provenance>,
}

/// Whether a tool did what was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    /// It did.
    Ok,
    /// It failed or refused.
    Error,
}

/// The call that a result answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallRef {
    /// Where the call stands in this session; none where it is not in the record (a transcript with its head cut off).
    pub site: Option<CallSite>,
    /// The provider's id of the call: opaque, perhaps empty, perhaps repeated.
    pub provider_id: String,
}

/// Where a tool call stands: our own id of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CallSite {
    /// The message that holds the call.
    pub message: Seq,
    /// The block within that message, from 0.
    pub block: u32,
}

/// A part of the record that a tool read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Touched {
    /// The session that was read.
    pub thread: SessionId,
    /// The events that were read.
    pub range: SeqRange,
}

/// Something went wrong and the transcript says so.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ErrorNoted {
    /// The text of the error.
    pub message: String,
    /// Where an imported error stood.
    pub provenance: Option<Provenance>,
}

/// A line of an imported transcript that could not be read; its bytes are kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unreadable {
    /// The line, from 1.
    pub line: LineNumber,
    /// The byte of the source where the line begins.
    pub offset: u64,
    /// The line's length in bytes, its terminator included.
    pub bytes: u64,
    /// The line as it was.
    pub blob: BlobId,
    /// Why it could not be read.
    pub reason: String,
}

/// An event was lost to damage: a repair put this in its place, so that numbers and positions stay what they were.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lost {
    /// What was wrong with the store there.
    pub reason: String,
    /// The segment of the damaged store in which the event stood.
    pub segment: u32,
    /// The damaged bytes of that segment, in which the event lies somewhere; empty where the segment was missing.
    pub bytes: ByteRange,
    /// What the event was, where its header could still be read and what stands behind it proves its id.
    pub was: Option<LostEvent>,
}

/// What is still known of an event that was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostEvent {
    /// Its kind.
    pub kind: Kind,
    /// Its id, to which the event after it is chained.
    pub id: EventHash,
}

impl TranscriptEvent {
    /// Where an imported event stood in its source; none for one that was not imported.
    pub fn provenance(&self) -> Option<&Provenance> {
        match self {
            Self::Message(message) => message.provenance.as_ref(),
            Self::ToolResult(result) => result.provenance.as_ref(),
            Self::ErrorNoted(error) => error.provenance.as_ref(),
            Self::Unreadable(_) | Self::Lost(_) | Self::ContextCompacted(_) => None,
        }
    }
}
