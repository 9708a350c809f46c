//! What a text must hold to be looked at: a condition that can be checked without reading events.

use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem::Finder;
use segue_event::{Kind, may_escape};

/// A condition that every wanted text fulfils. What does not pass a sieve holds no wanted text; what passes may.
#[derive(Clone, Debug)]
pub enum Sieve {
    /// Everything passes.
    Everything,
    /// The text holds these bytes.
    Holds(Literal),
    /// All of these are fulfilled.
    All(Vec<Self>),
    /// At least one of these is fulfilled.
    Any(Vec<Self>),
}

/// Bytes that a text holds somewhere.
#[derive(Clone, Debug)]
pub struct Literal {
    finder: Arc<Finder<'static>>,
    /// The longest part of it that stands in JSON as it is.
    bare: Arc<Finder<'static>>,
    case: Case,
}

/// Whether upper and lower case of ASCII letters are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    /// They are.
    Sensitive,
    /// They are not.
    Insensitive,
}

/// Four bytes in a row, or three and a zero, with the ASCII letters among them in lower case.
pub type Gram = [u8; 4];

/// The grams of a text: every four bytes in a row, and every three that begin with the first byte of a character beyond
/// ASCII, since in other scripts a word can be one character. What holds a text has all its grams.
pub fn grams(text: &[u8]) -> impl Iterator<Item = Gram> + '_ {
    let four = text.windows(4).filter_map(|window| window.first_chunk().map(|gram: &Gram| gram.map(lower)));
    let three = text.windows(3).filter_map(|window| match window {
        [first, second, third] if *first >= 0xc0 => Some([*first, lower(*second), lower(*third), 0]),
        _ => None,
    });
    four.chain(three)
}

const fn lower(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

impl Sieve {
    /// The sieve of the texts that hold these bytes; of everything if there are none.
    pub fn holding(bytes: &[u8], case: Case) -> Self {
        if bytes.is_empty() { Self::Everything } else { Self::Holds(Literal::new(bytes, case)) }
    }

    /// Whether an event of a kind with that body may hold a wanted text.
    pub fn passes(&self, kind: Kind, body: &Bytes) -> bool {
        match self {
            Self::Everything => true,
            Self::Holds(literal) => literal.may_be_in(kind, body),
            Self::All(all) => all.iter().all(|sieve| sieve.passes(kind, body)),
            Self::Any(any) => any.iter().any(|sieve| sieve.passes(kind, body)),
        }
    }
}

impl Literal {
    fn new(bytes: &[u8], case: Case) -> Self {
        let finder = |bytes: &[u8]| Arc::new(Finder::new(bytes).into_owned());
        Self { finder: finder(bytes), bare: finder(longest_bare(bytes)), case }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.finder.needle()
    }

    fn may_be_in(&self, kind: Kind, body: &Bytes) -> bool {
        if self.case == Case::Insensitive || self.finder.find(body).is_some() {
            return true;
        }
        if !may_escape(kind, body) {
            return false;
        }
        // In a string with escapes it is written in another way; its bare part is too only if it needs not be.
        self.bare.find(body).is_some() || escapes_needlessly(body)
    }
}

/// Whether there may be an escape that stands for a character that needs none: `\u0065`, `\/`, and what is no JSON but
/// is written by models, such as `\'`.
fn escapes_needlessly(body: &[u8]) -> bool {
    let needed = |byte: &u8| br#""\bfnrt"#.contains(byte);
    memchr::memchr_iter(b'\\', body).any(|at| body.get(at + 1).is_some_and(|byte| !needed(byte)))
}

/// The longest part of a text that JSON writes as it is, unless it escapes what needs no escape.
fn longest_bare(bytes: &[u8]) -> &[u8] {
    let is_escaped = |byte: &u8| matches!(byte, b'"' | b'\\') || byte.is_ascii_control();
    bytes.split(is_escaped).max_by_key(|part| part.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(text: &str, kind: Kind, body: &str) -> bool {
        Sieve::holding(text.as_bytes(), Case::Sensitive)
            .passes(kind, &Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn a_text_passes_where_it_stands() {
        assert!(passes("needle", Kind::ToolResult, "hay needle hay"));
        assert!(!passes("needle", Kind::ToolResult, r#"hay needl\u0065 hay"#));
        assert!(passes("", Kind::ToolResult, ""));
    }

    #[test]
    fn a_text_that_json_writes_in_another_way_passes_too() {
        assert!(passes("say \"hi\"\n", Kind::Message, r#"{"a":"say \"hi\"\n"}"#));
        assert!(passes("needle", Kind::Message, r#"{"a":"needl\u0065"}"#));
        assert!(passes("a/b", Kind::Message, r#"{"a":"a\/b"}"#));
        assert!(passes("it's so", Kind::Message, r#"{"a":"it\'s so"}"#), "models write that too");
        assert!(passes("\"\n\"", Kind::Message, r#"{"a":"\"\n\""}"#));
        assert!(!passes("say \"hi\"", Kind::Message, r#"{"a":"\"hello\""}"#));
        assert!(!passes("needle", Kind::Message, r#"{"a":"hay\n"}"#));
    }

    #[test]
    fn sieves_are_joined() {
        let holding = |text: &str| Sieve::holding(text.as_bytes(), Case::Sensitive);
        let body = Bytes::from_static(b"one two");
        let check = |sieve: &Sieve| sieve.passes(Kind::ToolResult, &body);
        assert!(check(&Sieve::All(vec![holding("one"), holding("two")])));
        assert!(!check(&Sieve::All(vec![holding("one"), holding("three")])));
        assert!(check(&Sieve::Any(vec![holding("one"), holding("three")])));
        assert!(!check(&Sieve::Any(Vec::new())));
        assert!(check(&Sieve::holding(b"ONE", Case::Insensitive)), "only a filter looks closer");
    }

    #[test]
    fn grams_are_in_lower_case_and_a_character_of_three_bytes_has_one() {
        assert_eq!(grams(b"ABcde").collect::<Vec<_>>(), [*b"abcd", *b"bcde"]);
        assert_eq!(grams(b"abc").count(), 0);
        assert_eq!(grams("漢".as_bytes()).collect::<Vec<_>>(), [[0xe6, 0xbc, 0xa2, 0]]);
    }
}
