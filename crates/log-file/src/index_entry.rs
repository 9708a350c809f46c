//! What one segment adds to a view, as keys and values: they stand in its footer once it is sealed, and before that in
//! the writer's index.
//!
//! | key | value |
//! |---|---|
//! | `s` session | first position, head seq, head id |
//! | `r` session, number of the part (big-endian) | runs of events |
//! | `c` claim | position |
//! | `e` successor | predecessor |
//! | `p` position (big-endian) | segment, offset |
//! | `k1` | the checkpoint, in the index only |

use segue_event::{EventHash, KindSet, Position, RawEvent, Seq, SessionId};
use segue_log::{ClaimKey, Head};

use crate::limits::INDEX_RUNS_PER_ENTRY;
use crate::place::{Place, SEGMENT_HEADER_BYTES, SegmentNumber};
use crate::running::RunningHash;
use crate::segment::Segment;
use crate::view::{Counts, End, Entry, Run, View};
use crate::wire::{Fields, is_sealed, seal};

const CHECKPOINT_SIZE: usize = 160;

/// How far into a segment the entries reach, and what must fit for them to be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Checkpoint {
    pub(crate) end: End,
    pub(crate) place: Place,
    /// What there is in the segment up to there.
    pub(crate) counts: Counts,
    /// The sum of [`entry_digest`] over all other entries.
    pub(crate) digest: u64,
}

impl Checkpoint {
    pub(crate) const SIZE: usize = CHECKPOINT_SIZE;

    pub(crate) fn to_bytes(self) -> [u8; CHECKPOINT_SIZE] {
        let frame = self.end.frame.unwrap_or(self.place);
        seal(&[
            &self.place.segment.0.to_le_bytes(),
            &self.place.offset.to_le_bytes(),
            &frame.segment.0.to_le_bytes(),
            &frame.offset.to_le_bytes(),
            &self.end.next.get().to_le_bytes(),
            &self.end.group.to_le_bytes(),
            self.end.running.as_bytes(),
            &self.counts.events.to_le_bytes(),
            &self.counts.body_bytes.to_le_bytes(),
            &self.counts.log_bytes.to_le_bytes(),
            &self.digest.to_le_bytes(),
        ])
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; CHECKPOINT_SIZE] = bytes.try_into().ok()?;
        is_sealed(bytes).then_some(())?;
        let mut fields = Fields::new(bytes);
        let place = read_place(&mut fields)?;
        let frame = Some(read_place(&mut fields)?);
        let (next, group) = (Position::new(fields.u64()?)?, fields.u64()?);
        let running = RunningHash::from_bytes(fields.array()?);
        let counts = Counts { events: fields.u64()?, body_bytes: fields.u64()?, log_bytes: fields.u64()? };
        let end = End { place: Some(place), frame, next, group, running };
        Some(Self { end, place, counts, digest: fields.u64()? })
    }
}

/// A number that stands for one entry; the sum over all entries does not depend on their order.
pub(crate) fn entry_digest(key: &[u8], value: &[u8]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(value);
    Fields::new(hasher.finalize().as_bytes()).u64().unwrap_or_default()
}

/// What must be written to bring an index up to date.
pub(crate) struct Changes {
    pub(crate) entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// The checkpoint then, still without its digest.
    pub(crate) checkpoint: Checkpoint,
}

/// What has come in a view's last segment since a checkpoint, or in all of it; none while nothing is in it.
pub(crate) fn changes_since(view: &View, known: Option<&Checkpoint>) -> Option<Changes> {
    let span = view.last_segment()?;
    let begin = Place { segment: span.segment.number, offset: SEGMENT_HEADER_BYTES };
    let begin_next = span.segment.header?.first;
    let (place, next) = known.map_or((begin, begin_next), |known| (known.place, known.end.next));
    let mut entries = Vec::new();
    let changed = view.sessions.iter().filter(|(_, e)| e.runs.last().is_some_and(|run| run.place() >= place));
    for (session, entry) in changed {
        entries.push(session_entry(session, entry));
        entries.extend(runs_entries(session, runs_from(&entry.runs, begin), place));
        if entry.first >= next
            && let Some(predecessor) = view.edges.get(session)
        {
            entries.push((key(b'e', session.as_bytes()), predecessor.as_bytes().to_vec()));
        }
    }
    let claims = view.claims.iter().filter(|(_, position)| **position >= next);
    entries.extend(claims.map(|(claim, at)| (key(b'c', claim.as_bytes()), at.get().to_le_bytes().to_vec())));
    entries.extend(
        view.places
            .range(next..)
            .map(|(position, place)| (key(b'p', &position.get().to_be_bytes()), place_bytes(*place))),
    );
    let end = view.end.place.filter(|end| view.end.frame.is_some() && *end > begin)?;
    let counts = view.counts_of_last_segment();
    Some(Changes { entries, checkpoint: Checkpoint { end: view.end, place: end, counts, digest: 0 } })
}

fn runs_from(runs: &[Run], begin: Place) -> &[Run] {
    runs.get(runs.partition_point(|run| run.place() < begin)..).unwrap_or_default()
}

/// The entries for a session's runs in a segment that have changed since a place.
fn runs_entries(session: &SessionId, runs: &[Run], since: Place) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    let first = runs.partition_point(|run| run.place() < since) / INDEX_RUNS_PER_ENTRY;
    let parts = runs.chunks(INDEX_RUNS_PER_ENTRY).enumerate().skip(first);
    parts.map(|(part, runs)| runs_entry(session, part, runs))
}

/// Entries read back, on their way to a view.
#[derive(Default)]
pub(crate) struct Entries {
    view: View,
}

impl Entries {
    /// Takes in an entry; none if it cannot be one. Sessions come before their runs only in the view, not in the index.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let (kind, key) = key.split_first()?;
        let mut fields = Fields::new(value);
        match *kind {
            b's' => {
                let (session, first) = (session(key)?, Position::new(fields.u64()?)?);
                let head =
                    Head { seq: Seq::new(fields.u64()?)?, hash: EventHash::from_bytes(fields.array()?) };
                let entry = self.view.sessions.get_mut(&session)?;
                (entry.first, entry.head) = (first, head);
                self.view.by_first.insert(first, session);
            }
            b'r' => self.add_runs(session(key.get(..16)?)?, &mut fields)?,
            b'c' => {
                self.view.claims.insert(ClaimKey::new(key).ok()?, Position::new(fields.u64()?)?);
            }
            b'e' => {
                self.view.edges.insert(session(key)?, session(value)?);
            }
            b'p' => {
                let position = Position::new(u64::from_be_bytes(key.try_into().ok()?))?;
                self.view.places.insert(position, read_place(&mut fields)?);
            }
            _ => return None,
        }
        Some(())
    }

    /// Runs come first, for `r` sorts before `s`: they make the entry whose head follows.
    fn add_runs(&mut self, session: SessionId, fields: &mut Fields<'_>) -> Option<()> {
        let head = Head { seq: Seq::FIRST, hash: segue_event::chain::START };
        let new = || Entry { first: Position::FIRST, head, runs: Vec::new() };
        let entry = self.view.sessions.entry(session).or_insert_with(new);
        while !fields.is_empty() {
            entry.runs.push(Run {
                seq: Seq::new(fields.u64()?)?,
                segment: fields.u32()?,
                frame: fields.u32()?,
                event: fields.u32()?,
                index: fields.u32()?,
                kinds: KindSet::from_bits(fields.u64()?),
            });
        }
        Some(())
    }

    /// What the segment adds up to the checkpoint.
    pub(crate) fn finish(self, checkpoint: &Checkpoint) -> View {
        View { end: checkpoint.end, counts: checkpoint.counts, ..self.view }
    }
}

impl Checkpoint {
    /// Whether the last event that an index knows, by the heads it has, is in a segment where the index has it.
    pub(crate) fn is_in(&self, segment: &Segment, head: impl Fn(SessionId) -> Option<Head>) -> bool {
        self.newest_event(segment).is_some_and(|newest| {
            newest.position.next() == self.end.next
                && head(newest.header.session)
                    == Some(Head { seq: newest.header.seq, hash: newest.header.hash })
        })
    }

    fn newest_event(&self, segment: &Segment) -> Option<RawEvent> {
        let last = self.end.frame.filter(|frame| frame.segment == segment.number)?;
        let is_within = self.place.segment == segment.number && self.place.offset <= segment.file_bytes();
        is_within.then_some(())?;
        let frame = segment.copied_frame(last.offset).ok()?;
        (frame.end() == self.place.offset).then_some(())?;
        Some(frame.events().last()?.raw)
    }
}

/// The key of a session's entry.
pub(crate) fn session_key(session: SessionId) -> Vec<u8> {
    key(b's', session.as_bytes())
}

/// The head in a session's entry.
pub(crate) fn head_in(value: &[u8]) -> Option<Head> {
    let mut fields = Fields::new(value);
    fields.u64()?;
    Some(Head { seq: Seq::new(fields.u64()?)?, hash: EventHash::from_bytes(fields.array()?) })
}

fn session_entry(session: &SessionId, entry: &Entry) -> (Vec<u8>, Vec<u8>) {
    let mut value = entry.first.get().to_le_bytes().to_vec();
    value.extend_from_slice(&entry.head.seq.get().to_le_bytes());
    value.extend_from_slice(entry.head.hash.as_bytes());
    (session_key(*session), value)
}

fn runs_entry(session: &SessionId, part: usize, runs: &[Run]) -> (Vec<u8>, Vec<u8>) {
    let mut name = key(b'r', session.as_bytes());
    name.extend_from_slice(&u32::try_from(part).unwrap_or(u32::MAX).to_be_bytes());
    let mut value = Vec::new();
    for run in runs {
        value.extend_from_slice(&run.seq.get().to_le_bytes());
        for number in [run.segment, run.frame, run.event, run.index] {
            value.extend_from_slice(&number.to_le_bytes());
        }
        value.extend_from_slice(&run.kinds.bits().to_le_bytes());
    }
    (name, value)
}

fn key(kind: u8, rest: &[u8]) -> Vec<u8> {
    let mut key = vec![kind];
    key.extend_from_slice(rest);
    key
}

fn session(bytes: &[u8]) -> Option<SessionId> {
    bytes.try_into().ok().map(SessionId::from_bytes)
}

fn place_bytes(place: Place) -> Vec<u8> {
    let mut bytes = place.segment.0.to_le_bytes().to_vec();
    bytes.extend_from_slice(&place.offset.to_le_bytes());
    bytes
}

fn read_place(fields: &mut Fields<'_>) -> Option<Place> {
    Some(Place { segment: SegmentNumber(fields.u32()?), offset: fields.u64()? })
}
