//! The suite for logs is reachable from here.

use std::sync::Arc;

use segue::log::{EventLog, MemoryLog};
use segue_testkit::conformance::{Effort, check};

#[test]
fn a_log_can_be_checked_with_nothing_but_the_testkit() {
    let fresh = || {
        // Memory cannot be reopened: the same log is handed out again.
        let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
        move || Arc::clone(&log)
    };
    check(fresh, Effort { histories: 4, steps: 20 });
}
