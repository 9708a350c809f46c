//! Reading what models write: the same thing in many shapes.

use serde_json::{Map, Value};

use crate::Refusal;

/// A JSON object whose fields are taken out one by one, so that what is left is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    left: Map<String, Value>,
    /// Values whose field was there in both spellings.
    doubled: Vec<(String, Value)>,
}

impl Fields {
    /// The fields of an object, or of a string that holds one.
    pub(crate) fn of(field: &str, value: Value) -> Result<Self, Refusal> {
        match unpack(value) {
            Value::Object(left) => Ok(Self { left, doubled: Vec::new() }),
            other => Err(wrong_shape(field, &other, "an object")),
        }
    }

    /// Takes a field by its camel-case name, or by the same name in snake case. JSON null is no field.
    ///
    /// Where both are there the first wins, and the other stays in what is left.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let snake = snake_case(name);
        let found = self.left.remove(name).filter(|value| !value.is_null());
        let spelled =
            if snake == name { None } else { self.left.remove(&snake).filter(|value| !value.is_null()) };
        match (found, spelled) {
            (Some(found), Some(spelled)) => {
                self.doubled.push((snake, spelled));
                Some(found)
            }
            (found, spelled) => found.or(spelled),
        }
    }

    /// Takes a field that must be a text, trimmed; an empty one is missing.
    pub(crate) fn take_text(&mut self, path: &str, name: &str) -> Result<Option<String>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => {
                text(&join(path, name), &value).map(|text| Some(text).filter(|text| !text.is_empty()))
            }
        }
    }

    /// Takes a field that must be a list of texts; a single text is a list of one, absence is an empty list.
    pub(crate) fn take_texts(&mut self, path: &str, name: &str) -> Result<Vec<String>, Refusal> {
        self.take(name).map_or(Ok(Vec::new()), |value| texts(&join(path, name), value))
    }

    /// Takes a field that must be a list; a single value is a list of one, absence is an empty list.
    pub(crate) fn take_list(&mut self, name: &str) -> Vec<Value> {
        match self.take(name).map(unpack) {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(single) => vec![single],
        }
    }

    /// Takes a field that must be a number; a text of digits is one.
    pub(crate) fn take_number(&mut self, path: &str, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(digits) => digits.trim().parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| wrong_shape(&join(path, name), &value, "a whole number"))
    }

    /// Puts a field back in, unless it is there.
    pub(crate) fn offer(&mut self, name: &str, value: Value) -> Option<Value> {
        if self.contains(name) {
            return Some(value);
        }
        self.left.insert(name.to_owned(), value);
        None
    }

    /// Whether a field of that name, in either spelling, has a value that says something.
    pub(crate) fn contains(&self, name: &str) -> bool {
        let says_something = |value: &Value| match value {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            Value::Bool(_) | Value::Number(_) => true,
        };
        [name.to_owned(), snake_case(name)].iter().any(|name| self.left.get(name).is_some_and(says_something))
    }

    /// What was not taken.
    pub(crate) fn rest(self) -> impl Iterator<Item = (String, Value)> {
        self.left.into_iter().filter(|(_, value)| !value.is_null()).chain(self.doubled)
    }
}

/// A text, trimmed. Numbers and truth values are read as what they look like.
pub(crate) fn text(field: &str, value: &Value) -> Result<String, Refusal> {
    match value {
        Value::String(text) => Ok(text.trim().to_owned()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        other => Err(wrong_shape(field, other, "a text")),
    }
}

/// A list of texts, trimmed, without empty ones. A single text is a list of one.
pub(crate) fn texts(field: &str, value: Value) -> Result<Vec<String>, Refusal> {
    let items = match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        Value::String(single) => match serde_json::from_str(&single) {
            Ok(Value::Array(items)) => items,
            _ => vec![Value::String(single)],
        },
        other => return Err(wrong_shape(field, &other, "a list of texts")),
    };
    let read = |item: &Value| text(field, item).map_err(|_| wrong_shape(field, item, "a list of texts"));
    let texts = items.iter().filter(|item| !item.is_null()).map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(texts.into_iter().filter(|text| !text.is_empty()).collect())
}

/// A list of texts of anything at all: what is no text is kept as its JSON.
pub(crate) fn any_texts(value: Value) -> Vec<String> {
    let items = match value {
        Value::Array(items) => items,
        single => vec![single],
    };
    let text = |item: &Value| item.as_str().map_or_else(|| item.to_string(), |text| text.trim().to_owned());
    items.iter().filter(|item| !item.is_null()).map(text).filter(|text| !text.is_empty()).collect()
}

/// A string that holds a JSON object or list becomes what it holds.
fn unpack(value: Value) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => inner,
            _ => Value::String(text),
        },
        other => other,
    }
}

pub(crate) fn wrong_shape(field: &str, value: &Value, expected: &'static str) -> Refusal {
    Refusal::WrongShape { field: field.to_owned(), found: describe(value), expected }
}

/// How much of a wrong text is shown.
const SHOWN_CHARS_MAX: usize = 60;

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a truth value".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(text) if text.is_empty() => "an empty text".to_owned(),
        Value::String(text) => format!("{:?}", text.chars().take(SHOWN_CHARS_MAX).collect::<String>()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn snake_case(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 4);
    for character in camel.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
