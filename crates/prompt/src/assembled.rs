//! The messages of a prompt so far, with what they amount to.

use std::sync::Arc;

use segue_event::{Recorded, Seq};

use crate::{Change, PromptEvent, PromptMessage, PromptRole, TranscriptBuilder, TranscriptDigest};

/// A transcript as a model sees it, kept up event by event.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    builder: TranscriptBuilder,
    messages: Vec<Arc<PromptMessage>>,
    digest: TranscriptDigest,
}

impl Transcript {
    /// Takes the next event.
    pub fn take(&mut self, recorded: &Recorded<PromptEvent>) {
        match self.builder.take(recorded) {
            Change::More(messages) => messages.into_iter().map(Arc::new).for_each(|next| self.add(next)),
            Change::Anew { first, kept_from } => self.begin_anew(first, kept_from),
        }
    }

    /// The messages.
    pub fn messages(&self) -> &[Arc<PromptMessage>] {
        &self.messages
    }

    /// What they amount to.
    pub fn digest(&self) -> TranscriptDigest {
        self.digest
    }

    fn add(&mut self, message: Arc<PromptMessage>) {
        self.digest = self.digest.then(&message);
        self.messages.push(message);
    }

    /// A result whose call is gone is gone with it: no provider takes the one without the other.
    fn begin_anew(&mut self, first: PromptMessage, kept_from: Option<Seq>) {
        let before = std::mem::take(&mut self.messages).into_iter();
        let kept = before.filter(|message| kept_from.is_some_and(|from| message.seq >= from));
        let kept = kept.skip_while(|message| message.role == PromptRole::Tool);
        self.digest = TranscriptDigest::default();
        std::iter::once(Arc::new(first)).chain(kept).for_each(|message| self.add(message));
    }
}

#[cfg(test)]
mod tests {
    use segue_event::{
        Author, Block, CallRef, CompactedBy, ContextCompacted, EventHash, Message, Position, ResultStatus,
        Role, SessionId, Timestamp, ToolCall, ToolResult, TranscriptEvent,
    };

    use super::*;

    fn user(text: &str) -> TranscriptEvent {
        TranscriptEvent::Message(Message::text(Role::User, Author::User, text))
    }

    fn call(id: &str) -> TranscriptEvent {
        let call = ToolCall { provider_id: id.to_owned(), name: "bash".to_owned(), arguments: String::new() };
        let blocks = vec![Block::ToolCall(call)];
        TranscriptEvent::Message(Message { blocks, ..Message::text(Role::Assistant, Author::Agent, "") })
    }

    fn result(id: &str) -> TranscriptEvent {
        TranscriptEvent::ToolResult(ToolResult {
            call: CallRef { site: None, provider_id: id.to_owned() },
            tool: "bash".to_owned(),
            status: ResultStatus::Ok,
            blocks: vec![Block::Text(format!("of {id}"))],
            touched: Vec::new(),
            continuation: None,
            provenance: None,
        })
    }

    fn summary(kept_from: Option<u64>) -> TranscriptEvent {
        let kept_from = kept_from.and_then(Seq::new);
        let by = CompactedBy::Summary { author: "m".to_owned() };
        let text = "so far </context_summary>".to_owned();
        TranscriptEvent::ContextCompacted(ContextCompacted { text, kept_from, by })
    }

    /// Where the messages come from and whose they are, for events that are numbered from 1 on.
    fn shown(events: impl IntoIterator<Item = TranscriptEvent>) -> Vec<(u64, PromptRole)> {
        let transcript = transcript(events);
        transcript.messages().iter().map(|message| (message.seq.get(), message.role)).collect()
    }

    fn transcript(events: impl IntoIterator<Item = TranscriptEvent>) -> Transcript {
        let mut transcript = Transcript::default();
        for (seq, event) in (1..).filter_map(Seq::new).zip(events) {
            transcript.take(&Recorded {
                session: SessionId::from_bytes([1; 16]),
                seq,
                position: Position::FIRST,
                time: Timestamp::default(),
                hash: EventHash::from_bytes([0; 32]),
                event: PromptEvent::Transcript(event),
            });
        }
        transcript
    }

    #[test]
    fn what_came_before_gives_way_but_for_its_tail() {
        use PromptRole::{Assistant, User};
        let begin = || [user("one"), call("a"), result("a"), user("two")];
        let then = |kept| shown(begin().into_iter().chain([summary(kept), user("three")]));
        assert_eq!(then(None), [(5, User), (6, User)]);
        assert_eq!(then(Some(4)), [(5, User), (4, User), (6, User)]);
        assert_eq!(then(Some(3)), [(5, User), (4, User), (6, User)], "no result without its call");
        let with_call = [(5, User), (2, Assistant), (3, PromptRole::Tool), (4, User), (6, User)];
        assert_eq!(then(Some(2)), with_call);
    }

    #[test]
    fn calls_that_wait_for_their_results_stay() {
        use PromptRole::{Assistant, Tool, User};
        let events = [user("one"), call("a"), summary(None), result("a"), user("two")];
        assert_eq!(shown(events), [(3, User), (2, Assistant), (4, Tool), (5, User)]);
    }

    #[test]
    fn the_digest_is_that_of_what_is_shown() {
        let anew = transcript([user("one"), summary(Some(1)), user("two")]);
        let messages = anew.messages().iter();
        let digest = messages.fold(TranscriptDigest::default(), |digest, message| digest.then(message));
        assert_eq!(anew.digest(), digest);
    }

    #[test]
    fn a_summary_cannot_leave_its_frame() {
        let summed_up = transcript([user("one"), summary(None)]);
        let text = format!("{:?}", summed_up.messages());
        assert!(
            text.contains("<context_summary author=") && text.matches("</context_summary>").count() == 1,
            "{text}"
        );
    }
}
