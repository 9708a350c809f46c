//! What tests of turns share: a setup, turns that are begun, and what prompts and results say.

use segue::event::{Block, Event, Lane, ResultStatus, SessionId};
use segue::prompt::{Prompt, PromptContent, ToolContract};
use segue::{FreshPolicy, HostCall, Setup, Step, Tasks, Turn, Workspace};

use crate::desk::{events, session, user, workspace};

pub(crate) fn setup() -> Setup {
    Setup {
        host: "host 1".to_owned(),
        system: vec!["You write parsers.".to_owned()],
        tools: vec![ToolContract::new("bash", "runs a command", &serde_json::json!({"type": "object"}))],
        tasks: Tasks::Offered,
        model: None,
        window_tokens: Some(1_000),
        fresh: FreshPolicy::Never,
    }
}

pub(crate) fn asked(text: &str) -> (Workspace, SessionId) {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.send(first, &user(text), Lane::Interactive).unwrap();
    (workspace, first)
}

pub(crate) fn begin(workspace: &Workspace, session: SessionId) -> Turn<'_> {
    workspace.turn(session, &setup()).unwrap().unwrap()
}

pub(crate) fn calls(step: Step) -> Vec<HostCall> {
    match step {
        Step::CallTools(calls) => calls,
        other => panic!("{other:?}"),
    }
}

/// Every text of a prompt's transcript.
pub(crate) fn texts(prompt: &Prompt) -> Vec<String> {
    let contents = prompt.transcript.iter().flat_map(|message| &message.content);
    contents.filter_map(text_of).collect()
}

pub(crate) fn text_of(content: &PromptContent) -> Option<String> {
    match content {
        PromptContent::Text(text) => Some(text.clone()),
        PromptContent::ToolResult { content, .. } => content.iter().find_map(text_of),
        _ => None,
    }
}

/// The results that a session's transcript holds, by tool.
pub(crate) fn results(workspace: &Workspace, session: SessionId) -> Vec<(String, ResultStatus, String)> {
    let all = events(workspace, session).into_iter().filter_map(|event| match event {
        Event::ToolResult(result) => {
            let text = result.blocks.iter().find_map(|block| match block {
                Block::Text(text) => Some(text.clone()),
                _ => None,
            });
            Some((result.tool, result.status, text.unwrap_or_default()))
        }
        _ => None,
    });
    all.collect()
}
