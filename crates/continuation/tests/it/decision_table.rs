//! `decide` against a table of cases: one row for each answer, and the order of the checks.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use segue_continuation::{
    Batch, Budget, Decision, Initiating, Measured, Refusal, Replayed, Request, RunSituation, ThreadHead,
    View, decide,
};
use segue_event::{
    ContinuationId, EventHash, EventRef, Handoff, PlanTransfer, Reason, Seq, SeqRange, SessionId, Source,
    SourceTarget,
};

fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap()
}

fn cited() -> SessionId {
    SessionId::from_bytes([7; 16])
}

fn message() -> EventRef {
    EventRef { seq: seq(5), event: EventHash::from_bytes([5; 32]) }
}

/// A view in which everything is in order.
fn sound() -> View {
    View {
        replayed: None,
        run: RunSituation::Turn { parked_children: 0 },
        batch: Batch::First,
        agent_successors: 0,
        initiating: Initiating::Said(message()),
        plan: PlanTransfer::Carry,
        threads: BTreeMap::from([(cited(), ThreadHead(seq(9)))]),
        memory: BTreeSet::from(["~/memory/a.md".to_owned()]),
    }
}

fn request(sources: Vec<SourceTarget>, plan: Option<PlanTransfer>) -> Request {
    let cite = |target| Source { target, relevance: "because".to_owned() };
    Request {
        reason: Reason::PhaseChange,
        title: "title".to_owned(),
        description: "description".to_owned(),
        handoff: Handoff::default(),
        sources: sources.into_iter().map(cite).collect(),
        plan,
    }
}

fn events(from: u64, to: u64) -> SourceTarget {
    SourceTarget::Events { thread: cited(), range: SeqRange::new(seq(from), seq(to)).unwrap() }
}

fn measured(request: Request) -> Result<Measured, Refusal> {
    Ok(Measured { request, budget: Budget::DEFAULT, handoff_bytes: 100, sources_bytes: 100 })
}

fn code(decision: &Decision) -> &'static str {
    match decision {
        Decision::Continue(_) => "continue",
        Decision::Replay(_) => "replay",
        Decision::Refuse(refusal) => refusal.code(),
    }
}

/// Each way to spoil a sound case, in the order in which the checks must find them.
type Spoil = fn(&mut View, &mut Result<Measured, Refusal>);

const SPOILS: [(&str, Spoil); 13] = [
    ("replay", |view, _| {
        let (continuation, successor) = (ContinuationId::from_bytes([1; 16]), SessionId::from_bytes([2; 16]));
        view.replayed = Some(Replayed { continuation, successor });
    }),
    ("unknown-reason", |_, request| *request = Err(Refusal::UnknownReason { word: "x".to_owned() })),
    ("handoff-too-large", |_, request| {
        if let Ok(measured) = request {
            measured.handoff_bytes = measured.budget.handoff_bytes_max() + 1;
        }
    }),
    ("sources-too-large", |_, request| {
        if let Ok(measured) = request {
            measured.sources_bytes = measured.budget.sources_bytes_max() + 1;
        }
    }),
    ("children-parked", |view, _| view.run = RunSituation::Turn { parked_children: 1 }),
    ("delegated-run", |view, _| view.run = RunSituation::Delegated),
    ("second-continue", |view, _| view.batch = Batch::AfterContinue),
    ("too-many-successors", |view, _| view.agent_successors = 8),
    ("nothing-to-continue", |view, _| view.initiating = Initiating::None),
    ("nothing-new", |view, _| view.initiating = Initiating::Copied(message())),
    ("source-not-found", |view, _| view.threads.clear()),
    ("source-beyond-head", |view, _| view.threads = BTreeMap::from([(cited(), ThreadHead(seq(1)))])),
    ("memory-not-found", |view, _| view.memory.clear()),
];

/// Spoils that overwrite each other, of which only one can be seen.
fn hides(earlier: &str, later: &str) -> bool {
    let same_field = [
        ["children-parked", "delegated-run"],
        ["nothing-to-continue", "nothing-new"],
        ["source-not-found", "source-beyond-head"],
    ];
    same_field.contains(&[earlier, later])
}

fn sound_request() -> Result<Measured, Refusal> {
    let memory = SourceTarget::Memory { path: "~/memory/a.md".to_owned() };
    measured(request(vec![events(2, 9), memory], None))
}

#[test]
fn each_answer_has_its_case() {
    assert_eq!(code(&decide(&sound(), sound_request())), "continue");
    for (expected, spoil) in SPOILS {
        let (mut view, mut request) = (sound(), sound_request());
        spoil(&mut view, &mut request);
        assert_eq!(code(&decide(&view, request)), expected);
    }
    for (run, expected) in [(RunSituation::Typed, "typed-run"), (RunSituation::Ended, "no-run")] {
        assert_eq!(code(&decide(&View { run, ..sound() }, sound_request())), expected);
    }
}

#[test]
fn the_first_check_that_fails_is_the_answer() {
    for (at, (expected, spoil)) in SPOILS.into_iter().enumerate() {
        for (later, spoil_too) in SPOILS.into_iter().skip(at + 1).filter(|(later, _)| !hides(expected, later))
        {
            let (mut view, mut request) = (sound(), sound_request());
            spoil_too(&mut view, &mut request);
            spoil(&mut view, &mut request);
            assert_eq!(code(&decide(&view, request)), expected, "{expected} comes before {later}");
        }
    }
}

#[test]
fn a_person_needs_no_run_and_is_not_counted() {
    let view = View { run: RunSituation::Person, agent_successors: 8, ..sound() };
    assert_eq!(code(&decide(&view, sound_request())), "continue");
}

#[test]
fn the_plan_goes_as_asked_and_else_as_the_session_has_it() {
    let plan = |asked, own| {
        let view = View { plan: own, ..sound() };
        match decide(&view, measured(request(Vec::new(), asked))) {
            Decision::Continue(approved) => approved.plan,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(plan(None, PlanTransfer::Carry), PlanTransfer::Carry);
    assert_eq!(plan(None, PlanTransfer::Omit), PlanTransfer::Omit);
    assert_eq!(plan(Some(PlanTransfer::Close), PlanTransfer::Carry), PlanTransfer::Close);
}

proptest! {
    /// An oracle of one line: the answer is the name of the first spoil in the row.
    #[test]
    fn any_set_of_spoils_answers_with_the_first(picked in prop::sample::subsequence((0..SPOILS.len()).collect::<Vec<_>>(), 0..=SPOILS.len())) {
        let (mut view, mut request) = (sound(), sound_request());
        for index in picked.iter().rev() {
            (SPOILS[*index].1)(&mut view, &mut request);
        }
        let expected = picked.first().map_or("continue", |index| SPOILS[*index].0);
        prop_assert_eq!(code(&decide(&view, request)), expected);
    }
}
