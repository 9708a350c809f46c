//! The vocabulary of Segue: everything that can be written into the record, and how it is written.
//!
//! A session is a stream of events numbered from 1 without a gap ([`Seq`]).
//! An [`Event`] is a value of one closed enum; parts of it are read through *families* ([`TranscriptEvent`],
//! [`SessionEvent`], …), each a subset obtained by `TryFrom<Event>`.
//! An event is stored as a [`RawEvent`]: a fixed header and a versioned body whose hash is chained to the
//! event before it in the same session ([`chain`]).
//!
//! This crate does no I/O and knows no clock and no random source: times and ids come in as values.
//!
//! Reading order: [`Event`] first, then [`RawEvent`], then [`Fold`].

pub mod chain;
pub mod codec;
mod content;
mod edge;
mod event;
mod family;
mod fold;
mod fresh;
mod header;
mod id;
mod import;
mod manifest;
mod note;
mod number;
mod plan;
mod raw;
mod receipt;
mod run;
mod session;
mod text;
mod text_form;
mod time;
mod transcript;

pub use codec::CodecError;
pub use content::{
    Attachment, Author, Block, Message, MessageOrigin, ModelName, Provenance, Role, Thinking, ToolCall, Usage,
};
pub use edge::{Delegation, Edge, EdgeKind, EventRef, Handover, Initiator, Reason, Transition};
pub use event::{Event, Kind, Opaque, SchemaVersion};
pub use family::{
    ContinuationEvent, Family, ImportEvent, KindSet, NoteEvent, PlanEvent, ReceiptEvent, RunEvent,
    SessionEvent, TranscriptEvent,
};
pub use fold::Fold;
pub use fresh::{CompactedBy, ContextCompacted, Fresh, FreshArmed, FreshOutcome, FreshSettled, FreshTrigger};
pub use header::{EventHeader, HEADER_BYTES};
pub use id::{AgentId, BlobId, ContinuationId, EventHash, IdError, RunId, SessionId};
pub use import::{Hole, ImportProgress, ImportSource, ImportedLine, LineNumber, SourceKind};
pub use manifest::{
    ByteRange, Cut, Digest, Handoff, Included, Manifest, Omitted, OmittedItem, PlanTransfer, ProjectionPart,
    Recommended, Source, SourceTarget, WhyOmitted, WhyRecommended,
};
pub use note::{CompactionReason, NoteBody, NoteGiven, NoteTaken, NudgeSent};
pub use number::{Position, Seq, SeqRange};
pub use plan::{Plan, PlanStep, StepStatus};
pub use raw::{Prepared, RawEvent, Recorded};
pub use receipt::{Receipt, TranscriptReceipt};
pub use run::{
    ChildDelegated, Continued, Lane, LeaseTaken, MessageQueued, ObligationsAsked, QueuedMessageTaken,
    ResultReturned, RunEnded, RunOutcome, RunQueued, RunStarted, RunWaiting, TakenTo,
};
pub use session::{
    ModelOverride, SessionDescribed, SessionStarted, SessionTitled, Title, TitleSource, WentBack,
};
pub use text::{Form, JsonString, Text, may_escape};
pub use time::Timestamp;
pub use transcript::{
    CallRef, CallSite, ErrorNoted, Lost, LostEvent, ResultStatus, ToolResult, Touched, Unreadable,
};
