//! A follower of typed streams: it shows a lineage as it grows, while another thread continues sessions.
//!
//! `cargo run --package segue --example follow`

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use segue::continuation::Lineage;
use segue::event::{
    AgentId, Author, ContinuationEvent, Fold as _, Message, Position, Role, SessionId, Title, TitleSource,
};
use segue::log::{EventLogExt as _, MemoryLog};
use segue::{Asker, Host, NewSession, Outcome, SystemHost, Workspace};

/// How many sessions the other thread makes, one out of the other.
const CHAIN: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout(), SystemHost)
}

pub(crate) fn run(out: &mut dyn Write, host: impl Host + 'static) -> Result<(), Box<dyn Error>> {
    let workspace = Workspace::on(MemoryLog::new(), host);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(&workspace).map_err(|error| error.to_string()));
        follow(&workspace, out)?;
        writer.join().map_err(|_| "the writer panicked")??;
        Ok(())
    })
}

/// Shows sessions as they come: history first, then live, and no event twice.
fn follow(workspace: &Workspace, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // Any family of events can be followed; this one is made of edges alone.
    let mut stream = workspace.log().follow::<ContinuationEvent>(Position::FIRST)?;
    let mut lineage = Lineage::new();
    let mut shown = 0;
    while shown < CHAIN {
        // Woken by the commit; the patience is for what else a program has to do.
        let Some(recorded) = stream.wait(Duration::from_secs(1))? else { continue };
        lineage.apply(&recorded);
        // A person can also leave a session for the one before it; nobody does here.
        let ContinuationEvent::Continued(edge) = &recorded.event else { continue };
        let depth = lineage.chain(recorded.session).len() - 1;
        let reason = edge.handover().map_or("", |handover| handover.reason.as_str());
        writeln!(out, "{}└ from “{}” because of {reason}", "  ".repeat(depth - 1), edge.predecessor_title)?;
        shown += 1;
    }
    Ok(())
}

/// The other thread: sessions, one out of the other.
fn write(workspace: &Workspace) -> Result<(), Box<dyn Error + Send + Sync>> {
    let title = Title { text: "Step 0".to_owned(), source: TitleSource::Agent };
    let mut session =
        workspace.start_session(NewSession { title, ..NewSession::of(AgentId::new("coder")?) })?;
    for number in 1..=CHAIN {
        workspace.append(session, [Message::text(Role::User, Author::User, format!("now step {number}"))])?;
        session = go_on(workspace, session, number)?;
    }
    Ok(())
}

fn go_on(
    workspace: &Workspace,
    session: SessionId,
    number: usize,
) -> Result<SessionId, Box<dyn Error + Send + Sync>> {
    let request = serde_json::json!({
        "reason": "phase_change", "title": format!("Step {number}"), "description": "begun",
        "handoff": {"purpose": "steps, one after the other", "currentRequest": format!("step {number}")},
    });
    let asker = Asker::Person { request: format!("step {number}") };
    match workspace.continue_session(session, &asker, &request.to_string())? {
        Outcome::Continued(continued) => Ok(continued.successor),
        Outcome::Refused(refusal) => Err(refusal.to_string().into()),
    }
}
