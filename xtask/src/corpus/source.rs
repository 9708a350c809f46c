//! One source file against what the record holds of it.

use std::path::Path;

use anyhow::ensure;
use segue::log::EventLog;
use segue_import::{ImportReport, original_bytes};

/// Every line is accounted for, and the bytes come back as they were. Answers with the number of lines.
pub(crate) fn check(log: &dyn EventLog, path: &Path, report: &ImportReport) -> anyhow::Result<u64> {
    let source = std::fs::read(path)?;
    let mut stored = Vec::new();
    original_bytes(log, report.session, &mut stored)?;
    // A session that grew from several copies of its source holds the longest of them.
    ensure!(stored.starts_with(&source), "the stored bytes are not those of the file");
    let newlines = source.iter().filter(|byte| **byte == b'\n').count() as u64;
    let unfinished = u64::from(source.last().is_some_and(|last| *last != b'\n'));
    ensure!(
        report.lines == newlines + unfinished,
        "{} lines are accounted for, the file has {}",
        report.lines,
        newlines + unfinished
    );
    ensure!(
        report.bytes == source.len() as u64,
        "{} of {} bytes are accounted for",
        report.bytes,
        source.len()
    );
    Ok(report.lines)
}
