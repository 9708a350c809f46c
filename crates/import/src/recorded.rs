//! What the record holds of a source: where reading goes on, and the original bytes.

use std::io::{self, BufRead, Read, Write};

use bytes::Bytes;
use segue_event::{
    BlobId, Digest, Event, ImportEvent, ImportProgress, ImportedLine, Kind, KindSet, LineNumber, Seq,
    SeqRange, SessionId, SourceKind, Timestamp,
};
use segue_log::{Direction, EventLog, LogError};

use crate::error::{Detail, ImportError};
use crate::holes;
use crate::limits::LINE_BYTES_MAX;
use crate::records::open_end;
use crate::state::State;
use crate::surrogate::mend_lone_surrogates;

/// Writes the source of an imported session as it was, byte for byte, and says what was written.
///
/// Nothing is written into the record. Needs memory for one line and one blob.
///
/// # Errors
/// [`NotExportable`](crate::ImportErrorKind::NotExportable) if the session was not imported or a part is missing,
/// [`Log`](crate::ImportErrorKind::Log), and [`Output`](crate::ImportErrorKind::Output) if `out` fails.
pub fn original_bytes(
    log: &dyn EventLog,
    session: SessionId,
    out: &mut (impl Write + ?Sized),
) -> Result<Digest, ImportError> {
    let mut written = 0;
    let mut hasher = blake3::Hasher::new();
    let put = |piece: &[u8]| {
        written += piece.len() as u64;
        hasher.update(piece);
        out.write_all(piece).map_err(|error| Detail::Output(error).into())
    };
    let progress = each_piece(log, session, put)?;
    let found = Digest { bytes: written, blake3: hasher.finalize().into() };
    match progress {
        Some(progress) if progress.prefix == found => Ok(found),
        Some(progress) => Err(not_exportable(
            session,
            format!("its lines have {} bytes and should have {}", found.bytes, progress.prefix.bytes),
        )),
        None => Err(not_exportable(session, "it was not imported".to_owned())),
    }
}

/// How far the source of a session was read; none if the session was not imported.
pub(crate) fn last_progress(
    log: &dyn EventLog,
    session: SessionId,
) -> Result<Option<ImportProgress>, LogError> {
    let progress = KindSet::one(Kind::ImportProgress);
    for raw in log.read_kinds(session, SeqRange::ALL, Direction::Backward, progress)? {
        if let Event::ImportProgress(progress) = raw?.decode().map_err(LogError::codec)?.event {
            return Ok(Some(progress));
        }
    }
    Ok(None)
}

/// How much of a source there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Size {
    /// Its lines, one without a newline at the end included.
    pub(crate) lines: u64,
    /// Its bytes.
    pub(crate) bytes: u64,
}

/// The size of `source` if it is, to its end, how the recorded source of a session begins.
pub(crate) fn begins_with(
    log: &dyn EventLog,
    session: SessionId,
    source: &mut impl BufRead,
) -> Result<io::Result<Option<Size>>, ImportError> {
    let mut compared = Ok(true);
    let mut ended = false;
    let mut size = Size::default();
    let mut is_within_a_line = false;
    each_piece(log, session, |piece| {
        if !ended {
            let mut found = Vec::new();
            let read = source.by_ref().take(piece.len() as u64).read_to_end(&mut found);
            ended = found.len() < piece.len();
            compared = read.map(|_| piece.starts_with(&found));
            ended |= !matches!(compared, Ok(true));
            size.bytes += found.len() as u64;
            size.lines += memchr::memchr_iter(b'\n', &found).count() as u64;
            is_within_a_line = found.last().map_or(is_within_a_line, |last| *last != b'\n');
        }
        Ok(())
    })?;
    size.lines += u64::from(is_within_a_line);
    Ok(compared.map(|same| same.then_some(size)))
}

/// What reading on behind `progress` has to know, found by going through the session once; none if another importer
/// has gone on from there in the meantime.
pub(crate) fn state_after(
    log: &dyn EventLog,
    session: SessionId,
    kind: SourceKind,
    progress: &ImportProgress,
) -> Result<Option<State>, LogError> {
    let mut newest = None;
    let mut state = State::new(kind, Seq::FIRST, Timestamp::default());
    for raw in log.read(session, SeqRange::ALL, Direction::Forward)? {
        let raw = raw?;
        let told = [Kind::Message, Kind::SessionStarted, Kind::SessionTitled, Kind::ImportProgress];
        if told.contains(&raw.kind()) {
            let recorded = raw.decode().map_err(LogError::codec)?;
            state.note(recorded.seq, &recorded.event);
            if let Event::ImportProgress(progress) = recorded.event {
                newest = Some(progress);
            }
        }
        // Progress has the importer's time and not the source's.
        if raw.kind() != Kind::ImportProgress {
            state.time = raw.header.time;
        }
        state.next = raw.header.seq.next();
    }
    Ok((newest.as_ref() == Some(progress)).then_some(state))
}

/// How the recorded part of a source ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// With a whole line, or nothing is recorded.
    Ended,
    /// Within a line, whose last bytes, if any, could not be read for want of the rest.
    Open(Vec<u8>),
    /// Within a line of more than [`LINE_BYTES_MAX`] bytes.
    Lost,
}

/// Looks how the recorded part of a source ends.
pub(crate) fn tail(log: &dyn EventLog, session: SessionId, kind: SourceKind) -> Result<Tail, LogError> {
    let mut pieces = last_line(log, session)?;
    let Some(last) = pieces.first() else { return Ok(Tail::Ended) };
    if last.bytes.ends_with(b"\n") {
        return Ok(Tail::Ended);
    }
    pieces.reverse();
    let start = pieces.first().map_or(0, |piece| piece.offset);
    let mut line = Vec::new();
    for piece in &pieces {
        let blob = |id: &BlobId| log.blob(id)?.ok_or_else(|| missing(id));
        let mut take = |bytes: &[u8]| {
            // One byte too many is enough to know.
            line.extend(bytes.iter().take((LINE_BYTES_MAX + 1).saturating_sub(line.len())));
            Ok(())
        };
        holes::fill(piece, blob, &mut take)?;
    }
    if line.len() > LINE_BYTES_MAX {
        return Ok(Tail::Lost);
    }
    let open = open_end(kind, &mend_lone_surrogates(&line), start).len();
    Ok(Tail::Open(line.split_off(line.len() - open)))
}

/// The pieces of the last line, the last first.
fn last_line(log: &dyn EventLog, session: SessionId) -> Result<Vec<ImportedLine>, LogError> {
    let mut pieces: Vec<ImportedLine> = Vec::new();
    let lines = KindSet::one(Kind::ImportedLine);
    for raw in log.read_kinds(session, SeqRange::ALL, Direction::Backward, lines)? {
        let Event::ImportedLine(piece) = raw?.decode().map_err(LogError::codec)?.event else { continue };
        let number: Option<LineNumber> = pieces.first().map(|last| last.line);
        if number.is_some_and(|number| number != piece.line) {
            break;
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

/// Hands out the recorded bytes in order, and says how far they go by the record's own account.
fn each_piece(
    log: &dyn EventLog,
    session: SessionId,
    mut piece: impl FnMut(&[u8]) -> Result<(), ImportError>,
) -> Result<Option<ImportProgress>, ImportError> {
    let mut newest = None;
    let failed = |source| ImportError::from(Detail::Record { session, source });
    let blob = |id: &BlobId| -> Result<Bytes, ImportError> {
        let found = log.blob(id).map_err(failed)?;
        found.ok_or_else(|| not_exportable(session, format!("blob {id} is missing")))
    };
    let kept = KindSet::of::<ImportEvent>();
    for raw in log.read_kinds(session, SeqRange::ALL, Direction::Forward, kept).map_err(failed)? {
        let raw = raw.map_err(failed)?;
        let recorded = raw.decode_as::<ImportEvent>().map_err(|error| failed(LogError::codec(error)))?;
        match recorded.map(|recorded| recorded.event) {
            Some(ImportEvent::ImportedLine(line)) => holes::fill(&line, blob, &mut piece)?,
            Some(ImportEvent::ImportProgress(progress)) => newest = Some(progress),
            None => {}
        }
    }
    Ok(newest)
}

fn not_exportable(session: SessionId, why: String) -> ImportError {
    Detail::NotExportable { session, why }.into()
}

fn missing(id: &BlobId) -> LogError {
    LogError::not_found(format!("blob {id}"))
}
