//! What people set about handoff notes, in a file of JSON with comments.

use std::fmt;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The most entries that a file can be told to keep.
pub const HANDOFF_KEEP_MAX: usize = 1_000;

/// What people set about handoff notes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandoffSettings {
    /// How many entries the file keeps, at most [`HANDOFF_KEEP_MAX`]; with 0 none is written.
    pub handoff_keep: usize,
    /// Whether an agent goes on after every threshold compaction, whatever it said last.
    pub auto_resume_after_threshold_compaction: bool,
    /// Whether the harness's summary becomes the note, and the agent is asked to keep what lasts.
    pub consolidate_on_compact: bool,
}

impl Default for HandoffSettings {
    fn default() -> Self {
        Self { handoff_keep: 3, auto_resume_after_threshold_compaction: false, consolidate_on_compact: false }
    }
}

/// Something in a settings file that could not be used, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingsProblem {
    line: usize,
    column: usize,
    what: String,
}

impl SettingsProblem {
    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The character in the line, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl HandoffSettings {
    /// Reads settings, and tells what of them could not be used.
    ///
    /// JSON with comments and trailing commas. Of a file that is none, nothing is used and the defaults stand; of a value
    /// that does not fit its key, the default of that key. Keys of others are passed over.
    pub fn read(bytes: &[u8]) -> (Self, Vec<SettingsProblem>) {
        let mut settings = Self::default();
        let problems = settings.take(bytes);
        (settings, problems)
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<SettingsProblem> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let sound = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
                return vec![problem(&sound, sound.len(), "the file is no UTF-8; the defaults are used")];
            }
        };
        let parsed = parse_to_ast(text, &CollectOptions::default(), &dialect());
        match parsed.map(|parsed| parsed.value) {
            Ok(Some(Value::Object(object))) => {
                object.properties.iter().filter_map(|property| self.take_property(text, property)).collect()
            }
            Ok(Some(other)) => {
                vec![problem(text, other.start(), "the settings are no object; the defaults are used")]
            }
            Ok(None) => Vec::new(),
            Err(error) => {
                let what = format!("{}; the defaults are used", error.kind());
                vec![problem(text, error.range().start, &what)]
            }
        }
    }

    fn take_property(&mut self, text: &str, property: &ObjectProp<'_>) -> Option<SettingsProblem> {
        let (key, value) = (property.name.as_str(), &property.value);
        let taken = match key {
            "handoff_keep" => self.take_keep(value),
            "auto_resume_after_threshold_compaction" => {
                take_switch(&mut self.auto_resume_after_threshold_compaction, value)
            }
            "consolidate_on_compact" => take_switch(&mut self.consolidate_on_compact, value),
            _ => Ok(()),
        };
        taken.err().map(|what| problem(text, value.start(), &format!("{key} {what}")))
    }

    fn take_keep(&mut self, value: &Value<'_>) -> Result<(), String> {
        let digits = match value {
            Value::NumberLit(number) if number.value.bytes().all(|byte| byte.is_ascii_digit()) => {
                number.value
            }
            _ => return Err("takes a whole number, 0 or more; its default is used".to_owned()),
        };
        let keep = digits.parse().unwrap_or(usize::MAX);
        self.handoff_keep = keep.min(HANDOFF_KEEP_MAX);
        if keep > HANDOFF_KEEP_MAX {
            return Err(format!("takes at most {HANDOFF_KEEP_MAX}, which is used"));
        }
        Ok(())
    }
}

fn take_switch(switch: &mut bool, value: &Value<'_>) -> Result<(), String> {
    match value {
        Value::BooleanLit(literal) => *switch = literal.value,
        _ => return Err("takes true or false; its default is used".to_owned()),
    }
    Ok(())
}

/// JSON, with comments and trailing commas, and nothing else that the parser would let pass.
fn dialect() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn problem(text: &str, at: usize, what: &str) -> SettingsProblem {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    SettingsProblem { line, column, what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problems(bytes: &[u8]) -> Vec<String> {
        HandoffSettings::read(bytes).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn comments_commas_addresses_and_a_mark_at_the_beginning_are_fine() {
        let text = "\u{feff}// mine\r\n{\n  /* how many */ \"handoff_keep\": 5, // see https://a\n\
                    \"url\": \"https://a.b//c /* no comment */\", \"shared\": [1, {\"a\": null,},],\n\
                    \"auto_resume_after_threshold_compaction\": true,\n\"consolidate_on_compact\": true,\n}\n";
        let expected = HandoffSettings {
            handoff_keep: 5,
            auto_resume_after_threshold_compaction: true,
            consolidate_on_compact: true,
        };
        assert_eq!(HandoffSettings::read(text.as_bytes()), (expected, Vec::new()));
    }

    #[test]
    fn nothing_set_means_the_defaults() {
        for text in ["", " \n", "// nothing", "{}", "{\"other\": 1}"] {
            assert_eq!(HandoffSettings::read(text.as_bytes()), (HandoffSettings::default(), Vec::new()));
        }
    }

    #[test]
    fn a_broken_file_is_told_with_its_place() {
        for (text, told) in [
            (
                "{\n  \"handoff_keep\": 1,\n  oops\n}",
                "line 3, column 3: Expected string for object property; the defaults are used",
            ),
            ("{\"a\": 1 \"b\": 2}", "line 1, column 8: Expected comma; the defaults are used"),
            (
                "{\"ä\": ",
                "line 1, column 7: Expected value after colon in object property; the defaults are used",
            ),
            ("\n [1]", "line 2, column 2: the settings are no object; the defaults are used"),
            (
                "{} {}",
                "line 1, column 4: Text cannot contain more than one JSON value; the defaults are used",
            ),
        ] {
            assert_eq!(problems(text.as_bytes()), [told], "{text}");
            assert_eq!(HandoffSettings::read(text.as_bytes()).0, HandoffSettings::default());
        }
        assert_eq!(problems(b"{\n\xff}"), ["line 2, column 1: the file is no UTF-8; the defaults are used"]);
        assert_eq!(problems("[".repeat(100_000).as_bytes()).len(), 1);
    }

    #[test]
    fn a_value_that_does_not_fit_costs_its_own_key_only() {
        let text = "{\"handoff_keep\": \"3\",\n \"consolidate_on_compact\": 1, \
                    \"auto_resume_after_threshold_compaction\": true}";
        let (settings, problems) = HandoffSettings::read(text.as_bytes());
        assert!(settings.auto_resume_after_threshold_compaction && !settings.consolidate_on_compact);
        assert_eq!(settings.handoff_keep, 3);
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "line 1, column 18: handoff_keep takes a whole number, 0 or more; its default is used",
                "line 2, column 28: consolidate_on_compact takes true or false; its default is used"
            ]
        );
    }

    #[test]
    fn a_number_of_entries_is_held_within_its_limits() {
        let keep = |value: &str| HandoffSettings::read(format!("{{\"handoff_keep\": {value}}}").as_bytes());
        for (value, expected, told) in [
            ("0", 0, 0),
            ("1000", 1_000, 0),
            ("1001", 1_000, 1),
            ("99999999999999999999999", 1_000, 1),
            ("-1", 3, 1),
            ("2.5", 3, 1),
            ("1e1", 3, 1),
            ("null", 3, 1),
        ] {
            let (settings, problems) = keep(value);
            assert_eq!((settings.handoff_keep, problems.len()), (expected, told), "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (settings, _) = HandoffSettings::read(&bytes);
            prop_assert!(settings.handoff_keep <= HANDOFF_KEEP_MAX);
        }

        #[test]
        fn any_pieces_are_read(pieces in prop::collection::vec(prop::sample::select(&[
            "{", "}", "[", "]", "\"", "\\", "/*", "*/", "//", "\n", ",", ":", "1", "-", "true", "\"handoff_keep\"",
            "\u{feff}", "ä", "\\u12", "'", "e9",
        ][..]), 0..30)) {
            let (settings, _) = HandoffSettings::read(pieces.concat().as_bytes());
            prop_assert!(settings.handoff_keep <= HANDOFF_KEEP_MAX);
        }
    }
}
