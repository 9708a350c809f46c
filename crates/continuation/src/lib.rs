//! Whether and how a conversation goes on in a fresh session.
//!
//! A request comes in as JSON that a model wrote ([`normalise()`]), meets the folded state of the session that is to
//! be continued ([`View`]), and is decided ([`decide()`]): go on, answer with a successor that exists already, or
//! refuse with a [`Refusal`] that says what to do. [`SessionState`] is the view of one session, [`Lineage`] the
//! graph of them all. [`deeds`] and [`phrases`] are what is known of the tools and the words of agents.
//!
//! Pure functions on values; nothing here does I/O.

pub mod caps;
mod decide;
pub mod deeds;
mod lenient;
mod lineage;
mod normalise;
pub mod phrases;
mod refusal;
mod request;
mod run_board;
mod session_state;

pub use caps::Budget;
pub use decide::{
    Approved, Batch, Decision, Initiating, Measured, Replayed, RunSituation, ThreadHead, View, decide,
};
pub use lineage::Lineage;
pub use normalise::normalise;
pub use refusal::Refusal;
pub use request::Request;
pub use run_board::{OpenPhase, OpenRun, RunBoard};
pub use session_state::{
    Armed, Child, PlanSituation, RunPhase, RunState, SessionState, StateEvent, WaitingMessage,
};
