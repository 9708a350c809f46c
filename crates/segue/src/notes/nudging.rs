//! Whether an agent is asked to go on by itself after a compaction.

use segue_event::{Event, Kind, KindSet, NoteBody, NudgeSent, Recorded, Seq, SeqRange, SessionId};
use segue_log::{Commit, Direction, Expected, LogError, NewEvent, read_through};
use segue_prompt::handoff_note::{Compacted, HandoffSettings, Nudge, Resume, resume};

use super::Compaction;
use super::board::{is_of_user, text_of};
use crate::contention::until_first;
use crate::error::Detail;
use crate::{Error, Workspace, claims};

/// What was said since the user's last word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SinceWord {
    /// The user's last word; none if the user said nothing yet.
    word: Option<Seq>,
    nudge: Nudge,
}

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
        let SinceWord { word, nudge } = self.since_word(session)?;
        let bullets = match self.note_of(session, compaction)?.map(|note| note.taken.body) {
            Some(NoteBody::Bullets { bullets, .. }) => bullets,
            Some(NoteBody::Summary(_)) | None => Vec::new(),
        };
        let Compaction { key, reason, retry } = compaction;
        let told = resume(settings, Compacted { reason: *reason, retry: *retry, nudge }, &bullets);
        let Some(text) = told.text() else { return Ok(told) };
        let once = claims::nudge(session, word)?;
        if self.log.claimed(&once)?.is_some() {
            return Ok(Resume::No);
        }
        let sent = NudgeSent { compaction: key.clone(), text: text.to_owned(), after: word };
        let events = vec![NewEvent::new(self.host.now(), sent)];
        let commit = Commit::new().append(session, Expected::after(head.seq), events).claim(once);
        self.log.commit(commit)?;
        Ok(told)
    }

    /// Looks back to the user's last word, and no further than it takes to be sure of it.
    fn since_word(&self, session: SessionId) -> Result<SinceWord, LogError> {
        let kinds = KindSet::one(Kind::Message).with(Kind::NudgeSent);
        let mut newest_first = Vec::new();
        for raw in read_through(&*self.log, session, SeqRange::ALL, Direction::Backward, kinds)? {
            let recorded = raw?.decode().map_err(LogError::codec)?;
            let is_certain = is_certain_word(&recorded.event);
            newest_first.push(recorded);
            if is_certain {
                break;
            }
        }
        Ok(since_word(newest_first.iter().rev()))
    }
}

/// A message of the user that can be no follow-up.
fn is_certain_word(event: &Event) -> bool {
    matches!(event, Event::Message(message) if is_of_user(message) && !Resume::is_follow_up(&text_of(message)))
}

/// Folds messages and nudges, oldest first. Harnesses send a follow-up in the user's name: the first message behind a
/// nudge that says the same is the nudge.
fn since_word<'a>(events: impl Iterator<Item = &'a Recorded<Event>>) -> SinceWord {
    let mut since = SinceWord { word: None, nudge: Nudge::NotSent };
    let mut awaited: Option<&str> = None;
    for recorded in events {
        match &recorded.event {
            Event::NudgeSent(nudge) => {
                since.nudge = Nudge::Sent;
                awaited = Some(&nudge.text);
            }
            Event::Message(message) if is_of_user(message) => {
                if awaited == Some(text_of(message).as_str()) {
                    awaited = None;
                } else {
                    since = SinceWord { word: Some(recorded.seq), nudge: Nudge::NotSent };
                }
            }
            _ => {}
        }
    }
    since
}
