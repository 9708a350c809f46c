//! `segue continue`: carries a session into a fresh one.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use segue::continuation::Refusal;
use segue::continuation::caps::REQUEST_BYTES_MAX;
use segue::event::{Digest, SessionId};
use segue::projection::{Estimate, Loaded, Measured, Projection, Staying};
use segue::{Asker, ContinuedSession, Outcome, Preview, Scope, Verdict, Workspace};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::resolve;

/// What is continued, and how.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or `latest`.
    thread: String,
    /// A JSON file with reason, title, description and handoff; `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    handoff: PathBuf,
    /// Shows what the successor would begin with and what that costs against staying, and writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// The same request gets the same successor; by default the file's content tells requests apart.
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let handoff = read(&arguments.handoff)?;
    let by_content = || blake3::hash(handoff.as_bytes()).to_hex().to_string();
    let asker = Asker::Person { request: arguments.request_id.clone().unwrap_or_else(by_content) };
    if arguments.dry_run {
        let workspace = place.read()?;
        let thread = resolve(&workspace.reader(Scope::Workspace), &arguments.thread)?;
        return preview(workspace.preview_continuation(thread, &asker, &handoff)?);
    }
    let workspace = place.write()?;
    let thread = resolve(&workspace.reader(Scope::Workspace), &arguments.thread)?;
    match workspace.continue_session(thread, &asker, &handoff)? {
        Outcome::Refused(refusal) => Err(refused(&refusal)),
        Outcome::Continued(continued) => answer(&workspace, thread, &continued),
    }
}

/// Reads a handoff, and no more than can be one.
fn read(file: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::InvalidData | ErrorKind::IsADirectory => {
            let message = format!("{} is no text: {error}", file.display());
            Failure::new(Exit::Usage, "no-handoff", message, "a handoff is a JSON file in UTF-8")
        }
        _ => Failure::file("cannot read", file, &error),
    };
    let limit = REQUEST_BYTES_MAX as u64 + 1;
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_string(&mut text).map_err(failed)?;
    } else {
        let opened = File::open(file).map_err(failed)?;
        opened.take(limit).read_to_string(&mut text).map_err(failed)?;
    }
    Ok(text)
}

/// What was made; that it was made is said even if it cannot be looked at any more.
fn answer(
    workspace: &Workspace,
    predecessor: SessionId,
    continued: &ContinuedSession,
) -> Result<Answer, Failure> {
    let again = if continued.replayed { " (it was there already)" } else { "" };
    let mut text = format!("continued {predecessor}\n       in {}{again}\n", continued.successor);
    let mut notes: Vec<_> = continued.diagnostics.iter().map(ToString::to_string).collect();
    let mut manifest = Value::Null;
    match workspace.recompile(continued.successor) {
        Ok(recompiled) => {
            let Digest { bytes, blake3 } = recompiled.manifest.projection;
            let verdict = show_verdict(recompiled.verdict);
            text.push_str(&format!(
                "projection: {bytes} bytes, blake3 {blake3}, compiled again: {verdict}\n"
            ));
            manifest = json!(recompiled.manifest);
        }
        Err(error) => notes.push(format!("the projection could not be compiled again: {error}")),
    }
    let json = json!({
        "continuation": continued.continuation.to_string(),
        "predecessor": predecessor.to_string(),
        "successor": continued.successor.to_string(),
        "replayed": continued.replayed,
        "notes": notes,
        "manifest": manifest,
    });
    Ok(Answer::new(text, &json).with_warnings(notes))
}

pub(crate) fn show_verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "the same bytes",
        Verdict::OtherCompiler => "made by another version; its hash is right",
        Verdict::Altered => "THE STORED TEXT WAS ALTERED",
        Verdict::Different => "DIFFERENT BYTES",
    }
}

fn preview(preview: Preview) -> Result<Answer, Failure> {
    match preview {
        Preview::WouldRefuse(refusal) => Err(refused(&refusal)),
        Preview::Replay(replayed) => {
            let successor = replayed.successor.to_string();
            let json = json!({"would_continue": false, "replayed": true, "successor": successor});
            Ok(Answer::new(format!("this request was carried out already, in {successor}"), &json))
        }
        Preview::WouldContinue { projection, diagnostics, estimate } => {
            let Projection { text, manifest } = *projection;
            let notes: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
            let shown = format!("{text}\n{}", show_estimate(&estimate));
            let json = json!({
                "would_continue": true,
                "projection": text,
                "notes": notes,
                "manifest": manifest,
                "estimate": estimate_to_json(&estimate),
            });
            Ok(Answer::new(shown, &json).with_warnings(notes))
        }
    }
}

/// What it would load, and what it costs against staying. What is left out stands in the projection already.
fn show_estimate(estimate: &Estimate) -> String {
    let Estimate { loaded, left_out, continuing, staying } = estimate;
    let staying = match staying {
        Staying::Counted { tokens } => format!("{tokens} tokens, as the provider counted last"),
        Staying::Measured(measured) => show_measured(*measured),
    };
    let mut text = format!("continuing: {}\nstaying:    {staying}\nloaded:\n", show_measured(*continuing));
    for Loaded { thread, range, bytes } in loaded {
        text.push_str(&format!("  thread:{thread} [{range}]: {bytes} bytes\n"));
    }
    text.push_str(&format!("left out: {} ranges and sources\n", left_out.len()));
    text
}

fn show_measured(measured: Measured) -> String {
    format!("{} bytes, by estimate {} tokens", measured.bytes, measured.tokens_estimated())
}

fn estimate_to_json(estimate: &Estimate) -> Value {
    let Estimate { loaded, left_out, continuing, staying } = estimate;
    let loaded: Vec<_> = loaded
        .iter()
        .map(|Loaded { thread, range, bytes }| json!({"thread": thread, "range": range, "bytes": bytes}))
        .collect();
    let staying = match staying {
        Staying::Counted { tokens } => json!({"tokens_counted": tokens}),
        Staying::Measured(measured) => measured_to_json(*measured),
    };
    json!({
        "loaded": loaded,
        "left_out": left_out,
        "continuing": measured_to_json(*continuing),
        "staying": staying,
    })
}

fn measured_to_json(measured: Measured) -> Value {
    json!({"bytes": measured.bytes, "tokens_estimated": measured.tokens_estimated()})
}

fn refused(refusal: &Refusal) -> Failure {
    Failure::new(Exit::Usage, refusal.code(), format!("refused: {refusal}"), "nothing was created")
}
