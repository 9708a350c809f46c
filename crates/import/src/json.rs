//! JSON as transcripts hold it: objects one behind the other, read only as deep as somebody asks.
//!
//! Values stay the text they were, so that arguments of a tool come through as the model wrote them, and that what
//! nobody asks for costs no more than being passed over.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON object whose values are not read yet. Of a key that stands twice the last one counts.
#[derive(Debug)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// Where and why the objects of a line come to an end before the line does.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Stop {
    /// The first byte that belongs to no object.
    pub(crate) at: usize,
    /// Why it does not.
    pub(crate) reason: String,
}

/// Hands every object of a line to `each`, in order.
///
/// # Errors
/// If something that is no object stands there; the objects before it have been handed over.
pub(crate) fn for_each_object<'a>(line: &'a [u8], mut each: impl FnMut(&Object<'a>)) -> Result<(), Stop> {
    let mut stream = serde_json::Deserializer::from_slice(line).into_iter::<&'a RawValue>();
    let mut at = 0;
    while let Some(value) = stream.next() {
        let value = value.map_err(|error| Stop { at, reason: error.to_string() })?;
        let object = Object::read(value)
            .ok_or_else(|| Stop { at, reason: "a JSON value that is no object".to_owned() })?;
        each(&object);
        at = stream.byte_offset();
    }
    Ok(())
}

impl<'a> Object<'a> {
    /// Reads a value that is an object.
    pub(crate) fn read(value: &'a RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// Reads the object that stands at the beginning of some bytes, whatever stands behind it.
    pub(crate) fn first_of(bytes: &'a [u8]) -> Option<Self> {
        let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<&'a RawValue>();
        Self::read(stream.next()?.ok()?)
    }

    /// The value of a key, as text.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// Whether there is such a key with another value than null.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.get() != "null")
    }

    /// A value that is a string.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(text)
    }

    /// All values that are strings, in order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|(_, value)| text(value))
    }

    /// A value that is an object.
    pub(crate) fn object(&self, key: &str) -> Option<Self> {
        self.get(key).and_then(Self::read)
    }

    /// A value that is a number from 0 on.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// Whether a value is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.get() == "true")
    }
}

/// The string that a value is.
pub(crate) fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// The items of the array that a value is.
pub(crate) fn items(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    fields.push((key, value));
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &[u8]) -> (Vec<String>, Result<(), Stop>) {
        let mut names = Vec::new();
        let end = for_each_object(line, |object| names.extend(object.text("n")));
        (names, end)
    }

    #[test]
    fn objects_may_stand_one_behind_the_other() {
        let (found, end) = names(b"{\"n\":\"a\"} {\"n\":\"b\"}{\"n\":\"c\"}\r\n");
        assert_eq!((found.join(""), end), ("abc".to_owned(), Ok(())));
        assert_eq!(names(b" \r\n"), (Vec::new(), Ok(())));
    }

    #[test]
    fn what_is_no_object_stops_the_line_where_it_stands() {
        for bad in ["{\"n\":\"\\*\"}", "[1]", "{\"n\":\"\0\"}", "{\"n\":", "x"] {
            let (found, end) = names(format!("{{\"n\":\"a\"}}{bad}\n").as_bytes());
            assert_eq!((found.len(), end.unwrap_err().at), (1, 9), "{bad:?}");
        }
        assert_eq!(names(b"{\"n\":\"\xff\"}").1.unwrap_err().at, 0);
    }

    #[test]
    fn of_a_repeated_key_the_last_counts() {
        assert_eq!(names(b"{\"n\":\"a\",\"n\":\"b\"}").0, ["b"]);
    }

    #[test]
    fn nesting_has_no_limit() {
        let deep = format!("{{\"n\":\"a\",\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(names(deep.as_bytes()), (vec!["a".to_owned()], Ok(())));
    }
}
