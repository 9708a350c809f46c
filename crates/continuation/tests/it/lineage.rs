//! The graph of sessions, and what a plan reads as after a continuation.

use segue_continuation::Lineage;
use segue_event::{
    ContinuationEvent, ContinuationId, Digest, Edge, EdgeKind, EventHash, EventRef, Fold as _, Handoff,
    Initiator, Manifest, PlanTransfer, Position, Reason, Recorded, Seq, SessionId, Timestamp,
};

fn session(number: u8) -> SessionId {
    SessionId::from_bytes([number; 16])
}

fn edge(from: u8, position: u64, to: u8) -> Recorded<ContinuationEvent> {
    let point = EventRef { seq: Seq::FIRST, event: EventHash::from_bytes([0; 32]) };
    let manifest = Manifest {
        compiler: 1,
        budget_bytes: 40_960,
        handoff: Handoff::default(),
        sources: Vec::new(),
        parts: Vec::new(),
        included: Vec::new(),
        omitted: Vec::new(),
        plan: PlanTransfer::Omit,
        projection: Digest::of(b""),
        compiled_at: None,
    };
    let edge = Edge {
        continuation: ContinuationId::from_bytes([to; 16]),
        kind: EdgeKind::Continue,
        predecessor: session(from),
        predecessor_title: String::new(),
        predecessor_head: point,
        origin: session(1),
        initiator: Initiator::Person { request: String::new() },
        initiating: point,
        reason: Reason::Other,
        created_at: Timestamp::default(),
        manifest,
    };
    Recorded {
        session: session(to),
        seq: Seq::FIRST,
        position: Position::new(position).unwrap(),
        time: Timestamp::default(),
        hash: point.event,
        event: ContinuationEvent::Continued(Box::new(edge)),
    }
}

fn lineage(edges: &[(u8, u64, u8)]) -> Lineage {
    let mut lineage = Lineage::new();
    edges.iter().for_each(|(from, position, to)| lineage.apply(&edge(*from, *position, *to)));
    lineage
}

#[test]
fn a_chain_leads_to_its_origin_and_branches_are_kept_apart() {
    let lineage = lineage(&[(1, 10, 2), (2, 20, 3), (1, 30, 4)]);
    assert_eq!(lineage.chain(session(3)), [session(3), session(2), session(1)]);
    assert_eq!(lineage.origin(session(4)), session(1));
    let successors: Vec<_> = lineage.edges_out_of(session(1)).map(|(to, _)| to).collect();
    assert_eq!(successors, [session(2), session(4)]);
}

#[test]
fn a_cycle_ends_the_walk() {
    assert_eq!(lineage(&[(1, 1, 2), (2, 2, 1)]).chain(session(1)), [session(1), session(2)]);
}
