//! What was left out, as a list that has a largest size.

use segue_event::{Omitted, OmittedItem};
use segue_frame::Tag;

/// The bytes that are kept free for the list.
pub(crate) const RESERVE_BYTES: usize = 1_024;

/// Lists what was left out in at most [`RESERVE_BYTES`]; empty if nothing was.
pub(crate) fn render_not_loaded(omitted: &[Omitted]) -> String {
    if omitted.is_empty() {
        return String::new();
    }
    let empty = Tag::NotLoaded.frame(&[], "").len();
    let mut body = String::new();
    for (index, item) in omitted.iter().enumerate() {
        let line = show(item);
        let more = format!("{} more, see the manifest\n", omitted.len() - index);
        if empty + body.len() + line.len() + more.len() > RESERVE_BYTES {
            body.push_str(&more);
            break;
        }
        body.push_str(&line);
    }
    Tag::NotLoaded.frame(&[], &body)
}

fn show(omitted: &Omitted) -> String {
    let why = omitted.why.as_str();
    match omitted.item {
        OmittedItem::Source(index) => format!("source {}: {why}\n", u64::from(index) + 1),
        OmittedItem::Events { thread, range } => format!("thread:{thread} [{range}]: {why}\n"),
    }
}
