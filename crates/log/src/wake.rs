//! Telling followers that a log has grown, without ever waiting for one of them.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use parking_lot::Mutex;

/// The followers of a log inside this process.
#[derive(Debug, Default)]
pub struct Subscribers {
    senders: Mutex<Vec<Sender<()>>>,
}

impl Subscribers {
    /// No followers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a follower, woken once at once.
    pub fn subscribe(&self) -> Wakeups {
        // One signal is enough: it says "look again", and the follower reads from where it stands.
        let (sender, receiver) = bounded(1);
        self.senders.lock().push(sender);
        Wakeups(Source::Signalled(receiver))
    }

    /// Signals every follower; one that was not yet listening to the last signal is left with that.
    pub fn wake(&self) {
        self.senders
            .lock()
            .retain(|sender| !matches!(sender.try_send(()), Err(TrySendError::Disconnected(()))));
    }
}

/// Signals that a log may have grown.
#[derive(Debug)]
pub struct Wakeups(Source);

#[derive(Debug)]
enum Source {
    Signalled(Receiver<()>),
    Polled(Duration),
    Both(Receiver<()>, Duration),
}

impl Wakeups {
    /// For a log that grows in another process: a signal every `interval`.
    pub fn every(interval: Duration) -> Self {
        Self(Source::Polled(interval))
    }

    /// The same signals, and one more whenever `interval` has passed: for a log that may also grow elsewhere.
    #[must_use]
    pub fn or_every(self, interval: Duration) -> Self {
        match self.0 {
            Source::Signalled(receiver) | Source::Both(receiver, _) => Self(Source::Both(receiver, interval)),
            Source::Polled(_) => Self(Source::Polled(interval)),
        }
    }

    /// Waits for a signal, at most `patience`. Whether one came does not matter: look again either way.
    pub fn wait(&self, patience: Duration) {
        match &self.0 {
            Source::Signalled(receiver) => drop(receiver.recv_timeout(patience)),
            Source::Both(receiver, interval) => drop(receiver.recv_timeout((*interval).min(patience))),
            Source::Polled(interval) => std::thread::sleep((*interval).min(patience)),
        }
    }
}
