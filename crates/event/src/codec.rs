//! Events to bytes and back.
//!
//! A body is postcard: compact, without field names, and therefore tied to one layout a (kind, version).
//! Bytes left over after a body are an error, and a body of a known kind that does not read is an error;
//! a body of an unknown kind or version is kept as [`crate::Opaque`].

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Event, Kind, SchemaVersion};

/// The largest body of one event, in bytes. Larger content goes into a blob.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// An event that cannot be turned into bytes or read from them.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{problem} in the body of {kind}")]
pub struct CodecError {
    kind: Kind,
    problem: Problem,
}

#[derive(Clone, Debug, thiserror::Error)]
enum Problem {
    #[error("{0} bytes, more than the {BODY_BYTES_MAX} that an event may have; keep the content as a blob")]
    TooLarge(usize),
    #[error("{0} bytes too many")]
    Trailing(usize),
    #[error("unreadable bytes ({0})")]
    Postcard(postcard::Error),
}

impl CodecError {
    /// The kind of the event.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether the event is larger than [`BODY_BYTES_MAX`].
    pub fn is_too_large(&self) -> bool {
        matches!(self.problem, Problem::TooLarge(_))
    }
}

/// The stored body of an event.
///
/// # Errors
/// If it would be larger than [`BODY_BYTES_MAX`].
pub fn encode(event: &Event) -> Result<Bytes, CodecError> {
    event.encode_body()
}

/// Reads a stored body.
///
/// # Errors
/// If the kind and version are known and the bytes are not exactly one such body.
pub fn decode(kind: Kind, version: SchemaVersion, body: &Bytes) -> Result<Event, CodecError> {
    Event::decode_body(kind, version, body)
}

pub(crate) fn to_postcard<T: Serialize>(kind: Kind, body: &T) -> Result<Bytes, CodecError> {
    let bytes =
        postcard::to_stdvec(body).map_err(|error| CodecError { kind, problem: Problem::Postcard(error) })?;
    if bytes.len() > BODY_BYTES_MAX {
        return Err(CodecError { kind, problem: Problem::TooLarge(bytes.len()) });
    }
    Ok(bytes.into())
}

pub(crate) fn from_postcard<T: DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<T, CodecError> {
    let (body, rest) = postcard::take_from_bytes(bytes)
        .map_err(|error| CodecError { kind, problem: Problem::Postcard(error) })?;
    if rest.is_empty() { Ok(body) } else { Err(CodecError { kind, problem: Problem::Trailing(rest.len()) }) }
}
