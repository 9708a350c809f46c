//! Which lost event stood at which position.
//!
//! Each number that a session misses was at some position between two others, and each lost position belongs to at
//! most one of them. The positions are gone through in order; each is given to the number that must come first, which
//! finds a place for every number if there is a way to do so. What is left belongs to nobody that is known.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use segue_event::{Position, Seq, SessionId};

use crate::repair::trails::Missing;

/// Positions, each with the number that stood there, if one is known.
pub(super) type Seats = BTreeMap<Position, Option<(SessionId, Seq)>>;

/// Gives every missing number a position of `free`, which is in order; none if there is no way.
pub(super) fn seat(free: impl Iterator<Item = Position>, missing: &[Missing]) -> Option<Seats> {
    let mut queues = Queues::new(missing)?;
    let seats: Seats = free.map(|position| (position, queues.next(position))).collect();
    let are_all_seated = queues.are_empty() && seats.values().flatten().count() == missing.len();
    are_all_seated.then_some(seats)
}

/// The missing numbers of each session, in order, and whose turn it is.
struct Queues {
    sessions: BTreeMap<SessionId, VecDeque<Missing>>,
    /// Sessions whose first number may have stood further on, by where that begins.
    later: BTreeSet<(Position, SessionId)>,
    /// Sessions whose first number may have stood here, by where it must have stood at the latest; among equals the
    /// one first that came last, since a commit holds the events of one session in a row.
    ready: BTreeSet<(Position, std::cmp::Reverse<Position>, SessionId)>,
}

impl Queues {
    fn new(missing: &[Missing]) -> Option<Self> {
        let mut sessions: BTreeMap<SessionId, VecDeque<Missing>> = BTreeMap::new();
        for one in missing {
            sessions.entry(one.session).or_default().push_back(*one);
        }
        for queue in sessions.values_mut() {
            tighten(queue)?;
        }
        let first =
            |(session, queue): (&SessionId, &VecDeque<Missing>)| Some((queue.front()?.from, *session));
        let later = sessions.iter().filter_map(first).collect();
        Some(Self { sessions, later, ready: BTreeSet::new() })
    }

    fn next(&mut self, position: Position) -> Option<(SessionId, Seq)> {
        while let Some((_, session)) = self.later.first().copied().filter(|(from, _)| *from <= position) {
            self.later.pop_first();
            let first = self.sessions.get(&session)?.front()?;
            self.ready.insert((first.to, std::cmp::Reverse(first.from), session));
        }
        let (_, _, session) = self.ready.first().copied().filter(|(to, ..)| *to >= position)?;
        self.ready.pop_first();
        let queue = self.sessions.get_mut(&session)?;
        let Missing { seq, .. } = queue.pop_front()?;
        if let Some(next) = queue.front() {
            self.later.insert((next.from, session));
        }
        Some((session, seq))
    }

    fn are_empty(&self) -> bool {
        self.sessions.values().all(VecDeque::is_empty)
    }
}

/// A number stood behind the one before it, and before the one behind it; none if there is no room for that.
fn tighten(queue: &mut VecDeque<Missing>) -> Option<()> {
    queue.make_contiguous().sort_by_key(|one| one.seq);
    let mut from = Position::FIRST;
    for one in queue.iter_mut() {
        one.from = one.from.max(from);
        from = one.from.next();
    }
    let mut to = None;
    for one in queue.iter_mut().rev() {
        one.to = to.map_or(one.to, |to| one.to.min(to));
        to = Some(one.to.previous().unwrap_or(Position::FIRST));
    }
    queue.iter().all(|one| one.from <= one.to).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(session: u8, seq: u64, from: u64, to: u64) -> Missing {
        let position = |number| Position::new(number).unwrap();
        let session = SessionId::from_bytes([session; 16]);
        let (from, to) = (position(from), position(to));
        Missing { session, seq: Seq::new(seq).unwrap(), from, to, sighted: None }
    }

    /// The session of each position, 0 where none is known.
    fn seated(free: &[u64], missing: &[Missing]) -> Option<Vec<(u8, u64)>> {
        let seats = seat(free.iter().map(|number| Position::new(*number).unwrap()), missing)?;
        let show = |seat: &Option<(SessionId, Seq)>| {
            seat.map_or((0, 0), |(session, seq)| (session.as_bytes()[0], seq.get()))
        };
        Some(seats.values().map(show).collect())
    }

    #[test]
    fn every_number_gets_a_place_where_it_can_have_stood() {
        let both = [missing(1, 4, 2, 9), missing(1, 5, 2, 9), missing(2, 1, 3, 3)];
        assert_eq!(seated(&[2, 3, 4], &both).unwrap(), [(1, 4), (2, 1), (1, 5)]);
        assert_eq!(seated(&[2, 3, 4, 7], &both).unwrap(), [(1, 4), (2, 1), (1, 5), (0, 0)]);
        assert_eq!(seated(&[5, 6], &both), None, "there is no position 3");
        assert_eq!(seated(&[3, 4], &both), None, "there are two positions for three");
        assert_eq!(seated(&[3, 4], &[]).unwrap(), [(0, 0), (0, 0)]);
    }

    #[test]
    fn numbers_of_a_session_keep_their_order() {
        let three = [missing(1, 7, 1, 9), missing(1, 5, 1, 9), missing(1, 6, 4, 4)];
        assert_eq!(seated(&[2, 4, 8], &three).unwrap(), [(1, 5), (1, 6), (1, 7)]);
        assert_eq!(seated(&[4, 5, 8], &three), None);
    }
}
