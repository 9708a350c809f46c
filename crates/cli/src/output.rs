//! Answers, as text for people and as JSON.

use segue::log::LogError;
use serde::Serialize;
use serde_json::Value;

use crate::exit::Exit;

/// How an answer is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One object.
    Json,
}

/// What a command has to say.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    /// What is said beside the answer, on stderr.
    pub(crate) warnings: Vec<String>,
    text: Vec<u8>,
    json: Value,
}

/// The version of the JSON of every command: fields are only ever added.
const SCHEMA_VERSION: u64 = 1;

impl Answer {
    /// An answer as text, which gets a newline at its end, and as a JSON object.
    ///
    /// In the text, control characters other than tabs and line feeds are made visible, so that nothing that was
    /// recorded can steer a terminal.
    pub(crate) fn new(text: impl Into<String>, json: &impl Serialize) -> Self {
        let mut text: String = text.into();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Self::exact(visible(&text).into_bytes(), json)
    }

    /// An answer whose text is written to the byte.
    pub(crate) fn exact(text: Vec<u8>, json: &impl Serialize) -> Self {
        let json = serde_json::to_value(json).unwrap_or(Value::Null);
        Self { exit: Exit::Ok, warnings: Vec::new(), text, json }
    }

    /// The same answer with another exit code.
    pub(crate) fn with_exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// The same answer with something said beside it.
    pub(crate) fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// The same answer, which is a part of one if the record is damaged.
    pub(crate) fn with_damage(self, damage: Option<&LogError>) -> Self {
        match damage {
            None => self,
            Some(damage) => {
                let warning = format!("the record is damaged, and this is what can be read of it: {damage}");
                self.with_warnings([warning]).with_exit(Exit::Partial)
            }
        }
    }

    pub(crate) fn bytes(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Text => self.text.clone(),
            Format::Json => {
                let mut object =
                    serde_json::Map::from_iter([("schema_version".to_owned(), SCHEMA_VERSION.into())]);
                if let Value::Object(fields) = &self.json {
                    object.extend(fields.clone());
                }
                let mut bytes = Value::Object(object).to_string().into_bytes();
                bytes.push(b'\n');
                bytes
            }
        }
    }
}

/// Text on one line: line breaks and other control characters become spaces.
pub(crate) fn one_line(text: &str) -> String {
    let breaks = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    text.chars().map(|character| if breaks(character) { ' ' } else { character }).collect()
}

/// Text in which control characters are pictures of themselves.
pub(crate) fn visible(text: &str) -> String {
    text.chars()
        .map(|character| match u32::from(character) {
            0x9 | 0xa => character,
            control @ 0..0x20 => char::from_u32(0x2400 + control).unwrap_or(char::REPLACEMENT_CHARACTER),
            0x7f => '\u{2421}',
            0x80..0xa0 => char::REPLACEMENT_CHARACTER,
            _ => character,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_recorded_can_steer_a_terminal() {
        assert_eq!(visible("a\tb\nc\u{1b}[2J\0\r\u{9b}\u{7f}é"), "a\tb\nc␛[2J␀␍\u{fffd}␡é");
        assert_eq!(one_line("a\nb\u{1b}c\u{2028}d"), "a b c d");
    }
}
