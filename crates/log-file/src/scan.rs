//! Reading segments from a place on: what is whole, what is torn, and what is damaged.
//!
//! # Torn or damaged
//! A group is written only after the group before it is synced, and each frame says where its group begins. Where
//! the whole frames end, there is
//! * **damage**, if those bytes are known to have been durable: they lie before the end that the next segment's
//!   header or `published` tells, or before the beginning of the group of a whole frame further on. The frames
//!   behind the damage are read on;
//! * otherwise a **torn tail**: the last group, of which a crash kept some frames and not others. Nobody was told
//!   that it is durable. It is ignored from the first frame that is not whole.

use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem;
use segue_event::Position;
use segue_log::LogError;

use crate::frame::{FRAME_HEADER_BYTES, FRAME_MAGIC, Frame, FrameHeader};
use crate::index::Remembered;
use crate::index_entry::Checkpoint;
use crate::layout::Layout;
use crate::place::{Place, SEGMENT_HEADER_BYTES, SegmentNumber};
use crate::published::Published;
use crate::segment::{Check, Segment, SegmentHeader};
use crate::view::{Damage, End, Span, View};

/// How far a view may advance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// Exactly to the end that a writer of this boot published.
    Published(Published),
    /// Over every whole frame; the record, if there is one, tells what is durable at least.
    Everything(Option<Published>),
}

impl Bound {
    pub(crate) fn durable(self) -> Option<Published> {
        match self {
            Self::Published(published) => Some(published),
            Self::Everything(published) => published,
        }
    }

    fn newest(self) -> Option<SegmentNumber> {
        match self {
            Self::Published(published) => Some(published.end.segment),
            Self::Everything(_) => None,
        }
    }
}

/// What is believed instead of reading frames.
#[derive(Debug)]
pub(crate) enum Memory {
    /// Nothing: every frame is read.
    Nothing,
    /// The footers of sealed segments, where there is one that fits.
    Footers,
    /// The same, and the writer's index for the last segment, if it fits.
    FootersAnd(Box<Remembered>),
}

/// Which bytes of a segment are looked at, and what is known of them.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    /// Everything before this byte was durable once.
    pub(crate) durable: u64,
    /// Nothing is looked at from this byte on.
    pub(crate) end: u64,
    /// The position behind the durable bytes, where it is known.
    pub(crate) next: Option<Position>,
}

impl View {
    /// Takes in what follows the view's end.
    ///
    /// # Errors
    /// If a file cannot be read. Damage is no error here: it is remembered, and what is behind it is taken in.
    pub(crate) fn advance(&mut self, layout: &Layout, bound: Bound) -> Result<(), LogError> {
        self.advance_by(layout, bound, Memory::Footers, &mut |_| ()).map(drop)
    }

    /// The same, saying what is believed; gives the index's checkpoint if it was of use. `read` is told of every frame
    /// that was read how many events are in it.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub(crate) fn advance_by(
        &mut self,
        layout: &Layout,
        bound: Bound,
        memory: Memory,
        read: &mut dyn FnMut(u64),
    ) -> Result<Option<Checkpoint>, LogError> {
        let current = self.end.place.map(|place| place.segment);
        for link in self.links(layout, current, bound)? {
            if let Some(span) = self.last_segment() {
                match link.end_of(span.segment.number) {
                    Some(end) => self.take_sealed(&span, end, &memory, read),
                    None => {
                        let end = span.segment.file_bytes();
                        self.scan(&span.segment, Region { durable: 0, end, next: None }, read);
                    }
                }
            }
            self.enter(link);
        }
        let Some(span) = self.last_segment() else {
            return missing(layout, bound).map(|()| None);
        };
        let region = last_region(&span.segment, bound);
        let remembered = match memory {
            Memory::FootersAnd(remembered) => self.recall(&span, *remembered, region),
            Memory::Nothing | Memory::Footers => None,
        };
        self.scan(&span.segment, region, read);
        self.note_missing(&span, bound);
        Ok(remembered)
    }

    /// Takes in the beginning of the last segment as the index knows it, if that fits what is there.
    fn recall(&mut self, span: &Span, remembered: Remembered, region: Region) -> Option<Checkpoint> {
        let Remembered { checkpoint, part } = remembered;
        let is_fresh = span.end == SEGMENT_HEADER_BYTES && self.damages.is_empty();
        let is_within = checkpoint.place.offset <= region.end && self.end.next < checkpoint.end.next;
        let fits = is_fresh && is_within && checkpoint.is_in(&span.segment, |session| part.head(session));
        fits.then(|| self.join(part))?;
        Some(checkpoint)
    }

    /// Takes in the rest of a segment that the log is known to have left at a byte.
    fn take_sealed(&mut self, span: &Span, end: u64, memory: &Memory, read: &mut dyn FnMut(u64)) {
        let is_whole = span.end == SEGMENT_HEADER_BYTES && self.damages.is_empty();
        let is_believed = !matches!(memory, Memory::Nothing);
        let joined = is_whole && is_believed && self.join_footer(&span.segment, end);
        if !joined {
            self.scan_sealed(&span.segment, end, read);
        }
    }

    /// Reads the frames of a segment that the log is known to have left at a byte.
    pub(crate) fn scan_sealed(&mut self, segment: &Arc<Segment>, end: u64, read: &mut dyn FnMut(u64)) {
        self.scan(segment, Region { durable: end, end, next: None }, read);
    }

    fn enter(&mut self, link: Link) {
        let segment = link.segment;
        let place = Place { segment: segment.number, offset: SEGMENT_HEADER_BYTES };
        match segment.header {
            Some(header) => self.follow(&segment, header),
            None => self.damage(&segment, 0, place.offset, "the segment's header is damaged"),
        }
        self.begin(Span { segment, end: place.offset });
    }

    fn follow(&mut self, segment: &Arc<Segment>, header: SegmentHeader) {
        let follows = header.first == self.end.next && header.running == self.end.running;
        if !follows && self.damages.is_empty() {
            self.damage(segment, 0, SEGMENT_HEADER_BYTES, "the segment does not follow the one before it");
        }
        let SegmentHeader { first: next, running, group, .. } = header;
        self.end = End { next, running, group, ..self.end };
    }

    fn damage(&mut self, segment: &Arc<Segment>, offset: u64, until: u64, what: &str) {
        self.damages.push(Damage { segment: Arc::clone(segment), offset, until, what: what.to_owned() });
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn scan(&mut self, segment: &Arc<Segment>, region: Region, read: &mut dyn FnMut(u64)) {
        let mut offset = self.end.place.map_or(SEGMENT_HEADER_BYTES, |place| place.offset);
        while offset < region.end {
            let before = self.counts.events;
            let what = match self.take_frame(segment, offset, region) {
                Ok(end) => {
                    read(self.counts.events - before);
                    offset = end;
                    continue;
                }
                Err(what) => what,
            };
            let Some(resume) = self.resume(segment, offset, region) else {
                self.note_torn(segment, offset, region.end);
                return;
            };
            self.damage(segment, offset, resume.offset, what);
            self.end = End {
                place: Some(Place { segment: segment.number, offset: resume.offset }),
                next: resume.next.unwrap_or(self.end.next),
                ..self.end
            };
            if let Some(span) = self.spans.get_mut(&segment.number) {
                span.end = resume.offset;
            }
            offset = resume.offset;
        }
    }

    fn take_frame(
        &mut self,
        segment: &Arc<Segment>,
        offset: u64,
        region: Region,
    ) -> Result<u64, &'static str> {
        let frame = if offset < region.durable {
            segment.settled_frame(offset, Check::Now).map_err(|_| "what stands there is no whole frame")?
        } else {
            segment.copied_frame(offset)?
        };
        if frame.end() > region.end {
            return Err("a frame reaches beyond the end of what was written");
        }
        if frame.header.first != self.end.next {
            return Err("a frame does not follow the one before it");
        }
        self.take(frame.outline().ok_or("a frame's inside is not as its header says")?);
        Ok(frame.end())
    }

    /// Where whole frames go on behind bytes that were durable; none if those bytes were not.
    fn resume(&self, segment: &Segment, offset: u64, region: Region) -> Option<Resume> {
        let mut frames = Frames::new(segment, offset + 1, region.end).after(self.end.next);
        let proves = |frame: &Frame| {
            frame.place.offset < region.durable || u64::from(frame.header.group_start) > offset
        };
        // Once a later group is found, everything before it was durable, and the first whole frame counts.
        let first = frames.next();
        match first {
            Some(first) if proves(&first) || frames.any(|frame| proves(&frame)) => {
                Some(Resume { offset: first.place.offset, next: Some(first.header.first) })
            }
            _ if offset < region.durable => Some(Resume { offset: region.durable, next: region.next }),
            _ => None,
        }
    }

    fn note_torn(&mut self, segment: &Segment, offset: u64, end: u64) {
        if !is_blank(segment, offset, end) {
            let file = segment.path.display();
            self.note(format!(
                "an unfinished commit at byte {offset} of {file} is ignored: its writer was stopped"
            ));
        }
    }

    fn note_missing(&mut self, span: &Span, bound: Bound) {
        if bound.durable().is_some_and(|published| published.end.segment > span.segment.number) {
            self.damage(
                &span.segment,
                span.end,
                span.end + 1,
                "the log goes on in a segment that is missing",
            );
        }
    }

    /// The segments behind `current` that belong to the log, oldest first.
    pub(crate) fn links(
        &mut self,
        layout: &Layout,
        current: Option<SegmentNumber>,
        bound: Bound,
    ) -> Result<Vec<Link>, LogError> {
        let durable = bound.durable().map(|published| published.end.segment);
        let mut links = Vec::new();
        let mut newest = bound.newest();
        for number in layout.segment_numbers()?.into_iter().rev() {
            if current.is_some_and(|current| number <= current) || bound.newest().is_some_and(|n| number > n)
            {
                continue;
            }
            let segment = Segment::open(layout, number)?;
            // Whatever a later segment says it follows was used, even if nothing of it can be read any more.
            let is_named = durable == Some(number) || newest == Some(number);
            let used = is_named || segment.header.is_some() || holds_frames(&segment);
            if !used || newest.is_some_and(|newest| number > newest) {
                self.note(format!("{} was begun and never used", segment.path.display()));
                continue;
            }
            let previous = segment.header.and_then(|header| header.previous);
            newest = previous.map(|place| place.segment);
            links.push(Link { segment: Arc::new(segment), previous });
        }
        links.reverse();
        Ok(links)
    }
}

/// A segment, and where the log ended before it.
pub(crate) struct Link {
    pub(crate) segment: Arc<Segment>,
    pub(crate) previous: Option<Place>,
}

impl Link {
    fn end_of(&self, segment: SegmentNumber) -> Option<u64> {
        self.previous.filter(|previous| previous.segment == segment).map(|previous| previous.offset)
    }
}

struct Resume {
    offset: u64,
    next: Option<Position>,
}

/// How far the newest segment is looked at.
pub(crate) fn last_region(segment: &Segment, bound: Bound) -> Region {
    let here = bound.durable().filter(|published| published.end.segment == segment.number);
    let (durable, next) = here.map_or((0, None), |published| (published.end.offset, Some(published.next)));
    let end = match bound {
        Bound::Published(published) if published.end.segment == segment.number => durable,
        // Where the published segment is missing, what there is before it is still read.
        Bound::Published(_) | Bound::Everything(_) => segment.file_bytes().max(durable),
    };
    Region { durable, end, next }
}

fn missing(layout: &Layout, bound: Bound) -> Result<(), LogError> {
    match bound.durable() {
        Some(published) => {
            let file = layout.segment(published.end.segment);
            Err(LogError::corrupt(file, 0, "the log goes on in this segment, which is missing"))
        }
        None => Ok(()),
    }
}

fn holds_frames(segment: &Segment) -> bool {
    let end = segment.file_bytes();
    Frames::new(segment, SEGMENT_HEADER_BYTES, end).next().is_some()
}

/// Whole frames in a stretch of a segment, wherever they begin.
///
/// A body can be full of what looks like a frame. So each byte is copied once to look for the magic, and what
/// follows a magic is looked at only if the header's checksum, which depends on the place, is right and its numbers
/// are possible.
pub(crate) struct Frames<'a> {
    segment: &'a Segment,
    at: u64,
    end: u64,
    /// Frames of older events are none.
    next: Position,
    window: Window,
    /// How many bytes were copied, so that a test can tell that it is not too many.
    copied: u64,
}

/// Bytes of a segment, and the byte where they begin.
#[derive(Default)]
struct Window {
    at: u64,
    bytes: Bytes,
}

impl Window {
    /// The bytes from one on, as far as they are here.
    fn from(&self, at: u64) -> &[u8] {
        let skipped = at.checked_sub(self.at).and_then(|skipped| usize::try_from(skipped).ok());
        skipped.and_then(|skipped| self.bytes.get(skipped..)).unwrap_or_default()
    }
}

impl<'a> Frames<'a> {
    pub(crate) fn new(segment: &'a Segment, at: u64, end: u64) -> Self {
        let end = end.min(segment.file_bytes());
        Self { segment, at, end, next: Position::FIRST, window: Window::default(), copied: 0 }
    }

    /// Only frames whose first event comes after the one that is due at a position.
    fn after(self, next: Position) -> Self {
        self.at_least(next.next())
    }

    /// Only frames whose first event has that position or a later one.
    pub(crate) fn at_least(self, next: Position) -> Self {
        Self { next, ..self }
    }

    /// The next place where a header is whole and possible.
    pub(crate) fn candidate(&mut self) -> Option<u64> {
        loop {
            let found = self.find_magic()?;
            self.at = found + 1;
            let place = Place { segment: self.segment.number, offset: found };
            let header = self.window.from(found).get(..HEADER_SIZE);
            let header = header.and_then(|bytes| FrameHeader::from_bytes(place, bytes).ok());
            if header
                .is_some_and(|header| header.first >= self.next && found + header.total_bytes() <= self.end)
            {
                return Some(found);
            }
        }
    }

    /// The next place of the magic at which a whole header can stand, with that header in the window.
    fn find_magic(&mut self) -> Option<u64> {
        while self.at + FRAME_HEADER_BYTES <= self.end {
            let bytes = self.window.from(self.at);
            // A header may lie across the border of two windows; it is looked at in the second.
            let whole = (bytes.len() + FRAME_MAGIC.len()).saturating_sub(HEADER_SIZE);
            if let Some(found) = bytes.get(..whole).and_then(|bytes| memmem::find(bytes, &FRAME_MAGIC)) {
                return Some(self.at + found as u64);
            }
            self.at += (bytes.len() + 1).saturating_sub(HEADER_SIZE) as u64;
            if self.at + FRAME_HEADER_BYTES <= self.end {
                self.move_window()?;
            }
        }
        None
    }

    fn move_window(&mut self) -> Option<()> {
        let border = self.segment.next_border(self.at).min(self.end);
        for bytes in [STEP_BYTES.min(self.end - self.at), border - self.at] {
            if bytes >= FRAME_HEADER_BYTES
                && let Ok(Some(bytes)) = self.segment.copy(self.at, bytes)
            {
                self.copied += bytes.len() as u64;
                self.window = Window { at: self.at, bytes };
                return Some(());
            }
        }
        // Behind a damaged block there may be more.
        self.at = border;
        (border < self.end).then_some(())
    }
}

impl Iterator for Frames<'_> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        loop {
            let found = self.candidate()?;
            let frame = self.segment.copied_frame(found).ok();
            self.copied += frame.as_ref().map_or(0, |frame| frame.header.total_bytes());
            let whole = frame.filter(|frame| frame.outline().is_some());
            if whole.is_some() {
                return whole;
            }
        }
    }
}

/// How much is looked at in one go.
const STEP_BYTES: u64 = 1024 * 1024;

const HEADER_SIZE: usize = FRAME_HEADER_BYTES as usize;

/// Whether nothing but zeros stands in a stretch of a segment.
pub(crate) fn is_blank(segment: &Segment, from: u64, end: u64) -> bool {
    let mut at = from;
    while at < end {
        let Ok(Some(bytes)) = segment.copy(at, STEP_BYTES.min(end - at)) else { return false };
        if bytes.iter().any(|byte| *byte != 0) {
            return false;
        }
        at += bytes.len() as u64;
    }
    true
}

#[cfg(test)]
mod tests {
    use segue_event::{Author, Message, Role, SessionId, Timestamp};
    use segue_log::{Commit, EventLog, Expected, NewEvent};

    use super::*;
    use crate::{FileLog, Options};

    /// Text full of frame headers that look sound, but for the checksum that depends on the place.
    fn hostile(bytes: usize) -> String {
        let mut header = FRAME_MAGIC.to_vec();
        let payload = u32::try_from(bytes / 2).unwrap();
        header.extend_from_slice(&payload.to_le_bytes());
        header.extend_from_slice(&[0; 4]);
        [1_u64, 9].iter().for_each(|number| header.extend_from_slice(&number.to_le_bytes()));
        [0_u32, 1, 0].iter().for_each(|number| header.extend_from_slice(&number.to_le_bytes()));
        header.extend_from_slice(&[b'x'; 8]);
        header.retain(u8::is_ascii);
        String::from_utf8(header.repeat(bytes / header.len())).unwrap()
    }

    #[test]
    fn a_body_full_of_fake_frames_is_looked_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path().join("store"));
        let log = FileLog::open(layout.root(), Options::default()).unwrap();
        for text in ["first", &hostile(4_000_000), "last"] {
            let message = NewEvent::new(Timestamp::default(), Message::text(Role::User, Author::User, text));
            let session = SessionId::from_bytes([1; 16]);
            log.commit(Commit::new().append(session, Expected::AtHead, vec![message])).unwrap();
        }
        drop(log);
        let path = layout.segment(SegmentNumber::FIRST);
        let mut bytes = std::fs::read(&path).unwrap();
        let damaged = usize::try_from(SEGMENT_HEADER_BYTES).unwrap() + 400;
        bytes[damaged] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let segment = Segment::open(&layout, SegmentNumber::FIRST).unwrap();
        let mut frames = Frames::new(&segment, SEGMENT_HEADER_BYTES, segment.file_bytes());
        let found: Vec<u64> = frames.by_ref().map(|frame| frame.header.first.get()).collect();
        assert!(found.ends_with(&[3]), "the last commit is found: {found:?}");
        let size = bytes.len() as u64;
        assert!(frames.copied < size + size / 4, "{} bytes were copied of {size}", frames.copied);
    }
}
