//! Whether an agent is asked to go on by itself after a compaction.

use segue_event::{
    Event, Kind, KindSet, Message, MessageOrigin, NoteBody, NudgeSent, Recorded, Seq, SeqRange, SessionId,
};
use segue_log::{Commit, Direction, Expected, LogError, NewEvent, read_through};
use segue_prompt::handoff_note::{Compacted, HandoffSettings, Nudge, Resume, resume};

use super::Compaction;
use super::board::{is_of_user, text_of};
use crate::contention::until_first;
use crate::error::Detail;
use crate::limits::NOTE_ANCESTORS_MAX;
use crate::{Error, Workspace, claims};

/// Where the user last said something, and what came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LastWord {
    /// The message, where it was said first; none if the user said nothing yet.
    said: Option<MessageOrigin>,
    /// Whether the agent was asked to go on since.
    nudge: Nudge,
}

const NOTHING_SAID: LastWord = LastWord { said: None, nudge: Nudge::NotSent };

impl Workspace {
    /// Tells which follow-up is to be sent to the agent after a compaction, and records that it was told.
    ///
    /// Between two words of the user one follow-up is told at most, whoever asks, in whatever process; a follow-up that
    /// comes back as a message is no word of the user. Asked again, also for the same compaction, it tells none: a
    /// follow-up can get lost with the one that was told it, and never comes twice. Send it with [`Self::send`], in the
    /// name of the system, or as the harness sends messages.
    ///
    /// # Errors
    /// If there is no such session, it kept changing, or the log failed.
    pub fn follow_up(
        &self,
        session: SessionId,
        compaction: &Compaction,
        settings: &HandoffSettings,
    ) -> Result<Resume, Error> {
        until_first(session, || self.try_to_follow_up(session, compaction, settings))
    }

    fn try_to_follow_up(
        &self,
        session: SessionId,
        compaction: &Compaction,
        settings: &HandoffSettings,
    ) -> Result<Resume, Error> {
        let head = self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let LastWord { said, nudge } = self.last_word(session, head.seq, NOTE_ANCESTORS_MAX)?;
        let bullets = match self.note_of(session, compaction)?.map(|note| note.taken.body) {
            Some(NoteBody::Bullets { bullets, .. }) => bullets,
            Some(NoteBody::Summary(_)) | None => Vec::new(),
        };
        let Compaction { key, reason, retry } = compaction;
        let told = resume(settings, Compacted { reason: *reason, retry: *retry, nudge }, &bullets);
        let Some(text) = told.text() else { return Ok(told) };
        let (within, word) = said.map_or((session, None), |word| (word.session, Some(word.seq)));
        let once = claims::nudge(within, word)?;
        if self.log.claimed(&once)?.is_some() {
            return Ok(Resume::No);
        }
        let sent = NudgeSent { compaction: key.clone(), text: text.to_owned(), after: said };
        let events = vec![NewEvent::new(self.host.now(), sent)];
        let commit = Commit::new().append(session, Expected::after(head.seq), events).claim(once);
        self.log.commit(commit)?;
        Ok(told)
    }

    /// Looks back from an event to the user's last word, and no further than it takes to be sure of it.
    ///
    /// A message that a continuation copied was said in the session that it was copied from, `sessions_left` of which are
    /// gone back through: so a nudge counts there and here.
    fn last_word(&self, session: SessionId, up_to: Seq, sessions_left: usize) -> Result<LastWord, LogError> {
        let kinds = KindSet::one(Kind::Message).with(Kind::NudgeSent);
        let mut newest_first = Vec::new();
        for raw in read_through(&*self.log, session, SeqRange::up_to(up_to), Direction::Backward, kinds)? {
            let recorded = raw?.decode().map_err(LogError::codec)?;
            let is_certain = is_certain_word(&recorded.event);
            newest_first.push(recorded);
            if is_certain {
                break;
            }
        }
        let mut last = NOTHING_SAID;
        let mut awaited: Option<&str> = None;
        for recorded in newest_first.iter().rev() {
            match &recorded.event {
                Event::NudgeSent(nudge) => {
                    last.nudge = Nudge::Sent;
                    awaited = Some(&nudge.text);
                }
                // Harnesses send a follow-up in the user's name: the first message behind a nudge that says the same
                // is the nudge.
                Event::Message(message) if awaited == Some(text_of(message).as_str()) => awaited = None,
                Event::Message(message) if is_of_user(message) => {
                    last = self.word_of(recorded, message, sessions_left)?;
                }
                _ => {}
            }
        }
        Ok(last)
    }

    /// The word that a message of the user is: itself, or what it was copied from.
    fn word_of(
        &self,
        recorded: &Recorded<Event>,
        message: &Message,
        sessions_left: usize,
    ) -> Result<LastWord, LogError> {
        let Recorded { session, seq, hash, .. } = *recorded;
        let itself = MessageOrigin { session, seq, event: hash };
        match (message.continued_from, sessions_left.checked_sub(1)) {
            (Some(origin), Some(left)) if self.is_message(origin)? => {
                self.last_word(origin.session, origin.seq, left)
            }
            _ => Ok(LastWord { said: Some(itself), nudge: Nudge::NotSent }),
        }
    }

    /// Whether what was copied stood in a transcript; what only waited there was never a word in that session.
    fn is_message(&self, origin: MessageOrigin) -> Result<bool, LogError> {
        let range = SeqRange::one(origin.seq);
        let found = read_through(&*self.log, origin.session, range, Direction::Forward, KindSet::ALL)?.next();
        Ok(found.transpose()?.is_some_and(|raw| raw.header.kind == Kind::Message))
    }
}

/// A message of the user that can be no follow-up.
fn is_certain_word(event: &Event) -> bool {
    matches!(event, Event::Message(message) if is_of_user(message) && !Resume::is_follow_up(&text_of(message)))
}
