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
        let pause = self.pause(patience);
        match &self.0 {
            Source::Signalled(receiver) | Source::Both(receiver, _) => drop(receiver.recv_timeout(pause)),
            Source::Polled(_) => std::thread::sleep(pause),
        }
    }

    /// How long a wait of at most `patience` lasts if nobody gives a signal.
    pub fn pause(&self, patience: Duration) -> Duration {
        match &self.0 {
            Source::Signalled(_) => patience,
            Source::Both(_, interval) | Source::Polled(interval) => patience.min(*interval),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_signal_it_is_looked_once_an_interval() {
        let interval = Duration::from_millis(50);
        let subscribers = Subscribers::new();
        for wakeups in [Wakeups::every(interval), subscribers.subscribe().or_every(interval)] {
            let mut left = Duration::from_secs(1);
            let mut looks = 0;
            while !left.is_zero() {
                left -= wakeups.pause(left);
                looks += 1;
            }
            assert_eq!(looks, 20);
        }
        assert_eq!(subscribers.subscribe().pause(Duration::MAX), Duration::MAX, "signals are all there is");
    }

    #[test]
    fn signals_that_nobody_waited_for_become_one() {
        let subscribers = Subscribers::new();
        let wakeups = subscribers.subscribe();
        (0..3).for_each(|_| subscribers.wake());
        let Source::Signalled(receiver) = &wakeups.0 else { panic!("{wakeups:?}") };
        assert_eq!(receiver.try_iter().count(), 1);
    }
}
