//! Reads from the log what a projection is compiled from.

use std::collections::BTreeSet;

use segue_continuation::{Budget, SessionState};
use segue_event::{
    EventRef, KindSet, PlanTransfer, Position, Recommended, Seq, SeqRange, SessionId, Source, SourceTarget,
    TranscriptEvent,
};
use segue_frame::Entry;
use segue_log::{Direction, EventLog, LogError, read_through};
use segue_projection::{
    Admitted, Cited, CitedRange, CutEntry, EarlierHandoff, Input, Origin, RECOMMENDED_BYTES_MAX, Recent,
    Recipe, RecommendedRange,
};
use segue_thread::entries;

/// The predecessor's own projection stands here, if it was itself continued from another session.
pub(crate) const PROJECTION_SEQ: Seq = Seq::FIRST.next();

/// What is known before anything is read.
pub(crate) struct Given<'a> {
    pub(crate) origin: Origin,
    pub(crate) admitted: Admitted,
    pub(crate) sources: &'a [Source],
    pub(crate) recommended: &'a [Recommended],
    pub(crate) budget: Budget,
    pub(crate) predecessor: &'a SessionState,
    pub(crate) head: EventRef,
    pub(crate) plan: PlanTransfer,
    pub(crate) compiled_at: Option<Position>,
}

/// Reads what the compiler needs: bounded by the budget and the recipe, however long the sessions are.
pub(crate) fn gather(log: &dyn EventLog, given: Given<'_>) -> Result<Input, LogError> {
    let cited = cited(log, given.sources, given.budget)?;
    let recommended = recommended(log, given.recommended)?;
    let recipe = Recipe::of(given.origin.reason);
    // What is cited or recommended, or is the predecessor's own projection, is no candidate; read that much more.
    let all = cited.iter().map(|range| (range.thread, &range.cited));
    let all = all.chain(recommended.iter().map(|range| (range.recommended.thread, &range.cited)));
    let wanted = recipe.recent_entries_max + entries_of(given.origin.predecessor, all) + 1;
    let edge = given.predecessor.edge.as_ref();
    let was_continued = edge.is_some_and(|edge| edge.manifest().is_some());
    let recent =
        Recent { projection: was_continued.then_some(PROJECTION_SEQ), ..recent(log, &given.origin, wanted)? };
    Ok(Input {
        earlier: earlier(given.predecessor),
        origin: given.origin,
        admitted: given.admitted,
        cited,
        recommended,
        recent,
        head: given.head.seq,
        plan: given.plan,
        compiled_at: given.compiled_at,
    })
}

/// How many different entries of a session were read.
fn entries_of<'a>(thread: SessionId, read: impl Iterator<Item = (SessionId, &'a Cited)>) -> usize {
    let mut seqs = BTreeSet::new();
    for (_, cited) in read.filter(|(other, _)| *other == thread) {
        if let Cited::Entries(entries) = cited {
            seqs.extend(entries.iter().map(|entry| entry.seq));
        }
    }
    seqs.len()
}

fn recent(log: &dyn EventLog, origin: &Origin, wanted: usize) -> Result<Recent, LogError> {
    let mut recent = Recent::default();
    let Some(before) = origin.initiating.previous() else { return Ok(recent) };
    let (range, transcript) = (SeqRange::up_to(before), KindSet::of::<TranscriptEvent>());
    for raw in read_through(log, origin.predecessor, range, Direction::Backward, transcript)? {
        if recent.entries.len() == wanted {
            break;
        }
        let Some(recorded) = raw?.decode_as::<TranscriptEvent>().map_err(LogError::codec)? else { continue };
        if matches!(recorded.event, TranscriptEvent::ContextCompacted(_)) {
            recent.stand_ins.push(recorded.seq);
            continue;
        }
        let entry = Entry::of(&recorded);
        if !entry.parts.is_empty() {
            recent.entries.push(CutEntry::of(entry));
        }
    }
    Ok(recent)
}

fn cited(log: &dyn EventLog, sources: &[Source], budget: Budget) -> Result<Vec<CitedRange>, LogError> {
    let ranges = (0..).zip(sources).filter_map(|(source, cited)| match cited.target {
        SourceTarget::Events { thread, range } => Some((source, thread, range)),
        _ => None,
    });
    ranges
        .map(|(source, thread, range)| {
            let cited = read_whole(entries(log, thread, range, Direction::Forward)?, budget.bytes())?;
            Ok(CitedRange { source, thread, range, cited })
        })
        .collect()
}

fn recommended(log: &dyn EventLog, ranges: &[Recommended]) -> Result<Vec<RecommendedRange>, LogError> {
    let read = |recommended: &Recommended| {
        let entries = entries(log, recommended.thread, recommended.range, Direction::Forward)?;
        let cited = read_whole(entries, RECOMMENDED_BYTES_MAX)?;
        Ok(RecommendedRange { recommended: *recommended, cited })
    };
    ranges.iter().map(read).collect()
}

/// Reads entries until they are all there, or until they are more than can be shown.
fn read_whole(
    entries: impl Iterator<Item = Result<Entry, LogError>>,
    bytes_max: usize,
) -> Result<Cited, LogError> {
    let mut whole = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        bytes += entry.parts.iter().map(|part| part.text.len()).sum::<usize>();
        if bytes > bytes_max {
            return Ok(Cited::TooLarge);
        }
        whole.push(entry);
    }
    Ok(Cited::Entries(whole))
}

fn earlier(predecessor: &SessionState) -> Option<EarlierHandoff> {
    let handoff = &predecessor.edge.as_ref()?.handover()?.manifest.handoff;
    Some(EarlierHandoff {
        thread: predecessor.session,
        seq: PROJECTION_SEQ,
        decisions: handoff.decisions.len(),
        cautions: handoff.cautions.len(),
        open_questions: handoff.open_questions.len(),
    })
}
