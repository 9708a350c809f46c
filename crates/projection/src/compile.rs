//! The compiler.

use std::fmt;

use crate::admit::{render_handoff, render_sources};
use crate::excerpts::{Excerpts, render_excerpts};
use crate::lineage::{render_earlier, render_lineage};
use crate::not_loaded::{RESERVE_BYTES, render_not_loaded};
use crate::ranges::subtract;
use crate::recent::{RecentExchanges, render_recent};
use crate::recommended::render_recommended;
use crate::{COMPILER, CutEntry, Input, Recipe, RecommendedRange};
use segue_event::{
    Attachment, Digest, Manifest, Omitted, OmittedItem, ProjectionPart, Seq, SeqRange, SessionId,
    SourceTarget, WhyOmitted,
};

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
    /// A cited range is only linked.
    CitedRangeOmitted {
        /// The session.
        thread: SessionId,
        /// The events.
        range: SeqRange,
        /// Why it is not shown.
        why: WhyOmitted,
    },
    /// No recent exchange fitted beside the rest.
    NoRecentExchanges,
    /// A pointer shows the request only in part; the rest is read back by its number.
    RequestCut {
        /// Where it stands.
        seq: Seq,
        /// How long it is.
        bytes: u64,
    },
    /// A pointer states no request: nobody asked for anything yet.
    NoRequest,
    /// The message that is to be answered has an attachment whose bytes are not in the record.
    AttachmentMissing {
        /// The attachment.
        attachment: Attachment,
    },
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CitedRangeOmitted { thread, range, why } => {
                write!(f, "cited events {range} of thread:{thread} are linked, not shown: {}", why.as_str())
            }
            Self::NoRecentExchanges => f.write_str("no recent exchange is shown: nothing more fits"),
            Self::RequestCut { seq, bytes } => {
                write!(f, "the request at [{seq}] has {bytes} bytes; the pointer shows its beginning")
            }
            Self::NoRequest => f.write_str("the pointer states no request: there is none yet"),
            Self::AttachmentMissing { attachment: Attachment { name, media_type, blob, .. } } => {
                write!(f, "attachment {name:?} ({media_type}) is missing: there is no blob {blob}")
            }
        }
    }
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
    let room = Room { bytes: left, cited_bytes: cited_max }.without(excerpts.bytes());
    let offered = input.recommended.get(..recipe.recommended_max).unwrap_or(&input.recommended);
    let recommended = recommend(input, offered, &excerpts, recipe, room);
    excerpts.frames.iter().for_each(|frame| text.push("excerpt", frame));
    recommended.frames.iter().for_each(|frame| text.push("recommended", frame));

    let shown = [&excerpts, &recommended].map(|shown| shown.shown_of(origin.predecessor)).concat();
    let recent = recent(input, &shown, recipe, room.bytes.saturating_sub(recommended.bytes()));
    text.push("recent", &recent.frame);
    text.push("earlier", &earlier);

    let diagnostics = diagnose(input, &excerpts, &shown, &recent);
    let omitted = omitted(input, &[&excerpts, &recommended], &recent);
    text.push("not_loaded", &render_not_loaded(&omitted));
    let included = [excerpts.included, recommended.included, recent.included].concat();
    let manifest = Manifest {
        compiler: COMPILER,
        budget_bytes: budget as u64,
        handoff: input.admitted.handoff.clone(),
        sources: input.admitted.sources.clone(),
        recommended: offered.iter().map(|range| range.recommended).collect(),
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

/// The bytes that are free for lines of transcripts.
#[derive(Clone, Copy)]
struct Room {
    /// For all of them.
    bytes: usize,
    /// Of those, for what is cited or recommended.
    cited_bytes: usize,
}

impl Room {
    fn without(self, bytes: usize) -> Self {
        Self { bytes: self.bytes.saturating_sub(bytes), cited_bytes: self.cited_bytes.saturating_sub(bytes) }
    }
}

/// Fills the room that is left for excerpts with what is recommended, and is not among the recent exchanges anyway.
///
/// The exchanges that fit beside full excerpts are sure to be shown, and read better in their place.
fn recommend(
    input: &Input,
    offered: &[RecommendedRange],
    excerpts: &Excerpts,
    recipe: Recipe,
    room: Room,
) -> Excerpts {
    if offered.is_empty() {
        return Excerpts::default();
    }
    let origin = &input.origin;
    let cited = excerpts.shown_of(origin.predecessor);
    let sure = recent(input, &cited, recipe, room.bytes.saturating_sub(room.cited_bytes));
    let sure = SeqRange::new(sure.oldest_shown.unwrap_or(origin.initiating), origin.initiating);
    let own = sure.into_iter().chain(input.recent.projection.map(SeqRange::one));
    let mut shown = excerpts.included_ranges();
    shown.extend(own.map(|range| (origin.predecessor, range)));
    render_recommended(offered, shown, room.cited_bytes)
}

fn recent(input: &Input, shown: &[SeqRange], recipe: Recipe, bytes_max: usize) -> RecentExchanges {
    let candidates = candidates(input, shown).take(recipe.recent_entries_max);
    // No run of lines reaches across what is left out between them.
    let between = shown.iter().copied().chain(input.recent.stand_ins.iter().copied().map(SeqRange::one));
    render_recent(input.origin.predecessor, candidates, &between.collect::<Vec<_>>(), bytes_max)
}

/// The entries that can be shown as recent exchanges, newest first.
fn candidates<'a>(input: &'a Input, cited: &'a [SeqRange]) -> impl Iterator<Item = &'a CutEntry> {
    let is_candidate = |entry: &&CutEntry| {
        entry.seq < input.origin.initiating
            && Some(entry.seq) != input.recent.projection
            && !entry.parts.is_empty()
            && !cited.iter().any(|range| range.contains(entry.seq))
    };
    input.recent.entries.iter().filter(is_candidate)
}

/// Everything that was cited or could have been shown, and is not; each event once.
fn omitted(input: &Input, excerpts: &[&Excerpts], recent: &RecentExchanges) -> Vec<Omitted> {
    let accounted = excerpts.iter().flat_map(|excerpts| excerpts.included_ranges()).collect();
    let mut list = LeftOut { items: linked_only(input), accounted };
    let predecessor = input.origin.predecessor;
    list.accounted.extend(recent.included.iter().map(|included| (predecessor, included.range)));
    for (thread, range, why) in excerpts.iter().flat_map(|excerpts| &excerpts.omitted) {
        list.leave_out(*thread, Some(*range), *why);
    }
    let initiating = input.origin.initiating;
    let projection = input.recent.projection.filter(|seq| *seq < initiating);
    let considered_from = recent.over_budget.or(recent.oldest_shown).unwrap_or(initiating);
    // A session's first event starts it; behind that the transcript begins, or the projection stands.
    let older_from = projection.unwrap_or(Seq::FIRST).next();
    let older = considered_from.previous().and_then(|to| SeqRange::new(older_from, to));
    list.leave_out(predecessor, projection.map(SeqRange::one), WhyOmitted::EarlierProjection);
    list.leave_out(predecessor, older, WhyOmitted::BeyondRecipe);
    list.leave_out(predecessor, recent.over_budget.map(SeqRange::one), WhyOmitted::OverBudget);
    for stand_in in &input.recent.stand_ins {
        list.leave_out(predecessor, Some(SeqRange::one(*stand_in)), WhyOmitted::EarlierProjection);
    }
    list.leave_out(predecessor, SeqRange::new(initiating.next(), input.head), WhyOmitted::AfterInitiating);
    list.items
}

/// What is left out so far, and what is accounted for one way or the other.
struct LeftOut {
    items: Vec<Omitted>,
    accounted: Vec<(SessionId, SeqRange)>,
}

impl LeftOut {
    /// Lists what is not accounted for yet.
    fn leave_out(&mut self, thread: SessionId, range: Option<SeqRange>, why: WhyOmitted) {
        let Some(range) = range else { return };
        let accounted = self.accounted.iter().filter(|(other, _)| *other == thread);
        let accounted: Vec<_> = accounted.map(|(_, range)| *range).collect();
        for range in subtract(range, &accounted) {
            self.items.push(Omitted { item: OmittedItem::Events { thread, range }, why });
            self.accounted.push((thread, range));
        }
    }
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
    let dropped = excerpts.omitted.iter().filter(|(.., why)| *why != WhyOmitted::InitiatingMessage);
    let omitted = |(thread, range, why): &(SessionId, SeqRange, WhyOmitted)| Diagnostic::CitedRangeOmitted {
        thread: *thread,
        range: *range,
        why: *why,
    };
    let mut diagnostics: Vec<_> = dropped.map(omitted).collect();
    let had_some = candidates(input, cited).next().is_some();
    if had_some && recent.frame.is_empty() {
        diagnostics.push(Diagnostic::NoRecentExchanges);
    }
    diagnostics
}
