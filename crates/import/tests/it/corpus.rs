//! Transcripts of real sessions, where a folder of them lies beside the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use segue_event::{ImportEvent, SourceKind};
use segue_import::{Imported, Outcome, import_path};

use crate::desk::Desk;

const FOLDERS: [(&str, SourceKind); 2] = [("claude-code", SourceKind::ClaudeCode), ("pi", SourceKind::Pi)];

/// The folder, if it is there; otherwise the reason is printed.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "where the corpus lies is told from outside"
)]
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = std::env::var_os("SEGUE_CORPUS").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("not checked: no corpus at {}; SEGUE_CORPUS can name one", folder.display());
    None
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_line_is_kept_and_every_source_comes_back() {
    let Some(corpus) = corpus() else { return };
    for (folder, kind) in FOLDERS {
        for path in files(&corpus.join(folder)) {
            let desk = Desk::new();
            let bytes = fs::read(&path).unwrap();
            let report = desk.import(&bytes);
            assert_eq!(report.kind, kind, "{}", path.display());
            let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
            let lines = newlines + usize::from(!bytes.ends_with(b"\n"));
            assert_eq!((report.lines, desk.lines(report.session)), (lines as u64, lines as u64));
            assert_eq!(report.events, desk.events(report.session).len() as u64);
            desk.assert_sound();
            println!(
                "{folder}/{}: {lines} lines, {} bytes, {} events, {} that nobody sees, {} unreadable, {} blobs",
                path.file_name().unwrap().display(),
                report.bytes,
                report.events,
                report.metadata_lines,
                report.unreadable,
                report.blobs
            );
        }
    }
}

#[test]
fn all_sources_live_in_one_log() {
    let Some(corpus) = corpus() else { return };
    let desk = Desk::new();
    let mut held = Vec::new();
    for (folder, _) in FOLDERS {
        for path in files(&corpus.join(folder)) {
            held.push((desk.import_file(&path), path));
        }
    }
    for (report, path) in &held {
        let again = desk.import_file(path);
        assert_eq!((again.session, again.events), (report.session, 0), "{}", path.display());
        let bytes = fs::read(path).unwrap();
        assert!(desk.exported(report.session).starts_with(&bytes), "{}", path.display());
    }
    desk.assert_sound();
}

#[test]
fn a_session_met_while_it_grows_is_the_session_met_at_its_end() {
    let Some(corpus) = corpus() else { return };
    let growth = |step: u32| corpus.join(format!("claude-code/growth-{step}.jsonl"));
    let step_by_step = Desk::new();
    let reports: Vec<_> = (1..=5).map(|step| step_by_step.import_file(&growth(step))).collect();
    let outcomes: Vec<_> = reports.iter().map(|report| report.outcome).collect();
    assert_eq!(outcomes, [Outcome::New, Outcome::Grew, Outcome::Grew, Outcome::Grew, Outcome::Grew]);
    let at_once = Desk::new();
    let whole = at_once.import_file(&growth(5));
    assert!(reports.iter().all(|report| report.session == whole.session));
    assert_eq!(step_by_step.transcript(whole.session), at_once.transcript(whole.session));
    assert_eq!(step_by_step.exported(whole.session), fs::read(growth(5)).unwrap());
    for step in 1..5 {
        assert_eq!(at_once.import_file(&growth(step)).outcome, Outcome::OlderCopy);
    }
    step_by_step.assert_sound();
}

#[test]
fn what_other_programs_wrote_is_skipped() {
    let Some(corpus) = corpus() else { return };
    let desk = Desk::new();
    for folder in ["codex", "copilot-cli", "gemini-cli"] {
        for path in files(&corpus.join(folder)) {
            let imported = import_path(&desk.log, &path, &desk.options).unwrap();
            assert!(matches!(imported, Imported::Skipped(_)), "{}", path.display());
        }
    }
}

#[test]
fn nothing_large_stays_in_the_lines() {
    let Some(corpus) = corpus() else { return };
    let desk = Desk::new();
    let report = desk.import_file(&corpus.join("claude-code/two-megabyte-line-images.jsonl"));
    let longest = desk
        .events(report.session)
        .into_iter()
        .filter_map(|recorded| match ImportEvent::try_from(recorded.event) {
            Ok(ImportEvent::ImportedLine(line)) => Some(line.bytes.len()),
            _ => None,
        })
        .max();
    assert!(longest.unwrap() < 500_000, "{longest:?}");
}
