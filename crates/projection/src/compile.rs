//! The compiler.

use segue_event::{
    Digest, Manifest, Omitted, OmittedItem, ProjectionPart, Seq, SeqRange, SessionId, SourceTarget,
    WhyOmitted,
};
use segue_frame::Entry;

use crate::admit::{render_handoff, render_sources};
use crate::excerpts::{Excerpts, render_excerpts};
use crate::lineage::{render_earlier, render_lineage};
use crate::not_loaded::{RESERVE_BYTES, render_not_loaded};
use crate::ranges::subtract;
use crate::recent::{RecentExchanges, render_recent};
use crate::{COMPILER, Input, Recipe};

/// The first context of a successor, with its account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Projection {
    /// The text, at most as large as the budget.
    pub text: String,
    /// Where every byte of it comes from, and what was left out.
    pub manifest: Manifest,
}

/// Something that whoever asked for the projection may want to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Diagnostic {
    /// A cited range did not fit and is only linked.
    CitedRangeOmitted(Omitted),
    /// No recent exchange fitted beside the rest.
    NoRecentExchanges,
}

/// Compiles a projection. What does not fit is left out and listed.
pub fn compile(input: &Input) -> (Projection, Vec<Diagnostic>) {
    let budget = input.admitted.budget.bytes();
    let recipe = Recipe::of(input.origin.reason);
    let mut text = Text::default();
    text.push("lineage", &render_lineage(&input.origin));
    text.push("handoff", &render_handoff(&input.admitted.handoff));
    text.push("sources", &render_sources(&input.admitted.sources));
    let earlier = input.earlier.as_ref().map(render_earlier).unwrap_or_default();

    let left = budget.saturating_sub(text.len() + earlier.len() + RESERVE_BYTES);
    let cited_max = left.min(budget * recipe.cited_percent_max / 100);
    let origin = &input.origin;
    let excerpts = render_excerpts(&input.cited, origin.predecessor, origin.initiating, cited_max);
    excerpts.frames.iter().for_each(|frame| text.push("excerpt", frame));

    let left = budget.saturating_sub(text.len() + earlier.len() + RESERVE_BYTES);
    let cited = excerpts.shown_of(origin.predecessor);
    let candidates = candidates(input, &cited).take(recipe.recent_entries_max);
    let recent = render_recent(origin.predecessor, candidates, &cited, left);
    text.push("recent", &recent.frame);
    text.push("earlier", &earlier);

    let diagnostics = diagnose(input, &excerpts, &cited, &recent);
    let omitted = omitted(input, &excerpts, &recent);
    text.push("not_loaded", &render_not_loaded(&omitted));
    let included = excerpts.included.into_iter().chain(recent.included).collect();
    let manifest = Manifest {
        compiler: COMPILER,
        budget_bytes: budget as u64,
        handoff: input.admitted.handoff.clone(),
        sources: input.admitted.sources.clone(),
        parts: text.parts,
        included,
        omitted,
        plan: input.plan,
        projection: Digest::of(text.text.as_bytes()),
        compiled_at: input.compiled_at,
    };
    (Projection { text: text.text, manifest }, diagnostics)
}

/// The text so far, and the account of its parts.
#[derive(Default)]
struct Text {
    text: String,
    parts: Vec<ProjectionPart>,
}

impl Text {
    fn push(&mut self, name: &str, rendered: &str) {
        if !rendered.is_empty() {
            self.text.push_str(rendered);
            self.parts
                .push(ProjectionPart { name: name.to_owned(), digest: Digest::of(rendered.as_bytes()) });
        }
    }

    fn len(&self) -> usize {
        self.text.len()
    }
}

/// The entries that can be shown as recent exchanges, newest first.
fn candidates<'a>(input: &'a Input, cited: &'a [SeqRange]) -> impl Iterator<Item = &'a Entry> {
    let is_candidate = |entry: &&Entry| {
        entry.seq < input.origin.initiating
            && Some(entry.seq) != input.recent.projection
            && !entry.parts.is_empty()
            && !cited.iter().any(|range| range.contains(entry.seq))
    };
    input.recent.entries.iter().filter(is_candidate)
}

/// Everything that was cited or could have been shown, and is not; each event once.
fn omitted(input: &Input, excerpts: &Excerpts, recent: &RecentExchanges) -> Vec<Omitted> {
    let mut omitted = linked_only(input);
    omitted.extend(excerpts.omitted.iter().cloned());
    let thread = input.origin.predecessor;
    let initiating = input.origin.initiating;
    let accounted = accounted_for(excerpts, recent, thread);
    let mut leave_out = |range: Option<SeqRange>, why| {
        let pieces = range.map(|range| subtract(range, &accounted)).unwrap_or_default();
        let items = pieces.into_iter().map(|range| OmittedItem::Events { thread, range });
        omitted.extend(items.map(|item| Omitted { item, why }));
    };
    let projection = input.recent.projection.filter(|seq| *seq < initiating);
    let considered_from = recent.over_budget.or(recent.oldest_shown).unwrap_or(initiating);
    let older_from = projection.map_or(Seq::FIRST, Seq::next);
    let older = considered_from.previous().and_then(|to| SeqRange::new(older_from, to));
    leave_out(projection.map(SeqRange::one), WhyOmitted::EarlierProjection);
    leave_out(older, WhyOmitted::BeyondRecipe);
    leave_out(recent.over_budget.map(SeqRange::one), WhyOmitted::OverBudget);
    leave_out(SeqRange::new(initiating.next(), input.head), WhyOmitted::AfterInitiating);
    omitted
}

/// The predecessor's events that stand in the projection, or are listed as left out already.
fn accounted_for(excerpts: &Excerpts, recent: &RecentExchanges, thread: SessionId) -> Vec<SeqRange> {
    let shown =
        excerpts.shown_of(thread).into_iter().chain(recent.included.iter().map(|included| included.range));
    let left_out = excerpts.omitted.iter().filter_map(|omitted| match omitted.item {
        OmittedItem::Events { thread: other, range } if other == thread => Some(range),
        _ => None,
    });
    shown.chain(left_out).collect()
}

fn linked_only(input: &Input) -> Vec<Omitted> {
    let is_linked = |target: &SourceTarget| !matches!(target, SourceTarget::Events { .. });
    let sources = (0..).zip(&input.admitted.sources);
    let linked = sources.filter(|(_, source)| is_linked(&source.target));
    linked
        .map(|(index, _)| Omitted { item: OmittedItem::Source(index), why: WhyOmitted::LinkedOnly })
        .collect()
}

fn diagnose(
    input: &Input,
    excerpts: &Excerpts,
    cited: &[SeqRange],
    recent: &RecentExchanges,
) -> Vec<Diagnostic> {
    let dropped = excerpts.omitted.iter().filter(|omitted| omitted.why == WhyOmitted::OverBudget);
    let mut diagnostics: Vec<_> = dropped.cloned().map(Diagnostic::CitedRangeOmitted).collect();
    let had_some = candidates(input, cited).next().is_some();
    if had_some && recent.frame.is_empty() {
        diagnostics.push(Diagnostic::NoRecentExchanges);
    }
    diagnostics
}
