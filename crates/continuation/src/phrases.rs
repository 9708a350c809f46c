//! The words by which it is told what somebody meant, or what became of a tool: heuristics for English, as data.
//!
//! A phrase matches whole words in a row, in any case; an apostrophe may be of either kind.

use crate::deeds::FileUse;

/// A person corrects the agent if a message begins so.
pub const CORRECTION_OPENINGS: &[&str] =
    &["actually", "no", "nope", "not", "stop", "that's not", "this is not", "wait", "wrong"];

/// A person corrects the agent if a message says so.
pub const CORRECTIONS: &[&str] = &[
    "do not",
    "don't",
    "i meant",
    "i said",
    "i told you",
    "instead of",
    "is wrong",
    "must not",
    "never",
    "not what i",
    "rather than",
    "revert",
    "should have",
    "that's wrong",
    "undo",
    "you forgot",
];

/// Something was not allowed if a failed tool says so.
pub const DENIALS: &[&str] = &[
    "access denied",
    "declined",
    "doesn't want",
    "forbidden",
    "not allowed",
    "not permitted",
    "operation not permitted",
    "permission denied",
    "rejected",
    "requires approval",
    "was denied",
];

/// The agent tells of a decision if it says so.
pub const DECISIONS: &[&str] = &[
    "decided",
    "decision",
    "going with",
    "i'll use",
    "let's use",
    "opted for",
    "settled on",
    "the plan is",
    "we agreed",
    "we chose",
    "we will use",
    "we'll use",
];

/// The arguments of tools that name a file, the first that is there.
pub const PATH_ARGUMENTS: &[&str] = &["file_path", "path", "filePath", "notebook_path", "filename", "file"];

/// What a tool does with a file, by a part of its name; the first that is found counts.
pub const FILE_TOOLS: &[(&str, FileUse)] = &[
    ("edit", FileUse::Edited),
    ("replace", FileUse::Edited),
    ("patch", FileUse::Edited),
    ("insert", FileUse::Edited),
    ("write", FileUse::Written),
    ("create", FileUse::Written),
    ("save", FileUse::Written),
    ("read", FileUse::Read),
    ("view", FileUse::Read),
    ("open", FileUse::Read),
];

/// Tools whose failures say nothing of the work.
pub const QUIET_TOOLS: &[&str] = &["continue_session"];

/// How far into a text is looked, in bytes.
const LOOK_BYTES_MAX: usize = 1_024;

/// Whether a text says one of the phrases, near its beginning.
pub fn says(text: &str, phrases: &[&str]) -> bool {
    let initials = phrases.iter().filter_map(|phrase| phrase.bytes().next());
    let initials = initials.fold(0, |initials, byte| initials | bit(byte));
    let mut rest = beginning(text);
    while let Some(&byte) = rest.first() {
        if initials & bit(byte) != 0 && begins_with(rest, phrases) {
            return true;
        }
        rest = after_word(rest);
    }
    false
}

/// Whether a text begins with one of the phrases.
pub fn opens_with(text: &str, phrases: &[&str]) -> bool {
    begins_with(beginning(text), phrases)
}

fn begins_with(text: &[u8], phrases: &[&str]) -> bool {
    let initial = text.first().map(u8::to_ascii_lowercase);
    let may_match = |phrase: &&&str| phrase.bytes().next() == initial;
    phrases.iter().filter(may_match).any(|phrase| {
        let mut said = words(text);
        words(phrase.as_bytes()).all(|word| said.next().is_some_and(|said| said.eq_ignore_ascii_case(word)))
    })
}

/// The bytes that are looked at, from the first word on.
fn beginning(text: &str) -> &[u8] {
    let bytes = text.as_bytes();
    from_word(bytes.get(..LOOK_BYTES_MAX).unwrap_or(bytes))
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| is_between(*byte)).filter(|word| !word.is_empty())
}

/// The text from its second word on.
fn after_word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| is_between(*byte)).unwrap_or(text.len());
    from_word(text.get(end..).unwrap_or_default())
}

fn from_word(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_between(*byte)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

/// Words are English: whatever is no letter or digit of ASCII parts them.
const fn is_between(byte: u8) -> bool {
    !byte.is_ascii_alphanumeric()
}

/// A letter as one bit, whatever its case; few other bytes share it.
const fn bit(byte: u8) -> u32 {
    1 << (byte & 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_in_lower_case_and_begin_with_a_word() {
        let lists = [CORRECTION_OPENINGS, CORRECTIONS, DENIALS, DECISIONS];
        for phrase in lists.concat() {
            assert!(phrase.starts_with(|first: char| first.is_ascii_lowercase()), "{phrase}");
        }
    }

    #[test]
    fn whole_words_count_in_any_case_and_with_any_apostrophe() {
        for text in ["Don't do that", "please DON’T", "so,\nI told  you: x"] {
            assert!(says(text, CORRECTIONS), "{text}");
        }
        for text in ["undone", "I don", "", "—", "told you"] {
            assert!(!says(text, CORRECTIONS), "{text}");
        }
    }

    #[test]
    fn an_opening_stands_at_the_beginning() {
        assert!(opens_with("No, the other one", CORRECTION_OPENINGS));
        assert!(!opens_with("Nothing", CORRECTION_OPENINGS));
        assert!(!opens_with("There is no file", CORRECTION_OPENINGS));
    }

    #[test]
    fn only_the_beginning_is_looked_at() {
        let far = format!("{}undo", "ä ".repeat(LOOK_BYTES_MAX));
        assert!(!says(&far, CORRECTIONS));
    }
}
