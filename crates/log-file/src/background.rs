//! A thread that does one piece of work whenever it is asked to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Sender, bounded};

/// The thread; dropping it asks the work under way to stop, and waits until it has.
#[derive(Debug)]
pub(crate) struct Background {
    orders: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    state: Arc<State>,
}

/// What the thread and those who give orders both know.
#[derive(Debug, Default)]
struct State {
    stop: AtomicBool,
    /// Orders that are not done yet.
    open: AtomicUsize,
}

impl Background {
    /// Starts the thread. The work is given a flag that tells it to stop; none if there can be no thread.
    pub(crate) fn start(name: &str, mut work: impl FnMut(&AtomicBool) + Send + 'static) -> Option<Self> {
        // One order that waits is enough: it means "look again".
        let (orders, ordered) = bounded(1);
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        let run = move || {
            for () in ordered {
                work(&shared.stop);
                shared.open.fetch_sub(1, Ordering::Release);
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run).ok()?;
        Some(Self { orders: Some(orders), thread: Some(thread), state })
    }

    /// Asks for the work to be done; whether the order was taken, and not one before it that still waits.
    pub(crate) fn order(&self) -> bool {
        self.state.open.fetch_add(1, Ordering::AcqRel);
        let is_taken = self.orders.as_ref().is_some_and(|orders| orders.try_send(()).is_ok());
        if !is_taken {
            self.state.open.fetch_sub(1, Ordering::AcqRel);
        }
        is_taken
    }

    /// Whether everything is done that was asked for.
    pub(crate) fn is_quiet(&self) -> bool {
        self.state.open.load(Ordering::Acquire) == 0
            || self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Background {
    /// Waits until everything is done that was asked for.
    pub(crate) fn finish(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // What it left undone is done by a later one.
            drop(thread.join());
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::Relaxed);
        self.end();
    }
}
