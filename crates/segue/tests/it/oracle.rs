//! Recall held to an oracle that reads everything and decodes every JSON value.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use segue::event::{
    AgentId, Attachment, Author, BlobId, Block, CallRef, Event, LineNumber, Message, ResultStatus, Role,
    SeqRange, SessionId, Thinking, Timestamp, ToolCall, ToolResult, TranscriptEvent, Unreadable,
};
use segue::log::{Commit, Direction, EventLog, Expected, MemoryLog, NewEvent};
use segue::log_file::FileLog;
use segue::thread::{Case, Only, Order, Query, RecallLimits, Style};
use segue::{NewSession, Options, Scope, Where, Workspace};
use segue_testkit::FixedHost;
use serde_json::Value;

/// A search of any kind.
#[derive(Clone, Debug)]
struct Wanted {
    style: Style,
    text: String,
    case: Case,
}

/// Scripts that are written without blanks, marks that join, pictures, controls, what JSON escapes, and plain letters.
fn alphabet() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "B",
        "ab",
        " ",
        "\n",
        "\"",
        "\\",
        "/",
        "\t",
        "\u{0}",
        "\u{1b}",
        "漢",
        "字",
        "カナ",
        "한",
        "é",
        "e\u{301}",
        "ß",
        "ẞ",
        "K",
        "ſ",
        "İ",
        "😀",
        "👩‍👩‍👧",
        "\u{200b}",
        "\u{feff}",
        "0",
        "17",
        "x/y.rs",
        "error: ",
        "Ω",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|pieces| pieces.concat())
}

/// JSON of some strings, written as some encoder or other would.
fn json() -> impl Strategy<Value = String> {
    (prop::collection::btree_map(alphabet(), alphabet(), 0..4), 0..3).prop_map(|(map, encoder)| {
        let plain = serde_json::to_string(&map).unwrap();
        match encoder {
            0 => plain,
            1 => plain.replace('/', "\\/").replace('a', "\\u0061"),
            _ => plain.chars().map(|c| if c.is_ascii() { c.to_string() } else { escaped(c) }).collect(),
        }
    })
}

fn escaped(character: char) -> String {
    let mut units = [0; 2];
    character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04X}")).collect()
}

fn event() -> impl Strategy<Value = Event> {
    let message =
        (alphabet(), alphabet(), json(), alphabet()).prop_map(|(text, thinking, arguments, name)| {
            let mut message = Message::text(Role::Assistant, Author::Agent, text);
            message.blocks.push(Block::Thinking(Thinking { text: thinking, signature: "sig".to_owned() }));
            message.blocks.push(Block::ToolCall(ToolCall {
                provider_id: "c".to_owned(),
                name: "bash".to_owned(),
                arguments,
            }));
            let blob = BlobId::of(b"picture");
            message.blocks.push(Block::Image(Attachment {
                blob,
                media_type: "image/png".to_owned(),
                name,
                bytes: 7,
            }));
            Event::from(message)
        });
    let result = alphabet().prop_map(|text| {
        Event::from(ToolResult {
            call: CallRef { site: None, provider_id: "c".to_owned() },
            tool: "bash".to_owned(),
            status: ResultStatus::Ok,
            blocks: vec![Block::Text(text)],
            touched: Vec::new(),
            continuation: None,
            provenance: None,
        })
    });
    prop_oneof![3 => message, 3 => result]
}

/// A line that could not be read: text with bytes in it that are none.
fn garbled() -> impl Strategy<Value = Vec<u8>> {
    (alphabet(), alphabet()).prop_map(|(one, two)| [one.as_bytes(), b"\xff\xc3", two.as_bytes()].concat())
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let style = prop_oneof![Just(Style::Literal), Just(Style::Words), Just(Style::Regex)];
    let case = prop_oneof![Just(Case::Sensitive), Just(Case::Insensitive)];
    let expression = prop::collection::vec(
        prop::sample::select(vec![
            "a", "B+", "[ab]", "(ab|字)", "漢.", r"\d+", "é?", r"\s", "x/y", r"\.rs", "^a", "b$", "(?i)k",
            ".",
        ]),
        1..4,
    );
    (style, case, alphabet(), expression).prop_map(|(style, case, text, expression)| {
        let text = if style == Style::Regex { expression.concat() } else { text.chars().take(6).collect() };
        Wanted { style, text, case }
    })
}

/// Where a text stands.
type Place = (SessionId, u64, u32);

/// Every text of some sessions, with all that it can mean.
fn texts(log: &dyn EventLog, sessions: &[SessionId]) -> Vec<(Place, Vec<String>)> {
    let mut texts = Vec::new();
    for session in sessions {
        for raw in log.read(*session, SeqRange::ALL, Direction::Forward).unwrap() {
            let Some(recorded) = raw.unwrap().decode_as::<TranscriptEvent>().unwrap() else { continue };
            let place = |part| (*session, recorded.seq.get(), part);
            match recorded.event {
                TranscriptEvent::Message(message) => {
                    for (part, block) in (0..).zip(message.blocks) {
                        texts.push((place(part), meanings(block)));
                    }
                }
                TranscriptEvent::ToolResult(result) => {
                    texts
                        .extend((0..).zip(result.blocks).map(|(part, block)| (place(part), meanings(block))));
                }
                TranscriptEvent::Unreadable(line) => {
                    let bytes = log.blob(&line.blob).unwrap().unwrap();
                    texts.push((place(0), vec![line.reason]));
                    texts.push((place(1), vec![String::from_utf8_lossy(&bytes).into_owned()]));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    texts
}

fn meanings(block: Block) -> Vec<String> {
    match block {
        Block::Text(text) => vec![text],
        Block::Thinking(thinking) => vec![thinking.text],
        Block::ToolCall(call) => {
            let mut all = vec![call.arguments.clone()];
            strings(&serde_json::from_str(&call.arguments).unwrap(), &mut all);
            all
        }
        Block::Image(file) | Block::File(file) => vec![file.name],
    }
}

fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            into.push(key.clone());
            strings(value, into);
        }),
        _ => {}
    }
}

impl Wanted {
    /// The dumbest way to tell whether a text holds it.
    fn is_in(&self, meanings: &[String]) -> bool {
        let holds = |pattern: &str| {
            let mut builder = regex::RegexBuilder::new(pattern);
            let regex =
                builder.case_insensitive(self.case == Case::Insensitive).multi_line(true).build().unwrap();
            meanings.iter().any(|text| regex.is_match(text))
        };
        match self.style {
            Style::Literal => holds(&regex::escape(&self.text)),
            Style::Regex => holds(&self.text),
            Style::Words => self.text.split_whitespace().all(|word| holds(&regex::escape(word))),
        }
    }
}

/// Writes the events to two sessions in turn.
fn write(workspace: &Workspace, events: &[Event], lines: &[Vec<u8>]) -> Vec<SessionId> {
    let new = || workspace.start_session(NewSession::of(AgentId::new("coder").unwrap())).unwrap();
    let sessions = vec![new(), new()];
    let log = workspace.log();
    let unreadable = lines.iter().map(|bytes| {
        let blob = log.put_blob(bytes).unwrap();
        let reason = "no JSON".to_owned();
        Event::from(Unreadable { line: LineNumber(1), offset: 0, bytes: bytes.len() as u64, blob, reason })
    });
    for (event, session) in events.iter().cloned().chain(unreadable).zip(sessions.iter().cycle()) {
        append(workspace, *session, event);
    }
    sessions
}

/// What is found does not depend on the disk, which nothing here waits for.
fn append(workspace: &Workspace, session: SessionId, event: Event) {
    let event = NewEvent::new(Timestamp::default(), event);
    let commit = Commit::new().append(session, Expected::AtHead, vec![event]).without_waiting();
    workspace.log().commit(commit).unwrap();
}

/// All that recall finds, page by page, while the log grows.
fn found(workspace: &Workspace, sessions: &[SessionId], query: &Query, more: &Event) -> Vec<Place> {
    let reader = workspace.reader(Scope::Workspace);
    let limits = RecallLimits { answer_bytes: 900, context_bytes: 5, ..RecallLimits::default() };
    let (mut found, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let answer = reader.recall(Where::Everywhere, query, &limits.into(), cursor).unwrap();
        found.extend(answer.hits.iter().map(|hit| (hit.thread, hit.seq.get(), hit.part)));
        // Not on every page, for what comes may be found by the next search.
        if pages < 2 {
            append(workspace, *sessions.first().unwrap(), more.clone());
        }
        pages += 1;
        match answer.cursor {
            Some(next) => cursor = Some(next),
            None => {
                assert!(answer.coverage.complete, "{:?}", answer.coverage);
                return found;
            }
        }
    }
}

fn check(workspace: &Workspace, sessions: &[SessionId], wanted: &[Wanted], more: &Event) {
    for wanted in wanted {
        let Ok(query) = Query::new(wanted.style, &wanted.text, wanted.case) else { continue };
        for order in [Order::NewestFirst, Order::OldestFirst] {
            let texts = texts(&**workspace.log(), sessions);
            let expected: BTreeSet<_> = texts
                .iter()
                .filter(|(_, meanings)| wanted.is_in(meanings))
                .map(|(place, _)| *place)
                .collect();
            let query = query.clone().only(Only::default()).in_order(order);
            let places = found(workspace, sessions, &query, more);
            let set: BTreeSet<_> = places.iter().copied().collect();
            assert_eq!(set.len(), places.len(), "{wanted:?}: a place comes twice");
            assert_eq!(set, expected, "{wanted:?} {order:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn recall_finds_exactly_what_reading_everything_finds(
        events in prop::collection::vec(event(), 1..24),
        lines in prop::collection::vec(garbled(), 0..3),
        wanted in prop::collection::vec(wanted(), 1..8),
        segment_bytes in prop_oneof![Just(2_048_u64), Just(1_000_000)],
        more in event(),
    ) {
        let memory = Workspace::on(MemoryLog::new(), FixedHost::new());
        let sessions = write(&memory, &events, &lines);
        check(&memory, &sessions, &wanted, &more);

        let folder = tempfile::tempdir().unwrap();
        let options = segue::log_file::Options { segment_bytes, ..Default::default() };
        let log: Arc<dyn EventLog> = Arc::new(FileLog::open(folder.path().join("store"), options).unwrap());
        let files = Workspace::with_options(Arc::clone(&log), FixedHost::new(), Options::default());
        let sessions = write(&files, &events, &lines);
        check(&files, &sessions, &wanted, &more);
        log.settle().unwrap();
        check(&files, &sessions, &wanted, &more);
    }
}
