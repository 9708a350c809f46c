//! The stored bytes of each kind of event, as they were when the kind was first written.
//!
//! A difference here means that stores written before cannot be read any more, unless the kind got a new version and
//! an upcaster. While the store says format 0, the snapshot may be taken anew; from format 1 on never.

use std::collections::BTreeMap;

use segue_event::{
    AgentId, Attachment, Author, BlobId, Block, ByteRange, CallRef, CallSite, ChildDelegated, CompactedBy,
    CompactionReason, ContextCompacted, ContinuationId, Continued, Cut, Digest, Edge, ErrorNoted, Event,
    EventHash, EventRef, Fresh, FreshArmed, FreshOutcome, FreshSettled, FreshTrigger, Handoff, Handover,
    Hole, ImportProgress, ImportSource, ImportedLine, Included, Initiator, Kind, Lane, LeaseTaken,
    LineNumber, Lost, LostEvent, Manifest, Message, MessageOrigin, MessageQueued, ModelName, ModelOverride,
    NoteBody, NoteGiven, NoteTaken, NudgeSent, ObligationsAsked, Omitted, OmittedItem, Plan, PlanStep,
    PlanTransfer, Position, Prepared, ProjectionPart, Provenance, QueuedMessageTaken, Reason, Receipt,
    Recommended, ResultReturned, ResultStatus, Role, RunEnded, RunId, RunOutcome, RunQueued, RunStarted,
    RunWaiting, Seq, SeqRange, SessionDescribed, SessionId, SessionStarted, SessionTitled, Source,
    SourceKind, SourceTarget, StepStatus, TakenTo, Thinking, Timestamp, Title, TitleSource, ToolCall,
    ToolResult, Touched, TranscriptReceipt, Transition, Unreadable, Usage, WentBack, WhyOmitted,
    WhyRecommended, chain,
};

fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap()
}

fn session(number: u8) -> SessionId {
    SessionId::from_bytes([number; 16])
}

fn run() -> RunId {
    RunId::from_bytes([4; 16])
}

fn model() -> ModelOverride {
    let name = ModelName { provider: "p".to_owned(), model: "m".to_owned() };
    ModelOverride { name, settings: "{}".to_owned() }
}

fn plan() -> Plan {
    let step = PlanStep { id: "1".to_owned(), label: "look".to_owned(), status: StepStatus::Active };
    Plan { owner: Some(run()), steps: vec![step] }
}

fn attachment() -> Attachment {
    Attachment {
        blob: BlobId::of(b"png"),
        media_type: "image/png".to_owned(),
        name: "a.png".to_owned(),
        bytes: 3,
    }
}

fn provenance() -> Provenance {
    Provenance { line: LineNumber(3), original_id: "u1".to_owned(), parent_id: "u0".to_owned() }
}

fn manifest() -> Manifest {
    let list = |text: &str| vec![text.to_owned()];
    let handoff = Handoff {
        purpose: "p".to_owned(),
        current_request: "r".to_owned(),
        established_facts: list("f"),
        decisions: list("d"),
        open_questions: list("o"),
        next_actions: list("n"),
        cautions: list("c"),
        extra: BTreeMap::from([("e".to_owned(), list("x"))]),
    };
    let cite = |target| Source { target, relevance: "why".to_owned() };
    let events = SourceTarget::Events { thread: session(2), range: SeqRange::one(seq(2)) };
    let resource = SourceTarget::Resource {
        url: "https://a".to_owned(),
        version: "1".to_owned(),
        block_id: "b".to_owned(),
    };
    let cut = Cut { part: 1, shown: ByteRange { start: 0, end: 9 } };
    Manifest {
        compiler: 1,
        budget_bytes: 40_960,
        handoff,
        sources: vec![
            cite(events),
            cite(resource),
            cite(SourceTarget::Memory { path: "~/memory/a".to_owned() }),
        ],
        recommended: vec![Recommended {
            thread: session(2),
            range: SeqRange::one(seq(1)),
            why: WhyRecommended::Error,
        }],
        parts: vec![ProjectionPart { name: "lineage".to_owned(), digest: Digest::of(b"l") }],
        included: vec![Included {
            thread: session(2),
            range: SeqRange::one(seq(2)),
            cuts: vec![cut],
            rendered: Digest::of(b"i"),
        }],
        omitted: vec![
            Omitted { item: OmittedItem::Source(1), why: WhyOmitted::LinkedOnly },
            Omitted {
                item: OmittedItem::Events { thread: session(2), range: SeqRange::up_to(seq(1)) },
                why: WhyOmitted::BeyondRecipe,
            },
        ],
        plan: PlanTransfer::Carry,
        projection: Digest::of(b"text"),
        compiled_at: Position::new(6),
    }
}

fn point() -> EventRef {
    EventRef { seq: seq(3), event: EventHash::from_bytes([8; 32]) }
}

fn started() -> SessionStarted {
    let point = point();
    let edge = Edge {
        continuation: ContinuationId::from_bytes([6; 16]),
        predecessor: session(2),
        predecessor_title: "before".to_owned(),
        predecessor_head: point,
        origin: session(1),
        initiator: Initiator::Tool { run: run(), call: "c1".to_owned() },
        created_at: Timestamp { micros: 1, offset_minutes: 60 },
        transition: Transition::Continue(Box::new(Handover {
            initiating: point,
            reason: Reason::PhaseChange,
            manifest: manifest(),
        })),
    };
    SessionStarted {
        agent: AgentId::new("coder").unwrap(),
        title: Title { text: "t".to_owned(), source: TitleSource::Agent },
        description: "d".to_owned(),
        working_directory: "/w".to_owned(),
        model: Some(model()),
        plan: Some(plan()),
        edge: Some(Box::new(edge)),
        import: Some(ImportSource {
            kind: SourceKind::Pi,
            original_id: "o".to_owned(),
            path: "a.jsonl".to_owned(),
            version: 1,
        }),
    }
}

fn message() -> Message {
    let call = ToolCall { provider_id: "c1".to_owned(), name: "bash".to_owned(), arguments: "{}".to_owned() };
    Message {
        role: Role::Assistant,
        author: Author::Agent,
        blocks: vec![
            Block::Text("hi".to_owned()),
            Block::Thinking(Thinking { text: "hm".to_owned(), signature: "s".to_owned() }),
            Block::ToolCall(call),
            Block::Image(attachment()),
            Block::File(attachment()),
        ],
        markdown: Some("*hi*".to_owned()),
        context_lines: vec!["open: a.rs".to_owned()],
        attachments: vec![attachment()],
        usage: Some(Usage { input: Some(1), output: Some(2), cache_read: None, cache_write: Some(300) }),
        model: Some(model().name),
        continued_from: Some(MessageOrigin {
            session: session(2),
            seq: seq(3),
            event: EventHash::from_bytes([8; 32]),
        }),
        provenance: Some(provenance()),
    }
}

fn receipt() -> Receipt {
    Receipt {
        run: run(),
        attempt: 1,
        renderer: 1,
        model: Some(model().name),
        window_tokens: Some(200_000),
        system: vec![Digest::of(b"system")],
        tools: vec![Digest::of(b"tool")],
        transcript: TranscriptReceipt {
            through: seq(4),
            parts: 2,
            bytes: 99,
            chain: EventHash::from_bytes([7; 32]),
        },
        blocks: vec![Digest::of(b"block")],
        prompt: EventHash::from_bytes([8; 32]),
    }
}

fn lost() -> Lost {
    Lost {
        reason: "a frame's checksum is wrong".to_owned(),
        segment: 3,
        bytes: ByteRange { start: 128, end: 4711 },
        was: Some(LostEvent { kind: Kind::Message, id: EventHash::from_bytes([8; 32]) }),
    }
}

fn note_taken() -> NoteTaken {
    NoteTaken {
        compaction: "c1".to_owned(),
        reason: CompactionReason::Threshold,
        body: NoteBody::Bullets { bullets: vec!["tests".to_owned()], messages: vec![seq(3), seq(300)] },
        replaces: Some(seq(4)),
    }
}

fn compacted() -> ContextCompacted {
    let continuation = ContinuationId::from_bytes([6; 16]);
    let by = CompactedBy::Pointer { continuation, manifest: Box::new(manifest()) };
    ContextCompacted { text: "a pointer".to_owned(), kept_from: Some(seq(3)), by }
}

fn armed() -> FreshArmed {
    FreshArmed {
        pointer: point(),
        trigger: FreshTrigger::Person { request: "r".to_owned() },
        until: Timestamp { micros: 60_000_000, offset_minutes: 60 },
    }
}

fn one_of_each() -> Vec<Event> {
    [most(), notes()].concat()
}

fn most() -> Vec<Event> {
    let call = CallRef { site: Some(CallSite { message: seq(3), block: 2 }), provider_id: "c1".to_owned() };
    vec![
        started().into(),
        SessionTitled { title: Title { text: "t".to_owned(), source: TitleSource::User } }.into(),
        SessionDescribed { description: "d".to_owned() }.into(),
        model().into(),
        WentBack { note: "no".to_owned() }.into(),
        compacted().into(),
        message().into(),
        ToolResult {
            call: call.clone(),
            tool: "bash".to_owned(),
            status: ResultStatus::Error,
            blocks: vec![Block::Text("no".to_owned())],
            touched: vec![Touched { thread: session(2), range: SeqRange::one(seq(2)) }],
            continuation: Some(ContinuationId::from_bytes([6; 16])),
            provenance: None,
        }
        .into(),
        ErrorNoted { message: "broken".to_owned(), provenance: Some(provenance()) }.into(),
        Unreadable {
            line: LineNumber(4),
            offset: 77,
            bytes: 5,
            blob: BlobId::of(b"junk\n"),
            reason: "no JSON".to_owned(),
        }
        .into(),
        lost().into(),
        plan().into(),
        RunQueued {
            run: run(),
            lane: Lane::Background,
            trigger: seq(3),
            parent: Some(run()),
            attempt: 2,
            result_schema: Some("{}".to_owned()),
        }
        .into(),
        RunStarted { run: run(), attempt: 2, host: "boot".to_owned(), told: vec![run()] }.into(),
        RunEnded {
            run: run(),
            outcome: RunOutcome::Continued(Continued {
                session: session(3),
                continuation: ContinuationId::from_bytes([6; 16]),
            }),
        }
        .into(),
        RunWaiting { run: run() }.into(),
        ChildDelegated { run: run(), child: session(5), child_run: run(), call: Some(call) }.into(),
        ResultReturned { run: run(), value: "{}".to_owned() }.into(),
        ObligationsAsked { run: run() }.into(),
        MessageQueued { message: Message::text(Role::User, Author::User, "and this") }.into(),
        QueuedMessageTaken { queued: seq(9), to: TakenTo::Successor(session(3)) }.into(),
        LeaseTaken { host: "boot".to_owned() }.into(),
        armed().into(),
        FreshSettled { armed: seq(5), outcome: FreshOutcome::GivenUp("no model".to_owned()) }.into(),
        receipt().into(),
        ImportedLine {
            line: LineNumber(4),
            offset: 77,
            bytes: "{\"a\":\"\"}\n".into(),
            holes: vec![
                Hole::Base64 { at: 6, blob: BlobId::of(b"png") },
                Hole::Raw { at: 6, blob: BlobId::of(b"x") },
            ],
        }
        .into(),
        ImportProgress { path: "a.jsonl".to_owned(), lines: 4, prefix: Digest::of(b"all") }.into(),
    ]
}

fn notes() -> Vec<Event> {
    let event = EventHash::from_bytes([8; 32]);
    let note = EventRef { seq: seq(3), event };
    let word = MessageOrigin { session: session(2), seq: seq(2), event };
    vec![
        note_taken().into(),
        NoteGiven { session: session(2), note, run: Some(run()) }.into(),
        NudgeSent { compaction: "c1".to_owned(), text: "Go".to_owned(), after: Some(word) }.into(),
    ]
}

#[test]
fn every_kind_has_its_golden_bytes() {
    let mut lines = Vec::new();
    let mut previous = chain::START;
    for (number, event) in (1..).zip(one_of_each()) {
        let prepared = Prepared::new(Timestamp { micros: -1, offset_minutes: -90 }, &event).unwrap();
        let raw = prepared.place(session(1), seq(number), &previous, Position::new(number).unwrap());
        previous = raw.header.hash;
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (kind, version) = (event.kind(), event.version().0);
        lines.push(format!("{kind} v{version}\n  {}\n  {}", hex(&raw.header.to_bytes()), hex(&raw.body)));
        assert_eq!(raw.decode().unwrap().event, event);
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_fresh_edge_has_its_golden_bytes() {
    let mut started = started();
    if let Some(edge) = &mut started.edge {
        edge.initiator = Initiator::Runtime { armed: point() };
        edge.transition = Transition::Fresh(Box::new(Fresh {
            trigger: FreshTrigger::Overflow,
            pointer: point(),
            armed: point(),
            request: Some(MessageOrigin { session: session(2), seq: seq(2), event: point().event }),
            manifest: manifest(),
        }));
    }
    let event = Event::from(started);
    let prepared = Prepared::new(Timestamp::default(), &event).unwrap();
    let raw = prepared.place(session(1), seq(1), &chain::START, Position::FIRST);
    assert_eq!(raw.decode().unwrap().event, event);
    insta::assert_snapshot!(raw.body.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
}

#[test]
fn no_kind_is_forgotten() {
    let written: Vec<_> = one_of_each().iter().map(Event::kind).collect();
    let known: Vec<_> = Kind::KNOWN.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(written, known);
}
