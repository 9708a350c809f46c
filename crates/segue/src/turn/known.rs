//! What a turn knows of its session, kept up event by event.

use segue_continuation::{RunState, SessionState, StateEvent};
use segue_event::{
    Event, Fold as _, KindSet, Message, NoteEvent, NoteGiven, Position, RawEvent, Recorded, Role, RunId, Seq,
    SeqRange, SessionId, Usage,
};
use segue_log::{Direction, EventLog, Head, LogError, read_through};
use segue_prompt::{PromptEvent, Transcript};

use crate::notes::NoteBoard;

/// A session up to an event.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) state: SessionState,
    pub(crate) head: Head,
    /// The event that was taken last.
    pub(crate) taken: Seq,
    /// Where that stands in the whole log.
    pub(crate) position: Position,
    /// The messages of the prompt so far.
    pub(crate) transcript: Transcript,
    /// The counts of the newest assistant's message that has some, and was given what a model sees now.
    pub(crate) usage: Option<Usage>,
    /// The notes of the session itself.
    pub(crate) notes: NoteBoard,
}

impl Known {
    /// Everything up to an event; none if there is no such session.
    pub(crate) fn up_to(
        log: &dyn EventLog,
        session: SessionId,
        head: Head,
    ) -> Result<Option<Self>, LogError> {
        Self::watched(log, session, head, |_| {})
    }

    /// The same, showing it after each event.
    pub(crate) fn watched(
        log: &dyn EventLog,
        session: SessionId,
        head: Head,
        mut watch: impl FnMut(&Self),
    ) -> Result<Option<Self>, LogError> {
        let mut known: Option<Self> = None;
        for raw in wanted(log, session, SeqRange::up_to(head.seq))? {
            let recorded = raw?.decode().map_err(LogError::codec)?;
            match &mut known {
                Some(known) => known.take(recorded),
                None => known = Self::started(recorded, head),
            }
            known.iter().for_each(&mut watch);
        }
        Ok(known)
    }

    fn started(first: Recorded<Event>, head: Head) -> Option<Self> {
        let (first_seq, position) = (first.seq, first.position);
        let state = SessionState::started(narrow(first)?)?;
        Some(Self {
            taken: first_seq,
            position,
            state,
            head,
            transcript: Transcript::default(),
            usage: None,
            notes: NoteBoard::default(),
        })
    }

    /// Takes what has come since.
    pub(crate) fn catch_up(&mut self, log: &dyn EventLog) -> Result<(), LogError> {
        let session = self.state.session;
        let Some(head) = log.head(session)?.filter(|head| head.seq > self.head.seq) else { return Ok(()) };
        let Some(range) = SeqRange::new(self.head.seq.next(), head.seq) else { return Ok(()) };
        for raw in wanted(log, session, range)? {
            self.take(raw?.decode().map_err(LogError::codec)?);
        }
        self.head = head;
        Ok(())
    }

    fn take(&mut self, recorded: Recorded<Event>) {
        (self.taken, self.position) = (recorded.seq, recorded.position);
        match narrow::<StateEvent>(recorded.clone()) {
            // A fork begins: what comes before it is its transcript, but not its state.
            Some(first) if first.session != self.state.session => {
                if let Some(state) = SessionState::started(first) {
                    self.state = state;
                    // The other's notes are given there.
                    self.notes = NoteBoard::default();
                }
            }
            Some(recorded) => self.state.apply(&recorded),
            None => {}
        }
        self.notes.apply(&recorded);
        match &recorded.event {
            Event::Message(Message { role: Role::Assistant, usage: Some(usage), .. }) => {
                self.usage = Some(*usage);
            }
            // What was counted before is there no more.
            Event::ContextCompacted(_) => self.usage = None,
            _ => {}
        }
        if let Some(recorded) = narrow::<PromptEvent>(recorded) {
            self.transcript.take(&recorded);
        }
    }

    pub(crate) fn run(&self, run: RunId) -> Option<&RunState> {
        self.state.runs.get(&run)
    }

    /// The note that the prompts of a run show. A run that is tried again for the same message has another id.
    pub(crate) fn note_for(&self, run: RunId) -> Option<&NoteGiven> {
        let trigger = |run| self.run(run).map(|run| run.trigger);
        self.notes
            .given_to(|given| given == run || (trigger(given).is_some() && trigger(given) == trigger(run)))
    }

    /// The last words of the agent, for whoever delegated its run.
    pub(crate) fn last_words(&self) -> String {
        let last = self
            .transcript
            .messages()
            .iter()
            .rev()
            .find(|message| message.role == segue_prompt::PromptRole::Assistant);
        let texts =
            last.into_iter().flat_map(|message| &message.content).filter_map(|content| match content {
                segue_prompt::PromptContent::Text(text) => Some(text.as_str()),
                _ => None,
            });
        texts.collect::<Vec<_>>().join("\n")
    }
}

fn wanted(
    log: &dyn EventLog,
    session: SessionId,
    range: SeqRange,
) -> Result<impl Iterator<Item = Result<RawEvent, LogError>>, LogError> {
    let kinds =
        KindSet::of::<StateEvent>().union(KindSet::of::<PromptEvent>()).union(KindSet::of::<NoteEvent>());
    read_through(log, session, range, Direction::Forward, kinds)
}

fn narrow<E: TryFrom<Event>>(recorded: Recorded<Event>) -> Option<Recorded<E>> {
    let Recorded { session, seq, position, time, hash, event } = recorded;
    let event = E::try_from(event).ok()?;
    Some(Recorded { session, seq, position, time, hash, event })
}
