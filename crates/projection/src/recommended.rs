//! What the runtime recommends: shown where there is room beside what was cited, and nowhere twice.

use segue_event::{Digest, Included, SeqRange, SessionId, WhyOmitted};
use segue_frame::{Entry, Tag};

use crate::excerpts::Excerpts;
use crate::ranges::subtract;
use crate::{Cited, RecommendedRange};

/// Renders what fits into `bytes_max`, in order, each whole or not at all. `shown` stands in the projection anyway.
pub(crate) fn render_recommended(
    ranges: &[RecommendedRange],
    shown: Vec<(SessionId, SeqRange)>,
    bytes_max: usize,
) -> Excerpts {
    let mut excerpts = Excerpts::default();
    let mut shown = shown;
    let mut left = bytes_max;
    for range in ranges {
        let thread = range.recommended.thread;
        let taken = shown.iter().filter(|(other, _)| *other == thread).map(|(_, range)| *range);
        let stretches = subtract(range.recommended.range, &taken.collect::<Vec<_>>());
        match render(range, &stretches).filter(|frame| frame.len() <= left) {
            Some(frame) => {
                left -= frame.len();
                shown.extend(stretches.iter().map(|stretch| (thread, *stretch)));
                include(&mut excerpts, range, &stretches);
                excerpts.frames.extend((!frame.is_empty()).then_some(frame));
            }
            None => leave_out(&mut excerpts, thread, &stretches, WhyOmitted::OverBudget),
        }
    }
    excerpts
}

/// The frame; empty if there is nothing to show, none if it was too large to be read.
fn render(range: &RecommendedRange, stretches: &[SeqRange]) -> Option<String> {
    let Cited::Entries(entries) = &range.cited else { return stretches.is_empty().then(String::new) };
    let lines: String = stretches.iter().map(|stretch| lines(entries, *stretch)).collect();
    if lines.is_empty() {
        return Some(lines);
    }
    let source = format!("thread:{}", range.recommended.thread);
    let SeqRange { from, to } = range.recommended.range;
    let (from, to) = (from.to_string(), to.to_string());
    let why = range.recommended.why.as_str();
    Some(
        Tag::Excerpt
            .frame(&[("source", &source), ("from", &from), ("to", &to), ("recommended", why)], &lines),
    )
}

fn lines(entries: &[Entry], stretch: SeqRange) -> String {
    entries.iter().filter(|entry| stretch.contains(entry.seq)).map(Entry::render).collect()
}

fn include(excerpts: &mut Excerpts, range: &RecommendedRange, stretches: &[SeqRange]) {
    let Cited::Entries(entries) = &range.cited else { return };
    let thread = range.recommended.thread;
    for stretch in stretches {
        let rendered = lines(entries, *stretch);
        if rendered.is_empty() {
            leave_out(excerpts, thread, &[*stretch], WhyOmitted::NothingToShow);
            continue;
        }
        let rendered = Digest::of(rendered.as_bytes());
        excerpts.included.push(Included { thread, range: *stretch, cuts: Vec::new(), rendered });
    }
}

fn leave_out(excerpts: &mut Excerpts, thread: SessionId, stretches: &[SeqRange], why: WhyOmitted) {
    excerpts.omitted.extend(stretches.iter().map(|stretch| (thread, *stretch, why)));
}
