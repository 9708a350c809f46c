//! The built-in tools other than the verb: their contracts, and how their arguments are read.

use segue_event::{PlanStep, StepStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ToolContract;

/// The names of built-in tools, those to come included: a host's own tools have others.
pub const RESERVED: [&str; 8] =
    ["status", "plan", "read", "delegate", "return_result", "continue_session", "recall", "recall_get"];

/// The longest title that the status tool takes, in bytes.
pub const TITLE_BYTES_MAX: usize = segue_continuation::caps::TITLE_BYTES_MAX;
/// The longest description that the status tool takes, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = segue_continuation::caps::DESCRIPTION_BYTES_MAX;
/// The most steps that a plan can have.
pub const PLAN_STEPS_MAX: usize = 256;
/// The longest id or label of a step, in bytes.
pub const STEP_BYTES_MAX: usize = 1_024;
/// How many events `read` gives where nothing else is asked for.
pub const READ_LIMIT: u64 = 200;
/// The most events that `read` gives.
pub const READ_LIMIT_MAX: u64 = 1_000;

/// `status`: names and describes the session.
pub fn status() -> ToolContract {
    let text = |about: &str, max: usize| json!({"type": "string", "maxLength": max, "description": about});
    ToolContract::new(
        "status",
        "Set what <session_status> says. The description is the live status and changes freely; most calls change \
         only it. The title is what the whole session is about: a large shift of topic calls for \
         `continue_session`, not for another title. The block is shown every turn, so call this to change it, never \
         to repeat it. A title that the user set stays.",
        &json!({
            "type": "object",
            "properties": {
                "title": text("what the whole session is about", TITLE_BYTES_MAX),
                "description": text("how things stand, in a sentence", DESCRIPTION_BYTES_MAX),
            },
        }),
    )
}

/// `plan`: sets the plan anew.
pub fn plan() -> ToolContract {
    let text = json!({"type": "string", "maxLength": STEP_BYTES_MAX});
    ToolContract::new(
        "plan",
        "Set the plan, whole: every step with its status, also those that did not change. It is shown in <plan_state> \
         while steps are open.",
        &json!({
            "type": "object",
            "required": ["steps"],
            "properties": {"steps": {"type": "array", "maxItems": PLAN_STEPS_MAX, "items": {
                "type": "object",
                "required": ["id", "label", "status"],
                "properties": {
                    "id": text,
                    "label": text,
                    "status": {"type": "string", "enum": ["pending", "active", "done", "skipped", "failed"]},
                },
            }}},
        }),
    )
}

/// `read`: reads a thread back, line by line.
pub fn read() -> ToolContract {
    let seq = json!({"type": "integer", "minimum": 1});
    ToolContract::new(
        "read",
        "Read a thread as it was recorded, in lines `[seq] who: text`. Give `thread:<id>` or the bare id; this session \
         by default. Long answers end with a cursor: call again with it to go on.",
        &json!({
            "type": "object",
            "properties": {
                "thread": {"type": "string", "description": "thread:<id>; this session by default"},
                "fromSeq": seq,
                "toSeq": seq,
                "limit": {"type": "integer", "minimum": 1, "maximum": READ_LIMIT_MAX, "default": READ_LIMIT},
                "cursor": {"type": "string", "description": "from the answer before, to go on"},
            },
        }),
    )
}

/// `delegate`: gives a task to a session of its own.
pub fn delegate() -> ToolContract {
    ToolContract::new(
        "delegate",
        "Give a task to a fresh session that knows nothing but what you write. You go on meanwhile; when your turn would \
         end, it waits for the task's result, which is then told to you.",
        &json!({
            "type": "object",
            "required": ["task"],
            "properties": {
                "task": {"type": "string", "minLength": 1, "description": "what to do, with all it needs to know"},
                "title": {"type": "string", "maxLength": TITLE_BYTES_MAX},
                "resultSchema": {"type": "object", "description": "the JSON Schema of the result, if it must be typed"},
            },
        }),
    )
}

/// `return_result`: gives the result that a typed run owes, of this JSON Schema.
pub fn return_result(schema: &str) -> ToolContract {
    let schema = serde_json::from_str(schema).unwrap_or_else(|_| json!({}));
    ToolContract::new(
        "return_result",
        "Give the result that this run owes. Call it once, at the end.",
        &json!({"type": "object", "required": ["result"], "properties": {"result": schema}}),
    )
}

/// What the status tool is to change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusChange {
    /// The new title.
    pub title: Option<String>,
    /// The new description.
    pub description: Option<String>,
}

/// Which lines are to be read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadRequest {
    /// `thread:<id>` or the id; empty for this session.
    pub thread: String,
    /// The first event; none: from the beginning.
    pub from_seq: Option<u64>,
    /// The last event; none: to the end.
    pub to_seq: Option<u64>,
    /// How many events; none: [`READ_LIMIT`].
    pub limit: Option<u64>,
    /// Where an answer before this one ended.
    pub cursor: Option<String>,
}

/// A task that is to be given away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskRequest {
    /// What is to be done.
    pub task: String,
    /// What the child is called; may be empty.
    pub title: String,
    /// The schema of the result, as JSON text.
    pub result_schema: Option<String>,
}

/// Arguments that a tool cannot do anything with, in words for the model.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadArguments(String);

impl BadArguments {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// Reads the arguments of `status`.
///
/// # Errors
/// If they are no object, change nothing, or are too long.
pub fn read_status(arguments: &str) -> Result<StatusChange, BadArguments> {
    #[derive(Deserialize)]
    struct Raw {
        title: Option<String>,
        description: Option<String>,
    }
    let Raw { title, description } = parse(arguments)?;
    let title = limited("title", title, TITLE_BYTES_MAX)?;
    let description = limited("description", description, DESCRIPTION_BYTES_MAX)?;
    if title.as_deref() == Some("") {
        return Err(BadArguments(
            "`title` is empty: say what the session is about, or leave it out".to_owned(),
        ));
    }
    if title.is_none() && description.is_none() {
        return Err(BadArguments("give a `title`, a `description`, or both".to_owned()));
    }
    Ok(StatusChange { title, description })
}

/// Reads the arguments of `plan`.
///
/// # Errors
/// If they are no list of steps, or there are too many or too long ones.
pub fn read_plan(arguments: &str) -> Result<Vec<PlanStep>, BadArguments> {
    #[derive(Deserialize)]
    struct Raw {
        steps: Vec<RawStep>,
    }
    #[derive(Deserialize)]
    struct RawStep {
        id: Value,
        label: String,
        status: StepStatus,
    }
    let Raw { steps } = parse(arguments)?;
    if steps.len() > PLAN_STEPS_MAX {
        let count = steps.len();
        return Err(BadArguments(format!("{count} steps; at most {PLAN_STEPS_MAX}: put some together")));
    }
    let step = |RawStep { id, label, status }| {
        let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        let [id, label] =
            [("id", id), ("label", label)].map(|(name, text)| within(name, text, STEP_BYTES_MAX));
        Ok(PlanStep { id: id?, label: label?, status })
    };
    steps.into_iter().map(step).collect()
}

/// Reads the arguments of `read`.
///
/// # Errors
/// If they are no object of these fields.
pub fn read_read(arguments: &str) -> Result<ReadRequest, BadArguments> {
    parse(arguments)
}

/// Reads the arguments of `delegate`.
///
/// # Errors
/// If there is no task.
pub fn read_delegate(arguments: &str) -> Result<TaskRequest, BadArguments> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Raw {
        task: String,
        #[serde(default)]
        title: String,
        result_schema: Option<Value>,
    }
    let Raw { task, title, result_schema } = parse(arguments)?;
    if task.trim().is_empty() {
        return Err(BadArguments("`task` is empty: say what is to be done".to_owned()));
    }
    let title = within("title", title, TITLE_BYTES_MAX)?;
    Ok(TaskRequest { task, title, result_schema: result_schema.map(|schema| schema.to_string()) })
}

/// Reads the arguments of `return_result`; the result as JSON text.
///
/// # Errors
/// If there is no result.
pub fn read_result(arguments: &str) -> Result<String, BadArguments> {
    #[derive(Deserialize)]
    struct Raw {
        result: Value,
    }
    let Raw { result } = parse(arguments)?;
    Ok(result.to_string())
}

pub(crate) fn parse<T: serde::de::DeserializeOwned>(arguments: &str) -> Result<T, BadArguments> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    serde_json::from_str(text).map_err(|error| BadArguments(format!("the arguments cannot be used: {error}")))
}

fn limited(name: &str, text: Option<String>, max: usize) -> Result<Option<String>, BadArguments> {
    text.map(|text| within(name, text.trim().to_owned(), max)).transpose()
}

fn within(name: &str, text: String, max: usize) -> Result<String, BadArguments> {
    let bytes = text.len();
    if bytes <= max {
        Ok(text)
    } else {
        Err(BadArguments(format!("`{name}` has {bytes} bytes; at most {max} fit: shorten it")))
    }
}
