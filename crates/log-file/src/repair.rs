//! Making a sound store beside a damaged one.
//!
//! The old store is only read, as any reader reads it. It is gone through twice: once to find out what is whole
//! ([`mod@survey`]), and once to write that to the new store ([`mod@rebuild`]). Between the two it is decided what stood at
//! the positions whose events are lost ([`mod@plan`]).
//!
//! # What is kept
//! Every event that is whole keeps its position, its number in its session, its id and its bytes. An event is whole
//! if its frame is, or if its id recomputes from the id of the event before it in its session ([`stretch`]); so a flipped
//! byte in an event loses that event and no other, and one in the header of a frame loses nothing.
//!
//! # What is marked
//! Every other position gets a [`segue_event::Lost`] in its place. The numbers that sessions miss are known from the
//! events behind the damage and from the footers of sealed segments, and each goes to a position where it can have
//! stood ([`seats`]): exactly its own where one event was lost, where its header can be read, or where a footer
//! tells. Where several sessions lost events between the same two, they may be exchanged among each other. A
//! position of which nothing tells the session goes to [`segue_event::SessionId::LOST_AND_FOUND`].

mod blobs;
mod plan;
mod rebuild;
mod roster;
mod seats;
mod stretch;
mod survey;
mod trails;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue_event::{BlobId, ByteRange, Position, Seq, SessionId};
use segue_log::{LogError, LogErrorKind, Meter, Progress};

use crate::layout::{Layout, Presence};
use crate::options::Options;
use crate::place::SegmentNumber;
use crate::repair::blobs::copy_blobs;
use crate::repair::plan::{Mark, Plan, plan};
use crate::repair::rebuild::Rebuild;
use crate::repair::survey::{Ground, Hole, Step, Told, survey};
use crate::scan::Bound;
use crate::store::Store;
use crate::upkeep::settle;

/// What a repair made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Repaired {
    /// How many events the new store has, the marks of lost ones included.
    pub events: u64,
    /// How many of them were whole although their commit was not.
    pub salvaged: u64,
    /// The events that were lost, in order of position.
    pub lost: Vec<LostAt>,
    /// How many claims the new store has.
    pub claims: u64,
    /// How many of them stood in a damaged commit, so that they may be garbled themselves.
    pub claims_doubtful: u64,
    /// How many claims were lost, as far as that is known: their keys can be taken again.
    pub claims_lost: u64,
    /// How many blobs were copied.
    pub blobs: u64,
    /// Blobs that an event names and whose bytes are not theirs; they were not copied.
    pub blobs_damaged: Vec<BlobId>,
    /// Blobs that an event names and that are not there.
    pub blobs_missing: Vec<BlobId>,
}

/// An event that was lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostAt {
    /// The position of its mark, which was its own.
    pub position: Position,
    /// The session of its mark.
    pub session: SessionId,
    /// The number of its mark in that session.
    pub seq: Seq,
    /// The segment of the damaged store in which it stood.
    pub segment: u32,
    /// The damaged bytes of that segment; empty if it was missing.
    pub bytes: ByteRange,
}

impl Repaired {
    /// Whether the new store has all that the old one had, as far as that is known.
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty()
            && self.claims_lost == 0
            && self.blobs_damaged.is_empty()
            && self.blobs_missing.is_empty()
    }
}

/// Makes a sound store in `into`, which must not be there or be an empty folder, of all that is whole in the store in
/// the folder `from`.
///
/// The old store is not touched, and may be written to meanwhile: what is published when the repair begins is taken. `progress`
/// is told how many bytes of the old log were worked on; they are read twice. The new store is made in
/// `<into>.unfinished`, which is no store itself, and gets its name when it is whole; a repair that was killed leaves
/// that folder behind.
///
/// # Errors
/// [`LogErrorKind::NotFound`] if there is no store in `from`, [`LogErrorKind::Version`] if a newer build wrote it,
/// [`LogErrorKind::Occupied`] if `into` or `<into>.unfinished` holds something, [`LogErrorKind::Corrupt`] if the log
/// contradicts itself so that no order of events fits it, [`LogErrorKind::Full`], or [`LogErrorKind::Io`].
pub fn repair(
    from: impl Into<PathBuf>,
    into: impl Into<PathBuf>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Repaired, LogError> {
    let (old, into) = (Layout::new(from.into()), into.into());
    find_store(&old)?;
    let scaffold = Scaffold::new(into)?;
    let ground = Ground::new(&old, bound(&old))?;
    let mut meter = Meter::new(ground.bytes() * 2, progress);
    let plan = plan(survey(&ground, &mut meter)?, &old)?;
    let mut repaired = account(&plan);
    let store = Arc::new(Store::new(Layout::new(scaffold.store.clone()), Options::default()));
    let written = Rebuild::new(&old, &store)?.run(&plan, &mut meter)?;
    let blobs = copy_blobs(&old, &store.layout, &written.named)?;
    settle(&store)?;
    scaffold.finish().map_err(|error| LogError::io("giving the new store its name", error))?;
    meter.finish();
    repaired.events = written.events;
    repaired.claims = written.claims;
    repaired.blobs = blobs.copied;
    repaired.blobs_damaged = blobs.damaged;
    repaired.blobs_missing = blobs.missing;
    Ok(repaired)
}

/// Makes sure that there is a store; one whose format cannot be read is of the format that its segments are.
fn find_store(old: &Layout) -> Result<(), LogError> {
    match old.look() {
        Ok(Presence::There) => Ok(()),
        Ok(Presence::Missing | Presence::Occupied(_)) => Err(LogError::not_found(old.root())),
        Err(error) if error.kind() == LogErrorKind::Corrupt && !old.segment_numbers()?.is_empty() => Ok(()),
        Err(error) => Err(error),
    }
}

/// How far a reader looks.
fn bound(old: &Layout) -> Bound {
    let store = Store::new(old.clone(), Options::default());
    let published = store.published();
    let exact = published.filter(|published| store.is_of_this_boot(published));
    exact.map_or(Bound::Everything(published), Bound::Published)
}

/// What the plan says of the events and claims.
fn account(plan: &Plan) -> Repaired {
    let mut repaired = Repaired { lost: lost(&plan.lost), ..Repaired::default() };
    for step in &plan.steps {
        let Step::Patch(patch) = step else { continue };
        repaired.salvaged += patch.found.len() as u64;
        repaired.claims_lost += patch.claims_lost;
        if patch.claims_told == Told::ByRemains {
            repaired.claims_doubtful += patch.claims.values().map(Vec::len).sum::<usize>() as u64;
        }
    }
    repaired
}

fn lost(marks: &BTreeMap<Position, Mark>) -> Vec<LostAt> {
    let at = |(position, mark): (&Position, &Mark)| {
        let Mark { session, seq, hole: Hole { segment: SegmentNumber(segment), from, until, .. }, .. } =
            *mark;
        LostAt { position: *position, session, seq, segment, bytes: ByteRange { start: from, end: until } }
    };
    marks.iter().map(at).collect()
}

/// The folder in which a new store is made before it gets its name.
struct Scaffold {
    into: PathBuf,
    folder: PathBuf,
    store: PathBuf,
}

impl Scaffold {
    /// # Errors
    /// [`LogErrorKind::Occupied`] if there is something at either place.
    fn new(into: PathBuf) -> Result<Self, LogError> {
        let mut name = into.file_name().map(OsString::from).unwrap_or_default();
        name.push(".unfinished");
        let folder = into.with_file_name(name);
        for place in [&into, &folder] {
            look_for_nothing(place)?;
        }
        Ok(Self { into, store: folder.join("store"), folder })
    }

    fn finish(&self) -> io::Result<()> {
        let layout = Layout::new(self.into.clone());
        layout.disk.rename(&self.store, &self.into)?;
        std::fs::remove_dir(&self.folder)?;
        self.into.parent().map_or(Ok(()), |parent| layout.disk.sync_folder(parent))
    }
}

fn look_for_nothing(folder: &Path) -> Result<(), LogError> {
    match Layout::new(folder.to_owned()).disk.list(folder) {
        Ok(entries) => match entries.into_iter().map(|entry| entry.name).min() {
            Some(name) => Err(LogError::not_empty(folder, name)),
            None => Ok(()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(LogError::not_empty(folder, "")),
        Err(error) => Err(LogError::io(format!("looking at {}", folder.display()), error)),
    }
}
