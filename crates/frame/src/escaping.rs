//! Reversible escaping of what could open or close a frame, and reversible indenting.
//!
//! A backslash is put behind every `<` that begins something like one of our tags. "Like" is generous: white
//! space, upper case, and backslashes that the text already has count too, so that nothing a reader might take
//! for a tag is left, and so that escaping twice can be undone twice. Everything else stays as it was written.

use std::borrow::Cow;

use crate::Tag;

/// Makes text unable to open or close a frame. [`unescape`] gives it back.
///
/// ```
/// use segue_frame::{escape, unescape};
/// assert_eq!(escape("if a <T> b </handoff> c"), r"if a <T> b <\/handoff> c");
/// assert_eq!(unescape(&escape("</handoff>")), "</handoff>");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    rewrite(text, |escaped, after, _| {
        escaped.push('\\');
        after
    })
}

/// Gives back the text that [`escape`] was given.
pub fn unescape(text: &str) -> Cow<'_, str> {
    rewrite(text, |_, after, backslashes| after + backslashes.min(1))
}

/// Puts `prefix` behind every line break, so that no line but the first begins at the margin.
///
/// Whatever a reader might take for a line break counts: LF, CR, CR LF, vertical tab, form feed, NEL, and the
/// Unicode line and paragraph separators. [`unindent`] gives the text back.
pub fn indent<'a>(text: &'a str, prefix: &str) -> Cow<'a, str> {
    if first_break_end(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut indented = String::with_capacity(text.len() + 64);
    for piece in split_after_breaks(text) {
        indented.push_str(piece);
        if piece.ends_with(is_line_break) {
            indented.push_str(prefix);
        }
    }
    Cow::Owned(indented)
}

/// Gives back the text that [`indent`] was given; none if a line lacks the prefix.
pub fn unindent(text: &str, prefix: &str) -> Option<String> {
    let mut original = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(first_break_end(rest).unwrap_or(rest.len()));
        original.push_str(piece);
        rest = if piece.ends_with(is_line_break) { after.strip_prefix(prefix)? } else { after };
    }
    Some(original)
}

pub(crate) fn is_line_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn split_after_breaks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(first_break_end(rest).unwrap_or(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The byte behind the first line break; none without one.
fn first_break_end(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text.as_bytes().get(from..)?.iter().position(|byte| may_begin_break(*byte))?;
        let found = text.get(at..)?.chars().next()?;
        from = at + found.len_utf8();
        if is_line_break(found) {
            let is_pair = found == '\r' && text.as_bytes().get(from) == Some(&b'\n');
            return Some(from + usize::from(is_pair));
        }
    }
}

/// Whether a line break can begin with a byte: most bytes need no closer look.
const fn may_begin_break(byte: u8) -> bool {
    matches!(byte, b'\n'..=b'\r' | 0xC2 | 0xE2)
}

/// Copies text; at each tag-like place, `change` is given the output, the byte behind `<`, and how many
/// backslashes stand there, and answers where copying goes on.
fn rewrite(text: &str, mut change: impl FnMut(&mut String, usize, usize) -> usize) -> Cow<'_, str> {
    let mut changed = String::new();
    let mut copied = 0;
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        let after = at + 1;
        let Some(backslashes) = text.get(after..).and_then(tag_like) else { continue };
        changed.push_str(text.get(copied..after).unwrap_or_default());
        copied = change(&mut changed, after, backslashes);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    changed.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(changed)
}

/// If what follows a `<` looks like one of our tags: how many backslashes it begins with.
fn tag_like(text: &str) -> Option<usize> {
    let name = text.trim_start_matches('\\');
    let backslashes = text.len() - name.len();
    let name = name.trim_start();
    let name = name.strip_prefix('/').unwrap_or(name).trim_start().as_bytes();
    let is_ours = Tag::ALL.iter().any(|tag| {
        let (wanted, len) = (tag.name().as_bytes(), tag.name().len());
        name.get(..len).is_some_and(|found| found.eq_ignore_ascii_case(wanted))
            && !name.get(len).is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'-'))
    });
    is_ours.then_some(backslashes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_could_be_a_frame_is_touched() {
        for same in
            ["", "Vec<T>", "<handoffs>", "</T>", "a < b", "<hand", "< /x handoff>", "<handoff-x>", "&lt;"]
        {
            assert_eq!(escape(same), same);
        }
        for (text, escaped) in [
            ("<handoff", "<\\handoff"),
            ("</Excerpt >", "<\\/Excerpt >"),
            ("< \n/ recall>", "<\\ \n/ recall>"),
            ("<\\handoff>", "<\\\\handoff>"),
            ("<<plan_state>", "<<\\plan_state>"),
        ] {
            assert_eq!(escape(text), escaped);
        }
    }

    #[test]
    fn every_kind_of_line_break_is_indented() {
        assert_eq!(indent("a\nb\r\nc\rd\u{2028}e\n", "  "), "a\n  b\r\n  c\r  d\u{2028}  e\n  ");
        assert_eq!(unindent("a\n  b", "  ").as_deref(), Some("a\nb"));
        assert_eq!(unindent("a\nb", "  "), None);
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            prop::sample::select(&Tag::ALL[..]).prop_map(|tag| tag.name().to_owned()),
            prop::sample::select(
                &["<", "</", "<\\", "\\", "/", " ", "\n", "\r", "[3] user: ", ">", "\u{2028}"][..]
            )
            .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn escaping_is_reversible(text in hostile()) {
            let once = escape(&text).into_owned();
            let twice = escape(&once).into_owned();
            prop_assert_eq!(unescape(&twice), once.clone());
            prop_assert_eq!(unescape(&once), text);
        }

        #[test]
        fn escaped_text_holds_no_tag(text in hostile()) {
            let names = Tag::ALL.map(Tag::name).join("|");
            let tag = regex::Regex::new(&format!("(?i)<\\s*/?\\s*(?:{names})(?:[^a-zA-Z0-9_-]|$)")).unwrap();
            prop_assert!(!tag.is_match(&escape(&text)), "{:?}", escape(&text));
        }

        #[test]
        fn indenting_is_reversible(text in hostile()) {
            prop_assert_eq!(unindent(&indent(&text, "    "), "    "), Some(text));
        }
    }
}
