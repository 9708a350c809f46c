//! Taking a note when a context is compacted.

use segue_event::{
    Event, EventRef, Kind, KindSet, Message, NoteBody, NoteEvent, NoteTaken, Recorded, Role, Seq, SeqRange,
    SessionId,
};
use segue_log::{ClaimKey, Commit, Direction, Expected, LogError, NewEvent, read_through};
use segue_prompt::handoff_note::{CONSOLIDATE_TEXT, TEXTS_MAX, bullets_of};

use super::board::text_of;
use super::{Compaction, Note};
use crate::contention::until_first;
use crate::error::Detail;
use crate::{Error, Workspace, claims};

/// What became of a note when the harness's summary took its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consolidated {
    /// The note that holds the summary.
    pub note: Note,
    /// The note in whose place it stands; none if there was none.
    pub replaced: Option<Note>,
    /// What the agent is to be asked: to write down what should outlast the session.
    pub ask: &'static str,
}

impl Workspace {
    /// Takes a note of what the agent was working on, from the last texts of it in the whole session, whatever the
    /// harness dropped of them. None if it said nothing that can be noted.
    ///
    /// The same compaction has the same note, whoever asks and however often.
    ///
    /// # Errors
    /// If there is no such session, or the log failed.
    pub fn take_note(&self, session: SessionId, compaction: &Compaction) -> Result<Option<Note>, Error> {
        self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        until_first(session, || match self.note_of(session, compaction)? {
            Some(note) => Ok(Some(note)),
            None => self.try_to_take_note(session, compaction),
        })
    }

    /// Lets the harness's own summary be the note of a compaction, in the place of the one that was taken. That one
    /// stays in the record, and of both one is given.
    ///
    /// The first summary that is told for a compaction counts.
    ///
    /// # Errors
    /// If there is no such session, or the log failed.
    pub fn consolidate_note(
        &self,
        session: SessionId,
        compaction: &Compaction,
        summary: &str,
    ) -> Result<Consolidated, Error> {
        self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let key = claims::summary_note(session, &compaction.key)?;
        let replaced = self.note_claimed(&claims::note(session, &compaction.key)?)?;
        until_first(session, || {
            let taken = NoteTaken {
                compaction: compaction.key.clone(),
                reason: compaction.reason,
                body: NoteBody::Summary(summary.to_owned()),
                replaces: replaced.as_ref().map(|note| note.at.seq),
            };
            let note = match self.note_claimed(&key)? {
                Some(note) => note,
                None => self.record_note(session, taken, key.clone())?,
            };
            Ok(Consolidated { note, replaced: replaced.clone(), ask: CONSOLIDATE_TEXT })
        })
    }

    /// The note of a compaction, if it has one: its summary, where that took the place of the note.
    pub(super) fn note_of(&self, session: SessionId, compaction: &Compaction) -> Result<Option<Note>, Error> {
        match self.note_claimed(&claims::summary_note(session, &compaction.key)?)? {
            Some(note) => Ok(Some(note)),
            None => self.note_claimed(&claims::note(session, &compaction.key)?),
        }
    }

    fn try_to_take_note(&self, session: SessionId, compaction: &Compaction) -> Result<Option<Note>, Error> {
        let said = self.last_said(session)?;
        let bullets = bullets_of(said.iter().map(|(_, text)| text.as_str()));
        if bullets.is_empty() {
            return Ok(None);
        }
        let messages = said.iter().map(|(seq, _)| *seq).collect();
        let taken = NoteTaken {
            compaction: compaction.key.clone(),
            reason: compaction.reason,
            body: NoteBody::Bullets { bullets, messages },
            replaces: None,
        };
        self.record_note(session, taken, claims::note(session, &compaction.key)?).map(Some)
    }

    /// The agent's last texts that are not empty, oldest first. What lies before them is not read.
    fn last_said(&self, session: SessionId) -> Result<Vec<(Seq, String)>, LogError> {
        let mut said = Vec::new();
        let kinds = KindSet::one(Kind::Message);
        for raw in read_through(&*self.log, session, SeqRange::ALL, Direction::Backward, kinds)? {
            let recorded = raw?.decode().map_err(LogError::codec)?;
            let Event::Message(message @ Message { role: Role::Assistant, .. }) = &recorded.event else {
                continue;
            };
            let text = text_of(message);
            if !text.trim().is_empty() {
                said.push((recorded.seq, text));
            }
            if said.len() == TEXTS_MAX {
                break;
            }
        }
        said.reverse();
        Ok(said)
    }

    fn record_note(&self, session: SessionId, taken: NoteTaken, key: ClaimKey) -> Result<Note, Error> {
        let time = self.host.now();
        let events = vec![NewEvent::new(time, taken.clone())];
        let commit = Commit::new().append(session, Expected::AtHead, events).claim(key);
        let committed = self.log.commit(commit)?;
        let extent = committed.extents.first().ok_or(Detail::SessionNotFound(session))?;
        let at = EventRef { seq: extent.range.to, event: extent.head };
        Ok(Note { session, at, time, taken })
    }

    /// The note that took a key; none while it is free.
    fn note_claimed(&self, key: &ClaimKey) -> Result<Option<Note>, Error> {
        let Some(position) = self.log.claimed(key)? else { return Ok(None) };
        let Some(raw) = self.log.read_log(position)?.next().transpose()? else { return Ok(None) };
        Ok(raw.decode_as::<NoteEvent>().map_err(LogError::codec)?.and_then(note_from))
    }
}

/// The note that an event takes; none if it is another event.
pub(super) fn note_from(recorded: Recorded<NoteEvent>) -> Option<Note> {
    let Recorded { session, seq, time, hash, event, .. } = recorded;
    let NoteEvent::NoteTaken(taken) = event else { return None };
    Some(Note { session, at: EventRef { seq, event: hash }, time, taken })
}
