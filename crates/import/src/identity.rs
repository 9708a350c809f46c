//! The id of an imported session: anyone who imports the same source computes the same.

use segue_event::{SessionId, SourceKind};

/// The id of the session that holds `version` of a source.
///
/// It is a UUIDv8 of the blake3 hash of these bytes, in this order:
///
/// | bytes | what |
/// |---|---|
/// | 21 | `segue import session` and a newline |
/// | n + 1 | the kind's short name and a newline |
/// | 8 | the length of the original id, little-endian |
/// | n | the original id; none where the source does not tell one |
/// | 32 | the blake3 hash of the source's first line, of which the white space at the end does not count and at most the first 16 MiB |
/// | 4 | the version, little-endian |
pub fn session_id(kind: SourceKind, original_id: &str, first_line: &blake3::Hash, version: u32) -> SessionId {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"segue import session\n");
    hasher.update(kind.as_str().as_bytes());
    hasher.update(b"\n");
    hasher.update(&(original_id.len() as u64).to_le_bytes());
    hasher.update(original_id.as_bytes());
    hasher.update(first_line.as_bytes());
    hasher.update(&version.to_le_bytes());
    SessionId::v8(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_never_changes() {
        let id = session_id(SourceKind::Pi, "s1", &blake3::hash(b"line"), 0);
        assert_eq!(id.to_string(), "cf7a5064-7567-88a4-af0d-0c7e3fc05935");
        for other in [
            session_id(SourceKind::ClaudeCode, "s1", &blake3::hash(b"line"), 0),
            session_id(SourceKind::Pi, "s2", &blake3::hash(b"line"), 0),
            session_id(SourceKind::Pi, "s1", &blake3::hash(b"other"), 0),
            session_id(SourceKind::Pi, "s1", &blake3::hash(b"line"), 1),
        ] {
            assert_ne!(other, id);
        }
    }
}
