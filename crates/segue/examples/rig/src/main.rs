//! The agent of `agent.rs` on the rig framework: its model is asked over HTTP, and runs out of context.
//!
//! `cargo run --package segue-example-rig --features rig`

mod model;
mod server;

use std::io::Write;

use rig_core::providers::openai::{OpenAIConfig, Route};
use segue::event::{AgentId, Author, Lane, Message, Role};
use segue::log::MemoryLog;
use segue::prompt::{Prompt, ToolContract};
use segue::{Driven, Host, HostCall, NewSession, Setup, SystemHost, ToolOutput, Workspace, drive_async};
use serde_json::{Value, json};

use crate::server::{Server, answer};

const HANDOFF: &str = r#"{
    "reason": "context_pressure", "title": "Tests of the parser", "description": "writing the first test",
    "handoff": {"purpose": "a parser for a.txt", "currentRequest": "write the tests of the parser"}
}"#;

fn main() -> anyhow::Result<()> {
    run(&mut std::io::stdout(), SystemHost)
}

fn run(out: &mut dyn Write, host: impl Host + 'static) -> anyhow::Result<()> {
    let server = Server::start(script())?;
    let workspace = Workspace::on(MemoryLog::new(), host);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(work(&workspace, &server.address, out))?;
    for (number, request) in (1..).zip(server.finish()?) {
        writeln!(out, "request {number}: {}", roles(&request).join(" "))?;
    }
    Ok(())
}

/// Who speaks in a request.
fn roles(request: &Value) -> Vec<&str> {
    let messages = request.pointer("/messages").and_then(Value::as_array);
    messages.into_iter().flatten().filter_map(|message| message.pointer("/role")?.as_str()).collect()
}

/// Starts a session, and works until no run is left.
async fn work(workspace: &Workspace, address: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let model = OpenAIConfig::new("no key").with_base_url(address).with_route(Route::Chat).client();
    let model = model.completion("scripted-1");
    let session = workspace.start_session(NewSession::of(AgentId::new("coder")?))?;
    let request = Message::text(Role::User, Author::User, "Write a parser for a.txt, and its tests.");
    workspace.send(session, &request, Lane::Interactive)?;
    let mut queue = workspace.queue()?;
    while let Some(turn) = queue.take(&setup())? {
        let ask = async |prompt: Prompt| {
            let response = model.call(model::request(&prompt)?).await?;
            anyhow::Ok(model::said(&response))
        };
        let tool = async |_: HostCall| ToolOutput::text("a.txt: a hundred lines of `key = value`");
        match drive_async(turn, ask, tool).await? {
            Driven::Continued(_) => writeln!(out, "the conversation goes on in a successor")?,
            over => writeln!(out, "the run is over: {over:?}")?,
        }
    }
    Ok(())
}

fn setup() -> Setup {
    let schema = json!({"type": "object", "properties": {"file": {"type": "string"}}});
    Setup {
        system: vec!["You write parsers.".to_owned()],
        tools: vec![ToolContract::new("show_file", "Shows a file.", &schema)],
        window_tokens: Some(10_000),
        ..Setup::default()
    }
}

fn script() -> Vec<Value> {
    vec![
        answer(4_000, "I look at it.", &[("1", "show_file", r#"{"file": "a.txt"}"#)]),
        answer(8_600, "I look once more.", &[("2", "show_file", r#"{"file": "a.txt"}"#)]),
        answer(8_900, "", &[("3", "continue_session", HANDOFF)]),
        answer(1_200, "The tests are written, in the successor.", &[]),
    ]
}

#[cfg(test)]
mod tests {
    use segue_testkit::FixedHost;

    use super::*;

    #[test]
    fn the_agent_goes_on_in_a_successor() {
        let mut out = Vec::new();
        run(&mut out, FixedHost::new()).unwrap();
        let expected = "the conversation goes on in a successor\n\
            the run is over: Done(Succeeded)\n\
            request 1: system user\n\
            request 2: system user assistant tool user\n\
            request 3: system user assistant tool assistant tool user\n\
            request 4: system user\n";
        // What stands at the end of each prompt is a user's message for rig, which joins neighbours of one role.
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
