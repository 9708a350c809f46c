//! The graph of sessions and the edges between them.

use std::collections::{BTreeMap, BTreeSet};

use segue_event::{ContinuationEvent, Edge, EdgeKind, Fold, Position, Recorded, SessionId, WentBack};

/// Every edge of a workspace, from both ends.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lineage {
    into: BTreeMap<SessionId, Edge>,
    out_of: BTreeMap<SessionId, Vec<(Position, SessionId)>>,
    left: BTreeMap<SessionId, WentBack>,
}

impl Lineage {
    /// A graph without edges.
    pub fn new() -> Self {
        Self::default()
    }

    /// The edge through which a session came from its predecessor.
    pub fn edge_into(&self, successor: SessionId) -> Option<&Edge> {
        self.into.get(&successor)
    }

    /// Whether a person went back from a session to the one it goes on from, and what they said then.
    pub fn went_back(&self, successor: SessionId) -> Option<&WentBack> {
        self.left.get(&successor)
    }

    /// The edges to a session's successors, oldest first.
    pub fn edges_out_of(
        &self,
        predecessor: SessionId,
    ) -> impl DoubleEndedIterator<Item = (SessionId, &Edge)> {
        let successors = self.out_of.get(&predecessor).map(Vec::as_slice).unwrap_or_default();
        successors.iter().filter_map(|(_, successor)| Some((*successor, self.into.get(successor)?)))
    }

    /// The session, the one whose conversation it goes on with, and so on to the origin. A cycle, which no writer of ours makes, ends the walk.
    pub fn chain(&self, session: SessionId) -> Vec<SessionId> {
        let mut seen = BTreeSet::new();
        let before = |at: &SessionId| {
            let edge = self.into.get(at).filter(|edge| edge.kind() != EdgeKind::Delegate);
            edge.map(|edge| edge.predecessor)
        };
        let steps = std::iter::successors(Some(session), before);
        steps.take_while(|session| seen.insert(*session)).collect()
    }

    /// The first session of a chain.
    pub fn origin(&self, session: SessionId) -> SessionId {
        self.chain(session).last().copied().unwrap_or(session)
    }
}

impl Fold for Lineage {
    type Family = ContinuationEvent;

    fn apply(&mut self, recorded: &Recorded<ContinuationEvent>) {
        let edge = match &recorded.event {
            ContinuationEvent::Continued(edge) => edge,
            ContinuationEvent::WentBack(went) => {
                self.left.insert(recorded.session, went.clone());
                return;
            }
        };
        let successors = self.out_of.entry(edge.predecessor).or_default();
        successors.push((recorded.position, recorded.session));
        successors.sort();
        self.into.insert(recorded.session, (**edge).clone());
    }
}
