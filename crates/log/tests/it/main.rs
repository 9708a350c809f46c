//! The reference implementation passes the suite that it is the reference of.

use std::sync::Arc;

use segue_log::conformance::{Effort, check};
use segue_log::{EventLog, MemoryLog};

#[test]
fn the_memory_log_conforms() {
    check(
        || {
            // Memory cannot be reopened: the same log is handed out again.
            let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
            move || Arc::clone(&log)
        },
        Effort::default(),
    );
}
