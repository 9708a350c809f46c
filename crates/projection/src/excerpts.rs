//! Cited ranges: whole or not at all, in the agent's order, overlapping ones merged.

use std::collections::{BTreeMap, VecDeque};

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
    let mut open: VecDeque<Group<'_>> = merge(cited.iter().collect()).into();
    while let Some(group) = open.pop_front() {
        let is_initiating = group.thread == predecessor && group.range.contains(initiating);
        let hidden = is_initiating.then(|| SeqRange::one(initiating));
        let rendered = group.render(hidden).map(|stretches| (group.frame(&stretches), stretches));
        let Some((frame, stretches)) = rendered.filter(|(frame, _)| frame.len() <= left) else {
            // One range that is too large does not take those down that it overlaps with.
            let (largest, rest) = group.without_largest();
            excerpts.omit(largest.thread, largest.range, WhyOmitted::OverBudget);
            merge(rest).into_iter().rev().for_each(|smaller| open.push_front(smaller));
            continue;
        };
        left -= frame.len();
        excerpts.include(group.thread, stretches);
        if let Some(hidden) = hidden {
            excerpts.omit(group.thread, hidden, WhyOmitted::InitiatingMessage);
        }
        if !frame.is_empty() {
            excerpts.frames.push(frame);
        }
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

    /// The bytes of all frames.
    pub(crate) fn bytes(&self) -> usize {
        self.frames.iter().map(String::len).sum()
    }

    /// Accounts for what is shown, an item for each stretch.
    pub(crate) fn include(&mut self, thread: SessionId, stretches: Vec<Stretch>) {
        for Stretch { range, lines } in stretches {
            if lines.is_empty() {
                self.omit(thread, range, WhyOmitted::NothingToShow);
                continue;
            }
            let rendered = Digest::of(lines.as_bytes());
            self.included.push(Included { thread, range, cuts: Vec::new(), rendered });
        }
    }

    pub(crate) fn omit(&mut self, thread: SessionId, range: SeqRange, why: WhyOmitted) {
        self.omitted.push((thread, range, why));
    }
}

/// A part of a range that is shown, and its lines.
pub(crate) struct Stretch {
    pub(crate) range: SeqRange,
    pub(crate) lines: String,
}

/// The frame around some stretches; empty if there is nothing to show.
pub(crate) fn frame(attributes: &[(&str, &str)], stretches: &[Stretch]) -> String {
    let lines: String = stretches.iter().map(|stretch| stretch.lines.as_str()).collect();
    if lines.is_empty() { lines } else { Tag::Excerpt.frame(attributes, &lines) }
}

/// Cited ranges that overlap, standing where the first of them was cited.
struct Group<'a> {
    thread: SessionId,
    range: SeqRange,
    members: Vec<&'a CitedRange>,
}

impl<'a> Group<'a> {
    /// The lines of all but what is hidden; none if a member is too large to have been read.
    fn render(&self, hidden: Option<SeqRange>) -> Option<Vec<Stretch>> {
        if self.members.iter().any(|member| member.cited == Cited::TooLarge) {
            return None;
        }
        let ranges = subtract(self.range, hidden.as_slice()).into_iter();
        Some(ranges.map(|range| Stretch { range, lines: self.lines(range) }).collect())
    }

    /// The frame; empty if there is nothing to show.
    fn frame(&self, stretches: &[Stretch]) -> String {
        let thread = format!("thread:{}", self.thread);
        let (from, to) = (self.range.from.to_string(), self.range.to.to_string());
        frame(&[("source", &thread), ("from", &from), ("to", &to)], stretches)
    }

    /// The lines of the events within a range, each once.
    fn lines(&self, range: SeqRange) -> String {
        let entries: BTreeMap<Seq, &Entry> = self
            .members
            .iter()
            .flat_map(|member| match &member.cited {
                Cited::Entries(entries) => entries.as_slice(),
                Cited::TooLarge => &[],
            })
            .filter(|entry| range.contains(entry.seq))
            .map(|entry| (entry.seq, entry))
            .collect();
        entries.values().fold(String::new(), |mut lines, entry| {
            entry.write(&mut lines);
            lines
        })
    }

    /// The member that takes the most room, and the others in the order in which they were cited.
    fn without_largest(self) -> (&'a CitedRange, Vec<&'a CitedRange>) {
        let size = |member: &CitedRange| match &member.cited {
            Cited::TooLarge => usize::MAX,
            Cited::Entries(entries) => entries.iter().map(|entry| entry.render().len()).sum(),
        };
        let mut largest = 0;
        for (index, member) in self.members.iter().enumerate() {
            if self.members.get(largest).is_some_and(|best| size(member) > size(best)) {
                largest = index;
            }
        }
        let mut members = self.members;
        (members.remove(largest), members)
    }
}

fn merge(cited: Vec<&CitedRange>) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for range in cited {
        let mut group = Group { thread: range.thread, range: range.range, members: vec![range] };
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

fn overlap(one: &Group<'_>, other: &Group<'_>) -> bool {
    one.thread == other.thread && one.range.from <= other.range.to && other.range.from <= one.range.to
}

fn joined<'a>(one: Group<'a>, other: Group<'a>) -> Group<'a> {
    let range = SeqRange { from: one.range.from.min(other.range.from), to: one.range.to.max(other.range.to) };
    let members = one.members.into_iter().chain(other.members).collect();
    Group { thread: one.thread, range, members }
}
