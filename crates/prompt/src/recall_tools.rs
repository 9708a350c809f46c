//! The tools that read the record back verbatim: their contracts, and how their arguments are read.

use serde::Deserialize;
use serde_json::json;

use crate::ToolContract;
use crate::tools::{BadArguments, parse};

/// How many entries `recall` gives at most when it is asked for the last ones.
pub const TAIL_MAX: usize = 200;

/// `recall`: finds text in this session and those it continues.
pub fn recall() -> ToolContract {
    let time = json!({"type": "string", "format": "date-time"});
    let strings = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    ToolContract::new(
        "recall",
        "Find what was said or done before, word for word, in this session and all those it continues. Nothing is ever \
         summarised away: paths, numbers, errors and decisions are all there. Each finding says where it stands \
         (`thread`, `[seq]`) and what became of a tool call later; `recall_get` gives the whole text. \"Not found\" holds \
         only where the answer says that the search is complete; else call again with its cursor and the same arguments.",
        &json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "the text, exactly; with `regex` or `words` as those say"},
                "regex": {"type": "boolean", "description": "the query is a regular expression, without look-around or backreferences"},
                "words": {"type": "boolean", "description": "all words of the query, in any order"},
                "ignoreCase": {"type": "boolean"},
                "kinds": {
                    "type": "array",
                    "items": {"type": "string", "enum": ["user", "agent", "system", "trigger", "thinking", "tool_call", "tool_result", "error"]},
                    "description": "only texts of these kinds",
                },
                "tools": strings("only calls of these tools and what they answered; those of `recall` are searched only if they are named here"),
                "since": time,
                "until": time,
                "thread": {"type": "string", "description": "only this thread: thread:<id>"},
                "tasks": {"type": "boolean", "description": "also the threads of tasks that were delegated from there"},
                "order": {"type": "string", "enum": ["newest", "oldest"], "default": "newest"},
                "tail": {"type": "integer", "minimum": 1, "maximum": TAIL_MAX, "description": "instead of a query: the last entries before this session's beginning or its newest compaction"},
                "cursor": {"type": "string", "description": "from the answer before, to go on exactly there"},
            },
        }),
    )
}

/// `recall_get`: gives entries in full.
pub fn recall_get() -> ToolContract {
    let count = json!({"type": "integer", "minimum": 0, "default": 0});
    ToolContract::new(
        "recall_get",
        "Read one entry of a thread in full, or some around it, exactly as recorded. Give `seq` as it stands in brackets, \
         and the `thread` if it is not this one; for a transcript that was imported, `file` and `entryId` do as well. A \
         long answer ends with a cursor: call again with it and the same arguments.",
        &json!({
            "type": "object",
            "properties": {
                "thread": {"type": "string", "description": "thread:<id>; this session by default"},
                "seq": {"type": "integer", "minimum": 1},
                "before": count,
                "after": count,
                "file": {"type": "string", "description": "the file that the session was imported from"},
                "entryId": {"type": "string", "description": "the entry's own id in that file"},
                "cursor": {"type": "string", "description": "from the answer before, or `seq.part.byte`"},
            },
        }),
    )
}

/// What `recall` is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of a JSON object that a model wrote")]
pub struct RecallRequest {
    /// What is looked for; empty if the last entries are wanted.
    pub query: String,
    /// Whether it is a regular expression.
    pub regex: bool,
    /// Whether it is words.
    pub words: bool,
    /// Whether upper and lower case are not told apart.
    #[serde(alias = "ignore_case")]
    pub ignore_case: bool,
    /// Only texts of these kinds, by their words.
    #[serde(deserialize_with = "some")]
    pub kinds: Vec<String>,
    /// Only texts of these tools.
    #[serde(deserialize_with = "some")]
    pub tools: Vec<String>,
    /// Not before.
    pub since: Option<String>,
    /// Not after.
    pub until: Option<String>,
    /// Only this thread.
    pub thread: Option<String>,
    /// Whether delegated tasks are searched too.
    pub tasks: bool,
    /// `newest` or `oldest`.
    pub order: Option<String>,
    /// The last entries before the newest boundary, instead of a query.
    pub tail: Option<usize>,
    /// Where an answer before this one ended.
    pub cursor: Option<String>,
}

/// What `recall_get` is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetRequest {
    /// The thread; this session by default.
    pub thread: Option<String>,
    /// The event.
    pub seq: Option<u64>,
    /// How many entries before it.
    pub before: usize,
    /// How many entries behind it.
    pub after: usize,
    /// The file of an imported session.
    pub file: Option<String>,
    /// The entry's id in that file.
    #[serde(alias = "entry_id")]
    pub entry_id: Option<String>,
    /// Where an answer before this one ended.
    pub cursor: Option<String>,
}

/// Reads the arguments of `recall`.
///
/// # Errors
/// If they are no object of these fields, or ask for nothing.
pub fn read_recall(arguments: &str) -> Result<RecallRequest, BadArguments> {
    let request: RecallRequest = parse(arguments)?;
    match (request.query.is_empty(), request.tail) {
        (true, None) => Err(BadArguments::new(
            "give a `query`, or `tail` for the last entries before the newest boundary",
        )),
        (false, Some(_)) => Err(BadArguments::new(
            "`tail` gives the last entries and searches nothing: leave out the `query`",
        )),
        (true, Some(0)) => Err(BadArguments::new("`tail` is 0: say how many entries")),
        (true, Some(count)) if count > TAIL_MAX => {
            Err(BadArguments::new(format!("`tail` is {count}; at most {TAIL_MAX} entries are given")))
        }
        _ if request.regex && request.words => {
            Err(BadArguments::new("`regex` and `words` exclude each other"))
        }
        _ => Ok(request),
    }
}

/// Reads the arguments of `recall_get`; `around` may hold them as well.
///
/// # Errors
/// If they are no object of these fields, or do not say which entry.
pub fn read_get(arguments: &str) -> Result<GetRequest, BadArguments> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Raw {
        around: Option<GetRequest>,
        #[serde(flatten)]
        rest: GetRequest,
    }
    let Raw { around, rest } = parse(arguments)?;
    let request = match around {
        Some(around) => {
            GetRequest { file: rest.file, entry_id: rest.entry_id, cursor: rest.cursor, ..around }
        }
        None => rest,
    };
    match (request.seq, &request.file, &request.entry_id) {
        (Some(_), ..) | (None, Some(_), Some(_)) => Ok(request),
        (None, Some(_), None) => Err(BadArguments::new("`file` needs the `entryId` in it")),
        (None, None, Some(_)) => Err(BadArguments::new("`entryId` needs the `file` that it stands in")),
        (None, None, None) => Err(BadArguments::new("say which entry: `seq`, or `file` and `entryId`")),
    }
}

/// A list, or one thing instead of it, or nothing.
fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Some {
        Many(Vec<String>),
        One(String),
        None,
    }
    Ok(match Some::deserialize(deserializer)? {
        Some::Many(many) => many,
        Some::One(one) => vec![one],
        Some::None => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &str) -> String {
        read_recall(arguments).map(|_| ()).and(read_get(arguments).map(|_| ())).unwrap_err().to_string()
    }

    #[test]
    fn what_can_be_understood_is_taken() {
        let request =
            read_recall(r#"{"query": "x", "ignore_case": true, "kinds": "user", "tools": null}"#).unwrap();
        assert!(request.ignore_case && request.kinds == ["user"] && request.tools.is_empty());
        let request =
            read_get(r#"{"around": {"thread": "t", "seq": 7, "before": 2}, "cursor": "7.0.3"}"#).unwrap();
        assert_eq!((request.seq, request.before, request.cursor.as_deref()), (Some(7), 2, Some("7.0.3")));
        let request = read_get(r#"{"file": "a.jsonl", "entry_id": "e1"}"#).unwrap();
        assert_eq!(request.entry_id.as_deref(), Some("e1"));
    }

    #[test]
    fn what_cannot_is_said() {
        assert!(refused("{}").contains("`query`"));
        assert!(refused(r#"{"query": "x", "tail": 3}"#).contains("leave out"));
        assert!(refused(r#"{"tail": 0}"#).contains("is 0"));
        assert!(refused(r#"{"tail": 999}"#).contains("at most 200"));
        assert!(refused(r#"{"query": "x", "regex": true, "words": true}"#).contains("exclude"));
        assert!(read_get(r#"{"file": "x"}"#).unwrap_err().to_string().contains("`entryId`"));
        assert!(read_get(r#"{"entryId": "x"}"#).unwrap_err().to_string().contains("`file`"));
        assert!(read_get("{}").unwrap_err().to_string().contains("which entry"));
    }
}
