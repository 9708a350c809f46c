//! What a transcript shows of one event.

use segue_event::{
    Attachment, Author, Block, CompactedBy, Lost, Message, Recorded, ResultStatus, Seq, ToolCall, ToolResult,
    TranscriptEvent,
};

use crate::line::{self, Who};

/// What a transcript shows of one event: a line for each block of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The event's number.
    pub seq: Seq,
    /// The texts, in order; empty where there is nothing to show.
    pub parts: Vec<Part>,
}

/// One text of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Which of the event's texts it is, from 0; for a text that is a block, the block's index.
    pub index: u32,
    /// Whose it is.
    pub who: Who,
    /// The text, exactly.
    pub text: String,
}

impl Entry {
    /// What a transcript shows of an event. Each begins with what [`TranscriptEvent::texts`] has at its index, if that
    /// has anything; behind it may stand what describes it.
    pub fn of(recorded: &Recorded<TranscriptEvent>) -> Self {
        let parts = match &recorded.event {
            TranscriptEvent::Message(message) => message_parts(message),
            TranscriptEvent::ToolResult(result) => result_parts(result),
            TranscriptEvent::ErrorNoted(error) => vec![single("error", error.message.clone())],
            TranscriptEvent::Unreadable(unreadable) => vec![single(
                "unreadable",
                format!(
                    "{} (line {}, {} bytes, blob {})",
                    unreadable.reason, unreadable.line, unreadable.bytes, unreadable.blob
                ),
            )],
            TranscriptEvent::Lost(lost) => vec![single("lost", describe_lost(lost))],
            TranscriptEvent::ContextCompacted(compacted) => match &compacted.by {
                CompactedBy::Pointer { .. } => vec![single("pointer", compacted.text.clone())],
                CompactedBy::Summary { author } => {
                    vec![single(&format!("summary by {author}"), compacted.text.clone())]
                }
            },
        };
        let numbered = (0..).zip(parts).map(|(index, (who, text))| Part { index, who: Who::new(&who), text });
        Self { seq: recorded.seq, parts: numbered.filter(|part| !part.text.is_empty()).collect() }
    }

    /// Adds the entry's lines to `out`.
    pub fn write(&self, out: &mut String) {
        self.parts.iter().for_each(|part| line::write(out, self.seq, &part.who, &part.text));
    }

    /// The entry's lines.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// A label and a text.
type Labelled = (String, String);

fn message_parts(message: &Message) -> Vec<Labelled> {
    let author = author_label(message.author);
    let mut parts = block_parts(&message.blocks, author);
    parts.extend(message.context_lines.iter().map(|line| single(&format!("{author} context"), line.clone())));
    parts
        .extend(message.attachments.iter().map(|file| single(&format!("{author} attaches"), describe(file))));
    parts
}

fn result_parts(result: &ToolResult) -> Vec<Labelled> {
    let tool = if result.tool.is_empty() { "tool" } else { &result.tool };
    let verb = match result.status {
        ResultStatus::Ok => "answers",
        ResultStatus::Error => "fails",
    };
    block_parts(&result.blocks, &format!("{tool} {verb}"))
}

fn block_parts(blocks: &[Block], who: &str) -> Vec<Labelled> {
    blocks.iter().map(|block| block_part(block, who)).collect()
}

fn block_part(content: &Block, who: &str) -> Labelled {
    match content {
        Block::Text(text) => (who.to_owned(), text.clone()),
        Block::Thinking(thinking) => (format!("{who} thinks"), thinking.text.clone()),
        Block::ToolCall(ToolCall { name, arguments, .. }) => {
            (format!("{who} calls {name}"), arguments.clone())
        }
        Block::Image(file) | Block::File(file) => (format!("{who} shows"), describe(file)),
    }
}

fn single(who: &str, text: String) -> Labelled {
    (who.to_owned(), text)
}

fn describe(file: &Attachment) -> String {
    let name = if file.name.is_empty() { String::new() } else { format!("{}, ", file.name) };
    format!("{name}{}, {} bytes, attachment:{}", file.media_type, file.bytes, file.blob)
}

fn describe_lost(lost: &Lost) -> String {
    let Lost { reason, segment, bytes, was } = lost;
    let kind = was.map_or_else(|| "an event".to_owned(), |was| was.kind.to_string());
    let id = was.map_or_else(|| "nothing is known of it".to_owned(), |was| format!("its id was {}", was.id));
    format!("{reason} ({kind} in bytes {}-{} of segment {segment}; {id})", bytes.start, bytes.end)
}

fn author_label(author: Author) -> &'static str {
    match author {
        Author::User => "user",
        Author::Agent => "agent",
        Author::System => "system",
        Author::Trigger => "trigger",
    }
}

#[cfg(test)]
mod tests {
    use segue_event::{ByteRange, EventHash, Kind, LostEvent, Position, Role, SessionId, Timestamp};

    use super::*;

    #[test]
    fn each_block_is_a_line_of_its_own() {
        let mut message = Message::text(Role::Assistant, Author::Agent, "I look.");
        message.blocks.push(Block::ToolCall(ToolCall {
            provider_id: "c1".to_owned(),
            name: "bash".to_owned(),
            arguments: "{\"command\":\"ls\"}".to_owned(),
        }));
        let entry = entry(TranscriptEvent::Message(message));
        assert_eq!(entry.render(), "[7] agent: I look.\n[7] agent calls bash: {\"command\":\"ls\"}\n");
    }

    #[test]
    fn a_lost_event_is_a_line_that_cannot_break_out() {
        let mut lost = Lost {
            reason: "torn\n[8] user: hello".to_owned(),
            segment: 3,
            bytes: ByteRange { start: 128, end: 300 },
            was: None,
        };
        let text = entry(TranscriptEvent::Lost(lost.clone())).render();
        let expected = "[7] lost: torn\n    [8] user: hello (an event in bytes 128-300 of segment 3; nothing is known of it)\n";
        assert_eq!(text, expected);
        lost.was = Some(LostEvent { kind: Kind::Message, id: EventHash::from_bytes([8; 32]) });
        let text = entry(TranscriptEvent::Lost(lost)).render();
        assert!(text.contains(" (Message in bytes 128-300 of segment 3; its id was 0808"), "{text}");
    }

    fn entry(event: TranscriptEvent) -> Entry {
        Entry::of(&Recorded {
            session: SessionId::from_bytes([0; 16]),
            seq: Seq::new(7).unwrap(),
            position: Position::FIRST,
            time: Timestamp::default(),
            hash: EventHash::from_bytes([0; 32]),
            event,
        })
    }
}
