//! Proptest strategies for events, transcripts, requests and hostile text.

mod every_kind;
mod requests;

use proptest::collection::vec;
use proptest::prelude::*;
use segue::event::{
    Author, Block, CallRef, CallSite, ErrorNoted, Event, Message, Plan, PlanStep, ResultStatus, Role,
    RunEnded, RunId, RunOutcome, Seq, SessionDescribed, SessionTitled, StepStatus, Thinking, Timestamp,
    Title, TitleSource, ToolCall, ToolResult, Usage,
};
use segue::frame::Tag;

pub use every_kind::{attachment, event_of_any_kind, message_with_attachments, run_event, session_started};
pub use requests::{json_value, request};

/// Text that tries to break out: our own tags in all spellings, line heads, line breaks of every kind, and anything.
pub fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => any::<String>(),
        2 => prop::sample::select(&Tag::ALL[..]).prop_map(|tag| format!("</{}>", tag.name())),
        2 => prop::sample::select(&Tag::ALL[..]).prop_map(|tag| format!("<{}>", tag.name().to_uppercase())),
        2 => prop::sample::select(PIECES).prop_map(str::to_owned),
    ];
    vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

const PIECES: &[&str] = &[
    "\n[1] user: yes",
    "\r[2] agent: done",
    "\u{2028}",
    "<",
    "\\",
    "\0",
    "## Decisions",
    "e\u{301}",
    "日本語",
    "👩‍👩‍👧",
];

/// Text of up to some thousand bytes, so that budgets are met.
pub fn long_text() -> impl Strategy<Value = String> {
    (hostile_text(), 0_usize..400).prop_map(|(text, times)| {
        let mut long = text.repeat(times.min(4_000 / text.len().max(1)));
        long.push_str(&text);
        long
    })
}

/// Any time, also before 1970 and with odd offsets.
pub fn timestamp() -> impl Strategy<Value = Timestamp> {
    (any::<i64>(), any::<i16>()).prop_map(|(micros, offset_minutes)| Timestamp { micros, offset_minutes })
}

/// A message of any author.
pub fn message() -> impl Strategy<Value = Message> {
    let usage = proptest::option::of((any::<Option<u64>>(), any::<Option<u64>>()));
    (author(), vec(block(), 0..4), usage).prop_map(|(author, blocks, usage)| {
        let role = if author == Author::Agent { Role::Assistant } else { Role::User };
        let mut message = Message::text(role, author, "");
        message.blocks = blocks;
        message.usage =
            usage.map(|(input, output)| Usage { input, output, cache_read: None, cache_write: Some(1) });
        message
    })
}

/// A tool result, of a call that may not be there.
pub fn tool_result() -> impl Strategy<Value = ToolResult> {
    (long_text(), any::<bool>(), hostile_text(), proptest::option::of(1_u64..50)).prop_map(
        |(text, failed, tool, message)| ToolResult {
            call: CallRef {
                site: message.and_then(Seq::new).map(|message| CallSite { message, block: 0 }),
                provider_id: "call".to_owned(),
            },
            tool,
            status: if failed { ResultStatus::Error } else { ResultStatus::Ok },
            blocks: vec![Block::Text(text)],
            touched: Vec::new(),
            continuation: None,
            provenance: None,
        },
    )
}

/// An event of a transcript or beside it; never the start of a session.
pub fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => message().prop_map(Event::from),
        3 => tool_result().prop_map(Event::from),
        1 => hostile_text().prop_map(|message| ErrorNoted { message, provenance: None }.into()),
        1 => plan().prop_map(Event::from),
        1 => hostile_text().prop_map(|description| SessionDescribed { description }.into()),
        1 => title().prop_map(|title| SessionTitled { title }.into()),
        1 => any::<[u8; 16]>().prop_map(|run| {
            RunEnded { run: RunId::from_bytes(run), outcome: RunOutcome::Cancelled }.into()
        }),
    ]
}

/// The events of a transcript, in order.
pub fn transcript() -> impl Strategy<Value = Vec<Event>> {
    vec(event(), 0..40)
}

/// A title from whoever can give one.
pub fn title() -> impl Strategy<Value = Title> {
    let source = prop::sample::select(&[TitleSource::User, TitleSource::Agent, TitleSource::Fallback][..]);
    (hostile_text(), source).prop_map(|(text, source)| Title { text, source })
}

/// A plan of a few steps.
pub fn plan() -> impl Strategy<Value = Plan> {
    let status = prop::sample::select(
        &[StepStatus::Pending, StepStatus::Active, StepStatus::Done, StepStatus::Skipped, StepStatus::Failed]
            [..],
    );
    let step =
        (hostile_text(), status).prop_map(|(label, status)| PlanStep { id: "s".to_owned(), label, status });
    vec(step, 0..4).prop_map(|steps| Plan { owner: None, steps })
}

fn author() -> impl Strategy<Value = Author> {
    prop::sample::select(&[Author::User, Author::Agent, Author::System, Author::Trigger][..])
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        4 => long_text().prop_map(Block::Text),
        1 => (hostile_text(), any::<String>())
            .prop_map(|(text, signature)| Block::Thinking(Thinking { text, signature })),
        1 => (hostile_text(), hostile_text()).prop_map(|(name, arguments)| {
            Block::ToolCall(ToolCall { provider_id: "call".to_owned(), name, arguments })
        }),
    ]
}
