//! Checking a log.

use std::collections::{BTreeMap, BTreeSet};

use segue_event::chain::{Link, Tip};
use segue_event::{
    Attachment, BlobId, Block, ContinuationEvent, Digest, Event, EventRef, Hole, Kind, KindSet,
    MessageQueued, Position, RawEvent, Recorded, Seq, SeqRange, SessionId, Transition,
};

use crate::{Direction, EventLog, LogError, Meter, read_through};

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// How many events were looked at.
    pub events: u64,
    /// How many sessions they belong to.
    pub sessions: u64,
    /// How many bytes their bodies have.
    pub bytes: u64,
    /// How many different blobs they name.
    pub blobs: u64,
    /// What is wrong; empty for a sound log.
    pub problems: Vec<Problem>,
    /// What is worth knowing and no harm, such as the unfinished commit of a writer that was killed.
    pub notes: Vec<String>,
}

/// Something wrong with a log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Problem {
    /// Where: a position, a blob, or a file and byte.
    pub place: String,
    /// What.
    pub what: String,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds something that is wrong.
    pub fn problem(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { place: place.into(), what: what.into() });
    }
}

/// Recomputes every hash of a log, reads every body, and looks for every blob that an event names.
///
/// The meter advances by one for each event. Marks that a repair left in the place of lost events are no problem, but
/// are noted, as are the events whose ids cannot be checked because the one before them was lost.
///
/// # Errors
/// If the log cannot be read at all; damage that a reader meets on its way is in the report.
pub fn verify_chains(log: &dyn EventLog, meter: &mut Meter<'_>) -> Result<Report, LogError> {
    let mut check = Check::default();
    for raw in log.read_log(Position::FIRST)? {
        meter.advance(1);
        match raw {
            Ok(raw) => check.event(&raw),
            Err(error) => check.report.problem("reading", error.to_string()),
        }
    }
    check.bases(log)?;
    check.blobs(log)?;
    Ok(check.finish())
}

#[derive(Default)]
struct Check {
    report: Report,
    heads: BTreeMap<SessionId, (Seq, Tip)>,
    /// How many marks of lost events there are.
    lost: u64,
    /// How many events cannot be held to the one before them, because that was lost.
    unlinked: u64,
    last: Option<Position>,
    blobs: BTreeSet<BlobId>,
    /// What forked sessions say that they go on from.
    bases: Vec<Base>,
}

/// The event that a forked session goes on from.
struct Base {
    fork: SessionId,
    session: SessionId,
    event: EventRef,
}

impl Check {
    fn event(&mut self, raw: &RawEvent) {
        let place = format!("position {}", raw.position);
        self.report.events += 1;
        self.report.bytes += raw.body.len() as u64;
        let expected = self.last.map_or(Position::FIRST, Position::next);
        if raw.position != expected {
            self.report.problem(&place, format!("expected position {expected}"));
        }
        self.last = Some(raw.position);
        self.chain(raw, &place);
        match raw.decode() {
            Ok(recorded) => self.blobs.extend(named_blobs(&recorded)),
            Err(error) => self.report.problem(&place, error.to_string()),
        }
    }

    fn chain(&mut self, raw: &RawEvent, place: &str) {
        let header = raw.header;
        let before = self.heads.insert(header.session, (header.seq, Tip::after(raw)));
        let base = before.is_none().then(|| fork_base(raw)).flatten();
        let before =
            before.or_else(|| base.as_ref().map(|base| (base.event.seq, Tip::Event(base.event.event))));
        self.bases.extend(base);
        // Where the start of a fork was lost, nobody knows its number any more: its mark stands for that.
        let first = if header.kind == Kind::Lost { header.seq } else { Seq::FIRST };
        let seq = before.map_or(first, |(seq, _)| seq.next());
        if header.seq != seq {
            self.report
                .problem(place, format!("session {} has {} where {seq} is due", header.session, header.seq));
        }
        self.lost += u64::from(header.kind == Kind::Lost);
        match before.map_or(Tip::START, |(_, tip)| tip).link(raw) {
            Link::Sound => {}
            Link::Unknown => self.unlinked += 1,
            Link::Broken => self.report.problem(
                place,
                format!("session {} seq {}: the hash does not follow", header.session, header.seq),
            ),
        }
    }

    /// What a fork goes on from must be there, or its chain hangs in the air.
    fn bases(&mut self, log: &dyn EventLog) -> Result<(), LogError> {
        for Base { fork, session, event } in std::mem::take(&mut self.bases) {
            let range = SeqRange::one(event.seq);
            let there = read_through(log, session, range, Direction::Forward, KindSet::ALL)?.next();
            let is_there = match there {
                Some(Ok(raw)) => match Tip::after(&raw) {
                    Tip::Event(id) | Tip::Lost { event: Some(id), .. } => id == event.event,
                    Tip::Lost { event: None, .. } => {
                        self.unlinked += 1;
                        true
                    }
                },
                Some(Err(_)) | None => false,
            };
            if !is_there {
                let what =
                    format!("it goes on from event {} of session {session}, which is not there", event.seq);
                self.report.problem(format!("session {fork}"), what);
            }
        }
        Ok(())
    }

    fn blobs(&mut self, log: &dyn EventLog) -> Result<(), LogError> {
        for id in std::mem::take(&mut self.blobs) {
            self.report.blobs += 1;
            match log.blob(&id) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.report.problem(format!("blob {id}"), "an event names it and it is not there");
                }
                Err(error) => self.report.problem(format!("blob {id}"), error.to_string()),
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Report {
        let Self { lost, unlinked, .. } = self;
        if lost > 0 {
            self.report
                .notes
                .push(format!("events lost to damage before a repair, marked in their places: {lost}"));
        }
        if unlinked > 0 {
            let note =
                "events whose ids cannot be checked, since nobody knows the id of the lost one before them";
            self.report.notes.push(format!("{note}: {unlinked}"));
        }
        self.report.sessions = self.heads.len() as u64;
        self.report
    }
}

/// What the first event of a session goes on from; none if that does not say that it is a fork.
fn fork_base(first: &RawEvent) -> Option<Base> {
    let recorded = first.decode_as::<ContinuationEvent>().ok()??;
    let edge = recorded.event.into_edge()?;
    let event = edge.predecessor_head;
    (edge.transition == Transition::Fork).then_some(Base {
        fork: recorded.session,
        session: edge.predecessor,
        event,
    })
}

/// Every blob that an event names.
pub fn named_blobs(recorded: &Recorded) -> Vec<BlobId> {
    match &recorded.event {
        Event::Message(message) | Event::MessageQueued(MessageQueued { message }) => {
            let attached = message.attachments.iter().map(|attachment| attachment.blob);
            blobs_in(&message.blocks).chain(attached).collect()
        }
        Event::Receipt(receipt) => receipt.system.iter().chain(&receipt.tools).map(Digest::as_blob).collect(),
        Event::ToolResult(result) => blobs_in(&result.blocks).collect(),
        Event::Unreadable(unreadable) => vec![unreadable.blob],
        Event::ImportedLine(line) => line.holes.iter().map(Hole::blob).collect(),
        _ => Vec::new(),
    }
}

fn blobs_in(blocks: &[Block]) -> impl Iterator<Item = BlobId> {
    blocks.iter().filter_map(|block| match block {
        Block::Image(Attachment { blob, .. }) | Block::File(Attachment { blob, .. }) => Some(*blob),
        _ => None,
    })
}
