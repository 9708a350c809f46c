//! Events of every kind, each alone: for codecs and folds, not for a record that holds together.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use segue::event::{
    AgentId, Attachment, BlobId, ByteRange, CallRef, ChildDelegated, CompactedBy, CompactionReason,
    ContextCompacted, ContinuationId, Continued, Digest, Event, EventHash, EventRef, FreshArmed,
    FreshOutcome, FreshSettled, FreshTrigger, Hole, ImportProgress, ImportedLine, Kind, Lane, LeaseTaken,
    LineNumber, Lost, LostEvent, MessageOrigin, MessageQueued, ModelName, ModelOverride, NoteBody, NoteGiven,
    NoteTaken, NudgeSent, ObligationsAsked, QueuedMessageTaken, Receipt, ResultReturned, RunEnded, RunId,
    RunOutcome, RunQueued, RunStarted, RunWaiting, Seq, SessionId, SessionStarted, TakenTo, Timestamp,
    TranscriptReceipt, Unreadable, WentBack,
};

use super::{event, hostile_text, message, plan, title};

/// An event of any kind that this version knows, also the start of a session.
pub fn event_of_any_kind() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => event(),
        1 => message_with_attachments().prop_map(Event::from),
        1 => session_started().prop_map(Event::from),
        1 => model_override().prop_map(Event::from),
        1 => hostile_text().prop_map(|note| WentBack { note }.into()),
        6 => run_event(),
        2 => damage(),
        1 => receipt().prop_map(Event::from),
        2 => fresh_event(),
        2 => import_event(),
        2 => note_event(),
    ]
}

/// The start of a session that came from nowhere.
pub fn session_started() -> impl Strategy<Value = SessionStarted> {
    let texts = (hostile_text(), hostile_text());
    (agent(), title(), texts, option::of(model_override()), option::of(plan())).prop_map(
        |(agent, title, (description, working_directory), model, plan)| SessionStarted {
            agent,
            title,
            description,
            working_directory,
            model,
            plan,
            edge: None,
            import: None,
        },
    )
}

/// An attachment whose blob nobody keeps: a picture, or a file of some type.
pub fn attachment() -> impl Strategy<Value = Attachment> {
    let media_type = prop::sample::select(&["image/png", "image/jpeg", "application/pdf", "", "x"][..]);
    (any::<[u8; 4]>(), media_type, hostile_text(), any::<u64>()).prop_map(
        |(content, media_type, name, bytes)| Attachment {
            blob: BlobId::of(&content),
            media_type: media_type.to_owned(),
            name,
            bytes,
        },
    )
}

/// A message with attachments beside its blocks, and lines of context before them.
pub fn message_with_attachments() -> impl Strategy<Value = segue::event::Message> {
    (message(), vec(attachment(), 1..4), vec(hostile_text(), 0..3)).prop_map(
        |(message, attachments, context_lines)| segue::event::Message {
            attachments,
            context_lines,
            ..message
        },
    )
}

/// An event of the work of runs.
pub fn run_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        run_queued().prop_map(Event::from),
        (run(), any::<u32>(), hostile_text(), vec(run(), 0..3))
            .prop_map(|(run, attempt, host, told)| RunStarted { run, attempt, host, told }.into()),
        run().prop_map(|run| RunWaiting { run }.into()),
        (run(), session(), run()).prop_map(|(run, child, child_run)| {
            let call = CallRef { site: None, provider_id: "call".to_owned() };
            ChildDelegated { run, child, child_run, call: Some(call) }.into()
        }),
        (run(), hostile_text()).prop_map(|(run, value)| ResultReturned { run, value }.into()),
        run().prop_map(|run| ObligationsAsked { run }.into()),
        message().prop_map(|message| MessageQueued { message }.into()),
        (seq(), option::of(session())).prop_map(|(queued, successor)| {
            let to = successor.map_or(TakenTo::Turn, TakenTo::Successor);
            QueuedMessageTaken { queued, to }.into()
        }),
        (run(), outcome()).prop_map(|(run, outcome)| RunEnded { run, outcome }.into()),
        hostile_text().prop_map(|host| LeaseTaken { host }.into()),
    ]
}

/// What stands in place of a context, and how a fresh session comes of it.
fn fresh_event() -> impl Strategy<Value = Event> {
    let compacted =
        (hostile_text(), option::of(seq()), hostile_text()).prop_map(|(text, kept_from, author)| {
            ContextCompacted { text, kept_from, by: CompactedBy::Summary { author } }.into()
        });
    let trigger = prop_oneof![
        Just(FreshTrigger::MidRun),
        Just(FreshTrigger::RunEnd),
        Just(FreshTrigger::BeforePrompt),
        Just(FreshTrigger::Overflow),
        hostile_text().prop_map(|request| FreshTrigger::Person { request }),
    ];
    let armed = (seq(), hash(), trigger, any::<i64>()).prop_map(|(seq, event, trigger, micros)| {
        let until = Timestamp::utc_micros(micros);
        FreshArmed { pointer: EventRef { seq, event }, trigger, until }.into()
    });
    let settled = (seq(), option::of(session()), hostile_text()).prop_map(|(armed, session, why)| {
        let continuation = ContinuationId::from_bytes([1; 16]);
        let started = |session| FreshOutcome::Started(Continued { session, continuation });
        FreshSettled { armed, outcome: session.map_or(FreshOutcome::GivenUp(why), started) }.into()
    });
    prop_oneof![compacted, armed, settled]
}

fn run_queued() -> impl Strategy<Value = RunQueued> {
    let lane = prop_oneof![Just(Lane::Interactive), Just(Lane::Background)];
    (run(), lane, seq(), option::of(run()), any::<u32>(), option::of(hostile_text())).prop_map(
        |(run, lane, trigger, parent, attempt, result_schema)| RunQueued {
            run,
            lane,
            trigger,
            parent,
            attempt,
            result_schema,
        },
    )
}

fn outcome() -> impl Strategy<Value = RunOutcome> {
    prop_oneof![
        Just(RunOutcome::Succeeded),
        (session(), any::<[u8; 16]>()).prop_map(|(session, id)| {
            let continuation = ContinuationId::from_bytes(id);
            RunOutcome::Continued(Continued { session, continuation })
        }),
        hostile_text().prop_map(RunOutcome::Failed),
        Just(RunOutcome::Cancelled),
    ]
}

/// What could not be read, and what was lost.
fn damage() -> impl Strategy<Value = Event> {
    let unreadable = (any::<[u64; 3]>(), hostile_text()).prop_map(|([line, offset, bytes], reason)| {
        let blob = BlobId::of(reason.as_bytes());
        Unreadable { line: LineNumber(line), offset, bytes, blob, reason }.into()
    });
    let was = option::of((any::<u16>(), hash()));
    let lost = (hostile_text(), any::<u32>(), any::<[u64; 2]>(), was).prop_map(
        |(reason, segment, [start, end], was)| {
            let was = was.map(|(kind, id)| LostEvent { kind: Kind(kind), id });
            Lost { reason, segment, bytes: ByteRange { start, end }, was }.into()
        },
    );
    prop_oneof![unreadable, lost]
}

fn receipt() -> impl Strategy<Value = Receipt> {
    let parts = || vec(digest(), 0..3);
    let transcript = (seq(), any::<u32>(), any::<u64>(), hash())
        .prop_map(|(through, parts, bytes, chain)| TranscriptReceipt { through, parts, bytes, chain });
    let about = (run(), any::<u32>(), any::<u32>(), any::<Option<u64>>());
    (about, parts(), parts(), transcript, parts(), hash()).prop_map(
        |((run, attempt, renderer, window_tokens), system, tools, transcript, blocks, prompt)| Receipt {
            run,
            attempt,
            renderer,
            model: None,
            window_tokens,
            system,
            tools,
            transcript,
            blocks,
            prompt,
        },
    )
}

fn import_event() -> impl Strategy<Value = Event> {
    let line = (any::<[u64; 3]>(), vec(any::<u8>(), 0..64)).prop_map(|([line, offset, at], bytes)| {
        let blob = BlobId::of(&bytes);
        let holes = vec![Hole::Base64 { at, blob }, Hole::Raw { at, blob }];
        ImportedLine { line: LineNumber(line), offset, bytes: bytes.into(), holes }.into()
    });
    let progress = (hostile_text(), any::<u64>(), digest())
        .prop_map(|(path, lines, prefix)| ImportProgress { path, lines, prefix }.into());
    prop_oneof![line, progress]
}

/// An event about handoff notes.
fn note_event() -> impl Strategy<Value = Event> {
    let reason = prop::sample::select(&CompactionReason::ALL[..]);
    let bullets = (vec(hostile_text(), 0..3), vec(seq(), 0..3))
        .prop_map(|(bullets, messages)| NoteBody::Bullets { bullets, messages });
    let body = prop_oneof![bullets, hostile_text().prop_map(NoteBody::Summary)];
    let taken =
        (hostile_text(), reason, body, option::of(seq())).prop_map(|(compaction, reason, body, replaces)| {
            NoteTaken { compaction, reason, body, replaces }.into()
        });
    let given = (session(), seq(), hash(), option::of(run())).prop_map(|(session, seq, event, run)| {
        NoteGiven { session, note: EventRef { seq, event }, run }.into()
    });
    let word =
        (session(), seq(), hash()).prop_map(|(session, seq, event)| MessageOrigin { session, seq, event });
    let nudge = (hostile_text(), hostile_text(), option::of(word))
        .prop_map(|(compaction, text, after)| NudgeSent { compaction, text, after }.into());
    prop_oneof![taken, given, nudge]
}

fn model_override() -> impl Strategy<Value = ModelOverride> {
    (hostile_text(), hostile_text(), hostile_text()).prop_map(|(provider, model, settings)| ModelOverride {
        name: ModelName { provider, model },
        settings,
    })
}

fn agent() -> impl Strategy<Value = AgentId> {
    "[a-z]{1,8}".prop_filter_map("no name of an agent", |name| AgentId::new(&name).ok())
}

fn run() -> impl Strategy<Value = RunId> {
    any::<[u8; 16]>().prop_map(RunId::from_bytes)
}

fn session() -> impl Strategy<Value = SessionId> {
    any::<[u8; 16]>().prop_map(SessionId::from_bytes)
}

fn seq() -> impl Strategy<Value = Seq> {
    (1_u64..1_000).prop_map(|number| Seq::FIRST.plus(number - 1))
}

fn hash() -> impl Strategy<Value = EventHash> {
    any::<[u8; 32]>().prop_map(EventHash::from_bytes)
}

fn digest() -> impl Strategy<Value = Digest> {
    vec(any::<u8>(), 0..9).prop_map(|bytes| Digest::of(&bytes))
}
