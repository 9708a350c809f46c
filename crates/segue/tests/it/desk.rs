//! Workspaces and sessions to test with.

use segue::event::{AgentId, Author, Event, Message, Role, SessionId};
use segue::log::MemoryLog;
use segue::{Asker, ContinuedSession, NewSession, Outcome, Scope, Workspace};
use segue_testkit::FixedHost;

/// A handoff in which everything is in order.
pub(crate) const HANDOFF: &str = r#"{
    "reason": "phase_change", "title": "Next", "description": "under way",
    "handoff": {"purpose": "a purpose", "currentRequest": "a request"}
}"#;

pub(crate) fn workspace() -> Workspace {
    Workspace::on(MemoryLog::new(), FixedHost::new())
}

pub(crate) fn session(workspace: &Workspace, agent: &str) -> SessionId {
    workspace.start_session(NewSession::of(AgentId::new(agent).unwrap())).unwrap()
}

pub(crate) fn user(text: &str) -> Message {
    Message::text(Role::User, Author::User, text)
}

pub(crate) fn said(text: &str) -> Event {
    user(text).into()
}

pub(crate) fn person(request: &str) -> Asker {
    Asker::Person { request: request.to_owned() }
}

pub(crate) fn continued(workspace: &Workspace, session: SessionId, asker: &Asker) -> ContinuedSession {
    match workspace.continue_session(session, asker, HANDOFF).unwrap() {
        Outcome::Continued(continued) => continued,
        Outcome::Refused(refusal) => panic!("{refusal}"),
    }
}

/// Every event of a session.
pub(crate) fn events(workspace: &Workspace, session: SessionId) -> Vec<Event> {
    let log = workspace.log();
    let all = log.read(session, segue::event::SeqRange::ALL, segue::log::Direction::Forward).unwrap();
    all.map(|raw| raw.unwrap().decode().unwrap().event).collect()
}

/// How many sessions there are.
pub(crate) fn session_count(workspace: &Workspace) -> usize {
    workspace.reader(Scope::Workspace).sessions(None, 1_000).unwrap().len()
}
