//! The hash chain of a session: what makes a changed, lost or exchanged event show.
//!
//! `hash(n) = blake3(hash(n - 1) ‖ header without its hash ‖ blake3(body))`, and the hash before the first event
//! is 32 zero bytes. The body enters by its own hash, so that the chain can be checked without the body.
//!
//! # Where an event was lost
//! A [`Lost`] that a repair put in an event's place is chained as any other. The event behind it kept its id, so that
//! it is chained to the one that was lost, of which the mark may tell the id; or it was written after the repair,
//! and is chained to the mark. [`Tip`] knows both.

use crate::{EventHash, EventHeader, Lost, LostEvent, RawEvent, Recorded};

/// What stands in for the hash before a session's first event.
pub const START: EventHash = EventHash::from_bytes([0; 32]);

/// The id of an event: the hash over its predecessor's id, its header and its body.
///
/// The header's own `hash` field does not enter.
pub fn link(previous: &EventHash, header: &EventHeader, body_hash: &blake3::Hash) -> EventHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(previous.as_bytes());
    hasher.update(&header.hashed_bytes());
    hasher.update(body_hash.as_bytes());
    hasher.finalize().into()
}

/// The newest event of a session, to which the next one is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tip {
    /// An event, or the beginning of the session.
    Event(EventHash),
    /// The mark of a lost event.
    Lost {
        /// The id of the mark.
        mark: EventHash,
        /// The id that the lost event had, if that is known.
        event: Option<EventHash>,
    },
}

/// How an event follows the one before it in its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// It is chained to that, or to the lost event that it stands for.
    Sound,
    /// That is the mark of a lost event whose id nobody knows: there is nothing to hold it to.
    Unknown,
    /// It is chained to something else.
    Broken,
}

impl Tip {
    /// Before the first event of a session.
    pub const START: Self = Self::Event(START);

    /// Behind an event.
    pub fn after(event: &RawEvent) -> Self {
        let id = event.header.hash;
        match event.decode_as::<Lost>() {
            Ok(Some(Recorded { event: Lost { was, .. }, .. })) => {
                Self::Lost { mark: id, event: was.map(|LostEvent { id, .. }| id) }
            }
            Ok(None) | Err(_) => Self::Event(id),
        }
    }

    /// The id of what stands there.
    pub fn id(&self) -> EventHash {
        match self {
            Self::Event(id) | Self::Lost { mark: id, .. } => *id,
        }
    }

    /// Holds the session's next event to what stands there.
    pub fn link(&self, next: &RawEvent) -> Link {
        if next.is_chained_to(&self.id()) {
            return Link::Sound;
        }
        match self {
            // A repair chains a mark to what stands before it.
            Self::Lost { .. } if next.kind() == crate::Kind::Lost => Link::Broken,
            Self::Lost { event: None, .. } => Link::Unknown,
            Self::Lost { event: Some(lost), .. } if next.is_chained_to(lost) => Link::Sound,
            Self::Lost { .. } | Self::Event(_) => Link::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Author, ByteRange, Event, Kind, Message, Position, Prepared, Role, Seq, SessionId, Timestamp,
    };

    fn place(event: &Event, seq: u64, before: &EventHash) -> RawEvent {
        let (session, number) = (SessionId::from_bytes([1; 16]), Seq::new(seq).unwrap());
        Prepared::new(Timestamp::default(), event).unwrap().place(session, number, before, Position::FIRST)
    }

    fn said(text: &str, seq: u64, before: &EventHash) -> RawEvent {
        place(&Message::text(Role::User, Author::User, text).into(), seq, before)
    }

    fn mark(was: Option<EventHash>, seq: u64, before: &EventHash) -> RawEvent {
        let was = was.map(|id| LostEvent { kind: Kind::Message, id });
        let bytes = ByteRange { start: 1, end: 2 };
        place(&Lost { reason: String::new(), segment: 1, bytes, was }.into(), seq, before)
    }

    #[test]
    fn what_follows_a_lost_event_is_held_to_its_id_or_to_its_mark() {
        let lost = said("lost", 1, &START);
        let (id, other) = (lost.header.hash, EventHash::from_bytes([9; 32]));
        for was in [Some(id), None] {
            let mark = mark(was, 1, &START);
            assert_eq!(Tip::START.link(&mark), Link::Sound);
            let tip = Tip::after(&mark);
            let unknown = if was.is_some() { Link::Broken } else { Link::Unknown };
            assert_eq!(tip.link(&said("new", 2, &mark.header.hash)), Link::Sound);
            assert_eq!(tip.link(&said("kept", 2, &id)), if was.is_some() { Link::Sound } else { unknown });
            assert_eq!(tip.link(&said("strange", 2, &other)), unknown);
        }
    }

    #[test]
    fn a_mark_follows_what_stands_before_it() {
        let first = mark(None, 1, &START);
        let tip = Tip::after(&first);
        assert_eq!(tip.link(&mark(None, 2, &first.header.hash)), Link::Sound);
        assert_eq!(tip.link(&mark(None, 2, &START)), Link::Broken);
        assert_eq!(Tip::after(&said("a", 1, &START)).link(&said("b", 2, &START)), Link::Broken);
    }
}
