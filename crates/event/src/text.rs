//! What of an event is text: what is searched, and what a filter over many events has to know.
//!
//! A text is a string of the record exactly as it stands there. Where it is JSON that a model wrote, as the arguments of
//! a tool are, its strings can be meant as well as the JSON itself: [`Text::unescaped`] gives those that are written
//! with escapes.

use bytes::Bytes;

use crate::{Attachment, Block, CodecError, Kind, RawEvent, TranscriptEvent};

/// One text of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Text<'a> {
    /// Which of the event's texts it is, from 0; for a text that is a block, the block's index.
    pub index: u32,
    /// How it is written.
    pub form: Form,
    /// The text, exactly.
    pub text: &'a str,
}

/// How a text is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As it is meant.
    Plain,
    /// As JSON: strings in it can hold escapes.
    Json,
}

/// A string of a JSON text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonString {
    /// The byte of the JSON text behind the opening quote.
    start: usize,
    /// What the string means.
    text: String,
}

impl TranscriptEvent {
    /// The texts of the event, in order; empty ones are left out.
    ///
    /// Of a file or picture it is the name.
    pub fn texts(&self) -> Vec<Text<'_>> {
        let texts: Vec<(Form, &str)> = match self {
            Self::Message(message) => {
                let lines = message.context_lines.iter().map(|line| (Form::Plain, line.as_str()));
                let files = message.attachments.iter().map(name);
                message.blocks.iter().map(block).chain(lines).chain(files).collect()
            }
            Self::ToolResult(result) => result.blocks.iter().map(block).collect(),
            Self::ErrorNoted(error) => vec![(Form::Plain, &error.message)],
            Self::Unreadable(unreadable) => vec![(Form::Plain, &unreadable.reason)],
            Self::Lost(lost) => vec![(Form::Plain, &lost.reason)],
            Self::ContextCompacted(compacted) => vec![(Form::Plain, &compacted.text)],
        };
        let numbered = (0..).zip(texts).map(|(index, (form, text))| Text { index, form, text });
        numbered.filter(|text| !text.text.is_empty()).collect()
    }
}

fn block(block: &Block) -> (Form, &str) {
    match block {
        Block::Text(text) => (Form::Plain, text),
        Block::Thinking(thinking) => (Form::Plain, &thinking.text),
        Block::ToolCall(call) => (Form::Json, &call.arguments),
        Block::Image(file) | Block::File(file) => name(file),
    }
}

fn name(file: &Attachment) -> (Form, &str) {
    (Form::Plain, &file.name)
}

impl RawEvent {
    /// What a text of the event may mean beside the bytes that stand in its body: the strings that are written with
    /// escapes. Every other text stands in the body as it is.
    ///
    /// # Errors
    /// If the body does not read as one of its kind.
    pub fn unescaped(&self) -> Result<Vec<JsonString>, CodecError> {
        if !may_escape(self.header.kind, &self.body) {
            return Ok(Vec::new());
        }
        let recorded = self.decode_as::<TranscriptEvent>()?;
        let texts = recorded.iter().flat_map(|recorded| recorded.event.texts());
        Ok(texts.flat_map(|text| text.unescaped()).collect())
    }
}

/// Whether an event of a kind with that body may hold a string that is written with escapes.
pub fn may_escape(kind: Kind, body: &Bytes) -> bool {
    kind == Kind::Message && memchr::memchr(ESCAPE, body).is_some()
}

const ESCAPE: u8 = b'\\';
const QUOTE: u8 = b'"';

impl<'a> Text<'a> {
    /// The strings of a JSON text; none of a plain one.
    ///
    /// The text may be no JSON after all, or end within a string: what looks like a string is taken for one. Half an
    /// emoji becomes U+FFFD.
    pub fn strings(&self) -> impl Iterator<Item = JsonString> + use<'a> {
        self.literals().map(JsonString::of)
    }

    /// Those of its strings that are written with escapes, so that they mean something else than what stands there.
    pub fn unescaped(&self) -> impl Iterator<Item = JsonString> + use<'a> {
        self.literals().filter(|(_, written)| written.contains('\\')).map(JsonString::of)
    }

    /// What stands between quotes, with its first byte.
    fn literals(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        let text = self.text;
        let mut at = match self.form {
            Form::Plain => text.len(),
            Form::Json => 0,
        };
        std::iter::from_fn(move || {
            let start = at + text.get(at..)?.find('"')? + 1;
            let end = string_end(text, start);
            at = end + 1;
            Some((start, text.get(start..end)?))
        })
    }
}

impl JsonString {
    fn of((start, written): (usize, &str)) -> Self {
        Self { start, text: Escapes::of(written).map(|(_, meant)| meant).collect() }
    }

    /// What the string means.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte of the JSON text where the character is written that stands at a byte of the meant text.
    pub fn written_at(&self, json: &str, meant_at: usize) -> usize {
        let written = json.get(self.start..string_end(json, self.start)).unwrap_or_default();
        let mut meant = 0;
        for (at, character) in Escapes::of(written) {
            if meant >= meant_at {
                return self.start + at;
            }
            meant += character.len_utf8();
        }
        self.start + written.len()
    }
}

/// The byte of the quote that ends a string; the end of the text if there is none.
fn string_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(QUOTE, ESCAPE, rest)) {
        at += found;
        if bytes.get(at) == Some(&QUOTE) {
            return at;
        }
        at += 2;
    }
    text.len()
}

/// The characters that the inside of a JSON string means, each with the byte where it is written.
struct Escapes<'a> {
    written: &'a str,
    at: usize,
}

impl<'a> Escapes<'a> {
    fn of(written: &'a str) -> Self {
        Self { written, at: 0 }
    }

    /// Four hexadecimal digits at a byte.
    fn unit(&self, at: usize) -> Option<u16> {
        u16::from_str_radix(self.written.get(at..at + 4)?, 16).ok()
    }

    /// What `\uXXXX` means, with its second half where it has one, and how many bytes that takes.
    fn unicode(&self) -> (char, usize) {
        let Some(first) = self.unit(self.at + 2) else { return ('\u{fffd}', 2) };
        let is_pair = self.written.get(self.at + 6..).is_some_and(|rest| rest.starts_with("\\u"));
        if is_pair
            && let Some(second) = self.unit(self.at + 8)
            && let Some(Ok(character)) = char::decode_utf16([first, second]).next()
            && character.len_utf16() == 2
        {
            return (character, 12);
        }
        (char::from_u32(first.into()).unwrap_or('\u{fffd}'), 6)
    }
}

impl Iterator for Escapes<'_> {
    type Item = (usize, char);

    fn next(&mut self) -> Option<(usize, char)> {
        let mut rest = self.written.get(self.at..)?.chars();
        let first = rest.next()?;
        let (meant, bytes) = match (first, rest.next()) {
            ('\\', Some('n')) => ('\n', 2),
            ('\\', Some('t')) => ('\t', 2),
            ('\\', Some('r')) => ('\r', 2),
            ('\\', Some('b')) => ('\u{8}', 2),
            ('\\', Some('f')) => ('\u{c}', 2),
            ('\\', Some('u')) => self.unicode(),
            ('\\', Some(other)) => (other, 1 + other.len_utf8()),
            (other, _) => (other, other.len_utf8()),
        };
        let at = self.at;
        self.at += bytes;
        Some((at, meant))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json(text: &str) -> Text<'_> {
        Text { index: 0, form: Form::Json, text }
    }

    fn meant(text: &str) -> Vec<String> {
        json(text).unescaped().map(|string| string.text).collect()
    }

    #[test]
    fn only_strings_with_escapes_mean_something_else() {
        assert_eq!(
            meant(r#"{"a": "plain", "b\n": ["say \"hi\" \\ \/ \u00e9\ud83d\ude00"]}"#),
            ["b\n", "say \"hi\" \\ / é😀"]
        );
        assert_eq!(Text { form: Form::Plain, ..json(r#""a\n""#) }.unescaped().count(), 0);
    }

    #[test]
    fn what_is_cut_or_no_json_is_read_as_far_as_it_goes() {
        assert_eq!(meant(r#"{"a": "cut \n off"#), ["cut \n off"]);
        assert_eq!(meant(r#""\ud83d" "\u12" "\"#), ["\u{fffd}", "\u{fffd}12", "\\"]);
        assert_eq!(meant(r#""\ud83d\u0041""#), ["\u{fffd}A"]);
    }

    proptest! {
        #[test]
        fn what_a_string_means_is_what_was_written_and_where(text: String, cut in any::<prop::sample::Index>()) {
            let written = format!("{{\"key\": {}}}", serde_json::to_string(&text).unwrap());
            let found: Vec<JsonString> = json(&written).unescaped().collect();
            let escaped = written.contains('\\');
            prop_assert_eq!(found.len(), usize::from(escaped));
            if let Some(string) = found.first() {
                prop_assert_eq!(&string.text, &text);
                let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
                let at = *cut.get(&cuts);
                let rest = written.get(string.written_at(&written, at)..written.len() - 1).unwrap();
                let again: String = serde_json::from_str(&format!("\"{rest}")).unwrap();
                prop_assert_eq!(Some(again.as_str()), text.get(at..));
            }
        }

        #[test]
        fn no_text_is_too_strange(text in "[\"\\\\u0-9a-f{}dD😀]{0,40}") {
            for string in json(&text).unescaped() {
                for (at, _) in string.text.char_indices() {
                    prop_assert!(text.is_char_boundary(string.written_at(&text, at)));
                }
            }
        }
    }
}
