//! What an import says about a source when it is done.

use segue_event::{LineNumber, SessionId, SourceKind};

use crate::limits::UNREADABLE_LISTED_MAX;

/// What became of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Imported {
    /// Its lines stand in the record.
    Session(ImportReport),
    /// It is nothing that can be imported, for this reason; nothing was written.
    Skipped(String),
}

impl Imported {
    /// The report, if the file was not skipped.
    pub fn report(&self) -> Option<&ImportReport> {
        match self {
            Self::Session(report) => Some(report),
            Self::Skipped(_) => None,
        }
    }
}

/// What an import found in a source and wrote into the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportReport {
    /// The session that holds the source.
    pub session: SessionId,
    /// The program that wrote the source.
    pub kind: SourceKind,
    /// From 0: which rewritten version of the source the session holds.
    pub version: u32,
    /// How the source stands to what was recorded before.
    pub outcome: Outcome,
    /// How many lines of the source stand in the record, those of earlier imports included.
    pub lines: u64,
    /// How many bytes of the source stand in the record, those of earlier imports included.
    pub bytes: u64,
    /// How many events this import wrote, those that keep lines and progress included.
    pub events: u64,
    /// How many blobs this import put, those that were there already included.
    pub blobs: u64,
    /// How many lines of this import are kept but say nothing that a transcript shows.
    pub metadata_lines: u64,
    /// How many pieces of this import could not be read.
    pub unreadable: u64,
    /// The first [`UNREADABLE_LISTED_MAX`] of them.
    pub unreadable_pieces: Vec<UnreadablePiece>,
}

/// How a source stands to what was recorded before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was not known.
    New,
    /// It goes on where the record ended.
    Grew,
    /// It is what the record holds.
    Unchanged,
    /// It is a beginning of what the record holds; nothing was written.
    OlderCopy,
    /// It differs from what the record holds under the same identity, and is kept as a session of its own.
    Rewritten,
}

/// A piece of a source that could not be read. Its bytes are in the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnreadablePiece {
    /// The line, from 1.
    pub line: LineNumber,
    /// The byte of the source where the piece begins.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Why it could not be read.
    pub reason: String,
}

impl ImportReport {
    /// Nothing counted yet.
    pub(crate) fn new(session: SessionId, kind: SourceKind, version: u32, outcome: Outcome) -> Self {
        Self {
            session,
            kind,
            version,
            outcome,
            lines: 0,
            bytes: 0,
            events: 0,
            blobs: 0,
            metadata_lines: 0,
            unreadable: 0,
            unreadable_pieces: Vec::new(),
        }
    }

    /// Counts a piece that could not be read.
    pub(crate) fn note_unreadable(&mut self, piece: UnreadablePiece) {
        self.unreadable += 1;
        if self.unreadable_pieces.len() < UNREADABLE_LISTED_MAX {
            self.unreadable_pieces.push(piece);
        }
    }

    /// Adds what attempts before this one have written until another importer came in between.
    pub(crate) fn after(mut self, earlier: Option<Self>) -> Self {
        let Some(earlier) = earlier.filter(|earlier| earlier.events > 0) else { return self };
        self.outcome = earlier.outcome;
        self.events += earlier.events;
        self.blobs += earlier.blobs;
        self.metadata_lines += earlier.metadata_lines;
        self.unreadable += earlier.unreadable;
        self.unreadable_pieces.splice(0..0, earlier.unreadable_pieces);
        self.unreadable_pieces.truncate(UNREADABLE_LISTED_MAX);
        self
    }
}
