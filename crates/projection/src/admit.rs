//! The parts that are never cut: the handoff and the list of sources, and their sizes.

use segue_continuation::Budget;
use segue_event::{Handoff, Source, SourceTarget};
use segue_frame::{Tag, escape, indent};

/// A handoff and sources that fit into their shares of a budget.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Admitted {
    pub(crate) budget: Budget,
    pub(crate) handoff: Handoff,
    pub(crate) sources: Vec<Source>,
}

/// How large the parts are that are never cut, rendered, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// The handoff.
    pub handoff_bytes: usize,
    /// The list of sources.
    pub sources_bytes: usize,
}

/// Measures a handoff and sources as they will be rendered.
pub fn measure(handoff: &Handoff, sources: &[Source]) -> Sizes {
    Sizes { handoff_bytes: render_handoff(handoff).len(), sources_bytes: render_sources(sources).len() }
}

/// Lets a handoff and sources through if they fit.
///
/// # Errors
/// The sizes, if one of them is larger than its share.
pub fn admit(budget: Budget, handoff: Handoff, sources: Vec<Source>) -> Result<Admitted, Sizes> {
    let sizes = measure(&handoff, &sources);
    let fits = sizes.handoff_bytes <= budget.handoff_bytes_max()
        && sizes.sources_bytes <= budget.sources_bytes_max();
    if fits { Ok(Admitted { budget, handoff, sources }) } else { Err(sizes) }
}

pub(crate) fn render_handoff(handoff: &Handoff) -> String {
    let mut body = String::new();
    prose(&mut body, "Purpose", &handoff.purpose);
    prose(&mut body, "Current request", &handoff.current_request);
    list(&mut body, "Established facts", &handoff.established_facts);
    list(&mut body, "Decisions", &handoff.decisions);
    list(&mut body, "Open questions", &handoff.open_questions);
    list(&mut body, "Next actions", &handoff.next_actions);
    list(&mut body, "Cautions", &handoff.cautions);
    handoff.extra.iter().for_each(|(key, items)| list(&mut body, key, items));
    Tag::Handoff.frame(&[], &body)
}

pub(crate) fn render_sources(sources: &[Source]) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let mut body = String::new();
    for (number, source) in (1..).zip(sources) {
        let line = format!("{}: {}", show_target(&source.target), source.relevance);
        body.push_str(&format!("{number}. {}\n", inset(&line)));
    }
    Tag::Sources.frame(&[], &body)
}

/// Indented throughout, so that no line of it stands at the margin, where transcript lines begin.
fn prose(body: &mut String, title: &str, text: &str) {
    heading(body, title);
    body.push_str(INSET);
    body.push_str(&inset(text));
    body.push('\n');
}

fn list(body: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    heading(body, title);
    for item in items {
        body.push_str("- ");
        body.push_str(&inset(item));
        body.push('\n');
    }
}

fn heading(body: &mut String, title: &str) {
    body.push_str("## ");
    body.push_str(&inset(title));
    body.push('\n');
}

const INSET: &str = "  ";

fn inset(text: &str) -> String {
    indent(&escape(text), INSET).into_owned()
}

fn show_target(target: &SourceTarget) -> String {
    match target {
        SourceTarget::Resource { url, version, block_id } => {
            let version = if version.is_empty() { String::new() } else { format!(" version {version}") };
            let block = if block_id.is_empty() { String::new() } else { format!(" block {block_id}") };
            format!("{url}{version}{block}")
        }
        SourceTarget::Memory { path } => path.clone(),
        SourceTarget::Events { thread, range } => format!("thread:{thread} [{range}]"),
    }
}
