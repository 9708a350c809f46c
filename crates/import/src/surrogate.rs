//! Half an emoji: escapes of one half of a UTF-16 pair, which JSON can write and no text can hold.

use std::borrow::Cow;

const ESCAPE_BYTES: usize = 6;
const REPLACEMENT: &[u8; ESCAPE_BYTES] = br"\ufffd";

/// Puts the escape of U+FFFD in place of every escape of a lone half. All other bytes stay where they were.
pub(crate) fn mend_lone_surrogates(line: &[u8]) -> Cow<'_, [u8]> {
    let mut mended = Cow::Borrowed(line);
    let mut from = 0;
    while let Some(found) = next_escape(line, from) {
        from = found + ESCAPE_BYTES;
        match half(line, found) {
            Some(Half::High) if half(line, from) == Some(Half::Low) => from += ESCAPE_BYTES,
            Some(_) => {
                if let Some(place) = mended.to_mut().get_mut(found..from) {
                    place.copy_from_slice(REPLACEMENT);
                }
            }
            None => {}
        }
    }
    mended
}

#[derive(PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// The next `\u` at or after `from` whose backslash is not itself escaped.
fn next_escape(line: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find_iter(line.get(from..)?, br"\u")
        .map(|at| from + at)
        .find(|at| backslashes_before(line, *at).is_multiple_of(2))
}

fn backslashes_before(line: &[u8], at: usize) -> usize {
    line.iter().take(at).rev().take_while(|byte| **byte == b'\\').count()
}

fn half(line: &[u8], at: usize) -> Option<Half> {
    let escape = line.get(at..at + ESCAPE_BYTES)?.strip_prefix(br"\u")?;
    let code = u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()?;
    match code {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_halves_are_replaced() {
        let cases = [
            (r"\ud83d\ude00 \u00e9", r"\ud83d\ude00 \u00e9"),
            (r"a\ud83d b", r"a\ufffd b"),
            (r"\ude00\ud83d", r"\ufffd\ufffd"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\\ud83d", r"\\ud83d"),
            (r"\\\uD83D", r"\\\ufffd"),
            (r"\ud83", r"\ud83"),
        ];
        for (line, expected) in cases {
            assert_eq!(mend_lone_surrogates(line.as_bytes()), expected.as_bytes(), "{line}");
        }
    }
}
