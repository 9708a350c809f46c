//! What became of each source of a projection, and how often it was read back since.

use segue_event::{
    Fold, Manifest, OmittedItem, Recorded, SeqRange, SessionId, SourceTarget, TranscriptEvent, WhyOmitted,
    WhyRecommended,
};

use crate::ranges::subtract;
use crate::worth::touches;

/// The sources of one continuation, as a fold over the transcripts of the successor and those that go on from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audit {
    sources: Vec<AuditedSource>,
}

/// What became of a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditedSource {
    /// Who put it there, and why.
    pub cited_by: CitedBy,
    /// What it points at.
    pub target: SourceTarget,
    /// How much of it the successor began with.
    pub fate: Fate,
    /// How many results of tools gave some of it again; 0 for what is no part of the record.
    pub readings: u64,
}

/// Who put a source there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CitedBy {
    /// The handoff, with what it says of the relevance.
    Handoff {
        /// Why it matters.
        relevance: String,
    },
    /// The runtime.
    Runtime(WhyRecommended),
}

/// How much of a source the successor began with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// All of it.
    Shown,
    /// All of its events, but long texts among them are cut.
    Cut,
    /// Some of it; why not the rest.
    ShownInPart(WhyOmitted),
    /// Nothing of it; why.
    LeftOut(WhyOmitted),
}

impl Audit {
    /// What became of the sources of a manifest, those of the handoff first. Nothing was read back yet.
    pub fn of(manifest: &Manifest) -> Self {
        let cited = manifest
            .sources
            .iter()
            .map(|source| (CitedBy::Handoff { relevance: source.relevance.clone() }, source.target.clone()));
        let recommended = manifest.recommended.iter().map(|recommended| {
            let target = SourceTarget::Events { thread: recommended.thread, range: recommended.range };
            (CitedBy::Runtime(recommended.why), target)
        });
        let sources = cited.chain(recommended).map(|(cited_by, target)| {
            let fate = fate(manifest, &target);
            AuditedSource { cited_by, target, fate, readings: 0 }
        });
        Self { sources: sources.collect() }
    }

    /// The sources.
    pub fn sources(&self) -> &[AuditedSource] {
        &self.sources
    }

    /// The events that were to be shown, and were not or not all.
    pub fn left_out(&self) -> impl Iterator<Item = (SessionId, SeqRange)> {
        let left_out = self.sources.iter().filter(|source| source.fate != Fate::Shown);
        left_out.filter_map(|source| match source.target {
            SourceTarget::Events { thread, range } => Some((thread, range)),
            SourceTarget::Resource { .. } | SourceTarget::Memory { .. } => None,
        })
    }
}

impl Fold for Audit {
    type Family = TranscriptEvent;

    fn apply(&mut self, recorded: &Recorded<TranscriptEvent>) {
        let TranscriptEvent::ToolResult(result) = &recorded.event else { return };
        for source in &mut self.sources {
            if let SourceTarget::Events { thread, range } = source.target
                && touches(result, (thread, range))
            {
                source.readings += 1;
            }
        }
    }
}

fn fate(manifest: &Manifest, target: &SourceTarget) -> Fate {
    let SourceTarget::Events { thread, range } = *target else {
        return Fate::LeftOut(WhyOmitted::LinkedOnly);
    };
    let meets = |other: SeqRange| other.from <= range.to && range.from <= other.to;
    let included = manifest.included.iter().filter(|item| item.thread == thread && meets(item.range));
    let shown: Vec<_> = included.clone().map(|item| item.range).collect();
    let hidden = subtract(range, &shown);
    match why_hidden(manifest, thread, &hidden) {
        Some(why) if hidden == [range] => Fate::LeftOut(why),
        Some(why) => Fate::ShownInPart(why),
        None if included.into_iter().any(|item| !item.cuts.is_empty()) => Fate::Cut,
        None => Fate::Shown,
    }
}

/// Why the first of some ranges is not shown; none if nothing of them was left out.
fn why_hidden(manifest: &Manifest, thread: SessionId, hidden: &[SeqRange]) -> Option<WhyOmitted> {
    let omitted = manifest.omitted.iter().filter_map(|omitted| match omitted.item {
        OmittedItem::Events { thread: other, range } if other == thread => Some((range, omitted.why)),
        _ => None,
    });
    let meets =
        |range: &SeqRange| hidden.iter().any(|other| other.from <= range.to && range.from <= other.to);
    omitted.filter(|(range, _)| meets(range)).map(|(_, why)| why).next()
}
