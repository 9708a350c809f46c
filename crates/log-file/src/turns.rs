//! Giving the lock back, so that several processes can write to one store in turn.
//!
//! A lone writer keeps the lock while it commits, and for a short time after its last commit: taking it for each
//! commit would cost every commit a few system calls, and another look at the end of the log. It gives the lock back
//! * when another process waits for it: as soon as the group under way is done. Looking for those who wait is the
//!   task of a thread, so that commits do not pay for it; a turn then lasts about [`TURN_CHECK`], which is enough
//!   commits to be worth the change of hands;
//! * when nothing was committed for a while, and the thread that keeps the index has nothing to do.
//!
//! Who gave the lock back because another waits lets that one go first. Who takes it again and finds that nobody had
//! it since goes on where it was; else its view catches up with what the others wrote before anything is placed.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use crate::commit::{Shared, Writer};
use crate::limits::TURN_CHECK;
use crate::lock::{Doorbell, Manners};
use crate::store::Store;
use crate::tail::{Tail, Turn};

/// Starts the thread that gives the lock back. Without it, the lock is kept until the log is dropped.
pub(crate) fn watch(shared: &Arc<Shared>, store: &Arc<Store>, tail: &mut Tail) {
    let Ok(bell) = Doorbell::open(&store.layout) else { return };
    let (turn, over) = bounded(0);
    let watcher = Watcher {
        shared: Arc::clone(shared),
        store: Arc::clone(store),
        bell,
        over,
        idle: Duration::ZERO,
        written: 0,
    };
    tail.begin_turn(Turn::new(turn));
    // If there can be no thread, nobody looks, and that is all.
    drop(std::thread::Builder::new().name("segue-log-turns".to_owned()).spawn(move || watcher.run()));
}

struct Watcher {
    shared: Arc<Shared>,
    store: Arc<Store>,
    bell: Doorbell,
    /// Cut off when the turn is over.
    over: Receiver<()>,
    idle: Duration,
    /// How many groups there were when it was last looked.
    written: u64,
}

impl Watcher {
    fn run(mut self) {
        while self.over.recv_timeout(TURN_CHECK) == Err(RecvTimeoutError::Timeout) {
            let is_given_back = if self.bell.rings() { self.give_to_others() } else { self.look_if_idle() };
            if is_given_back {
                return;
            }
        }
    }

    fn give_to_others(&self) -> bool {
        self.give_back(&mut self.shared.writer(), Manners::AfterOthers)
    }

    fn look_if_idle(&mut self) -> bool {
        let shared = Arc::clone(&self.shared);
        let Some(mut writer) = shared.writer_if_free() else {
            self.idle = Duration::ZERO;
            return false;
        };
        let Some(tail) = writer.tail() else { return true };
        if tail.groups() != self.written || !tail.is_quiet() {
            (self.written, self.idle) = (tail.groups(), Duration::ZERO);
            return false;
        }
        self.idle += TURN_CHECK;
        self.idle >= self.store.options.keep_lock && self.give_back(&mut writer, Manners::AtOnce)
    }

    fn give_back(&self, writer: &mut Writer, manners: Manners) -> bool {
        // The turn may have ended, and another begun, while this thread waited for the writer.
        if self.over.recv_timeout(Duration::ZERO) == Err(RecvTimeoutError::Timeout) {
            writer.give_back(&self.store, manners);
        }
        true
    }
}
