//! The suite that every log must pass.

use std::sync::Arc;

use segue_log::EventLog;
use segue_log::conformance::{Effort, Subject, check};
use segue_log_file::{FileLog, Options};
use tempfile::TempDir;

struct InFolder {
    folder: TempDir,
    options: Options,
}

impl Subject for InFolder {
    fn open(&mut self) -> Arc<dyn EventLog> {
        Arc::new(FileLog::open(self.folder.path().join("store"), self.options).unwrap())
    }
}

fn check_with(options: Options) {
    check(|| InFolder { folder: tempfile::tempdir().unwrap(), options }, Effort::default());
}

#[test]
fn the_file_log_conforms() {
    check_with(Options::default());
}

#[test]
fn it_conforms_with_segments_of_a_few_blocks() {
    check_with(Options { segment_bytes: 300_000, ..Options::default() });
}

#[test]
fn it_conforms_with_tiny_segments_and_an_eager_index() {
    check_with(Options { segment_bytes: 2048, index_every: 1024, ..Options::default() });
}
