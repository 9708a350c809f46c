//! A disk that fails where and how a test wants it to.
//!
//! It keeps what is durable and what is pending apart: writes until their file is synced, names until their folder
//! is. [`FaultyDisk::after_crash`] makes the disk that a machine finds when it starts again, with any part of what
//! was pending. Folders themselves are durable once made.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::MmapRaw;
use parking_lot::Mutex;

use crate::disk::{Disk, DiskFile, Entry, EntryKind, Open};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The machine stops: neither this operation nor any later one is done.
    Crash,
    /// The disk answers with an input/output error; nothing is done. A sync that failed so is a sync that is lost:
    /// a later one calls what was pending durable without its being so.
    Failure,
    /// There is no room; nothing is done.
    NoRoom,
    /// Half of what was to be written is, and the disk answers with an error.
    Short,
    /// One bit of what was to be written is another, and the disk answers that all is well. Operations that write
    /// no bytes are done.
    Garbled,
}

/// What of the pending writes and names survives a crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// Nothing.
    All,
    /// Everything.
    Nothing,
    /// Of writes any, in any order, whole or torn at a sector; of the names in each folder the first few. Drawn from a
    /// number.
    Some(u64),
    /// The same, torn at any byte.
    Torn(u64),
}

/// A disk in memory.
#[derive(Clone, Debug, Default)]
pub struct FaultyDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    folders: BTreeSet<PathBuf>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// Changes of names that are not durable yet, oldest first.
    pending_names: Vec<NameChange>,
    files: Vec<FileState>,
    /// The files that are locked.
    locked: BTreeSet<usize>,
    operations: u64,
    plan: Option<(u64, Fault)>,
    has_crashed: bool,
    /// How often the machine was started before.
    starts: u8,
}

#[derive(Clone, Debug)]
enum NameChange {
    Set(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, usize),
}

impl NameChange {
    fn folder(&self) -> Option<&Path> {
        match self {
            Self::Set(path, _) | Self::Remove(path) | Self::Rename(_, path, _) => path.parent(),
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Set(path, file) => {
                names.insert(path.clone(), *file);
            }
            Self::Remove(path) => {
                names.remove(path);
            }
            Self::Rename(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
struct FileState {
    durable: Vec<u8>,
    pending: Vec<(u64, Vec<u8>)>,
    present: Vec<u8>,
}

impl FaultyDisk {
    /// An empty disk on which nothing goes wrong.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the operation with a number, counted from 0 over all that change something, go wrong.
    pub fn plan(&self, operation: u64, fault: Fault) {
        let mut state = self.state.lock();
        state.plan = Some((state.operations + operation, fault));
    }

    /// How many operations there were.
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// Stops the machine now.
    pub fn crash(&self) {
        self.state.lock().has_crashed = true;
    }

    /// The disk as the machine finds it when it starts again.
    #[must_use]
    pub fn after_crash(&self, loss: Loss) -> Self {
        let state = self.state.lock();
        let mut draw = Draw::new(loss);
        let mut names = state.durable_names.clone();
        let mut broken: BTreeSet<&Path> = BTreeSet::new();
        for change in &state.pending_names {
            let folder = change.folder().unwrap_or(Path::new(""));
            if broken.contains(folder) || !draw.keeps() {
                broken.insert(folder);
            } else {
                change.apply(&mut names);
            }
        }
        let files = state.files.iter().map(|file| file.after_crash(&mut draw)).collect();
        let after = State {
            starts: state.starts.wrapping_add(1),
            folders: state.folders.clone(),
            durable_names: names.clone(),
            names,
            files,
            ..State::default()
        };
        Self { state: Arc::new(Mutex::new(after)) }
    }

    fn begin(&self, state: &mut State) -> io::Result<Option<Fault>> {
        if state.has_crashed {
            return Err(failure());
        }
        let number = state.operations;
        state.operations += 1;
        let fault = state.plan.filter(|(at, _)| *at == number).map(|(_, fault)| fault);
        match fault {
            Some(Fault::Crash) => {
                state.has_crashed = true;
                Err(failure())
            }
            Some(Fault::NoRoom) => Err(io::ErrorKind::StorageFull.into()),
            other => Ok(other),
        }
    }

    /// For an operation that is done or not, and never half.
    fn begin_whole(&self, state: &mut State) -> io::Result<()> {
        match self.begin(state)? {
            None | Some(Fault::Garbled) => Ok(()),
            Some(_) => Err(failure()),
        }
    }
}

impl FileState {
    fn write(&mut self, at: u64, bytes: &[u8]) {
        apply(&mut self.present, at, bytes);
        self.pending.push((at, bytes.to_vec()));
    }

    fn sync(&mut self) {
        for (at, bytes) in std::mem::take(&mut self.pending) {
            apply(&mut self.durable, at, &bytes);
        }
    }

    /// A sync that failed: some writes reached the disk, and the system takes the others for durable too.
    fn forget(&mut self) {
        for (at, bytes) in std::mem::take(&mut self.pending).into_iter().step_by(2) {
            apply(&mut self.durable, at, &bytes);
        }
    }

    fn after_crash(&self, draw: &mut Draw) -> Self {
        let mut durable = self.durable.clone();
        for (at, bytes) in &self.pending {
            draw.keep_some(*at, bytes, |at, part| apply(&mut durable, at, part));
        }
        Self { present: durable.clone(), durable, ..Self::default() }
    }
}

fn apply(file: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    if file.len() < at + bytes.len() {
        file.resize(at + bytes.len(), 0);
    }
    file.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
}

fn failure() -> io::Error {
    io::Error::other("the disk failed")
}

/// Decides what survives.
struct Draw {
    loss: Loss,
    state: u64,
}

const SECTOR_BYTES: usize = 512;

impl Draw {
    fn new(loss: Loss) -> Self {
        let (Loss::Some(seed) | Loss::Torn(seed)) = loss else { return Self { loss, state: 0 } };
        Self { loss, state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 }
    }

    /// The next of a row of numbers (xorshift): nothing here needs better ones.
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn keeps(&mut self) -> bool {
        match self.loss {
            Loss::All => false,
            Loss::Nothing => true,
            Loss::Some(_) | Loss::Torn(_) => !self.next().is_multiple_of(3),
        }
    }

    fn keep_some(&mut self, at: u64, bytes: &[u8], mut keep: impl FnMut(u64, &[u8])) {
        match self.loss {
            Loss::All => {}
            Loss::Nothing => keep(at, bytes),
            Loss::Torn(_) => {
                let count = self.next() % (bytes.len() as u64 * 2 + 1);
                let count = usize::try_from(count).unwrap_or(0).min(bytes.len());
                keep(at, bytes.get(..count).unwrap_or_default());
            }
            Loss::Some(_) => {
                for (number, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
                    if self.keeps() {
                        keep(at + (number * SECTOR_BYTES) as u64, sector);
                    }
                }
            }
        }
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        let found = state.names.get(path).copied();
        let number = match (found, how) {
            (Some(_), Open::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(number), _) => number,
            (None, Open::Read) => return Err(io::ErrorKind::NotFound.into()),
            (None, _) => {
                self.begin_whole(&mut state)?;
                let number = state.files.len();
                state.files.push(FileState::default());
                state.change(NameChange::Set(path.to_owned(), number));
                number
            }
        };
        Ok(Arc::new(FaultyFile { disk: self.clone(), number, has_lock: AtomicBool::new(false) }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let state = self.state.lock();
        if !state.folders.contains(folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let files = state.names.keys().map(|path| (path, EntryKind::File));
        let folders = state.folders.iter().map(|path| (path, EntryKind::Folder));
        let inside = files.chain(folders).filter(|(path, _)| path.parent() == Some(folder));
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(inside.map(|(path, kind)| Entry { name: name(path), kind }).collect())
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        self.begin_whole(&mut state)?;
        state.folders.extend(path.ancestors().map(Path::to_owned));
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        self.begin_whole(&mut state)?;
        let (here, elsewhere): (Vec<_>, Vec<_>) = std::mem::take(&mut state.pending_names)
            .into_iter()
            .partition(|change| change.folder() == Some(path));
        state.pending_names = elsewhere;
        here.iter().for_each(|change| change.apply(&mut state.durable_names));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        self.begin_whole(&mut state)?;
        let number = *state.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        state.change(NameChange::Rename(from.to_owned(), to.to_owned(), number));
        Ok(())
    }

    fn boot(&self) -> Option<[u8; 16]> {
        Some([self.state.lock().starts.wrapping_add(1); 16])
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        if !state.names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.begin_whole(&mut state)?;
        state.change(NameChange::Remove(path.to_owned()));
        Ok(())
    }
}

impl State {
    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    number: usize,
    has_lock: AtomicBool,
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        if self.has_lock.load(Ordering::Relaxed) {
            self.disk.state.lock().locked.remove(&self.number);
        }
    }
}

impl FaultyFile {
    fn with<T>(&self, action: impl FnOnce(&mut FileState) -> T) -> io::Result<T> {
        self.disk.state.lock().files.get_mut(self.number).map(action).ok_or_else(failure)
    }

    /// Begins an operation that changes the file; answers what else goes wrong with it.
    fn begin(&self) -> io::Result<Option<Fault>> {
        self.disk.begin(&mut self.disk.state.lock())
    }

    /// For an operation that writes no bytes.
    fn begin_without_bytes(&self) -> io::Result<Option<Fault>> {
        Ok(self.begin()?.filter(|fault| *fault != Fault::Garbled))
    }
}

impl DiskFile for FaultyFile {
    fn size(&self) -> io::Result<u64> {
        self.with(|file| file.present.len() as u64)
    }

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.with(|file| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let end = at.saturating_add(bytes.len());
            let found = file.present.get(at..end).ok_or(io::ErrorKind::UnexpectedEof)?;
            bytes.copy_from_slice(found);
            Ok(())
        })?
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let fault = self.begin()?;
        let mut written = bytes.to_vec();
        match fault {
            None => {}
            Some(Fault::Garbled) => written.iter_mut().last().into_iter().for_each(|byte| *byte ^= 0x10),
            Some(Fault::Short) => written.truncate(bytes.len() / 2),
            Some(_) => written.clear(),
        }
        self.with(|file| file.write(at, &written))?;
        if matches!(fault, None | Some(Fault::Garbled)) { Ok(()) } else { Err(failure()) }
    }

    fn allocate(&self, from: u64, bytes: u64) -> io::Result<()> {
        if self.begin_without_bytes()?.is_some() {
            return Err(failure());
        }
        self.with(|file| {
            // What is there already stays.
            let present = file.present.len() as u64;
            let missing = from.saturating_add(bytes).saturating_sub(present);
            file.write(present, &vec![0; usize::try_from(missing).unwrap_or(0)]);
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        let fault = self.begin_without_bytes()?;
        self.with(|file| match fault {
            None => file.sync(),
            Some(_) => file.forget(),
        })?;
        if fault.is_none() { Ok(()) } else { Err(failure()) }
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn map(&self, _capacity: usize) -> io::Result<Option<MmapRaw>> {
        Ok(None)
    }

    fn try_lock(&self) -> io::Result<bool> {
        let is_free = self.disk.state.lock().locked.insert(self.number);
        self.has_lock.fetch_or(is_free, Ordering::Relaxed);
        Ok(self.has_lock.load(Ordering::Relaxed))
    }

    fn has_name(&self) -> io::Result<bool> {
        Ok(self.disk.state.lock().names.values().any(|number| *number == self.number))
    }

    fn identity(&self) -> io::Result<u64> {
        Ok(self.number as u64)
    }

    fn drop_cached(&self) {}
}

#[cfg(test)]
mod tests;
