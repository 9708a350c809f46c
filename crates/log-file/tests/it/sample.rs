//! Stores to try things on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_event::{
    AgentId, Author, ContinuationId, Digest, Edge, EventHash, EventRef, Handoff, Handover, Initiator,
    KindSet, Manifest, Message, PlanTransfer, Position, RawEvent, Reason, Role, Seq, SeqRange, SessionId,
    SessionStarted, Timestamp, Title, TranscriptEvent, Transition,
};
use segue_log::{
    Case, ClaimKey, Commit, Depth, Direction, EventLog, Expected, LogError, NewEvent, Report, SessionPage,
    Sieve, Sift, Sifted, Stretch,
};
use segue_log_file::{FileLog, Options};

pub(crate) fn session(number: u8) -> SessionId {
    SessionId::from_bytes([number; 16])
}

pub(crate) fn message(text: &str) -> NewEvent {
    NewEvent::new(Timestamp::utc_micros(7), Message::text(Role::User, Author::User, text))
}

/// A commit of one event with a text at the head of a session.
pub(crate) fn say(number: u8, text: &str) -> Commit {
    Commit::new().append(session(number), Expected::AtHead, vec![message(text)])
}

/// A commit that takes a key.
pub(crate) fn claiming(number: u8, key: &str) -> Commit {
    say(number, key).claim(ClaimKey::new(key).unwrap())
}

/// A commit that begins a session which continues another.
pub(crate) fn continuing(successor: u8, predecessor: u8) -> Commit {
    let event = EventRef { seq: Seq::FIRST, event: EventHash::from_bytes([0; 32]) };
    let manifest = Manifest {
        compiler: 1,
        budget_bytes: 0,
        handoff: Handoff::default(),
        sources: Vec::new(),
        recommended: Vec::new(),
        parts: Vec::new(),
        included: Vec::new(),
        omitted: Vec::new(),
        plan: PlanTransfer::Omit,
        projection: Digest::of(b""),
        compiled_at: None,
    };
    let edge = Edge {
        continuation: ContinuationId::from_bytes([9; 16]),
        predecessor: session(predecessor),
        predecessor_title: String::new(),
        predecessor_head: event,
        origin: session(predecessor),
        initiator: Initiator::Person { request: "r".to_owned() },
        created_at: Timestamp::default(),
        transition: Transition::Continue(Box::new(Handover {
            initiating: event,
            reason: Reason::Other,
            manifest,
        })),
    };
    let started = SessionStarted {
        agent: AgentId::new("agent").unwrap(),
        title: Title::default(),
        description: String::new(),
        working_directory: String::new(),
        model: None,
        plan: None,
        edge: Some(Box::new(edge)),
        import: None,
    };
    let started = NewEvent::new(Timestamp::default(), started);
    Commit::new().append(session(successor), Expected::first(), vec![started])
}

pub(crate) fn open(path: &Path) -> Arc<dyn EventLog> {
    Arc::new(FileLog::open(path, Options::default()).unwrap())
}

pub(crate) fn read_log(log: &dyn EventLog) -> Vec<RawEvent> {
    log.read_log(Position::FIRST).unwrap().collect::<Result<_, _>>().unwrap()
}

/// What a log answers to everything that tests ask it, errors included.
pub(crate) fn answers(log: &dyn EventLog) -> String {
    let page = SessionPage { before: None, limit: 100 };
    let read = |number| -> Vec<_> {
        let forward = log.read(session(number), SeqRange::ALL, Direction::Forward).unwrap();
        let backward = log.read(session(number), SeqRange::ALL, Direction::Backward).unwrap();
        forward.chain(backward).collect()
    };
    let claim = |number: u8| log.claimed(&ClaimKey::new(number.to_string()).unwrap());
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        log.read_log(Position::FIRST).unwrap().collect::<Vec<_>>(),
        (0..4).map(read).collect::<Vec<_>>(),
        log.sessions(page),
        (0..9).map(claim).collect::<Vec<_>>(),
        log.end(),
        ["rare 7", "common", "one more", "nowhere"].map(|text| found(log, text)),
    )
}

/// The places of the events that hold a text, or what kept them from being looked at.
fn found(log: &dyn EventLog, text: &str) -> Vec<String> {
    let stretches = (0..4).map(|number| Stretch { session: session(number), range: SeqRange::ALL }).collect();
    let (from, to) = (Position::FIRST, Position::FIRST.plus(u64::MAX));
    let (direction, kinds) = (Direction::Backward, KindSet::of::<TranscriptEvent>());
    let sift = Sift {
        stretches,
        from,
        to,
        direction,
        kinds,
        sieve: Sieve::holding(text.as_bytes(), Case::Sensitive),
    };
    let holds = |event: &RawEvent| memchr::memmem::find(&event.body, text.as_bytes()).is_some();
    let told = |item: Result<Sifted, LogError>| match item {
        Ok(Sifted::Event(event)) => holds(&event).then(|| event.position.to_string()),
        Ok(Sifted::Passed { .. }) => None,
        Err(error) => Some(error.to_string()),
    };
    match log.sift(&sift) {
        Ok(items) => items.filter_map(told).collect(),
        Err(error) => vec![error.to_string()],
    }
}

pub(crate) fn verify(path: &Path) -> Report {
    FileLog::open(path, Options::default()).unwrap().verify(Depth::Full, &mut |_| ()).unwrap()
}

pub(crate) fn segment(path: &Path, number: u32) -> PathBuf {
    path.join(format!("log/{number:08}.seg"))
}

/// Whether a segment is compressed, as a flag in its header says.
pub(crate) fn is_packed(segment: &Path) -> bool {
    fs::read(segment).unwrap()[12] == 2
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Cuts the zeros off the end of a segment, which a writer filled ahead. The last commit must end in a claim: the
/// body of an event may itself end in zeros.
pub(crate) fn trim(segment: &Path) -> u64 {
    let bytes = fs::read(segment).unwrap();
    let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    fs::write(segment, &bytes[..length]).unwrap();
    length as u64
}
