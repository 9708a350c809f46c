//! Ids of sessions, runs, continuations, events, blobs and agents.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::{Builder, Uuid};

use crate::Timestamp;
use crate::text_form::{parse_hex, write_hex};

/// A text that is no id of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}: expected {expected}")]
pub struct IdError {
    what: &'static str,
    expected: &'static str,
    text: String,
}

impl IdError {
    /// What was expected, in words: "session id", "blob id", …
    pub fn what(&self) -> &'static str {
        self.what
    }

    fn new(what: &'static str, expected: &'static str, text: &str) -> Self {
        Self { what, expected, text: text.chars().take(80).collect() }
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes a UUIDv7 from a time and 10 random bytes; two ids of one millisecond differ by the latter.
            pub fn v7(time: Timestamp, random: [u8; 10]) -> Self {
                Self(Builder::from_unix_timestamp_millis(time.unix_millis(), &random).into_uuid())
            }

            /// Makes a UUIDv8 out of the first 16 bytes of a hash, for ids that anyone must compute alike.
            pub fn v8(hash: &blake3::Hash) -> Self {
                let mut bytes = [0; 16];
                bytes.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
                Self(Builder::from_custom_bytes(bytes).into_uuid())
            }

            /// The id with these bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// The 16 bytes of the id, in the order of its text.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Uuid::try_parse(text)
                    .map(Self)
                    .map_err(|_| IdError::new($what, "a UUID such as 0198b2c0-7e1d-7c3a-9d52-2f6f0a1b3c4d", text))
            }
        }
    };
}

uuid_id!(
    /// A session, also called a thread: one transcript. UUIDv7, or UUIDv8 for imported ones.
    SessionId,
    "session id"
);
uuid_id!(
    /// One transition from a predecessor to its successor. UUIDv7.
    ContinuationId,
    "continuation id"
);
uuid_id!(
    /// One run of an agent over a session. UUIDv7; requeueing keeps it.
    RunId,
    "run id"
);

impl SessionId {
    /// The lost and found: where a repair puts the marks of lost events whose session nothing tells any more.
    ///
    /// A UUIDv8 of the words "segue: lost and found". A store that has such a session already gets
    /// [`Self::next_lost_and_found`] in its next repair.
    pub const LOST_AND_FOUND: Self = Self::from_bytes([
        0x79, 0xde, 0x2a, 0xc1, 0x33, 0x12, 0x8f, 0x5f, 0xbf, 0x88, 0xfe, 0x0b, 0xda, 0x42, 0xef, 0x4f,
    ]);

    /// The lost and found of the repair after the one whose lost and found this is.
    #[must_use]
    pub fn next_lost_and_found(self) -> Self {
        Self::v8(&blake3::hash(self.as_bytes()))
    }
}

macro_rules! hash_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// The id with these bytes.
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// The 32 bytes of the hash.
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl From<blake3::Hash> for $name {
            fn from(hash: blake3::Hash) -> Self {
                Self(*hash.as_bytes())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse_hex(text).map(Self).ok_or_else(|| IdError::new($what, "64 hexadecimal digits", text))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.0.serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
                } else {
                    <[u8; 32]>::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

hash_id!(
    /// The id of an event: its blake3 hash, chained to the event before it (see [`crate::chain`]).
    EventHash,
    "event id"
);
hash_id!(
    /// The id of a blob: the blake3 hash of its bytes.
    BlobId,
    "blob id"
);

impl BlobId {
    /// The id that these bytes have.
    pub fn of(bytes: &[u8]) -> Self {
        blake3::hash(bytes).into()
    }
}

/// The name of an agent, chosen by the host: 1 to 256 bytes without control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct AgentId(String);

impl AgentId {
    /// The longest name, in bytes.
    pub const BYTES_MAX: usize = 256;

    /// Makes an agent id.
    ///
    /// # Errors
    /// If the name is empty, longer than [`Self::BYTES_MAX`], or holds a control character.
    pub fn new(name: &str) -> Result<Self, IdError> {
        let fits = !name.is_empty() && name.len() <= Self::BYTES_MAX && !name.chars().any(char::is_control);
        if fits {
            Ok(Self(name.to_owned()))
        } else {
            Err(IdError::new("agent id", "1 to 256 bytes without control characters", name))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for AgentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_from_their_text() {
        let session = SessionId::v7(Timestamp::utc_micros(1_700_000_000_123_456), [7; 10]);
        assert_eq!(session.to_string().parse(), Ok(session));
        let blob = BlobId::of(b"picture");
        assert_eq!(blob.to_string().parse(), Ok(blob));
    }

    #[test]
    fn a_wrong_text_says_what_was_expected() {
        let error = "12".parse::<BlobId>().unwrap_err();
        assert_eq!(error.to_string(), "\"12\" is no blob id: expected 64 hexadecimal digits");
        assert!(AgentId::new("").is_err() && AgentId::new("a\nb").is_err());
    }

    #[test]
    fn the_lost_and_found_is_an_id_that_anyone_can_compute() {
        assert_eq!(SessionId::LOST_AND_FOUND, SessionId::v8(&blake3::hash(b"segue: lost and found")));
        assert_ne!(SessionId::LOST_AND_FOUND.next_lost_and_found(), SessionId::LOST_AND_FOUND);
    }

    #[test]
    fn ids_of_a_hash_are_version_8() {
        let id = SessionId::v8(&blake3::hash(b"x"));
        assert_eq!(id.to_string().as_bytes()[14], b'8');
    }
}
