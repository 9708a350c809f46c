//! `segue import`: transcripts of other programs into the store.

use std::path::{Path, PathBuf};

use segue::event::AgentId;
use segue::log::EventLog;
use segue::{Host as _, SystemHost};
use segue_import::{ImportError, ImportOptions, ImportReport, Imported, Outcome, TreeEntry, import_tree};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;

/// What is imported.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Transcripts, or folders of them.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Whose sessions they become.
    #[arg(long, default_value = "main")]
    agent: String,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let agent = AgentId::new(&arguments.agent)
        .map_err(|error| Failure::new(Exit::Usage, "bad-agent", error.to_string(), ""))?;
    check_paths(&arguments.paths)?;
    let workspace = place.make()?;
    let options = ImportOptions { agent, now: SystemHost.now(), kind: None };
    let mut tally = Tally::default();
    let done = import_all(&**workspace.log(), &arguments.paths, &options, &mut tally);
    let failure = done.err().or_else(|| tally.failure_of_all.take());
    let answer = tally.answer();
    match failure {
        Some(failure) => Err(failure.after(answer)),
        None => Ok(answer),
    }
}

/// Where nothing is there to import no store is made.
fn check_paths(paths: &[PathBuf]) -> Result<(), Failure> {
    let mut missing = None;
    for path in paths {
        match path.metadata() {
            Ok(_) => return Ok(()),
            Err(error) => missing = missing.or(Some(Failure::file("cannot read", path, &error))),
        }
    }
    missing.map_or(Ok(()), Err)
}

/// Imports until the log fails: without a log that takes events the other files would fail as well.
fn import_all(
    log: &dyn EventLog,
    paths: &[PathBuf],
    options: &ImportOptions,
    tally: &mut Tally,
) -> Result<(), Failure> {
    for entry in paths.iter().flat_map(|path| import_tree(log, path, options)) {
        tally.add(entry)?;
    }
    Ok(log.settle()?)
}

/// What became of all files.
#[derive(Default)]
struct Tally {
    text: String,
    files: Vec<Value>,
    imported: u64,
    skipped: u64,
    failed: u64,
    lines: u64,
    events: u64,
    unreadable: u64,
    /// Why the first file failed, as long as no other did well.
    failure_of_all: Option<Failure>,
}

impl Tally {
    fn add(&mut self, entry: TreeEntry) -> Result<(), Failure> {
        match entry.result {
            Ok(Imported::Session(report)) => self.imported(&entry.path, &report),
            Ok(Imported::Skipped(why)) => {
                self.skipped += 1;
                self.text.push_str(&format!("skipped    {}: {why}\n", entry.path.display()));
                self.files.push(json!({"path": entry.path, "outcome": "skipped", "why": why}));
            }
            Err(error) => {
                self.failed(&entry.path, &error);
                let of_the_log = error.as_log_error().is_some();
                let failure = Failure::from(error);
                if of_the_log {
                    return Err(failure);
                }
                if self.imported + self.skipped == 0 {
                    self.failure_of_all.get_or_insert(failure);
                }
                return Ok(());
            }
        }
        self.failure_of_all = None;
        Ok(())
    }

    fn imported(&mut self, path: &Path, report: &ImportReport) {
        self.imported += 1;
        self.lines += report.lines;
        self.events += report.events;
        self.unreadable += report.unreadable;
        let outcome = match report.outcome {
            Outcome::New => "new",
            Outcome::Grew => "grew",
            Outcome::Unchanged => "unchanged",
            Outcome::OlderCopy => "older copy",
            Outcome::Rewritten => "rewritten",
        };
        self.text.push_str(&format!(
            "{outcome:<10} {} {} lines, {} events added: {}\n",
            report.session,
            report.lines,
            report.events,
            path.display()
        ));
        for piece in &report.unreadable_pieces {
            self.text.push_str(&format!(
                "  line {}, byte {}, {} bytes: {} (kept as it is)\n",
                piece.line, piece.offset, piece.bytes, piece.reason
            ));
        }
        self.files.push(json!({
            "path": path,
            "outcome": outcome,
            "session": report.session.to_string(),
            "kind": report.kind,
            "version": report.version,
            "lines": report.lines,
            "bytes": report.bytes,
            "events_added": report.events,
            "metadata_lines": report.metadata_lines,
            "unreadable": report.unreadable,
            "unreadable_pieces": report.unreadable_pieces.iter().map(|piece| json!({
                "line": piece.line, "offset": piece.offset, "bytes": piece.bytes, "reason": piece.reason,
            })).collect::<Vec<_>>(),
        }));
    }

    fn failed(&mut self, path: &Path, error: &ImportError) {
        self.failed += 1;
        self.text.push_str(&format!("FAILED     {}: {error}\n", path.display()));
        let mut file = json!({"path": path, "outcome": "failed", "why": error.to_string()});
        if let Some(report) = error.committed() {
            self.lines += report.lines;
            self.events += report.events;
            self.unreadable += report.unreadable;
            let ImportReport { session, lines, events, .. } = report;
            self.text.push_str(&format!("  {session} {lines} lines, {events} events added before\n"));
            if let Value::Object(fields) = &mut file {
                fields.insert("session".to_owned(), session.to_string().into());
                fields.insert("lines".to_owned(), (*lines).into());
                fields.insert("events_added".to_owned(), (*events).into());
            }
        }
        self.files.push(file);
    }

    fn answer(self) -> Answer {
        let Self { mut text, files, imported, skipped, failed, lines, events, unreadable, .. } = self;
        text.push_str(&format!(
            "{imported} files imported, {skipped} skipped, {failed} failed: {lines} lines accounted for, \
             {events} events added, {unreadable} pieces unreadable\n"
        ));
        let json = json!({
            "files": files,
            "imported": imported,
            "skipped": skipped,
            "failed": failed,
            "lines": lines,
            "events_added": events,
            "unreadable": unreadable,
        });
        let exit = if failed + unreadable > 0 { Exit::Partial } else { Exit::Ok };
        Answer::new(text, &json).with_exit(exit)
    }
}
