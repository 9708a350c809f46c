//! The shell around the pure middle: files, the log, commits, and finding where a source stands in the record.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

use segue_event::{
    AgentId, BlobId, Digest, Event, Hole, ImportProgress, ImportSource, ImportedLine, LineNumber,
    ModelOverride, Seq, SessionId, SessionStarted, SourceKind, Timestamp, Title, TitleSource, Unreadable,
};
use segue_log::{Commit, EventLog, Expected, LogError, LogErrorKind, NewEvent, Wait};

use crate::error::{Detail, ImportError};
use crate::head::{Head, read_head, read_opening};
use crate::holes;
use crate::identity::session_id;
use crate::limits::{
    ATTEMPTS_MAX, COMMIT_BYTES_MAX, COMMIT_EVENTS_MAX, COMMIT_LINES_MAX, LINE_BYTES_MAX, VERSIONS_MAX,
};
use crate::line::{Line, read_line};
use crate::recorded::{Size, Tail, begins_with, last_progress, state_after, tail};
use crate::report::{ImportReport, Imported, Outcome, UnreadablePiece};
use crate::source::{LineEnd, LineReader, Piece, PieceEnd};
use crate::state::State;

/// What an import has to be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportOptions {
    /// The agent that imported sessions belong to.
    pub agent: AgentId,
    /// The time at which progress is recorded, and of a source that tells none.
    pub now: Timestamp,
    /// The program that wrote the source, where the caller knows better than its content.
    pub kind: Option<SourceKind>,
}

/// Imports one transcript, or what is new in it.
///
/// When it returns without an error, all of it is durable; an import that was cut off goes on where it stood. Of two
/// importers of one source each line is written by one.
///
/// # Errors
/// [`NotFound`](crate::ImportErrorKind::NotFound), [`NotAFile`](crate::ImportErrorKind::NotAFile),
/// [`Permission`](crate::ImportErrorKind::Permission) and [`Source`](crate::ImportErrorKind::Source) for the path,
/// [`Log`](crate::ImportErrorKind::Log) and [`Contended`](crate::ImportErrorKind::Contended) for the log, and
/// [`TooManyVersions`](crate::ImportErrorKind::TooManyVersions).
pub fn import_path(
    log: &dyn EventLog,
    path: &Path,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let import = Import { log, path, options };
    let mut earlier = None;
    for _ in 0..ATTEMPTS_MAX {
        let (report, ended) = match import.attempt_anew() {
            Ok(Ok(attempted)) => attempted,
            Ok(Err(reason)) => return Ok(Imported::Skipped(reason)),
            Err(error) => return Err(error.after(earlier)),
        };
        let report = report.after(earlier);
        if ended == Ended::AtTheEnd {
            return Ok(Imported::Session(report));
        }
        earlier = Some(report);
    }
    let contended = ImportError::from(Detail::Contended { path: path.to_owned(), attempts: ATTEMPTS_MAX });
    Err(contended.after(earlier))
}

struct Import<'a> {
    log: &'a dyn EventLog,
    path: &'a Path,
    options: &'a ImportOptions,
}

/// Where a source stands in the record.
enum Place {
    /// Nowhere yet.
    Free,
    /// It begins with all that is recorded, which ends here.
    Behind(ImportProgress),
    /// The record begins with all of it, which has this size.
    Within(Size),
    /// The record holds something else.
    Elsewhere,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    AtTheEnd,
    Overtaken,
}

type Reader<'f> = LineReader<BufReader<&'f File>>;

/// What was read of a source, or the reason why it is skipped.
type OrSkipped<T> = Result<T, String>;

impl Import<'_> {
    fn attempt_anew(&self) -> Result<OrSkipped<(ImportReport, Ended)>, ImportError> {
        match self.open()? {
            Ok((head, file)) => self.attempt(&head, &file).map(Ok),
            Err(reason) => Ok(Err(reason)),
        }
    }

    /// The source and its beginning.
    fn open(&self) -> Result<OrSkipped<(Head, File)>, ImportError> {
        let failed = |error| ImportError::source(self.path, error);
        // Looked at before it is opened, because opening a pipe waits for its other end.
        let found = fs::metadata(self.path).map_err(failed)?;
        if found.is_dir() {
            return Err(Detail::NotAFile(self.path.to_owned()).into());
        }
        if !found.is_file() {
            return Ok(Err("it is no regular file".to_owned()));
        }
        let file = File::open(self.path).map_err(failed)?;
        let head = read_head(BufReader::new(&file), self.options.kind).map_err(failed)?;
        Ok(head.map(|head| (head, file)))
    }

    fn attempt(&self, head: &Head, file: &File) -> Result<(ImportReport, Ended), ImportError> {
        let mut free = None;
        for original_id in &head.original_ids {
            for version in 0..=VERSIONS_MAX {
                let session = session_id(head.kind, original_id, &head.first_line, version);
                let (place, reader) = self.place(session, file)?;
                match place {
                    Place::Elsewhere => {}
                    Place::Free => {
                        free = free.or(Some((original_id, version, session)));
                        break;
                    }
                    Place::Behind(progress) => {
                        return self.follow(head, version, session, &progress, reader);
                    }
                    Place::Within(size) => {
                        let mut report = ImportReport::new(session, head.kind, version, Outcome::OlderCopy);
                        (report.lines, report.bytes) = (size.lines, size.bytes);
                        return Ok((report, Ended::AtTheEnd));
                    }
                }
            }
        }
        match free {
            Some((original_id, version, session)) if version < VERSIONS_MAX => {
                self.begin(head, original_id, version, session, file)
            }
            _ => Err(Detail::TooManyVersions { path: self.path.to_owned(), versions: VERSIONS_MAX }.into()),
        }
    }

    fn place<'f>(&self, session: SessionId, file: &'f File) -> Result<(Place, Reader<'f>), ImportError> {
        let mut reader = self.reader(file)?;
        let Some(progress) = last_progress(self.log, session).map_err(|error| self.log_error(error))? else {
            return Ok((Place::Free, reader));
        };
        let failed = |error| ImportError::source(self.path, error);
        let there = reader.skip(progress.prefix.bytes).map_err(failed)?;
        if there == progress.prefix.bytes {
            let same = reader.prefix() == progress.prefix;
            return Ok((if same { Place::Behind(progress) } else { Place::Elsewhere }, reader));
        }
        let mut again = self.rewound(file)?;
        let within = begins_with(self.log, session, &mut again)?.map_err(failed)?;
        Ok((within.map_or(Place::Elsewhere, Place::Within), reader))
    }

    fn begin(
        &self,
        head: &Head,
        original_id: &str,
        version: u32,
        session: SessionId,
        file: &File,
    ) -> Result<(ImportReport, Ended), ImportError> {
        let opening = read_opening(self.rewound(file)?, head.kind)
            .map_err(|error| ImportError::source(self.path, error))?;
        let time = opening.time.unwrap_or(self.options.now);
        let started = SessionStarted {
            agent: self.options.agent.clone(),
            title: Title { text: opening.title, source: TitleSource::Fallback },
            description: String::new(),
            working_directory: head.working_directory.clone(),
            model: head.model.clone().map(|name| ModelOverride { name, settings: String::new() }),
            plan: None,
            edge: None,
            import: Some(ImportSource {
                kind: head.kind,
                original_id: original_id.to_owned(),
                path: self.path.to_string_lossy().into_owned(),
                version,
            }),
        };
        let outcome = if version == 0 { Outcome::New } else { Outcome::Rewritten };
        let report = ImportReport::new(session, head.kind, version, outcome);
        let mut writer = Writer::new(self, State::new(head.kind, Seq::FIRST, time), report);
        writer.add(NewEvent::new(time, started));
        writer.run(self.reader(file)?, Tail::Ended)
    }

    fn follow(
        &self,
        head: &Head,
        version: u32,
        session: SessionId,
        progress: &ImportProgress,
        mut reader: Reader<'_>,
    ) -> Result<(ImportReport, Ended), ImportError> {
        let mut report = ImportReport::new(session, head.kind, version, Outcome::Unchanged);
        (report.lines, report.bytes) = (progress.lines, progress.prefix.bytes);
        if reader.is_at_end().map_err(|error| ImportError::source(self.path, error))? {
            return Ok((report, Ended::AtTheEnd));
        }
        report.outcome = Outcome::Grew;
        // Looked at before the state is, so that a state that fits vouches for the tail.
        let tail = tail(self.log, session, head.kind).map_err(|error| self.log_error(error))?;
        let state = state_after(self.log, session, head.kind, progress);
        match state.map_err(|error| self.log_error(error))? {
            Some(state) => Writer::new(self, state, report).run(reader, tail),
            None => Ok((report, Ended::Overtaken)),
        }
    }

    fn reader<'f>(&self, file: &'f File) -> Result<Reader<'f>, ImportError> {
        self.rewound(file).map(LineReader::new)
    }

    fn rewound<'f>(&self, mut file: &'f File) -> Result<BufReader<&'f File>, ImportError> {
        file.rewind().map_err(|error| ImportError::source(self.path, error))?;
        Ok(BufReader::with_capacity(READ_BYTES, file))
    }

    fn log_error(&self, source: LogError) -> ImportError {
        Detail::Log { path: self.path.to_owned(), source }.into()
    }
}

/// Enough for hashing to use all of the processor.
const READ_BYTES: usize = 256 * 1024;

/// Reads a source on and writes what it gives, commit by commit.
struct Writer<'a> {
    import: &'a Import<'a>,
    state: State,
    report: ImportReport,
    /// The report as it stood with the last commit.
    committed: ImportReport,
    batch: Vec<NewEvent>,
    batch_bytes: usize,
    batch_lines: u64,
    first: Seq,
}

impl<'a> Writer<'a> {
    fn new(import: &'a Import<'a>, state: State, report: ImportReport) -> Self {
        let first = state.next;
        let committed = report.clone();
        Self { import, state, report, committed, batch: Vec::new(), batch_bytes: 0, batch_lines: 0, first }
    }

    /// Reads on and commits, and says what was committed even if it fails.
    fn run(
        mut self,
        mut reader: LineReader<impl BufRead>,
        tail: Tail,
    ) -> Result<(ImportReport, Ended), ImportError> {
        match self.write_all(&mut reader, tail) {
            Ok(ended) => Ok((self.committed, ended)),
            Err(error) => Err(error.after(Some(self.committed))),
        }
    }

    /// Reads on to where the source ends at the moment, which is looked for once: what is appended from then on is for
    /// the next import, whose tail it continues. So the last commit is known to be the last, and is the one that waits.
    fn write_all(
        &mut self,
        reader: &mut LineReader<impl BufRead>,
        mut tail: Tail,
    ) -> Result<Ended, ImportError> {
        loop {
            let full_at = self.is_full().then(|| reader.prefix());
            let Some(piece) = self.next_piece(reader)? else { break };
            // Something is left to read, so a commit follows that makes this one durable too.
            if let Some(prefix) = full_at
                && self.commit(prefix, Wait::Ordered)? == Ended::Overtaken
            {
                return Ok(Ended::Overtaken);
            }
            if self.line(reader, piece, std::mem::replace(&mut tail, Tail::Ended))? == LineEnd::Open {
                break;
            }
        }
        if self.batch.is_empty() { Ok(Ended::AtTheEnd) } else { self.commit(reader.prefix(), Wait::Durable) }
    }

    fn line(
        &mut self,
        reader: &mut LineReader<impl BufRead>,
        piece: Piece,
        tail: Tail,
    ) -> Result<LineEnd, ImportError> {
        if tail == Tail::Ended {
            self.report.lines += 1;
        }
        let begun = match tail {
            Tail::Ended => Vec::new(),
            Tail::Open(begun) if begun.len() + piece.bytes.len() <= LINE_BYTES_MAX => begun,
            Tail::Open(_) | Tail::Lost => return self.long_line(reader, piece),
        };
        if piece.end == PieceEnd::Full {
            return self.long_line(reader, piece);
        }
        let number = LineNumber(self.report.lines);
        let line = Line { number, offset: piece.offset, bytes: &piece.bytes, begun: &begun };
        let made = read_line(&mut self.state, line);
        for bytes in made.blobs.values() {
            self.put(bytes)?;
        }
        self.batch_bytes += piece.bytes.len();
        self.count(&made.events);
        self.batch.extend(made.events);
        Ok(piece.line_end())
    }

    /// Keeps a line that is too long to be read, without ever holding all of it.
    fn long_line(
        &mut self,
        reader: &mut LineReader<impl BufRead>,
        mut piece: Piece,
    ) -> Result<LineEnd, ImportError> {
        let offset = piece.offset;
        let mut bytes = 0;
        let mut holes = Vec::new();
        loop {
            bytes += piece.bytes.len() as u64;
            let content = holes::without_terminator(&piece.bytes);
            if !content.is_empty() {
                holes.push(Hole::Raw { at: 0, blob: self.put(content)? });
            }
            if piece.end != PieceEnd::Full {
                break;
            }
            match self.next_piece(reader)? {
                Some(next) => piece = next,
                None => break,
            }
        }
        let terminator = if piece.bytes.ends_with(b"\n") { b"\n".as_slice() } else { b"" };
        self.keep_long_line(offset, bytes, holes, terminator)?;
        Ok(piece.line_end())
    }

    fn keep_long_line(
        &mut self,
        offset: u64,
        bytes: u64,
        holes: Vec<Hole>,
        terminator: &'static [u8],
    ) -> Result<(), ImportError> {
        let line = LineNumber(self.report.lines);
        let blob = match holes.first() {
            Some(hole) => hole.blob(),
            None => self.put(terminator)?,
        };
        let reason = format!(
            "the line is longer than the {LINE_BYTES_MAX} bytes that are read; {} blobs of its imported line hold it",
            holes.len()
        );
        let kept = ImportedLine { line, offset, bytes: bytes::Bytes::from_static(terminator), holes };
        let time = self.state.time;
        let events = [
            NewEvent::new(time, kept),
            NewEvent::new(time, Unreadable { line, offset, bytes, blob, reason }),
        ];
        self.count(&events);
        events.into_iter().for_each(|event| self.add(event));
        Ok(())
    }

    fn count(&mut self, events: &[NewEvent]) {
        self.batch_lines += 1;
        if events.len() == 1 {
            self.report.metadata_lines += 1;
        }
        for new in events {
            if let Event::Unreadable(Unreadable { line, offset, bytes, reason, .. }) = &new.event {
                let (line, offset, bytes, reason) = (*line, *offset, *bytes, reason.clone());
                self.report.note_unreadable(UnreadablePiece { line, offset, bytes, reason });
            }
        }
    }

    fn add(&mut self, event: NewEvent) {
        self.state.note(self.state.next, &event.event);
        self.batch.push(event);
    }

    fn put(&mut self, bytes: &[u8]) -> Result<BlobId, ImportError> {
        let id = self.import.log.put_blob(bytes).map_err(|error| self.import.log_error(error))?;
        self.report.blobs += 1;
        Ok(id)
    }

    fn is_full(&self) -> bool {
        self.batch_lines >= COMMIT_LINES_MAX
            || self.batch_bytes >= COMMIT_BYTES_MAX
            || self.batch.len() >= COMMIT_EVENTS_MAX
    }

    /// Writes what was read up to `prefix`.
    fn commit(&mut self, prefix: Digest, wait: Wait) -> Result<Ended, ImportError> {
        let path = self.import.path.to_string_lossy().into_owned();
        let progress = ImportProgress { path, lines: self.report.lines, prefix };
        self.report.bytes = progress.prefix.bytes;
        self.add(NewEvent::new(self.import.options.now, progress));
        let events = std::mem::take(&mut self.batch);
        let count = events.len() as u64;
        let commit = Commit::new().append(self.report.session, Expected::Seq(self.first), events);
        let commit = Commit { wait, ..commit };
        match self.import.log.commit(commit) {
            Ok(_) => self.report.events += count,
            Err(error) if error.kind() == LogErrorKind::WrongSeq => return Ok(Ended::Overtaken),
            Err(error) => return Err(self.import.log_error(error)),
        }
        (self.batch_bytes, self.batch_lines, self.first) = (0, 0, self.state.next);
        self.committed.clone_from(&self.report);
        Ok(Ended::AtTheEnd)
    }

    fn next_piece(&self, reader: &mut LineReader<impl BufRead>) -> Result<Option<Piece>, ImportError> {
        reader.next_piece().map_err(|error| ImportError::source(self.import.path, error))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::sync::Mutex;

    use segue_log::MemoryLog;

    use super::*;
    use crate::watched_log::{WatchedLog, Write};

    /// A source that has ended when it is looked at for the first time, and has grown when it is looked at again.
    struct Growing<'a> {
        now: &'a [u8],
        later: &'a [u8],
        looks_at_the_end: u32,
    }

    impl BufRead for Growing<'_> {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            if self.now.is_empty() {
                self.looks_at_the_end += 1;
                // One look asks twice.
                if self.looks_at_the_end > 2 {
                    self.now = std::mem::take(&mut self.later);
                }
            }
            Ok(self.now)
        }

        fn consume(&mut self, count: usize) {
            self.now = &self.now[count..];
        }
    }

    impl Read for Growing<'_> {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("lines are read from the buffer")
        }
    }

    #[test]
    fn the_last_commit_is_durable_whatever_the_source_does_meanwhile() {
        let memory = MemoryLog::new();
        let waits = Mutex::new(Vec::new());
        let log = WatchedLog::new(&memory, |write| {
            if let Write::Commit(commit) = write {
                waits.lock().unwrap().push(commit.wait);
            }
            Ok(())
        });
        let now = Timestamp::default();
        let options = ImportOptions { agent: AgentId::new("a").unwrap(), now, kind: None };
        let import = Import { log: &log, path: Path::new("source"), options: &options };
        let session = SessionId::from_bytes([1; 16]);
        let report = ImportReport::new(session, SourceKind::Pi, 0, Outcome::New);
        let source = Growing { now: b"{}\n", later: b"{}\n", looks_at_the_end: 0 };
        let writer = Writer::new(&import, State::new(SourceKind::Pi, Seq::FIRST, now), report);
        let (report, ended) = writer.run(LineReader::new(source), Tail::Ended).unwrap();
        assert_eq!((ended, report.lines), (Ended::AtTheEnd, 1));
        assert_eq!(*waits.lock().unwrap(), [Wait::Durable]);
    }
}
