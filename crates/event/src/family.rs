//! Families: named subsets of [`Event`] through which streams and folds read the record.
//!
//! An event can belong to more than one family: a [`SessionStarted`] with an edge is also a
//! [`ContinuationEvent`].

use crate::{
    ChildDelegated, ContextCompacted, Edge, ErrorNoted, Event, FreshArmed, FreshSettled, ImportProgress,
    ImportedLine, Kind, LeaseTaken, Lost, Message, MessageQueued, ModelOverride, NoteGiven, NoteTaken,
    NudgeSent, ObligationsAsked, Plan, QueuedMessageTaken, Receipt, ResultReturned, RunEnded, RunQueued,
    RunStarted, RunWaiting, SessionDescribed, SessionStarted, SessionTitled, ToolResult, Unreadable,
    WentBack,
};

/// A subset of the events.
pub trait Family: TryFrom<Event> + Send + 'static {
    /// Whether an event of this kind can belong, so that others need not be decoded.
    fn accepts(kind: Kind) -> bool;
}

/// Some kinds of events, as a set that may hold a few more than it was told.
///
/// A log uses it to pass over what a reader does not want; the reader still looks at what comes. Sixty-four kinds can be
/// told apart, and others share a place with one of them. The known ones have a place each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindSet(u64);

impl KindSet {
    /// Every kind.
    pub const ALL: Self = Self(u64::MAX);

    /// The set with these bits, as [`Self::bits`] gave them.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The set of one kind.
    pub const fn one(kind: Kind) -> Self {
        Self(1 << (kind.0 % 64))
    }

    /// The kinds of a family.
    pub fn of<E: Family>() -> Self {
        let kinds = Kind::KNOWN.iter().map(|(kind, ..)| *kind).filter(|kind| E::accepts(*kind));
        kinds.fold(Self(0), |set, kind| set.with(kind))
    }

    /// The set with one kind more.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Self {
        Self(self.0 | Self::one(kind).0)
    }

    /// The kinds of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a kind may be in the set; false only if it is not.
    pub const fn may_hold(self, kind: Kind) -> bool {
        self.meets(Self::one(kind))
    }

    /// Whether two sets may have a kind in common; false only if they have none.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every kind of the set may be in another; false only if one is not.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The set as bits, to be stored.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl Family for Event {
    fn accepts(_: Kind) -> bool {
        true
    }
}

impl TryFrom<Event> for ContinuationEvent {
    type Error = Event;

    fn try_from(event: Event) -> Result<Self, Event> {
        match event {
            Event::SessionStarted(SessionStarted { edge: Some(edge), .. }) => Ok(Self::Continued(edge)),
            Event::WentBack(went) => Ok(Self::WentBack(went)),
            other => Err(other),
        }
    }
}

impl Family for ContinuationEvent {
    fn accepts(kind: Kind) -> bool {
        [Kind::SessionStarted, Kind::WentBack].contains(&kind)
    }
}

impl TryFrom<Event> for Lost {
    type Error = Event;

    fn try_from(event: Event) -> Result<Self, Event> {
        match event {
            Event::Lost(lost) => Ok(lost),
            other => Err(other),
        }
    }
}

impl Family for Lost {
    fn accepts(kind: Kind) -> bool {
        kind == Kind::Lost
    }
}

/// A session came from another, or was left for it again.
#[derive(Clone, PartialEq, Debug)]
pub enum ContinuationEvent {
    /// The transition, as the successor's first event holds it.
    Continued(Box<Edge>),
    /// A person went back over the transition.
    WentBack(WentBack),
}

impl ContinuationEvent {
    /// The transition, if this is the beginning of one.
    pub fn into_edge(self) -> Option<Box<Edge>> {
        match self {
            Self::Continued(edge) => Some(edge),
            Self::WentBack(_) => None,
        }
    }
}

macro_rules! family {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident($body:ty),)+ }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug)]
        pub enum $name {
            $($(#[$variant_doc])* $variant($body),)+
        }

        impl TryFrom<Event> for $name {
            type Error = Event;

            fn try_from(event: Event) -> Result<Self, Event> {
                match event {
                    $(Event::$variant(body) => Ok(Self::$variant(body)),)+
                    other => Err(other),
                }
            }
        }

        impl From<$name> for Event {
            fn from(event: $name) -> Self {
                match event {
                    $($name::$variant(body) => Self::$variant(body),)+
                }
            }
        }

        impl Family for $name {
            fn accepts(kind: Kind) -> bool {
                [$(Kind::$variant,)+].contains(&kind)
            }
        }
    };
}

family!(
    /// What concerns a session as a whole.
    SessionEvent {
        /// The session began.
        SessionStarted(SessionStarted),
        /// It was given a title.
        SessionTitled(SessionTitled),
        /// Its live status changed.
        SessionDescribed(SessionDescribed),
        /// A model was chosen for it.
        ModelChosen(ModelOverride),
        /// A person went back to the session that it goes on from.
        WentBack(WentBack),
    }
);

family!(
    /// What a transcript shows.
    TranscriptEvent {
        /// Somebody said something.
        Message(Message),
        /// A tool answered a call.
        ToolResult(ToolResult),
        /// Something went wrong.
        ErrorNoted(ErrorNoted),
        /// A line of a source could not be read.
        Unreadable(Unreadable),
        /// An event was lost to damage.
        Lost(Lost),
        /// Something stands in place of what was said so far in what the model sees.
        ContextCompacted(ContextCompacted),
    }
);

family!(
    /// What an agent means to do.
    PlanEvent {
        /// The plan was set anew.
        PlanSet(Plan),
    }
);

family!(
    /// The work of agents on sessions.
    RunEvent {
        /// A run was queued.
        RunQueued(RunQueued),
        /// A run began.
        RunStarted(RunStarted),
        /// A run waits for the tasks that it delegated.
        RunWaiting(RunWaiting),
        /// A run gave a task to a session of its own.
        ChildDelegated(ChildDelegated),
        /// A run gave the result that it owed.
        ResultReturned(ResultReturned),
        /// A run was reminded of what it owes.
        ObligationsAsked(ObligationsAsked),
        /// A message came while a run was at work.
        MessageQueued(MessageQueued),
        /// A queued message found its place.
        QueuedMessageTaken(QueuedMessageTaken),
        /// A run ended.
        RunEnded(RunEnded),
        /// A host took over the queue of runs.
        LeaseTaken(LeaseTaken),
        /// A fresh session is about to be started.
        FreshArmed(FreshArmed),
        /// It was started, or given up.
        FreshSettled(FreshSettled),
    }
);

family!(
    /// What models were given.
    ReceiptEvent {
        /// A prompt was given to a model.
        Receipt(Receipt),
    }
);

family!(
    /// Imported transcripts as they were.
    ImportEvent {
        /// One line of a source, byte for byte.
        ImportedLine(ImportedLine),
        /// How far a source was read.
        ImportProgress(ImportProgress),
    }
);

family!(
    /// What was in progress when contexts were compacted, and what became of those notes.
    NoteEvent {
        /// A note was taken.
        NoteTaken(NoteTaken),
        /// A note was given to an agent.
        NoteGiven(NoteGiven),
        /// A harness was told to let the agent go on.
        NudgeSent(NudgeSent),
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Author, Role};

    #[test]
    fn every_known_kind_belongs_to_a_family() {
        for (kind, name, _) in Kind::KNOWN {
            let belongs = SessionEvent::accepts(*kind)
                || TranscriptEvent::accepts(*kind)
                || PlanEvent::accepts(*kind)
                || RunEvent::accepts(*kind)
                || ReceiptEvent::accepts(*kind)
                || ImportEvent::accepts(*kind)
                || NoteEvent::accepts(*kind);
            assert!(belongs, "{name} belongs to no family");
        }
    }

    #[test]
    fn a_set_of_kinds_never_misses_one() {
        let set = KindSet::of::<SessionEvent>();
        for (kind, ..) in Kind::KNOWN {
            assert!(KindSet::ALL.may_hold(*kind));
            assert_eq!(
                set.may_hold(*kind),
                SessionEvent::accepts(*kind),
                "{kind}: known kinds are told apart"
            );
        }
        assert!(!KindSet::of::<RunEvent>().meets(KindSet::of::<TranscriptEvent>()));
        assert_eq!(KindSet::from_bits(set.bits()), set);
    }

    #[test]
    fn a_family_takes_its_own_and_gives_others_back() {
        let event = Event::from(Message::text(Role::User, Author::User, "hello"));
        assert!(TranscriptEvent::try_from(event.clone()).is_ok());
        assert_eq!(RunEvent::try_from(event.clone()), Err(event));
    }
}
