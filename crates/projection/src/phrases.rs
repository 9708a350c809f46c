//! The words by which [`crate::Worth`] tells what is worth citing: heuristics for English, as data.
//!
//! A phrase matches whole words in a row, in any case; an apostrophe may be of either kind.

/// A person corrects the agent if a message begins so.
pub(crate) const CORRECTION_OPENINGS: &[&str] =
    &["actually", "no", "nope", "not", "stop", "that's not", "this is not", "wait", "wrong"];

/// A person corrects the agent if a message says so.
pub(crate) const CORRECTIONS: &[&str] = &[
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
pub(crate) const DENIALS: &[&str] = &[
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
pub(crate) const DECISIONS: &[&str] = &[
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

/// Tools that change a file.
pub(crate) const EDITING_TOOLS: &[&str] = &[
    "create_file",
    "edit",
    "edit_file",
    "multiedit",
    "notebookedit",
    "replace",
    "write",
    "write_file",
    "write_to_file",
];

/// The arguments of such tools that name the file, the first that is there.
pub(crate) const PATH_ARGUMENTS: &[&str] = &["file_path", "path", "notebook_path", "filename", "file"];

/// Tools whose failures say nothing of the work.
pub(crate) const QUIET_TOOLS: &[&str] = &["continue_session"];

/// How far into a text is looked, in bytes.
const LOOK_BYTES_MAX: usize = 1_024;

/// Whether a text says one of the phrases, near its beginning.
pub(crate) fn says(text: &str, phrases: &[&str]) -> bool {
    let mut rest = beginning(text);
    loop {
        if opens_with(rest, phrases) {
            return true;
        }
        match after_word(rest) {
            Some(after) => rest = after,
            None => return false,
        }
    }
}

/// Whether a text begins with one of the phrases.
pub(crate) fn opens_with(text: &str, phrases: &[&str]) -> bool {
    let text = beginning(text);
    let Some(first) = words(text).next() else { return false };
    let may_match =
        |phrase: &&&str| words(phrase).next().is_some_and(|word| word.eq_ignore_ascii_case(first));
    phrases.iter().filter(may_match).any(|phrase| {
        let mut said = words(text);
        words(phrase).all(|word| said.next().is_some_and(|said| said.eq_ignore_ascii_case(word)))
    })
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LOOK_BYTES_MAX)).unwrap_or(text)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_between).filter(|word| !word.is_empty())
}

/// What follows the first word; none without one.
fn after_word(text: &str) -> Option<&str> {
    let word = text.trim_start_matches(is_between);
    let end = word.find(is_between).filter(|_| !word.is_empty())?;
    word.get(end..)
}

fn is_between(character: char) -> bool {
    !character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

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
