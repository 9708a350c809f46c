//! Recent exchanges: newest first while they fit, shown oldest first, long texts cut.

use segue_event::{ByteRange, Cut, Digest, Included, Seq, SeqRange, SessionId};
use segue_frame::{Tag, Who, line};

use crate::CutEntry;

/// What became of the recent entries.
#[derive(Default)]
pub(crate) struct RecentExchanges {
    /// The rendered frame; empty if nothing is shown.
    pub(crate) frame: String,
    pub(crate) included: Vec<Included>,
    /// The oldest entry that is shown.
    pub(crate) oldest_shown: Option<Seq>,
    /// The newest entry that did not fit; those before it were not considered.
    pub(crate) over_budget: Option<Seq>,
}

/// Renders entries, given newest first, into at most `bytes_max`. `cited` are the ranges that stand in excerpts.
pub(crate) fn render_recent<'a>(
    thread: SessionId,
    entries: impl Iterator<Item = &'a CutEntry>,
    cited: &[SeqRange],
    bytes_max: usize,
) -> RecentExchanges {
    let source = format!("thread:{thread}");
    let empty = Tag::RecentExchanges.frame(&[("source", &source)], "");
    let mut left = bytes_max.saturating_sub(empty.len());
    let mut recent = RecentExchanges::default();
    let mut shown = Vec::new();
    for entry in entries {
        let rendered = render_cut(entry, thread);
        // Newest first while they fit: a gap in the talk would mislead, so the first that does not fit ends it.
        if rendered.text.len() > left {
            recent.over_budget = Some(entry.seq);
            break;
        }
        left -= rendered.text.len();
        recent.oldest_shown = Some(entry.seq);
        shown.push(rendered);
    }
    shown.reverse();
    if !shown.is_empty() {
        let body: String = shown.iter().map(|rendered| rendered.text.as_str()).collect();
        recent.frame = Tag::RecentExchanges.frame(&[("source", &source)], &body);
        recent.included = included(thread, &shown, cited);
    }
    recent
}

struct Rendered {
    seq: Seq,
    text: String,
    cuts: Vec<Cut>,
}

fn render_cut(entry: &CutEntry, thread: SessionId) -> Rendered {
    let seq = entry.seq;
    let mut rendered = Rendered { seq, text: String::new(), cuts: Vec::new() };
    for (part, more_chars) in &entry.parts {
        line::write(&mut rendered.text, seq, &part.who, &part.text);
        if *more_chars > 0 {
            let more = format!("{more_chars} more characters: read thread:{thread} from {seq} to {seq}");
            line::write(&mut rendered.text, seq, &Who::new("(cut)"), &more);
            let shown = ByteRange { start: 0, end: part.text.len() as u64 };
            rendered.cuts.push(Cut { part: part.index, shown });
        }
    }
    rendered
}

/// One item for each run of whole entries that nothing cited breaks off, and one for each entry with a cut.
fn included(thread: SessionId, shown: &[Rendered], cited: &[SeqRange]) -> Vec<Included> {
    let runs = shown.chunk_by(|one, next| {
        let is_broken = cited.iter().any(|range| one.seq < range.from && range.from < next.seq);
        one.cuts.is_empty() && next.cuts.is_empty() && !is_broken
    });
    runs.filter_map(|run| {
        let range = SeqRange::new(run.first()?.seq, run.last()?.seq)?;
        let text: String = run.iter().map(|rendered| rendered.text.as_str()).collect();
        let cuts = run.iter().flat_map(|rendered| rendered.cuts.iter().copied()).collect();
        Some(Included { thread, range, cuts, rendered: Digest::of(text.as_bytes()) })
    })
    .collect()
}
