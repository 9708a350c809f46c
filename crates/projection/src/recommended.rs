//! What the runtime recommends: shown where there is room beside what was cited, and nowhere twice.

use segue_event::{SeqRange, SessionId, WhyOmitted};

use crate::excerpts::{Excerpts, Stretch, frame};
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
        let rendered = render(range, &stretches).map(|lines| (range_frame(range, &lines), lines));
        match rendered.filter(|(frame, _)| frame.len() <= left) {
            Some((frame, lines)) => {
                left -= frame.len();
                shown.extend(stretches.iter().map(|stretch| (thread, *stretch)));
                excerpts.include(thread, lines);
                excerpts.frames.extend((!frame.is_empty()).then_some(frame));
            }
            None => {
                let omit = |stretch| excerpts.omit(thread, stretch, WhyOmitted::OverBudget);
                stretches.into_iter().for_each(omit);
            }
        }
    }
    excerpts
}

/// The lines of the stretches; none if the range was too large to be read.
fn render(range: &RecommendedRange, stretches: &[SeqRange]) -> Option<Vec<Stretch>> {
    let entries = match &range.cited {
        Cited::Entries(entries) => entries.as_slice(),
        Cited::TooLarge if stretches.is_empty() => &[],
        Cited::TooLarge => return None,
    };
    let lines = |stretch: SeqRange| {
        let inside = entries.iter().filter(|entry| stretch.contains(entry.seq));
        inside.fold(String::new(), |mut lines, entry| {
            entry.write(&mut lines);
            lines
        })
    };
    Some(stretches.iter().map(|stretch| Stretch { range: *stretch, lines: lines(*stretch) }).collect())
}

fn range_frame(range: &RecommendedRange, stretches: &[Stretch]) -> String {
    let source = format!("thread:{}", range.recommended.thread);
    let SeqRange { from, to } = range.recommended.range;
    let (from, to) = (from.to_string(), to.to_string());
    let why = range.recommended.why.as_str();
    frame(&[("source", &source), ("from", &from), ("to", &to), ("recommended", why)], stretches)
}
