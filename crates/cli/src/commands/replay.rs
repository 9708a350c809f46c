//! `segue replay`: rebuilds what a model was given, and holds it to its receipt.

use segue::event::{Seq, SessionId};
use segue::prompt::Prompt;
use segue::{RebuiltPrompt, ReceiptVerdict, Scope, Workspace};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::resolve;

/// Which prompt.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or `latest`.
    #[arg(long, value_name = "THREAD")]
    session: String,
    /// The newest prompt that was given out up to this event; by default every prompt is checked.
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    at: Option<u64>,
    /// Tells where the prompt begins to differ from the newest one up to this event.
    #[arg(long, value_name = "SEQ", requires = "at", value_parser = clap::value_parser!(u64).range(1..))]
    diff: Option<u64>,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let workspace = place.read()?;
    let session = resolve(&workspace.reader(Scope::Workspace), &arguments.session)?;
    match (arguments.at, arguments.diff) {
        (None, _) => check_all(&workspace, session),
        (Some(at), None) => show(&workspace.rebuild_prompt(session, seq(at))?),
        (Some(at), Some(other)) => {
            let [one, other] = [at, other].map(|at| workspace.rebuild_prompt(session, seq(at)));
            Ok(difference(&one?, &other?))
        }
    }
}

fn seq(number: u64) -> Seq {
    Seq::new(number).unwrap_or(Seq::FIRST)
}

fn check_all(workspace: &Workspace, session: SessionId) -> Result<Answer, Failure> {
    let mut text = String::new();
    let mut prompts = Vec::new();
    let mut exit = Exit::Ok;
    for receipt in workspace.receipts(session)? {
        let rebuilt = workspace.rebuild_prompt(session, receipt.seq)?;
        exit = if exit == Exit::Ok { exit_of(&rebuilt) } else { exit };
        text.push_str(&line(&rebuilt));
        prompts.push(to_json(&rebuilt));
    }
    if prompts.is_empty() {
        text.push_str("no prompt was given out in this session\n");
    }
    let json = json!({"thread": session.to_string(), "prompts": prompts});
    Ok(Answer::new(text, &json).with_exit(exit))
}

fn show(rebuilt: &RebuiltPrompt) -> Result<Answer, Failure> {
    let mut text = line(rebuilt);
    text.push_str(&render(&rebuilt.prompt));
    let mut json = to_json(rebuilt);
    if let Some(fields) = json.as_object_mut() {
        let parts = rebuilt.prompt.parts();
        let parts = parts
            .map(|part| json!({"name": part.name.to_string(), "text": String::from_utf8_lossy(&part.bytes)}));
        fields.insert("parts".to_owned(), parts.collect());
    }
    Ok(Answer::new(text, &json).with_exit(exit_of(rebuilt)))
}

/// Every part under its name, indented.
fn render(prompt: &Prompt) -> String {
    let mut text = String::new();
    for part in prompt.parts() {
        text.push_str(&format!("{}:\n", part.name));
        for line in String::from_utf8_lossy(&part.bytes).lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

fn difference(one: &RebuiltPrompt, other: &RebuiltPrompt) -> Answer {
    let (text, json) = match one.prompt.first_difference(&other.prompt) {
        None => ("the prompts are the same\n".to_owned(), Value::Null),
        Some(difference) => {
            let [left, right] = [difference.left, difference.right]
                .map(|name| name.map_or_else(|| "its end".to_owned(), |name| name.to_string()));
            let byte = difference.byte;
            let text = format!(
                "the prompts of [{}] and [{}] differ from byte {byte} of {left} and {right} on\n",
                one.at, other.at
            );
            (text, json!({"left": left, "right": right, "byte": byte}))
        }
    };
    let json = json!({"one": one.at.get(), "other": other.at.get(), "difference": json});
    Answer::new(text, &json)
}

fn line(rebuilt: &RebuiltPrompt) -> String {
    let RebuiltPrompt { at, receipt, verdict, .. } = rebuilt;
    format!("[{at}] prompt {}: {}\n", receipt.prompt, verdict_in_words(verdict))
}

fn verdict_in_words(verdict: &ReceiptVerdict) -> String {
    match verdict {
        ReceiptVerdict::Same => "the same to the byte".to_owned(),
        ReceiptVerdict::OtherRenderer(divergence) => {
            format!("another version made it, and this one makes it otherwise: {divergence}")
        }
        ReceiptVerdict::Diverged(divergence) => format!("NOT THE SAME: {divergence}"),
    }
}

fn exit_of(rebuilt: &RebuiltPrompt) -> Exit {
    match rebuilt.verdict {
        ReceiptVerdict::Same | ReceiptVerdict::OtherRenderer(_) => Exit::Ok,
        ReceiptVerdict::Diverged(_) => Exit::Corrupt,
    }
}

fn to_json(rebuilt: &RebuiltPrompt) -> Value {
    json!({
        "at": rebuilt.at.get(),
        "receipt": rebuilt.receipt,
        "verdict": verdict_in_words(&rebuilt.verdict),
        "same": rebuilt.verdict == ReceiptVerdict::Same,
    })
}
