//! Segue: the whole record of agent sessions, and conversations carried into fresh ones.
//!
//! A [`Workspace`] stands on an event log. It starts sessions, appends to them, and continues one in a successor
//! ([`Workspace::continue_session`]) in a single commit: the edge with its manifest, the projection, the exact message
//! that is to be answered, and the queued run. Where the context is full and nobody wrote a handoff, the conversation goes
//! on at once in a session that begins with a pointer ([`Workspace::fresh`], [`FreshPolicy`]). A [`Reader`] reads sessions and recalls any line of a whole chain,
//! inside a [`Scope`].
//!
//! ```
//! use segue::{Asker, NewSession, Outcome, Scope, SystemHost, Where, Workspace};
//! use segue::event::{AgentId, Author, Message, Role};
//! use segue::log::MemoryLog;
//! use segue::thread::{Budget, Query};
//!
//! let workspace = Workspace::on(MemoryLog::new(), SystemHost);
//! let session = workspace.start_session(NewSession::of(AgentId::new("coder")?))?;
//! workspace.append(session, [Message::text(Role::User, Author::User, "Parse the file a.txt")])?;
//!
//! let handoff = r#"{"reason": "phase_change", "title": "Parser", "description": "begun",
//!     "handoff": {"purpose": "a parser", "currentRequest": "parse a.txt"}}"#;
//! let asker = Asker::Person { request: "1".to_owned() };
//! let Outcome::Continued(continued) = workspace.continue_session(session, &asker, handoff)? else { panic!() };
//!
//! let reader = workspace.reader(Scope::Workspace);
//! let query = Query::literal("the file")?;
//! let answer = reader.recall(Where::Chain(continued.successor), &query, &Budget::default(), None)?;
//! assert_eq!(answer.hits.last().unwrap().thread, session);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crates below are re-exported, each under its own name: [`event`], [`log`], [`log_file`], [`frame`], [`continuation`],
//! [`projection`], [`prompt`], [`thread`](mod@thread).

mod asker;
mod attachments;
mod auditing;
mod claims;
mod compacting;
mod contention;
mod continuing;
mod delegating;
mod driving;
mod error;
mod estimating;
mod forking;
mod fresh;
mod gather;
mod handoff_folder;
mod host;
pub mod limits;
mod memory;
mod notes;
mod pointing;
mod queue;
mod reader;
mod recalling;
mod receipts;
mod recommending;
mod recompile;
mod said;
mod sending;
mod standing;
mod successors;
mod switch;
mod turn;
mod workspace;

pub use segue_continuation as continuation;
pub use segue_event as event;
pub use segue_frame as frame;
pub use segue_log as log;
pub use segue_log_file as log_file;
pub use segue_projection as projection;
pub use segue_prompt as prompt;
pub use segue_thread as thread;

pub use asker::{Asker, ToolCaller};
pub use auditing::Audited;
pub use compacting::{Compacted, Kept, StandIn};
pub use continuing::{ContinuedSession, Outcome, Preview};
pub use delegating::{Delegated, Task};
pub use driving::{Driven, ModelAnswer, drive, drive_async};
pub use error::{Error, ErrorKind};
pub use fresh::{Freshened, PointerPreview, WhyInPlace};
pub use handoff_folder::HandoffFolder;
pub use host::{Host, SystemHost};
pub use notes::{Compaction, Consolidated, Note};
pub use queue::{Recovered, RunQueue};
pub use reader::{Overview, Reader, Scope};
pub use recalling::Where;
pub use receipts::{Divergence, RebuiltPrompt, ReceiptVerdict};
pub use recompile::{Recompiled, RecompiledPointer, Verdict};
pub use said::{Delta, Said, Streaming};
pub use sending::Sent;
pub use turn::{FreshPolicy, HostCall, ResultCheck, Setup, Step, Tasks, ToolOutput, Turn};
pub use workspace::{NewSession, Options, Workspace};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
