//! The part that says where the successor comes from, and where earlier handoffs stand.

use segue_frame::Tag;

use crate::{EarlierHandoff, Origin};

/// Titles are cut here, so that the part has a largest size whatever a session is called.
const TITLE_CHARS_MAX: usize = 120;

pub(crate) fn render_lineage(origin: &Origin) -> String {
    let title = cut_title(&origin.predecessor_title);
    let attributes = [
        ("continuation", origin.continuation.to_string()),
        ("reason", origin.reason.as_str().to_owned()),
        ("origin", format!("thread:{}", origin.first)),
        ("predecessor", format!("thread:{}", origin.predecessor)),
        ("title", title),
        ("initiating", origin.initiating.to_string()),
    ];
    let attributes = attributes.each_ref().map(|(name, value)| (*name, value.as_str()));
    Tag::SessionContinuation.frame(&attributes, TEXT)
}

const TEXT: &str = "\
This session continues an earlier one. Nothing of that was summarised or deleted: what follows is a handoff, exact
excerpts, and links to all the rest. The message after this one is the one to answer; it was said in the earlier
session and is copied word for word. Work that the handoff calls finished is finished; there is no need to restate
it or the status.
To read back: `read` with thread:<id> and a range of the numbers in [brackets], or `recall` with words that were used
there. Without these tools: `segue show <id> --from N --to M` and `segue recall TEXT --thread <id>` on the command line.
";

pub(crate) fn render_earlier(earlier: &EarlierHandoff) -> String {
    let EarlierHandoff { thread, seq, decisions, cautions, open_questions } = earlier;
    let body = format!(
        "thread:{thread} [{seq}]: the handoff that the predecessor began with, with {decisions} decisions, \
         {cautions} cautions and {open_questions} open questions.\n"
    );
    Tag::EarlierHandoffs.frame(&[], &body)
}

fn cut_title(title: &str) -> String {
    let mut cut: String = title.chars().take(TITLE_CHARS_MAX).collect();
    if cut.len() < title.len() {
        cut.push('…');
    }
    cut
}
