//! Events that keep an imported transcript as it was: each line's bytes, and how far the source was read.

use serde::{Deserialize, Serialize};

use crate::{BlobId, Digest};

/// The transcript that a session was imported from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImportSource {
    /// The program that wrote it.
    pub kind: SourceKind,
    /// That program's own id of the session; empty where the transcript does not say.
    pub original_id: String,
    /// The file, as it was named to the importer.
    pub path: String,
    /// From 0: counts the rewritten versions of one source that were met, each a session of its own.
    pub version: u32,
}

/// A program whose transcripts can be imported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// Claude Code.
    ClaudeCode,
    /// The pi coding agent, session versions 1 to 3.
    Pi,
}

impl SourceKind {
    /// The short name: `claude-code` or `pi`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Pi => "pi",
        }
    }
}

/// The number of a line in its source, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LineNumber(pub u64);

impl std::fmt::Display for LineNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// One line of a source, byte for byte. The events made from it follow in the same commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImportedLine {
    /// The line, from 1.
    pub line: LineNumber,
    /// The byte of the source where it begins.
    pub offset: u64,
    /// Its bytes, terminator included, without what lies in `holes`.
    pub bytes: bytes::Bytes,
    /// Pieces that were cut out into blobs, in order.
    pub holes: Vec<Hole>,
}

/// A piece of a line that was cut out: base64 text whose decoded bytes are a blob, or the raw bytes themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hole {
    /// Standard base64 with padding: encode the blob to get the piece back.
    Base64 {
        /// Where the piece belongs, counted in the bytes that were left.
        at: u64,
        /// The decoded bytes.
        blob: BlobId,
    },
    /// The blob is the piece itself.
    Raw {
        /// Where the piece belongs, counted in the bytes that were left.
        at: u64,
        /// The bytes.
        blob: BlobId,
    },
}

impl Hole {
    /// The blob that fills it.
    pub const fn blob(&self) -> BlobId {
        match self {
            Self::Base64 { blob, .. } | Self::Raw { blob, .. } => *blob,
        }
    }

    /// Where the piece belongs, counted in the bytes that were left.
    pub const fn at(&self) -> u64 {
        match self {
            Self::Base64 { at, .. } | Self::Raw { at, .. } => *at,
        }
    }
}

/// How far a source has been read. Each commit of an import ends with one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImportProgress {
    /// The file, as it was named to the importer this time.
    pub path: String,
    /// Lines read so far.
    pub lines: u64,
    /// The bytes read so far and their hash: the source is only followed while it begins with them.
    pub prefix: Digest,
}
