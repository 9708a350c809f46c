//! The note that a run is given of what was in progress when the context was compacted.

use segue_log::LogError;

use super::Turn;
use crate::error::Detail;
use crate::limits::TRIES_MAX;
use crate::notes::{note_at, note_given};
use crate::{Error, Note, claims};

impl Turn<'_> {
    /// Gives the run the note that is due, if there is one. The claim and the event that says so are one commit, and the
    /// run's prompts are made from that event: nobody else is given the note, and a run that is cut off and taken up
    /// again still has it.
    pub(super) fn be_given_note(&mut self) -> Result<(), Error> {
        for _ in 0..TRIES_MAX {
            let Some(note) = self.note_due()? else { return Ok(()) };
            self.check_own()?;
            let key = claims::note_given(note.session, &note.taken.compaction)?;
            let given = note_given(&note, Some(self.run)).into();
            let once = |commit: segue_log::Commit| commit.claim(key.clone()).without_waiting();
            match self.try_to_commit(vec![given], once) {
                // Either it was given meanwhile, or somebody wrote.
                Err(error) if error.is_contention() => {}
                other => return other.map(drop),
            }
        }
        Err(Detail::Contended { session: self.session, tries: TRIES_MAX }.into())
    }

    /// The newest note, if a message came behind it that asks for something, and nobody was given it.
    fn note_due(&self) -> Result<Option<Note>, LogError> {
        let workspace = self.workspace;
        let notes = &self.known.notes;
        let Some(asked) = notes.asked else { return Ok(None) };
        let newest = match notes.newest {
            Some(own) if own.seq < asked => note_at(&*workspace.log, self.session, own)?,
            Some(_) => None,
            None => self.inherited.clone(),
        };
        match newest {
            Some(note) if !workspace.is_given(&note)? => Ok(Some(note)),
            _ => Ok(None),
        }
    }
}
