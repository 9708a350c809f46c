//! The fixture format: what people, the model, the tools and the command line do, one JSON object a line.
//!
//! Sessions and runs have names of the fixture's own. Empty lines and lines that begin with `//` are skipped.

use std::path::{Path, PathBuf};

use segue::event::{CompactionReason, Seq};
use serde::Deserialize;
use serde_json::Value;

/// A fixture's steps, in order.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One thing that happens.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// A session is started.
    Start {
        /// Its name in this fixture.
        session: String,
        /// Whose it is.
        agent: String,
        /// What the agent calls it; empty for no title.
        #[serde(default)]
        title: String,
        /// Whether a user, not the agent, gave the title.
        #[serde(default)]
        titled_by_user: bool,
    },
    /// Somebody other than the agent says something.
    Say {
        /// Where.
        session: String,
        /// Who: `user`, `system` or `trigger`; a user by default.
        #[serde(default = "by_user")]
        author: String,
        /// What.
        text: String,
    },
    /// The agent says something, and calls tools.
    Reply {
        /// Where.
        session: String,
        /// What it says.
        text: String,
        /// What it thinks.
        #[serde(default)]
        thinking: String,
        /// What it calls.
        #[serde(default)]
        calls: Vec<Call>,
        /// How many tokens of prompt its provider counted; none if nobody did.
        #[serde(default)]
        prompt_tokens: Option<u64>,
    },
    /// A tool answers.
    Result {
        /// Where.
        session: String,
        /// The provider's id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// What it answers.
        text: String,
        /// Whether it failed.
        #[serde(default)]
        failed: bool,
        /// What of the record it read.
        #[serde(default)]
        touched: Vec<TouchedLine>,
    },
    /// A message comes to a session: a run is queued for it, or the run at work takes it.
    Send {
        /// Where.
        session: String,
        /// What.
        text: String,
    },
    /// The next run of a session is taken up, and the model says what is scripted.
    Turn {
        /// Where.
        session: String,
        /// What the model says, prompt by prompt.
        script: Vec<Line>,
        /// The successor's name in this fixture, if it ends in one.
        #[serde(default, rename = "as")]
        successor: String,
        /// What becomes of a turn that is not over when the script is.
        #[serde(default)]
        then: Then,
        /// From how many percent on a full context gives way to a fresh session; none: never by itself.
        #[serde(default)]
        fresh_at: Option<u64>,
    },
    /// A person has a session go on in a fresh one that begins with a pointer.
    Fresh {
        /// Which one.
        session: String,
        /// The successor's name in this fixture, and the id of the request.
        #[serde(rename = "as")]
        successor: String,
    },
    /// Something is put in place of what the model saw so far.
    Compact {
        /// Where.
        session: String,
        /// The first event that the model still sees; none: it sees nothing of what came before.
        #[serde(default)]
        kept_from: Option<Seq>,
        /// The summary of the harness; empty: a pointer is left.
        #[serde(default)]
        summary: String,
    },
    /// The plan is set.
    Plan {
        /// Where.
        session: String,
        /// Step ids, labels and states.
        steps: Vec<PlanLine>,
    },
    /// A run is queued and started for the newest message.
    Run {
        /// Where.
        session: String,
        /// The run's name in this fixture.
        run: String,
        /// Whether it owes a typed result.
        #[serde(default)]
        typed: bool,
    },
    /// A run gives a task to a session of its own.
    Delegate {
        /// Where.
        session: String,
        /// The run that waits for it.
        run: String,
        /// The child's name in this fixture, as a session and as a run.
        #[serde(rename = "as")]
        child: String,
        /// What is to be done.
        task: String,
    },
    /// The newest task that a session's runs gave away gets a name.
    NameChild {
        /// Where.
        session: String,
        /// The child's name in this fixture.
        #[serde(rename = "as")]
        child: String,
    },
    /// A run ends.
    EndRun {
        /// Where.
        session: String,
        /// The run's name.
        run: String,
    },
    /// A session is continued.
    Continue {
        /// Which one.
        session: String,
        /// The successor's name in this fixture.
        #[serde(rename = "as")]
        successor: String,
        /// Who asks.
        by: Caller,
        /// The verb's arguments; a text is taken as it is, so that broken JSON can be written too.
        arguments: Value,
        /// Only tell what would happen.
        #[serde(default)]
        dry_run: bool,
    },
    /// The newest run of a session, which has failed, is queued anew.
    RetryRun {
        /// Where.
        session: String,
    },
    /// A session is gone on with from an earlier point.
    Fork {
        /// Which one.
        session: String,
        /// The last event that the fork holds.
        at: u64,
        /// The fork's name in this fixture.
        #[serde(rename = "as")]
        fork: String,
    },
    /// A person goes back from a session to the one it goes on from.
    Back {
        /// Which one is left.
        session: String,
        /// Why.
        note: String,
    },
    /// Text is looked for in a session and its ancestors.
    Recall {
        /// Where.
        session: String,
        /// What.
        text: String,
    },
    /// What of a session is worth citing.
    Recommend {
        /// Of which one.
        session: String,
    },
    /// What became of the sources of the continuation that made a session.
    Audit {
        /// Which session.
        session: String,
    },
    /// A harness compacts the context of a session: a note is taken, and it is asked whether the agent goes on by itself.
    HarnessCompacts {
        /// Which session.
        session: String,
        /// The harness's key of the compaction.
        key: String,
        /// Why.
        reason: CompactionReason,
        /// The harness's summary, if that is to be the note.
        #[serde(default)]
        summary: String,
    },
    /// A transcript of another program is imported.
    Import {
        /// The session's name in this fixture.
        session: String,
        /// The file, beside the scenario.
        file: PathBuf,
    },
}

/// A tool call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The provider's id; may be empty.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Value,
}

/// One answer of the scripted model, and what its tools give back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What it says; may be empty.
    #[serde(default)]
    pub says: String,
    /// What it thinks; may be empty.
    #[serde(default)]
    pub thinks: String,
    /// What it calls.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// How many tokens of prompt the provider counts; none: it does not count.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// What the host's tools give back, in this order.
    #[serde(default)]
    pub answers: Vec<ScriptedAnswer>,
    /// What its provider does with the prompt.
    #[serde(default)]
    pub provider: Provider,
    /// A message that comes while the model speaks.
    #[serde(default)]
    pub meanwhile: String,
}

/// What a provider does with a prompt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// It lets the model answer.
    #[default]
    Answers,
    /// It refuses the prompt as too long.
    Overflows,
}

/// What a host's tool gives back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedAnswer {
    /// The provider's id of the call.
    pub call: String,
    /// What it answers.
    pub text: String,
    /// Whether it failed.
    #[serde(default)]
    pub failed: bool,
}

/// What becomes of a turn that is not over when its script is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Nothing: as if the host had been killed.
    #[default]
    Leave,
    /// It is given up for this time.
    Retry,
    /// It fails.
    Fail,
    /// It is cancelled.
    Cancel,
}

/// A part of the record that a tool read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TouchedLine {
    /// The session.
    pub session: String,
    /// The first event.
    pub from: Seq,
    /// The last event.
    pub to: Seq,
}

/// One step of a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanLine {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub label: String,
    /// How far it is.
    pub status: segue::event::StepStatus,
}

/// Who asks for a continuation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Caller {
    /// A person, with an id of the request.
    Person(String),
    /// A tool call of a run.
    Tool {
        /// The run's name.
        run: String,
        /// The provider's id of the call; with an empty one the newest call of the session is meant.
        call: String,
        /// Whether an earlier call of the same batch continues already.
        #[serde(default)]
        after_continue: bool,
    },
}

fn by_user() -> String {
    "user".to_owned()
}

/// A scenario that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .file.display())]
pub struct ScenarioError {
    file: PathBuf,
    problem: String,
}

impl Scenario {
    /// The name of the file that holds a fixture's steps.
    pub const FILE: &'static str = "scenario.jsonl";

    /// Reads the steps of a fixture folder.
    ///
    /// # Errors
    /// If the file is not there, or a line is no step; the error names the line.
    pub fn load(folder: &Path) -> Result<Self, ScenarioError> {
        let file = folder.join(Self::FILE);
        let failed = |problem| ScenarioError { file: file.clone(), problem };
        let text = std::fs::read_to_string(&file).map_err(|error| failed(error.to_string()))?;
        Self::parse(&text).map_err(failed)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lines = (1..).zip(text.lines());
        let steps = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with("//"));
        let read = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))
        };
        Ok(Self { steps: steps.map(read).collect::<Result<_, _>>()? })
    }
}
