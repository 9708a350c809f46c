//! Looking through a damaged log: which frames are whole, what else is, and which positions lost their events.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use segue_event::{EventHeader, HEADER_BYTES, Position, RawEvent};
use segue_log::{ClaimKey, LogError, Meter};

use crate::footer::Footer;
use crate::frame::{FRAME_HEADER_BYTES, Frame, FrameHeader, read_claim};
use crate::layout::Layout;
use crate::place::{Place, SEGMENT_HEADER_BYTES, SegmentNumber};
use crate::repair::roster::Roster;
use crate::repair::stretch::{Behind, Between, Joined, Nature, Search, Sighting, align, trim};
use crate::repair::trails::{Contradiction, Sight, Trails};
use crate::scan::{Bound, Frames, Link, Region, last_region};
use crate::segment::Segment;
use crate::view::View;
use crate::wire::Fields;

/// What is done to make the new log, in order of position.
pub(super) enum Step {
    /// Frames that are whole, one behind the other.
    Whole { segment: SegmentNumber, from: u64, until: u64 },
    /// Everything else.
    Patch(Patch),
}

/// Some positions, of which not all have an event any more.
pub(super) struct Patch {
    pub(super) first: Position,
    pub(super) end: Position,
    pub(super) found: BTreeMap<Position, Found>,
    /// By the first position of the commit.
    pub(super) claims: BTreeMap<Position, Vec<ClaimKey>>,
    /// How many claims there were that are lost.
    pub(super) claims_lost: u64,
    pub(super) claims_told: Told,
}

/// Where claims are known from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Told {
    /// From damaged bytes, in which nothing proves them.
    ByRemains,
    ByFooter,
}

/// An event that is whole in damaged surroundings: its header as it should be, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) header: EventHeader,
}

/// Where a lost event was.
#[derive(Clone, Copy)]
pub(super) struct Hole {
    pub(super) segment: SegmentNumber,
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) reason: &'static str,
}

/// All that was seen.
#[derive(Default)]
pub(super) struct Survey {
    pub(super) steps: Vec<Step>,
    pub(super) trails: Trails,
    pub(super) holes: BTreeMap<Position, Hole>,
    /// Headers of events that are not whole.
    pub(super) sights: BTreeMap<Position, Found>,
    pub(super) roster: Roster,
}

/// The most events that a lost segment can have had.
const SEGMENT_EVENTS_MAX: u64 = crate::limits::SEGMENT_BYTES_MAX / HEADER_BYTES as u64;

/// A part of the log of which it is not known yet how many events it held.
enum Piece {
    Missing(SegmentNumber),
    Stretch { segment: Arc<Segment>, from: u64, until: u64 },
}

/// What kind of damage is patched.
#[derive(Clone, Copy)]
enum Shape {
    /// One frame, whose header is whole.
    Frame { claims: u32 },
    /// Whatever lies between two things that tell their positions.
    Gap,
}

/// The segments of a log in order, and what is known of its end.
pub(super) struct Ground<'a> {
    pub(super) layout: &'a Layout,
    pub(super) links: Vec<Link>,
    pub(super) bound: Bound,
}

impl<'a> Ground<'a> {
    pub(super) fn new(layout: &'a Layout, bound: Bound) -> Result<Self, LogError> {
        let links = View::empty().links(layout, None, bound)?;
        Ok(Self { layout, links, bound })
    }

    /// How many bytes there are to be looked at.
    pub(super) fn bytes(&self) -> u64 {
        self.links.iter().map(|link| link.segment.file_bytes()).sum()
    }
}

/// Looks through all of a log.
///
/// # Errors
/// If a file cannot be opened, or the log contradicts itself.
pub(super) fn survey(ground: &Ground<'_>, meter: &mut Meter<'_>) -> Result<Survey, LogError> {
    let mut surveyor = Surveyor { due: Position::FIRST, open: Vec::new(), survey: Survey::default() };
    surveyor
        .look_through(ground, meter)?
        .map_err(|Contradiction| contradiction(ground.layout, "the log contradicts itself"))?;
    Ok(surveyor.survey)
}

pub(super) fn contradiction(layout: &Layout, what: &str) -> LogError {
    LogError::corrupt(layout.segments(), 0, format!("{what}: it cannot be repaired"))
}

struct Surveyor {
    /// The position that the next event has.
    due: Position,
    /// What lies between the last event and what is looked at now.
    open: Vec<Piece>,
    survey: Survey,
}

type Looked = Result<(), Contradiction>;

impl Surveyor {
    fn look_through(&mut self, ground: &Ground<'_>, meter: &mut Meter<'_>) -> Result<Looked, LogError> {
        let mut before = SegmentNumber(0);
        for (index, link) in ground.links.iter().enumerate() {
            let number = link.segment.number;
            self.open.extend(missing_before(link, before).map(Piece::Missing));
            before = number;
            let next = ground.links.get(index + 1);
            let segment = Arc::new(Segment::open_remains(ground.layout, number)?);
            if self.look_at_segment(&segment, ground.bound, next, meter).is_err() {
                return Ok(Err(Contradiction));
            }
        }
        let Some(published) = ground.bound.durable().filter(|published| published.next > self.due) else {
            return Ok(Ok(()));
        };
        if published.end.segment > before {
            self.open.push(Piece::Missing(published.end.segment));
        }
        Ok(self.reach(published.next))
    }

    fn look_at_segment(
        &mut self,
        segment: &Arc<Segment>,
        bound: Bound,
        next: Option<&Link>,
        meter: &mut Meter<'_>,
    ) -> Looked {
        let left_at = next.and_then(|next| next.previous).filter(|place| place.segment == segment.number);
        let (region, footer) = match (next, left_at) {
            (None, _) => (open_region(segment, bound), None),
            (Some(_), Some(place)) => (sealed_region(place.offset), Footer::read(segment, place.offset)),
            (Some(_), None) => (sealed_region(segment.file_bytes()), find_footer(segment)),
        };
        let told = footer.as_ref().map(Footer::first);
        if let Some(first) = segment.header.map(|header| header.first).or(told) {
            self.reach(first)?;
        }
        let steps = self.survey.steps.len();
        self.look_at_frames(segment, region, meter)?;
        let Some(footer) = footer else { return Ok(()) };
        self.reach(footer.part.end.next)?;
        let mut added = self.survey.steps.iter().skip(steps);
        if added.any(|step| matches!(step, Step::Patch(_))) {
            self.survey.roster.add(footer);
        }
        Ok(())
    }

    fn look_at_frames(&mut self, segment: &Arc<Segment>, region: Region, meter: &mut Meter<'_>) -> Looked {
        let mut at = SEGMENT_HEADER_BYTES;
        while at < region.end {
            let from = at;
            match header_at(segment, at, region.end).filter(|header| header.first >= self.due) {
                Some(header) => {
                    let frame = segment.copied_frame(at).ok().filter(|frame| frame.outline().is_some());
                    match frame {
                        Some(frame) => self.whole(&frame)?,
                        None if at >= region.durable => return Ok(()),
                        None => self.damaged_frame(segment, header, at)?,
                    }
                    at += header.total_bytes();
                }
                // A torn tail.
                None if at >= region.durable => return Ok(()),
                None => {
                    let next = Frames::new(segment, at + 1, region.end).at_least(self.due).candidate();
                    let until = next.unwrap_or(region.durable);
                    self.open.push(Piece::Stretch { segment: Arc::clone(segment), from: at, until });
                    at = until;
                }
            }
            meter.advance(at - from);
        }
        Ok(())
    }

    fn whole(&mut self, frame: &Frame) -> Looked {
        self.reach(frame.header.first)?;
        for located in frame.events() {
            self.survey.trails.pass(&located.raw, self.survey.holes.len() as u64)?;
        }
        self.due = frame.header.first.plus(frame.header.events.into());
        let Place { segment, offset } = frame.place;
        match self.survey.steps.last_mut() {
            Some(Step::Whole { segment: last, until, .. }) if (*last, *until) == (segment, offset) => {
                *until = frame.end();
            }
            _ => self.survey.steps.push(Step::Whole { segment, from: offset, until: frame.end() }),
        }
        Ok(())
    }

    fn damaged_frame(&mut self, segment: &Arc<Segment>, header: FrameHeader, at: u64) -> Looked {
        self.reach(header.first)?;
        let piece =
            Piece::Stretch { segment: Arc::clone(segment), from: at, until: at + header.total_bytes() };
        let end = header.first.plus(header.events.into());
        self.patch(&[piece], end, Shape::Frame { claims: header.claims })
    }

    /// What is looked at next has this position.
    fn reach(&mut self, position: Position) -> Looked {
        let open = std::mem::take(&mut self.open);
        if position <= self.due {
            // No event can have stood there.
            return Ok(());
        }
        self.patch(&open, position, Shape::Gap)
    }

    /// Takes in what is left of the events up to `end`.
    fn patch(&mut self, pieces: &[Piece], end: Position, shape: Shape) -> Looked {
        let (first, count) = (self.due, end.get() - self.due.get());
        if count > pieces.iter().map(room).sum::<u64>() {
            return Err(Contradiction);
        }
        let bytes: Vec<Bytes> = pieces.iter().map(copy).collect();
        let mut found = self.search(pieces, &bytes, count);
        trim(&mut found, count);
        let claims = claims_behind(pieces, &bytes, found.last(), shape);
        let (between, behind) = match (shape, &claims) {
            (Shape::Frame { .. }, Some(_)) => (Between::Events, Behind::Nothing),
            (Shape::Frame { .. }, None) => (Between::Events, Behind::Something),
            (Shape::Gap, Some(_)) => (Between::Anything, Behind::Nothing),
            (Shape::Gap, None) => (Between::Anything, Behind::Something),
        };
        let mut placed = align(found, count, between, behind);
        if let (Shape::Frame { .. }, [piece], [bytes]) = (shape, pieces, &*bytes) {
            mend_by_checksum(piece, bytes, &mut placed);
        }
        let claims_lost = match (shape, &claims) {
            (Shape::Frame { claims }, None) => claims.into(),
            _ => 0,
        };
        let claims = claims.filter(|claims| !claims.is_empty()).map(|claims| (first, claims));
        let claims = claims.into_iter().collect();
        let found = self.record(pieces, &bytes, &placed, end, shape)?;
        self.survey.steps.push(Step::Patch(Patch {
            first,
            end,
            found,
            claims,
            claims_lost,
            claims_told: Told::ByRemains,
        }));
        self.due = end;
        Ok(())
    }

    fn search(&self, pieces: &[Piece], bytes: &[Bytes], count: u64) -> Vec<Sighting> {
        let mut all = Vec::new();
        for (stretch, bytes) in bytes.iter().enumerate() {
            if matches!(pieces.get(stretch), Some(Piece::Missing(_)) | None) {
                continue;
            }
            let begin = usize::try_from(FRAME_HEADER_BYTES).unwrap_or(0);
            let mut found = Search::new(&self.survey.trails, bytes, count).run(begin);
            if let Some(first) = found.first_mut().filter(|_| stretch > 0) {
                first.joined = Joined::Apart;
            }
            found.iter_mut().for_each(|sighting| sighting.stretch = stretch);
            all.extend(found);
        }
        all
    }

    /// Enters each position up to `end`: as an event that was found, or as one that was lost.
    fn record(
        &mut self,
        pieces: &[Piece],
        bytes: &[Bytes],
        placed: &[(u64, Sighting)],
        end: Position,
        shape: Shape,
    ) -> Result<BTreeMap<Position, Found>, Contradiction> {
        let first = self.due;
        let mut found = BTreeMap::new();
        let mut placed = placed.iter().peekable();
        let mut here = pieces.first().map(|piece| hole(piece, shape));
        for index in 0..end.get() - first.get() {
            let position = first.plus(index);
            let Some((_, sighting)) = placed.next_if(|(at, _)| *at == index) else {
                let next = placed.peek().map(|(_, sighting)| sighting);
                let hole = here.map(|hole| until(hole, pieces, next));
                self.survey.holes.extend(hole.map(|hole| (position, hole)));
                continue;
            };
            let Some(piece @ Piece::Stretch { segment, from, .. }) = pieces.get(sighting.stretch) else {
                continue;
            };
            let (at, behind) = (from + sighting.at as u64, from + sighting.end as u64);
            let place = Place { segment: segment.number, offset: at };
            let event = Found { place, header: sighting.header };
            match sighting.nature {
                Nature::Whole => {
                    let body = bytes.get(sighting.stretch).map(|bytes| body(bytes, sighting));
                    let raw = RawEvent { header: sighting.header, position, body: body.unwrap_or_default() };
                    self.survey.trails.pass(&raw, self.survey.holes.len() as u64)?;
                    found.insert(position, event);
                }
                Nature::Damaged { mended } => {
                    self.survey.trails.sight(Sight { position, header: sighting.header, mended });
                    self.survey.sights.insert(position, event);
                    let hole = Hole { from: at, until: behind, ..hole(piece, shape) };
                    self.survey.holes.insert(position, hole);
                }
            }
            here = Some(Hole { from: behind, ..hole(piece, shape) });
        }
        Ok(found)
    }
}

/// The segment that must have been between two, or may have been if nothing tells.
fn missing_before(link: &Link, before: SegmentNumber) -> Option<SegmentNumber> {
    let number = link.segment.number;
    let named = match (link.previous, link.segment.header) {
        (Some(previous), _) => Some(previous.segment),
        (None, Some(_)) => None,
        (None, None) => Some(SegmentNumber(number.0.saturating_sub(1))),
    };
    named.filter(|named| *named > before)
}

fn header_at(segment: &Segment, at: u64, end: u64) -> Option<FrameHeader> {
    let bytes = segment.copy(at, FRAME_HEADER_BYTES).ok()??;
    let place = Place { segment: segment.number, offset: at };
    FrameHeader::from_bytes(place, &bytes).ok().filter(|header| at + header.total_bytes() <= end)
}

/// All of what is looked at was durable.
fn sealed_region(end: u64) -> Region {
    Region { durable: end, end, next: None }
}

/// How far the newest segment is looked at, and what of it was durable at least.
fn open_region(segment: &Segment, bound: Bound) -> Region {
    let region = last_region(segment, bound);
    let frames = Frames::new(segment, SEGMENT_HEADER_BYTES, region.end);
    let proven = frames.map(|frame| u64::from(frame.header.group_start)).max().unwrap_or(0);
    Region { durable: region.durable.max(proven), ..region }
}

/// The footer of a sealed segment of which nothing tells where its frames end.
fn find_footer(segment: &Segment) -> Option<Footer> {
    if let Some(footer) = Footer::read(segment, segment.file_bytes()) {
        return Some(footer);
    }
    let bytes = segment.copy_remains(0, segment.file_bytes());
    memchr::memmem::find_iter(&bytes, Footer::MAGIC).find_map(|at| Footer::read(segment, at as u64))
}

/// How many events a piece can have held.
fn room(piece: &Piece) -> u64 {
    match piece {
        Piece::Missing(_) => SEGMENT_EVENTS_MAX,
        Piece::Stretch { from, until, .. } => (until - from) / HEADER_BYTES as u64 + 1,
    }
}

fn copy(piece: &Piece) -> Bytes {
    match piece {
        Piece::Missing(_) => Bytes::new(),
        Piece::Stretch { segment, from, until } => segment.copy_remains(*from, until - from),
    }
}

fn body(bytes: &Bytes, sighting: &Sighting) -> Bytes {
    bytes.slice((sighting.at + HEADER_BYTES).min(sighting.end)..sighting.end)
}

/// The claims that stand between the last event and the end of the last piece; none if something else does.
fn claims_behind(
    pieces: &[Piece],
    bytes: &[Bytes],
    last: Option<&Sighting>,
    shape: Shape,
) -> Option<Vec<ClaimKey>> {
    let (last, index) = (last?, pieces.len().checked_sub(1)?);
    let Piece::Stretch { from, until, .. } = pieces.get(index)? else { return None };
    let bytes = bytes.get(index).filter(|bytes| bytes.len() as u64 == until - from)?;
    let mut fields = Fields::new(bytes.get(last.end..).filter(|_| last.stretch == index)?);
    let mut claims = Vec::new();
    while !fields.is_empty() {
        claims.push(read_claim(&mut fields)?);
    }
    let is_right = match shape {
        Shape::Frame { claims: expected } => claims.len() == expected as usize,
        Shape::Gap => true,
    };
    is_right.then_some(claims)
}

/// Where nothing but the id of one event is damaged, the checksum of its frame is right again with the right id.
fn mend_by_checksum(piece: &Piece, bytes: &Bytes, placed: &mut [(u64, Sighting)]) {
    let Piece::Stretch { segment, from, .. } = piece else { return };
    let mut damaged = placed.iter_mut().filter(|(_, sighting)| sighting.nature != Nature::Whole);
    let (Some((_, sighting)), None) = (damaged.next(), damaged.next()) else { return };
    let Nature::Damaged { mended: Some(id) } = sighting.nature else { return };
    let header = EventHeader { hash: id, ..sighting.header };
    let mut whole = bytes.to_vec();
    let stored = whole.iter_mut().skip(sighting.at);
    stored.zip(header.to_bytes()).for_each(|(to, from)| *to = from);
    let place = Place { segment: segment.number, offset: *from };
    let frame = FrameHeader::from_bytes(place, &whole).ok();
    if frame.is_some_and(|header| Frame { place, header, bytes: whole.into() }.is_sound()) {
        (sighting.header, sighting.nature) = (header, Nature::Whole);
    }
}

fn hole(piece: &Piece, shape: Shape) -> Hole {
    match (piece, shape) {
        (Piece::Missing(segment), _) => {
            Hole { segment: *segment, from: 0, until: 0, reason: "the segment is missing" }
        }
        (Piece::Stretch { segment, from, until }, Shape::Frame { .. }) => {
            let reason = "the checksum of its commit is wrong, and so is its own hash";
            Hole { segment: segment.number, from: *from, until: *until, reason }
        }
        (Piece::Stretch { segment, from, until }, Shape::Gap) => {
            let reason = "no whole commit and no whole event stands there";
            Hole { segment: segment.number, from: *from, until: *until, reason }
        }
    }
}

/// A hole that reaches to the next event, if that stands in the same segment.
fn until(hole: Hole, pieces: &[Piece], next: Option<&Sighting>) -> Hole {
    let stretch = next.and_then(|next| Some((next, pieces.get(next.stretch)?)));
    match stretch {
        Some((next, Piece::Stretch { segment, from, .. })) if segment.number == hole.segment => {
            Hole { until: (from + next.at as u64).max(hole.from), ..hole }
        }
        _ => hole,
    }
}
