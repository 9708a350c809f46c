//! An event as it is stored, and as it is read.

use bytes::Bytes;

use crate::{
    CodecError, Event, EventHash, EventHeader, Family, Kind, Position, SchemaVersion, Seq, SessionId,
    Timestamp, chain, codec,
};

/// A stored event: the header, the body's bytes, and its place in the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawEvent {
    /// The fixed part.
    pub header: EventHeader,
    /// Its place in the log.
    pub position: Position,
    /// The body as it is stored.
    pub body: Bytes,
}

/// An event that was read, with where and when it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded<E = Event> {
    /// Whose stream it stands in.
    pub session: SessionId,
    /// Its number in that stream.
    pub seq: Seq,
    /// Its place in the log.
    pub position: Position,
    /// When it was written.
    pub time: Timestamp,
    /// Its id.
    pub hash: EventHash,
    /// What happened.
    pub event: E,
}

impl RawEvent {
    /// The event's kind, without reading the body.
    pub fn kind(&self) -> Kind {
        self.header.kind
    }

    /// Whether the header's hash is the one that follows from `previous` and the body.
    pub fn is_chained_to(&self, previous: &EventHash) -> bool {
        chain::link(previous, &self.header, &blake3::hash(&self.body)) == self.header.hash
    }

    /// Reads the body.
    ///
    /// # Errors
    /// If it is of a known kind and version and does not read as one.
    pub fn decode(&self) -> Result<Recorded, CodecError> {
        let EventHeader { kind, version, .. } = self.header;
        codec::decode(kind, version, &self.body).map(|event| self.recorded(event))
    }

    /// Reads the body if the event belongs to the family `E`; other events are not decoded.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decode_as<E: Family>(&self) -> Result<Option<Recorded<E>>, CodecError> {
        if !E::accepts(self.header.kind) {
            return Ok(None);
        }
        let Recorded { event, .. } = self.decode()?;
        Ok(E::try_from(event).ok().map(|event| self.recorded(event)))
    }

    fn recorded<E>(&self, event: E) -> Recorded<E> {
        let EventHeader { session, seq, time, hash, .. } = self.header;
        Recorded { session, seq, position: self.position, time, hash, event }
    }
}

/// An event made ready to be stored: encoded and hashed, but not yet placed in a session.
#[derive(Clone, Debug)]
pub struct Prepared {
    kind: Kind,
    version: SchemaVersion,
    time: Timestamp,
    body: Bytes,
    body_hash: blake3::Hash,
}

impl Prepared {
    /// Encodes an event and hashes its body, the part that needs no knowledge of its place.
    ///
    /// # Errors
    /// If the body is larger than [`codec::BODY_BYTES_MAX`].
    pub fn new(time: Timestamp, event: &Event) -> Result<Self, CodecError> {
        let body = codec::encode(event)?;
        Ok(Self { kind: event.kind(), version: event.version(), time, body_hash: blake3::hash(&body), body })
    }

    /// The length of the body, in bytes.
    pub fn body_bytes(&self) -> usize {
        self.body.len()
    }

    /// Places the event in a session behind the event whose id is `previous`.
    pub fn place(self, session: SessionId, seq: Seq, previous: &EventHash, position: Position) -> RawEvent {
        let body_bytes = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        let mut header = EventHeader {
            kind: self.kind,
            version: self.version,
            session,
            seq,
            time: self.time,
            body_bytes,
            hash: chain::START,
        };
        header.hash = chain::link(previous, &header, &self.body_hash);
        RawEvent { header, position, body: self.body }
    }
}
