//! A whole agent: its model runs out of context, and the conversation goes on in a fresh session.
//!
//! `cargo run --package segue --example agent`

use std::error::Error;
use std::io::Write;

use segue::event::{AgentId, Author, Lane, Message, Role};
use segue::log::MemoryLog;
use segue::prompt::{Prompt, ToolContract};
use segue::thread::{Budget, Query};
use segue::{
    Driven, Host, HostCall, NewSession, Said, Scope, Setup, SystemHost, ToolOutput, Where, Workspace, drive,
};
use segue_testkit::ScriptedModel;

/// How many tokens the model takes.
const WINDOW_TOKENS: u64 = 10_000;

const HANDOFF: &str = r#"{
    "reason": "context_pressure", "title": "Tests of the parser", "description": "writing the first test",
    "handoff": {
        "purpose": "a parser for a.txt", "currentRequest": "write the tests of the parser",
        "decisions": ["no regexes: the user said so"]
    },
    "sources": [{"type": "session_event", "seq": 2, "relevance": "what the user asked for"}]
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout(), SystemHost)
}

pub(crate) fn run(out: &mut dyn Write, host: impl Host + 'static) -> Result<(), Box<dyn Error>> {
    // An agent that is to remember says `Workspace::open(folder, SystemHost, Options::default())`.
    let workspace = Workspace::on(MemoryLog::new(), host);
    let session = workspace.start_session(NewSession::of(AgentId::new("coder")?))?;
    let request = "Write a parser for a.txt, without regexes, and its tests.";
    workspace.send(session, &Message::text(Role::User, Author::User, request), Lane::Interactive)?;

    let mut model = model();
    let mut queue = workspace.queue()?;
    while let Some(turn) = queue.take(&setup())? {
        writeln!(out, "a run begins")?;
        let ask = |prompt: &Prompt| {
            let shown = prompt.blocks.iter().find(|block| block.starts_with("<context_usage"));
            let shown = shown.map_or("nobody knows how full the context is\n", String::as_str);
            let sent = write!(out, "  a prompt of {} messages; {shown}", prompt.transcript.len());
            sent.map_err(|error| error.to_string())?;
            model.answer(prompt).map_err(|error| error.to_string())
        };
        match drive(turn, ask, tool)? {
            Driven::Continued(_) => writeln!(out, "the conversation goes on in a successor")?,
            over => writeln!(out, "the run is over: {over:?}")?,
        }
    }

    let last = model.asked().last().ok_or("the model was not asked")?;
    writeln!(out, "\nIts first prompt:")?;
    for message in &last.transcript {
        String::from_utf8(message.to_bytes())?.split("\\n").try_for_each(|line| writeln!(out, "{line}"))?;
    }
    let reader = workspace.reader(Scope::Workspace);
    let newest = reader.sessions(None, 1)?.first().ok_or("there is no session")?.session;
    let query = Query::literal("a hundred lines")?;
    let answer = reader.recall(Where::Chain(newest), &query, &Budget::default(), None)?;
    let found = answer.hits.iter().filter(|hit| hit.thread == session).count();
    writeln!(out, "\nFrom there it finds {found} line of the first session, word for word.")?;
    Ok(())
}

fn setup() -> Setup {
    let schema = serde_json::json!({"type": "object", "properties": {"file": {"type": "string"}}});
    Setup {
        system: vec!["You write parsers.".to_owned()],
        tools: vec![ToolContract::new("show_file", "Shows a file.", &schema)],
        ..ScriptedModel::setup(WINDOW_TOKENS)
    }
}

fn tool(_: &HostCall) -> ToolOutput {
    ToolOutput::text("a.txt: a hundred lines of `key = value`")
}

/// What a model would say; the numbers are its provider's counts of each prompt.
fn model() -> ScriptedModel {
    ScriptedModel::new()
        .says_at(4_000, Said::text("I look at it.").call("1", "show_file", r#"{"file": "a.txt"}"#))
        .says_at(
            7_300,
            Said::text("The parser is done.").call(
                "2",
                "status",
                r#"{"title": "Parser", "description": "done"}"#,
            ),
        )
        .says_at(8_600, Said::text("I look once more.").call("3", "show_file", r#"{"file": "a.txt"}"#))
        .says_at(8_900, Said::default().call("4", "continue_session", HANDOFF))
        .says(Said::text("The tests are written, in the successor."))
}
