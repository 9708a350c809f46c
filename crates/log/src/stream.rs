//! Typed event streams: one family of events, history first, then live.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use segue_event::{Family, Position, Recorded};

use crate::{EventLog, LogError, RawEvents, Wakeups};

/// Conveniences on top of any log.
pub trait EventLogExt {
    /// The events of the family `E` from `from` on: first those that are there, then each as it is committed.
    ///
    /// No event is missed and none comes twice. The log is read at the follower's own pace: a slow follower
    /// holds up nobody.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn follow<E: Family>(&self, from: Position) -> Result<EventStream<E>, LogError>;
}

impl EventLogExt for Arc<dyn EventLog> {
    fn follow<E: Family>(&self, from: Position) -> Result<EventStream<E>, LogError> {
        EventStream::new(Self::clone(self), from)
    }
}

/// A follower of one family of events. Dropping it ends it.
pub struct EventStream<E> {
    log: Arc<dyn EventLog>,
    wakeups: Wakeups,
    next: Position,
    history: RawEvents,
    family: PhantomData<fn() -> E>,
}

impl<E: Family> EventStream<E> {
    fn new(log: Arc<dyn EventLog>, from: Position) -> Result<Self, LogError> {
        // Subscribed before the first look, so that what is committed in between leaves a signal behind.
        let wakeups = log.subscribe();
        let history = log.read_log(from)?;
        Ok(Self { log, wakeups, next: from, history, family: PhantomData })
    }

    /// The next event if it is already there.
    ///
    /// # Errors
    /// If the log cannot be read, or an event in it cannot.
    pub fn ready(&mut self) -> Result<Option<Recorded<E>>, LogError> {
        if let Some(event) = self.take_from_history()? {
            return Ok(Some(event));
        }
        self.history = self.log.read_log(self.next)?;
        self.take_from_history()
    }

    /// The next event, waited for at most `patience`.
    ///
    /// # Errors
    /// As [`Self::ready`].
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a caller waits is measured on the machine's own clock"
    )]
    pub fn wait(&mut self, patience: Duration) -> Result<Option<Recorded<E>>, LogError> {
        let begun = Instant::now();
        loop {
            if let Some(event) = self.ready()? {
                return Ok(Some(event));
            }
            let Some(left) = patience.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) else {
                return Ok(None);
            };
            self.wakeups.wait(left);
        }
    }

    /// Where the stream stands: everything before has been seen.
    pub fn position(&self) -> Position {
        self.next
    }

    fn take_from_history(&mut self) -> Result<Option<Recorded<E>>, LogError> {
        for raw in self.history.by_ref() {
            let raw = raw?;
            self.next = raw.position.next();
            if let Some(event) = raw.decode_as().map_err(LogError::codec)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

/// How long a blocking iterator sleeps at most between two looks.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl<E: Family> Iterator for EventStream<E> {
    type Item = Result<Recorded<E>, LogError>;

    /// The next event, waited for however long it takes.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.ready() {
                Ok(Some(event)) => return Some(Ok(event)),
                Ok(None) => self.wakeups.wait(LOOK_AGAIN),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
