//! The closed enum of everything that can stand in the record.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::fresh::{ContextCompacted, FreshArmed, FreshSettled};
use crate::import::{ImportProgress, ImportedLine};
use crate::note::{NoteGiven, NoteTaken, NudgeSent};
use crate::plan::Plan;
use crate::receipt::Receipt;
use crate::run::{
    ChildDelegated, LeaseTaken, MessageQueued, ObligationsAsked, QueuedMessageTaken, ResultReturned,
    RunEnded, RunQueued, RunStarted, RunWaiting,
};
use crate::session::{ModelOverride, SessionDescribed, SessionStarted, SessionTitled, WentBack};
use crate::transcript::{ErrorNoted, Lost, ToolResult, Unreadable};
use crate::{Message, codec};

/// Declares the enum, its kind numbers, and both directions of the codec from one table.
///
/// A row is never renumbered or reused. When the body of a kind changes, its version goes up, the old struct
/// is kept beside the new one, and the decoder turns the old into the new.
macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident($body:ty) = $kind:literal v $version:literal;)+) => {
        /// Everything that can stand in the record.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Event {
            $($(#[$doc])* $variant($body),)+
            /// An event of a kind or version this build does not know: kept as it is, byte for byte.
            Opaque(Opaque),
        }

        $(impl From<$body> for Event {
            fn from(body: $body) -> Self {
                Self::$variant(body)
            }
        })+

        impl Event {
            /// The kind number, as it is stored.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$variant(_) => Kind::$variant,)+
                    Self::Opaque(opaque) => opaque.kind,
                }
            }

            /// The version of the body's layout, as it is stored.
            pub fn version(&self) -> SchemaVersion {
                match self {
                    $(Self::$variant(_) => SchemaVersion($version),)+
                    Self::Opaque(opaque) => opaque.version,
                }
            }

            pub(crate) fn encode_body(&self) -> Result<Bytes, codec::CodecError> {
                match self {
                    $(Self::$variant(body) => codec::to_postcard(Kind::$variant, body),)+
                    Self::Opaque(opaque) => Ok(opaque.body.clone()),
                }
            }

            pub(crate) fn decode_body(
                kind: Kind,
                version: SchemaVersion,
                body: &Bytes,
            ) -> Result<Self, codec::CodecError> {
                match (kind, version) {
                    $((Kind::$variant, SchemaVersion($version)) => {
                        codec::from_postcard(kind, body).map(Self::$variant)
                    })+
                    _ => Ok(Self::Opaque(Opaque { kind, version, body: body.clone() })),
                }
            }
        }

        impl Kind {
            $(#[doc = concat!("Kind ", $kind, ", with a [`", stringify!($body), "`] as its body.")]
            #[expect(non_upper_case_globals, reason = "named like the variant of `Event` it stands for")]
            pub const $variant: Self = Self($kind);)+

            /// Every kind this build knows, with its name and the version it writes.
            pub const KNOWN: &'static [(Self, &'static str, SchemaVersion)] =
                &[$((Self($kind), stringify!($variant), SchemaVersion($version)),)+];
        }
    };
}

events! {
    /// A session began.
    SessionStarted(SessionStarted) = 1 v 1;
    /// A session was given a title.
    SessionTitled(SessionTitled) = 2 v 1;
    /// A session's live status changed.
    SessionDescribed(SessionDescribed) = 3 v 1;
    /// A model was chosen for the session.
    ModelChosen(ModelOverride) = 4 v 1;
    /// A person went back to the session that this one goes on from.
    WentBack(WentBack) = 5 v 1;
    /// Something stands in place of what was said so far in what the model sees.
    ContextCompacted(ContextCompacted) = 6 v 1;
    /// Somebody said something.
    Message(Message) = 16 v 1;
    /// A tool answered a call.
    ToolResult(ToolResult) = 17 v 1;
    /// Something went wrong.
    ErrorNoted(ErrorNoted) = 18 v 1;
    /// A line of a source could not be read.
    Unreadable(Unreadable) = 19 v 1;
    /// An event was lost to damage, and this stands in its place.
    Lost(Lost) = 20 v 1;
    /// The plan was set anew.
    PlanSet(Plan) = 32 v 1;
    /// A run was queued.
    RunQueued(RunQueued) = 48 v 1;
    /// A run began.
    RunStarted(RunStarted) = 49 v 1;
    /// A run ended.
    RunEnded(RunEnded) = 50 v 1;
    /// A run waits for the tasks that it delegated.
    RunWaiting(RunWaiting) = 51 v 1;
    /// A run gave a task to a session of its own.
    ChildDelegated(ChildDelegated) = 52 v 1;
    /// A run gave the result that it owed.
    ResultReturned(ResultReturned) = 53 v 1;
    /// A run was reminded of what it owes.
    ObligationsAsked(ObligationsAsked) = 54 v 1;
    /// A message came while a run was at work.
    MessageQueued(MessageQueued) = 55 v 1;
    /// A queued message found its place.
    QueuedMessageTaken(QueuedMessageTaken) = 56 v 1;
    /// A host took over the queue of runs.
    LeaseTaken(LeaseTaken) = 57 v 1;
    /// A fresh session is about to be started.
    FreshArmed(FreshArmed) = 58 v 1;
    /// It was started, or given up.
    FreshSettled(FreshSettled) = 59 v 1;
    /// A prompt was given to a model.
    Receipt(Receipt) = 64 v 1;
    /// One line of a source, byte for byte.
    ImportedLine(ImportedLine) = 88 v 1;
    /// How far a source was read.
    ImportProgress(ImportProgress) = 89 v 1;
    /// A note was taken when a context was compacted.
    NoteTaken(NoteTaken) = 97 v 1;
    /// A note was given to an agent.
    NoteGiven(NoteGiven) = 98 v 1;
    /// A harness was told to let the agent go on.
    NudgeSent(NudgeSent) = 99 v 1;
}

/// The number of an event's kind: an explicit constant, never an enum's position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kind(pub u16);

impl Kind {
    /// The kind's name, if this build knows it.
    pub fn name(self) -> Option<&'static str> {
        Self::KNOWN.iter().find(|(kind, ..)| *kind == self).map(|(_, name, _)| *name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "kind {}", self.0),
        }
    }
}

/// The version of the layout of a kind's body, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SchemaVersion(pub u16);

/// An event that this build cannot read, kept as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opaque {
    /// The kind number.
    pub kind: Kind,
    /// The version of the body's layout.
    pub version: SchemaVersion,
    /// The stored body.
    pub body: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_numbers_are_unique() {
        let mut kinds: Vec<_> = Kind::KNOWN.iter().map(|(kind, ..)| *kind).collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds.len(), Kind::KNOWN.len());
    }

    #[test]
    fn no_two_kinds_share_a_place_in_a_set() {
        let mut places: Vec<_> =
            Kind::KNOWN.iter().map(|(kind, ..)| crate::KindSet::one(*kind).bits()).collect();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), Kind::KNOWN.len());
    }

    #[test]
    fn an_unknown_kind_or_version_is_kept() {
        let body = Bytes::from_static(b"whatever");
        for (kind, version) in [(Kind(60_000), SchemaVersion(1)), (Kind::Message, SchemaVersion(99))] {
            let event = Event::decode_body(kind, version, &body).unwrap();
            assert_eq!(event, Event::Opaque(Opaque { kind, version, body: body.clone() }));
            assert_eq!((event.kind(), event.version()), (kind, version));
            assert_eq!(event.encode_body().unwrap(), body);
        }
    }
}
