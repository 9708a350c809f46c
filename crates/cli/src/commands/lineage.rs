//! `segue lineage`: which session was continued in which, why and when.

use segue::continuation::Lineage;
use segue::event::{Edge, SessionId, Transition};
use segue::{Reader, Scope};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{Answer, one_line};
use crate::place::Place;
use crate::thread_argument::resolve;

/// Whose lineage.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or `latest`.
    thread: String,
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let reader = place.read()?.reader(Scope::Workspace);
    let thread = resolve(&reader, &arguments.thread)?;
    reader.state(thread)?;
    let lineage = reader.lineage()?;
    let origin = lineage.origin(thread);
    let tree = Tree { reader: &reader, lineage: &lineage, marked: thread };
    let text = tree.draw(origin)?;
    let edges: Vec<_> =
        tree.edges(origin).into_iter().map(|(successor, edge)| to_json(successor, edge)).collect();
    let json = json!({"thread": thread.to_string(), "origin": origin.to_string(), "edges": edges});
    Ok(Answer::new(text, &json).with_damage(reader.known_damage().as_ref()))
}

struct Tree<'a> {
    reader: &'a Reader,
    lineage: &'a Lineage,
    marked: SessionId,
}

/// A session, and how far it stands from the origin.
type Placed = (SessionId, usize);

impl Tree<'_> {
    /// The sessions of the tree, each before its successors.
    fn walk(&self, origin: SessionId) -> Vec<Placed> {
        let mut open = vec![(origin, 0)];
        let mut walked = Vec::new();
        while let Some((session, depth)) = open.pop() {
            walked.push((session, depth));
            open.extend(
                self.lineage.edges_out_of(session).rev().map(|(successor, _)| (successor, depth + 1)),
            );
        }
        walked
    }

    fn edges(&self, origin: SessionId) -> Vec<(SessionId, &Edge)> {
        let sessions = self.walk(origin).into_iter();
        sessions.filter_map(|(session, _)| Some((session, self.lineage.edge_into(session)?))).collect()
    }

    fn draw(&self, origin: SessionId) -> Result<String, Failure> {
        let mut text = String::new();
        for (session, depth) in self.walk(origin) {
            let title = one_line(&self.reader.state(session)?.title.text);
            let mark = if session == self.marked { " *" } else { "" };
            let how = match self.lineage.edge_into(session) {
                Some(edge) if depth > 0 => {
                    let left = if self.lineage.went_back(session).is_some() { ", left again" } else { "" };
                    format!("└ {} {}{left}: ", how(edge), edge.created_at)
                }
                _ => String::new(),
            };
            text.push_str(&format!("{}{how}{session} {title}{mark}\n", "  ".repeat(depth)));
        }
        Ok(text)
    }
}

/// How a session came from another.
fn how(edge: &Edge) -> String {
    match edge.handover() {
        Some(handover) => format!("{} at [{}]", handover.reason.as_str(), handover.initiating.seq),
        None => format!("{}{} at [{}]", edge.kind().as_str(), trigger(edge), edge.predecessor_head.seq),
    }
}

fn trigger(edge: &Edge) -> String {
    match &edge.transition {
        Transition::Fresh(fresh) => format!(" ({})", fresh.trigger.as_str()),
        _ => String::new(),
    }
}

fn to_json(successor: SessionId, edge: &Edge) -> Value {
    let handover = edge.handover();
    json!({
        "continuation": edge.continuation.to_string(),
        "kind": edge.kind(),
        "predecessor": edge.predecessor.to_string(),
        "successor": successor.to_string(),
        "reason": handover.map(|handover| handover.reason),
        "initiating": handover.map(|handover| handover.initiating),
        "created_at": edge.created_at.to_string(),
        "trigger": match &edge.transition {
            Transition::Fresh(fresh) => Some(fresh.trigger.as_str()),
            _ => None,
        },
        "manifest": edge.manifest(),
    })
}
