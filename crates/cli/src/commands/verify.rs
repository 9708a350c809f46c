//! `segue verify`: checks the record.

use segue::log::{Depth, Report};
use serde_json::json;

use crate::bar::Bar;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;

/// How thoroughly.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only checks that everything is there and whole; by default also every hash, body and blob.
    #[arg(long)]
    quick: bool,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let depth = if arguments.quick { Depth::Quick } else { Depth::Full };
    let workspace = place.read()?;
    let mut bar = Bar::new("checking");
    let report = workspace.verify(depth, &mut |progress| bar.show(progress))?;
    drop(bar);
    let problems: Vec<_> =
        report.problems.iter().map(|problem| json!({"place": problem.place, "what": problem.what})).collect();
    let json = json!({
        "sound": report.is_sound(),
        "events": report.events,
        "sessions": report.sessions,
        "bytes": report.bytes,
        "blobs": report.blobs,
        "problems": problems,
        "notes": report.notes,
    });
    let exit = if report.is_sound() { Exit::Ok } else { Exit::Corrupt };
    Ok(Answer::new(show(&report), &json).with_exit(exit))
}

pub(crate) fn show(report: &Report) -> String {
    let verdict = if report.is_sound() { "sound" } else { "DAMAGED" };
    let Report { events, sessions, bytes, blobs, .. } = report;
    let mut text =
        format!("{verdict}: {events} events in {sessions} sessions, {bytes} bytes, {blobs} blobs\n");
    report
        .problems
        .iter()
        .for_each(|problem| text.push_str(&format!("  {}: {}\n", problem.place, problem.what)));
    report.notes.iter().for_each(|note| text.push_str(&format!("  note: {note}\n")));
    text
}
