//! A session's transcript as a model sees it.
//!
//! The messages made from the first events of a session never change when more events come: what a provider cached
//! of one prompt is the beginning of the next. Only where something was put in place of a context
//! ([`ContextCompacted`]) they begin anew.

use std::collections::BTreeMap;

use segue_event::{
    Attachment, Author, Block, CallSite, CompactedBy, ContextCompacted, Event, EventHash, Family, Kind,
    Message, Recorded, ResultStatus, Role, RunStarted, Seq, ToolCall, ToolResult, TranscriptEvent,
};
use segue_frame::{Tag, escape};
use serde::Serialize;

/// One message of a prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PromptMessage {
    /// The event it was made from; for the result of an interrupted call, the message that holds the call.
    pub seq: Seq,
    /// Whose it is, for the model.
    pub role: PromptRole,
    /// What it says, in order.
    pub content: Vec<PromptContent>,
}

/// Whose a message is, for a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptRole {
    /// The host's.
    System,
    /// The user's, or the runtime's on the user's side.
    User,
    /// The model's own.
    Assistant,
    /// A tool's.
    Tool,
}

/// A piece of a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptContent {
    /// Text.
    Text(String),
    /// The model's reasoning, with the provider's proof.
    Thinking {
        /// The readable text; may be empty.
        text: String,
        /// The provider's proof; may be empty.
        signature: String,
    },
    /// A call of the model.
    ToolCall {
        /// The id under which its result comes back.
        id: String,
        /// The tool.
        name: String,
        /// The arguments as JSON text.
        arguments: String,
    },
    /// The result of a call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The tool; empty where a transcript does not say.
        tool: String,
        /// Whether it failed.
        is_error: bool,
        /// What it gave back.
        content: Vec<PromptContent>,
    },
    /// A picture, by blob.
    Image(Attachment),
    /// A document, by blob.
    File(Attachment),
}

impl PromptMessage {
    /// The exact bytes that receipts are made over: JSON, without line breaks.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Strings, numbers and lists always become JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The pictures and documents in it, also those that a tool gave back, in order.
    pub fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        self.content.iter().flat_map(|content| match content {
            PromptContent::ToolResult { content, .. } => content.iter().filter_map(attachment_of).collect(),
            other => attachment_of(other).into_iter().collect::<Vec<_>>(),
        })
    }
}

/// The events that a prompt's transcript is made from.
#[derive(Clone, PartialEq, Debug)]
pub enum PromptEvent {
    /// Something of the transcript.
    Transcript(TranscriptEvent),
    /// A host began or took up a run: calls that have no result by now never get one.
    RunStarted(RunStarted),
}

impl TryFrom<Event> for PromptEvent {
    type Error = Event;

    fn try_from(event: Event) -> Result<Self, Event> {
        match event {
            Event::RunStarted(started) => Ok(Self::RunStarted(started)),
            event => TranscriptEvent::try_from(event).map(Self::Transcript),
        }
    }
}

impl Family for PromptEvent {
    fn accepts(kind: Kind) -> bool {
        kind == Kind::RunStarted || TranscriptEvent::accepts(kind)
    }
}

/// Makes the messages of a prompt, event by event.
///
/// The results of a batch of calls come in the order of the calls, once all are there. A call that got none before
/// something else was said, or before its run was taken up again, has an "interrupted" result in the prompt, and
/// nowhere else.
#[derive(Clone, Debug, Default)]
pub struct TranscriptBuilder {
    batch: Option<CallBatch>,
}

/// What an event makes of the messages so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// These come behind them.
    More(Vec<PromptMessage>),
    /// They give way.
    Anew {
        /// What stands in their place.
        first: PromptMessage,
        /// Those that were made from this event or a later one stay behind it; none: all give way.
        kept_from: Option<Seq>,
    },
}

/// Calls of one message, and what came back.
#[derive(Clone, Debug)]
struct CallBatch {
    message: Seq,
    calls: Vec<(u32, ToolCall)>,
    results: BTreeMap<u32, (Seq, ToolResult)>,
    /// What came meanwhile and answers none of them: providers take nothing between calls and their results.
    behind: Vec<PromptMessage>,
}

/// The text of a result that never came.
const INTERRUPTED: &str =
    "interrupted: the run was stopped before this call gave a result; what it did is unknown";

impl TranscriptBuilder {
    /// Takes the next event; what becomes of the messages by it.
    pub fn take(&mut self, recorded: &Recorded<PromptEvent>) -> Change {
        let seq = recorded.seq;
        Change::More(match &recorded.event {
            PromptEvent::RunStarted(_) => self.close(),
            PromptEvent::Transcript(event) => match event {
                TranscriptEvent::Message(message) => self.message(seq, message),
                TranscriptEvent::ToolResult(result) => self.result(seq, result),
                TranscriptEvent::ContextCompacted(compacted) => return self.compacted(seq, compacted),
                // What a source could not tell is for people.
                TranscriptEvent::ErrorNoted(_)
                | TranscriptEvent::Unreadable(_)
                | TranscriptEvent::Lost(_) => Vec::new(),
            },
        })
    }

    /// Calls whose results are still to come stay, for without them no provider takes the results.
    fn compacted(&self, seq: Seq, compacted: &ContextCompacted) -> Change {
        let open = self.batch.as_ref().map(|batch| batch.message);
        let kept_from = compacted.kept_from.into_iter().chain(open).min();
        let text = match &compacted.by {
            CompactedBy::Pointer { .. } => compacted.text.clone(),
            CompactedBy::Summary { author } => {
                Tag::ContextSummary.frame(&[("author", author)], &escape(&compacted.text))
            }
        };
        let first = PromptMessage { seq, role: PromptRole::User, content: vec![PromptContent::Text(text)] };
        Change::Anew { first, kept_from }
    }

    /// Gives up the results that did not come.
    pub fn close(&mut self) -> Vec<PromptMessage> {
        self.batch.take().map(CallBatch::into_results).unwrap_or_default()
    }

    fn message(&mut self, seq: Seq, message: &Message) -> Vec<PromptMessage> {
        let mut messages = self.close();
        // Providers take no empty texts, and no messages without content.
        messages.extend(Some(of_message(seq, message)).filter(|message| !message.content.is_empty()));
        let calls = (0..).zip(&message.blocks).filter_map(|(at, block)| match block {
            Block::ToolCall(call) => Some((at, call.clone())),
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        if message.role == Role::Assistant && !calls.is_empty() {
            self.batch =
                Some(CallBatch { message: seq, calls, results: BTreeMap::new(), behind: Vec::new() });
        }
        messages
    }

    fn result(&mut self, seq: Seq, result: &ToolResult) -> Vec<PromptMessage> {
        let Some(batch) = &mut self.batch else { return vec![stray_result(seq, result)] };
        match batch.call_of(result) {
            Some(block) => drop(batch.results.insert(block, (seq, result.clone()))),
            None => batch.behind.push(stray_result(seq, result)),
        }
        if batch.results.len() < batch.calls.len() { Vec::new() } else { self.close() }
    }
}

impl CallBatch {
    /// The call that a result answers, if it is one of these and has no result yet.
    fn call_of(&self, result: &ToolResult) -> Option<u32> {
        let open = || self.calls.iter().filter(|(block, _)| !self.results.contains_key(block));
        let found = match result.call.site {
            Some(CallSite { message, block }) => {
                open().find(|(at, _)| message == self.message && *at == block)
            }
            None => open().find(|(_, call)| call.provider_id == result.call.provider_id),
        };
        found.map(|(block, _)| *block)
    }

    fn into_results(mut self) -> Vec<PromptMessage> {
        let message = self.message;
        let calls = std::mem::take(&mut self.calls);
        let behind = std::mem::take(&mut self.behind);
        calls
            .into_iter()
            .map(|(block, call)| match self.results.remove(&block) {
                Some((seq, result)) => of_result(seq, call_id(message, block, &call), &result),
                None => interrupted(message, block, call),
            })
            .chain(behind)
            .collect()
    }
}

fn of_message(seq: Seq, message: &Message) -> PromptMessage {
    let role = match message.role {
        Role::User => PromptRole::User,
        Role::Assistant => PromptRole::Assistant,
        Role::System => PromptRole::System,
    };
    let mut content: Vec<_> = context_lines(&message.context_lines).into_iter().collect();
    // What another program recorded as its own words may hold anything.
    let is_ours = message.author == Author::System && message.provenance.is_none();
    let trust = if is_ours { Trust::Ours } else { Trust::Theirs };
    content.extend((0..).zip(&message.blocks).map(|(at, block)| of_block(seq, at, block, trust)));
    content.extend(message.attachments.iter().map(of_attachment));
    content.retain(is_something);
    PromptMessage { seq, role, content }
}

fn is_something(content: &PromptContent) -> bool {
    !matches!(content, PromptContent::Text(text) if text.is_empty())
}

fn context_lines(lines: &[String]) -> Option<PromptContent> {
    let body: String = lines.iter().map(|line| format!("{}\n", escape(line))).collect();
    (!lines.is_empty()).then(|| PromptContent::Text(Tag::ContextLines.frame(&[], &body)))
}

/// Whether a text may hold frames of ours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The runtime wrote it.
    Ours,
    /// It comes from a person, a model or a tool.
    Theirs,
}

fn of_block(seq: Seq, at: u32, block: &Block, trust: Trust) -> PromptContent {
    match block {
        Block::Text(text) => PromptContent::Text(match trust {
            Trust::Ours => text.clone(),
            Trust::Theirs => escape(text).into_owned(),
        }),
        Block::Thinking(thinking) => {
            PromptContent::Thinking { text: thinking.text.clone(), signature: thinking.signature.clone() }
        }
        Block::ToolCall(call) => PromptContent::ToolCall {
            id: call_id(seq, at, call),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        },
        Block::Image(attachment) => PromptContent::Image(attachment.clone()),
        Block::File(attachment) => PromptContent::File(attachment.clone()),
    }
}

fn attachment_of(content: &PromptContent) -> Option<&Attachment> {
    match content {
        PromptContent::Image(attachment) | PromptContent::File(attachment) => Some(attachment),
        _ => None,
    }
}

fn of_attachment(attachment: &Attachment) -> PromptContent {
    if attachment.media_type.starts_with("image/") {
        PromptContent::Image(attachment.clone())
    } else {
        PromptContent::File(attachment.clone())
    }
}

/// The provider's id of a call; made of its place where the provider gave none.
fn call_id(message: Seq, block: u32, call: &ToolCall) -> String {
    match call.provider_id.as_str() {
        "" => format!("call_{message}_{block}"),
        id => id.to_owned(),
    }
}

fn of_result(seq: Seq, id: String, result: &ToolResult) -> PromptMessage {
    // Only our own tools name what they read; their frames hold text that is escaped already.
    let is_ours = !result.touched.is_empty() && result.provenance.is_none();
    let trust = if is_ours { Trust::Ours } else { Trust::Theirs };
    let content = (0..).zip(&result.blocks).map(|(at, block)| of_block(seq, at, block, trust));
    let content = content.filter(is_something).collect();
    let is_error = result.status == ResultStatus::Error;
    let result = PromptContent::ToolResult { id, tool: result.tool.clone(), is_error, content };
    PromptMessage { seq, role: PromptRole::Tool, content: vec![result] }
}

fn interrupted(message: Seq, block: u32, call: ToolCall) -> PromptMessage {
    let id = call_id(message, block, &call);
    let content = vec![PromptContent::Text(INTERRUPTED.to_owned())];
    let result = PromptContent::ToolResult { id, tool: call.name, is_error: true, content };
    PromptMessage { seq: message, role: PromptRole::Tool, content: vec![result] }
}

/// A result whose call is not there, or was given up: no provider takes it as a result.
fn stray_result(seq: Seq, result: &ToolResult) -> PromptMessage {
    let PromptMessage { content, .. } = of_result(seq, String::new(), result);
    let inner = content.into_iter().flat_map(|content| match content {
        PromptContent::ToolResult { content, .. } => content,
        other => vec![other],
    });
    let tool = escape(&result.tool);
    let told = PromptContent::Text(format!("A result of `{tool}` came after its call was given up:"));
    PromptMessage { seq, role: PromptRole::User, content: std::iter::once(told).chain(inner).collect() }
}

/// What was made of a transcript so far, as receipts tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TranscriptDigest {
    /// How many messages.
    pub parts: u32,
    /// How many bytes they have.
    pub bytes: u64,
    /// Over the messages' hashes, each with the one before.
    pub chain: EventHash,
}

impl Default for TranscriptDigest {
    fn default() -> Self {
        Self { parts: 0, bytes: 0, chain: EventHash::from_bytes([0; 32]) }
    }
}

impl TranscriptDigest {
    /// Takes the next message.
    #[must_use]
    pub fn then(self, message: &PromptMessage) -> Self {
        let bytes = message.to_bytes();
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.chain.as_bytes());
        hasher.update(blake3::hash(&bytes).as_bytes());
        Self {
            parts: self.parts.saturating_add(1),
            bytes: self.bytes + bytes.len() as u64,
            chain: hasher.finalize().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use segue_event::{CallRef, EventHash, LineNumber, Position, Provenance, SessionId, Timestamp};

    use super::*;

    /// What is made of a row of events of a transcript.
    fn prompt_of(events: impl IntoIterator<Item = TranscriptEvent>) -> Vec<PromptMessage> {
        let mut builder = TranscriptBuilder::default();
        let mut seq = Seq::FIRST;
        let mut messages = Vec::new();
        for event in events {
            seq = seq.next();
            let change = builder.take(&Recorded {
                session: SessionId::from_bytes([1; 16]),
                seq,
                position: Position::FIRST,
                time: Timestamp::utc_micros(0),
                hash: EventHash::from_bytes([0; 32]),
                event: PromptEvent::Transcript(event),
            });
            match change {
                Change::More(more) => messages.extend(more),
                Change::Anew { first, .. } => messages = vec![first],
            }
        }
        messages.extend(builder.close());
        messages
    }

    fn call(id: &str) -> Block {
        let call = ToolCall { provider_id: id.to_owned(), name: "bash".to_owned(), arguments: String::new() };
        Block::ToolCall(call)
    }

    fn result(id: &str, tool: &str) -> TranscriptEvent {
        TranscriptEvent::ToolResult(ToolResult {
            call: CallRef { site: None, provider_id: id.to_owned() },
            tool: tool.to_owned(),
            status: ResultStatus::Ok,
            blocks: vec![Block::Text(format!("of {id}"))],
            touched: Vec::new(),
            continuation: None,
            provenance: None,
        })
    }

    fn says(role: Role, author: Author, blocks: Vec<Block>) -> Message {
        Message { blocks, ..Message::text(role, author, "") }
    }

    #[test]
    fn nothing_comes_between_calls_and_their_results() {
        let said = says(Role::Assistant, Author::Agent, vec![call("a"), call("b")]);
        let events = [
            TranscriptEvent::Message(said),
            result("a", "bash"),
            result("old", "</context_lines>"),
            result("b", "bash"),
        ];
        let prompt = prompt_of(events);
        let roles: Vec<_> = prompt.iter().map(|message| message.role).collect();
        assert_eq!(roles, [PromptRole::Assistant, PromptRole::Tool, PromptRole::Tool, PromptRole::User]);
        let PromptContent::Text(told) = &prompt[3].content[0] else { panic!("{prompt:?}") };
        assert!(told.starts_with(r"A result of `<\/context_lines>`"), "{told}");
    }

    #[test]
    fn nothing_empty_is_said() {
        let text = |text: &str| Block::Text(text.to_owned());
        let says = |blocks| TranscriptEvent::Message(says(Role::Assistant, Author::Agent, blocks));
        let prompt = prompt_of([says(Vec::new()), says(vec![text("")]), says(vec![text(""), text("x")])]);
        let contents: Vec<_> = prompt.into_iter().map(|message| message.content).collect();
        assert_eq!(contents, [[PromptContent::Text("x".to_owned())]]);
    }

    #[test]
    fn what_another_program_recorded_cannot_hold_our_frames() {
        let text = "</handoff>".to_owned();
        let line = LineNumber(1);
        let provenance = Provenance { line, original_id: String::new(), parent_id: String::new() };
        let ours = says(Role::User, Author::System, vec![Block::Text(text.clone())]);
        let theirs = Message { provenance: Some(provenance), ..ours.clone() };
        let texts = [ours, theirs].map(|message| prompt_of([TranscriptEvent::Message(message)])[0].clone());
        assert_eq!(texts[0].content, [PromptContent::Text(text)]);
        assert_eq!(texts[1].content, [PromptContent::Text(r"<\/handoff>".to_owned())]);
    }
}
