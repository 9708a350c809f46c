//! `segue fresh`: goes on from a session in a fresh one that begins with a pointer, without a handoff.

use segue::event::{Digest, SessionId};
use segue::{
    ContinuedSession, Freshened, Host as _, PointerPreview, Scope, SystemHost, WhyInPlace, Workspace,
};
use serde_json::{Value, json};

use super::continuing::show_verdict;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::resolve;

/// What is gone on from.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or `latest`.
    thread: String,
    /// Shows the pointer that the fresh session would begin with, and writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// The same request gets the same successor; by default each is another one.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    if arguments.dry_run {
        let workspace = place.read()?;
        let thread = resolve(&workspace.reader(Scope::Workspace), &arguments.thread)?;
        return Ok(preview(workspace.preview_fresh(thread)?));
    }
    let workspace = place.write()?;
    let thread = resolve(&workspace.reader(Scope::Workspace), &arguments.thread)?;
    let unique = || format!("{}-{:?}", SystemHost.now().micros, SystemHost.random());
    let request = arguments.request_id.clone().unwrap_or_else(unique);
    Ok(match workspace.fresh(thread, &request)? {
        Freshened::Switched(continued) => switched(&workspace, thread, &continued),
        Freshened::InPlace(why) => in_place(thread, &why),
    })
}

/// What was made; that it was made is said even if it cannot be looked at any more.
fn switched(workspace: &Workspace, predecessor: SessionId, continued: &ContinuedSession) -> Answer {
    let again = if continued.replayed { " (it was there already)" } else { "" };
    let mut text = format!("went on from {predecessor}\n          in {}{again}\n", continued.successor);
    let mut notes: Vec<_> = continued.diagnostics.iter().map(ToString::to_string).collect();
    let mut manifest = Value::Null;
    match workspace.recompile(continued.successor) {
        Ok(recompiled) => {
            let Digest { bytes, blake3 } = recompiled.manifest.projection;
            let verdict = show_verdict(recompiled.verdict);
            text.push_str(&format!("pointer: {bytes} bytes, blake3 {blake3}, made again: {verdict}\n"));
            manifest = json!(recompiled.manifest);
        }
        Err(error) => notes.push(format!("the pointer could not be made again: {error}")),
    }
    let json = json!({
        "switched": true,
        "continuation": continued.continuation.to_string(),
        "predecessor": predecessor.to_string(),
        "successor": continued.successor.to_string(),
        "replayed": continued.replayed,
        "notes": notes,
        "manifest": manifest,
    });
    Answer::new(text, &json).with_warnings(notes)
}

fn in_place(thread: SessionId, why: &WhyInPlace) -> Answer {
    let text = format!("{thread} goes on itself, with a pointer: {why}\n");
    let json = json!({"switched": false, "predecessor": thread.to_string(), "why": why.to_string()});
    let exit = if matches!(why, WhyInPlace::Failed(_)) { Exit::Unhealthy } else { Exit::Ok };
    Answer::new(text, &json).with_exit(exit)
}

fn preview(preview: PointerPreview) -> Answer {
    let PointerPreview { text, manifest, diagnostics } = preview;
    let notes: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
    let json = json!({"pointer": text, "notes": notes, "manifest": manifest});
    Answer::new(text, &json).with_warnings(notes)
}
