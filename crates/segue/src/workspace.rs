//! Sessions on a log.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use segue_continuation::{Budget, SessionState, StateEvent};
use segue_event::{
    AgentId, BlobId, Event, Fold as _, KindSet, ModelOverride, Seq, SeqRange, SessionId, SessionStarted,
    Title,
};
use segue_log::{
    Commit, Committed, Depth, Direction, EventLog, Expected, LogError, NewEvent, Progress, Report, stretches,
};

use segue_log_file::FileLog;

use crate::error::Detail;
use crate::recommending::WorthKept;
use crate::{Error, Host, Reader, Scope};

/// How many blobs a process remembers to have kept.
const KEPT_MAX: usize = 4_096;

/// The sessions of one account, on one log. Cheap to share between threads.
pub struct Workspace {
    pub(crate) log: Arc<dyn EventLog>,
    pub(crate) host: Box<dyn Host>,
    pub(crate) options: Options,
    /// Blobs that this process kept or found, so that what every prompt holds is not kept or looked for again.
    kept: Mutex<BTreeSet<BlobId>>,
    pub(crate) worth: Arc<WorthKept>,
}

/// How a workspace behaves.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The most bytes a projection can have.
    pub budget: Budget,
    /// The folder that `~/memory/` means; none: memory cannot be cited.
    pub memory_root: Option<PathBuf>,
}

/// A session that is to be started.
#[derive(Clone, PartialEq, Debug)]
pub struct NewSession {
    /// Whose it is.
    pub agent: AgentId,
    /// What it is called.
    pub title: Title,
    /// Its live status.
    pub description: String,
    /// The folder the agent works in; may be empty.
    pub working_directory: String,
    /// The model chosen for it.
    pub model: Option<ModelOverride>,
}

impl NewSession {
    /// A session without a title yet.
    pub fn of(agent: AgentId) -> Self {
        Self {
            agent,
            title: Title::default(),
            description: String::new(),
            working_directory: String::new(),
            model: None,
        }
    }
}

impl Workspace {
    /// A workspace on the embedded log in a folder. The folder is made with the first commit.
    ///
    /// # Errors
    /// If what is there cannot be opened, or is of a newer version.
    pub fn open(folder: &Path, host: impl Host + 'static, options: Options) -> Result<Self, Error> {
        let log = FileLog::open(folder, segue_log_file::Options::default())?;
        Ok(Self::with_options(Arc::new(log), host, options))
    }

    /// A workspace for reading, beside whoever writes to the folder.
    ///
    /// # Errors
    /// As [`Self::open`], and if there is no store.
    pub fn open_reader(folder: &Path, host: impl Host + 'static, options: Options) -> Result<Self, Error> {
        Ok(Self::with_options(Arc::new(FileLog::open_reader(folder)?), host, options))
    }

    /// A workspace on any log.
    pub fn on(log: impl EventLog + 'static, host: impl Host + 'static) -> Self {
        Self::with_options(Arc::new(log), host, Options::default())
    }

    /// A workspace on a log that is shared with others.
    pub fn with_options(log: Arc<dyn EventLog>, host: impl Host + 'static, options: Options) -> Self {
        Self { log, host: Box::new(host), options, kept: Mutex::default(), worth: Arc::default() }
    }

    /// The log underneath, for typed streams and for writing what this API has no word for.
    pub fn log(&self) -> &Arc<dyn EventLog> {
        &self.log
    }

    /// Starts a session.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub fn start_session(&self, new: NewSession) -> Result<SessionId, Error> {
        let now = self.host.now();
        let session = SessionId::v7(now, self.host.random());
        let NewSession { agent, title, description, working_directory, model } = new;
        let started = SessionStarted {
            agent,
            title,
            description,
            working_directory,
            model,
            plan: None,
            edge: None,
            import: None,
        };
        let commit = Commit::new().append(session, Expected::first(), vec![NewEvent::new(now, started)]);
        self.log.commit(commit)?;
        Ok(session)
    }

    /// Appends events to a session, at its head, with the time of now.
    ///
    /// # Errors
    /// If there is no such session, there are no events, or the log cannot be written.
    pub fn append<E: Into<Event>>(
        &self,
        session: SessionId,
        events: impl IntoIterator<Item = E>,
    ) -> Result<Committed, Error> {
        // A session that exists keeps existing, so "at the head" cannot start a new one by mistake.
        self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let now = self.host.now();
        let events: Vec<_> = events.into_iter().map(|event| NewEvent::new(now, event)).collect();
        Ok(self.log.commit(Commit::new().append(session, Expected::AtHead, events))?)
    }

    /// Keeps bytes as a blob, unless this process did so already.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<(), LogError> {
        let id = BlobId::of(bytes);
        if !self.is_known(id) {
            self.log.put_blob(bytes)?;
            self.remember(id);
        }
        Ok(())
    }

    /// Whether this process kept or found a blob.
    pub(crate) fn is_known(&self, id: BlobId) -> bool {
        self.kept.lock().contains(&id)
    }

    /// Remembers that a blob is there.
    pub(crate) fn remember(&self, id: BlobId) {
        let mut kept = self.kept.lock();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(id);
    }

    /// Reads inside a scope.
    pub fn reader(&self, scope: Scope) -> Reader {
        Reader::new(Arc::clone(&self.log), Arc::clone(&self.worth), scope)
    }

    /// Checks the record, and tells `progress` how far it has come, in events.
    ///
    /// # Errors
    /// If it cannot be read at all.
    pub fn verify(&self, depth: Depth, progress: &mut dyn FnMut(Progress)) -> Result<Report, Error> {
        Ok(self.log.verify(depth, progress)?)
    }
}

/// The state of a session, folded from its events; none if there is no such session.
pub(crate) fn session_state(
    log: &dyn EventLog,
    session: SessionId,
) -> Result<Option<SessionState>, LogError> {
    session_state_up_to(log, session, SeqRange::ALL.to)
}

/// The state of a session as it was behind an event; where that stands in the session it was forked from, that one's.
pub(crate) fn session_state_up_to(
    log: &dyn EventLog,
    session: SessionId,
    at: Seq,
) -> Result<Option<SessionState>, LogError> {
    let newest = stretches(log, session, SeqRange::one(at))?.pop();
    let own = newest.map_or(session, |stretch| stretch.session);
    let mut state: Option<SessionState> = None;
    let kinds = KindSet::of::<StateEvent>();
    for raw in log.read_kinds(own, SeqRange::up_to(at), Direction::Forward, kinds)? {
        let Some(recorded) = raw?.decode_as::<StateEvent>().map_err(LogError::codec)? else { continue };
        match &mut state {
            Some(state) => state.apply(&recorded),
            None => state = SessionState::started(recorded),
        }
    }
    Ok(state)
}
