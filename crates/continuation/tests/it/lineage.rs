//! The graph of sessions, and what a plan reads as after a continuation.

use segue_continuation::{Lineage, PlanSituation, SessionState, StateEvent};
use segue_event::{
    AgentId, ContinuationEvent, ContinuationId, Digest, Edge, Event, EventHash, EventRef, Fold as _, Handoff,
    Handover, Initiator, Manifest, Plan, PlanTransfer, Position, Reason, Recorded, Seq, SessionId,
    SessionStarted, SessionTitled, Timestamp, Title, TitleSource, Transition,
};

fn session(number: u8) -> SessionId {
    SessionId::from_bytes([number; 16])
}

fn edge(from: u8, position: u64, to: u8) -> Recorded<ContinuationEvent> {
    edge_with(from, position, to, PlanTransfer::Omit, Seq::FIRST)
}

/// An edge that did something with the plan, made when the predecessor stood at `head`.
fn edge_with(from: u8, position: u64, to: u8, plan: PlanTransfer, head: Seq) -> Recorded<ContinuationEvent> {
    let point = EventRef { seq: head, event: EventHash::from_bytes([0; 32]) };
    let manifest = Manifest {
        compiler: 1,
        budget_bytes: 40_960,
        handoff: Handoff::default(),
        sources: Vec::new(),
        recommended: Vec::new(),
        parts: Vec::new(),
        included: Vec::new(),
        omitted: Vec::new(),
        plan,
        projection: Digest::of(b""),
        compiled_at: None,
    };
    let edge = Edge {
        continuation: ContinuationId::from_bytes([to; 16]),
        predecessor: session(from),
        predecessor_title: String::new(),
        predecessor_head: point,
        origin: session(1),
        initiator: Initiator::Person { request: String::new() },
        created_at: Timestamp::default(),
        transition: Transition::Continue(Box::new(Handover {
            initiating: point,
            reason: Reason::Other,
            manifest,
        })),
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

fn said(number: u64, event: impl Into<Event>) -> Recorded<StateEvent> {
    Recorded {
        session: session(1),
        seq: Seq::new(number).unwrap(),
        position: Position::new(number).unwrap(),
        time: Timestamp::default(),
        hash: EventHash::from_bytes([1; 32]),
        event: StateEvent::try_from(event.into()).unwrap(),
    }
}

fn state() -> SessionState {
    let started = SessionStarted {
        agent: AgentId::new("coder").unwrap(),
        title: Title { text: "mine".to_owned(), source: TitleSource::User },
        description: String::new(),
        working_directory: String::new(),
        model: None,
        plan: None,
        edge: None,
        import: None,
    };
    SessionState::started(said(1, started)).unwrap()
}

/// How the plan of a session reads that set it at 5, when it was continued like this at these heads.
fn plan_after(transfers: &[(PlanTransfer, u64)]) -> PlanSituation {
    let mut state = state();
    state.apply(&said(5, Plan::default()));
    let edges: Vec<_> = transfers
        .iter()
        .map(|(plan, head)| edge_with(1, 10, 2, *plan, Seq::new(*head).unwrap()).event.into_edge())
        .map(|edge| *edge.unwrap())
        .collect();
    state.plan_situation(&edges)
}

#[test]
fn a_plan_reads_as_its_edges_say() {
    assert_eq!(state().plan_situation(&[]), PlanSituation::None);
    let cases: [(&[(PlanTransfer, u64)], PlanSituation); 6] = [
        (&[], PlanSituation::Open),
        (&[(PlanTransfer::Omit, 7)], PlanSituation::Open),
        (&[(PlanTransfer::Carry, 7)], PlanSituation::HandedOver),
        (&[(PlanTransfer::Close, 7)], PlanSituation::Closed),
        (&[(PlanTransfer::Carry, 7), (PlanTransfer::Omit, 8)], PlanSituation::HandedOver),
        // It was set after the session had been continued: the session branched, and the plan is its own.
        (&[(PlanTransfer::Carry, 4)], PlanSituation::Open),
    ];
    for (transfers, expected) in cases {
        assert_eq!(plan_after(transfers), expected, "{transfers:?}");
    }
}

#[test]
fn a_title_never_gives_way_to_one_of_a_weaker_source() {
    let mut state = state();
    let titled = |text: &str, source| SessionTitled { title: Title { text: text.to_owned(), source } };
    state.apply(&said(2, titled("the agent's", TitleSource::Agent)));
    assert_eq!(state.title.text, "mine");
    state.apply(&said(3, titled("mine again", TitleSource::User)));
    assert_eq!(state.title.text, "mine again");
}
