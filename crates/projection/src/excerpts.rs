//! Cited ranges: whole or not at all, in the agent's order, overlapping ones merged.

use std::collections::BTreeMap;

use segue_event::{Digest, Included, Seq, SeqRange, SessionId, WhyOmitted};
use segue_frame::{Entry, Tag};

use crate::ranges::subtract;
use crate::{Cited, CitedRange};

/// What became of the cited ranges.
#[derive(Default)]
pub(crate) struct Excerpts {
    /// The rendered frames, in order.
    pub(crate) frames: Vec<String>,
    pub(crate) included: Vec<Included>,
    /// What is not shown, and why.
    pub(crate) omitted: Vec<(SessionId, SeqRange, WhyOmitted)>,
}

/// Renders what fits into `bytes_max`. The initiating message is never repeated.
pub(crate) fn render_excerpts(
    cited: &[CitedRange],
    predecessor: SessionId,
    initiating: Seq,
    bytes_max: usize,
) -> Excerpts {
    let mut excerpts = Excerpts::default();
    let mut left = bytes_max;
    for group in merge(cited) {
        let Some(entries) = group.entries else {
            excerpts.omit(group.thread, group.range, WhyOmitted::OverBudget);
            continue;
        };
        let is_shown = |entry: &Entry| group.thread != predecessor || entry.seq != initiating;
        let entries: Vec<&Entry> = entries.into_values().filter(|entry| is_shown(entry)).collect();
        let rendered: String = entries.iter().map(|entry| entry.render()).collect();
        let is_initiating = group.thread == predecessor && group.range.contains(initiating);
        let hidden = is_initiating.then(|| SeqRange::one(initiating));
        if rendered.is_empty() {
            excerpts.leave_out_empty(group.thread, group.range, hidden);
            continue;
        }
        let frame = frame(group.thread, group.range, &rendered);
        if frame.len() > left {
            excerpts.omit(group.thread, group.range, WhyOmitted::OverBudget);
            continue;
        }
        left -= frame.len();
        excerpts.frames.push(frame);
        excerpts.include(group.thread, group.range, hidden, &entries);
    }
    excerpts
}

impl Excerpts {
    /// The ranges of a session that stand in excerpts.
    pub(crate) fn shown_of(&self, thread: SessionId) -> Vec<SeqRange> {
        self.included
            .iter()
            .filter(|included| included.thread == thread)
            .map(|included| included.range)
            .collect()
    }

    /// Every range that stands in an excerpt.
    pub(crate) fn included_ranges(&self) -> Vec<(SessionId, SeqRange)> {
        self.included.iter().map(|included| (included.thread, included.range)).collect()
    }

    /// Accounts for a rendered group: an item for each stretch of it that is really shown.
    fn include(&mut self, thread: SessionId, range: SeqRange, hidden: Option<SeqRange>, entries: &[&Entry]) {
        for shown in subtract(range, hidden.as_slice()) {
            let inside = entries.iter().filter(|entry| shown.contains(entry.seq));
            let rendered: String = inside.map(|entry| entry.render()).collect();
            let rendered = Digest::of(rendered.as_bytes());
            self.included.push(Included { thread, range: shown, cuts: Vec::new(), rendered });
        }
        if let Some(hidden) = hidden {
            self.omit(thread, hidden, WhyOmitted::InitiatingMessage);
        }
    }

    /// Accounts for a group that has no lines to show, or none but the initiating message.
    fn leave_out_empty(&mut self, thread: SessionId, range: SeqRange, hidden: Option<SeqRange>) {
        if let Some(hidden) = hidden {
            self.omit(thread, hidden, WhyOmitted::InitiatingMessage);
        }
        for empty in subtract(range, hidden.as_slice()) {
            self.omit(thread, empty, WhyOmitted::NothingToShow);
        }
    }

    fn omit(&mut self, thread: SessionId, range: SeqRange, why: WhyOmitted) {
        self.omitted.push((thread, range, why));
    }
}

/// Cited ranges that overlap, standing where the first of them was cited.
struct Group<'a> {
    thread: SessionId,
    range: SeqRange,
    /// None where one of the ranges is too large.
    entries: Option<BTreeMap<Seq, &'a Entry>>,
}

fn merge(cited: &[CitedRange]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for range in cited {
        let mut group = Group { thread: range.thread, range: range.range, entries: entries_of(&range.cited) };
        let mut place = groups.len();
        // Merging can make the group reach further groups, so look until none overlaps.
        while let Some(at) = groups.iter().position(|other| overlap(other, &group)) {
            let other = groups.remove(at);
            place = place.min(at).min(groups.len());
            group = joined(other, group);
        }
        groups.insert(place.min(groups.len()), group);
    }
    groups
}

fn entries_of(cited: &Cited) -> Option<BTreeMap<Seq, &Entry>> {
    match cited {
        Cited::Entries(entries) => Some(entries.iter().map(|entry| (entry.seq, entry)).collect()),
        Cited::TooLarge => None,
    }
}

fn overlap(one: &Group<'_>, other: &Group<'_>) -> bool {
    one.thread == other.thread && one.range.from <= other.range.to && other.range.from <= one.range.to
}

fn joined<'a>(one: Group<'a>, other: Group<'a>) -> Group<'a> {
    let range = SeqRange { from: one.range.from.min(other.range.from), to: one.range.to.max(other.range.to) };
    let entries = one.entries.zip(other.entries).map(|(mut entries, more)| {
        entries.extend(more);
        entries
    });
    Group { thread: one.thread, range, entries }
}

fn frame(thread: SessionId, range: SeqRange, rendered: &str) -> String {
    let thread = format!("thread:{thread}");
    let (from, to) = (range.from.to_string(), range.to.to_string());
    Tag::Excerpt.frame(&[("source", &thread), ("from", &from), ("to", &to)], rendered)
}
