//! What a host brings to a turn, and what it is told to do next.

use segue_event::{Block, CallSite, ModelName, ResultStatus, RunOutcome, ToolCall};
use segue_prompt::{ToolContract, Windows};

use crate::ContinuedSession;

/// What a host brings to its turns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Setup {
    /// The id of the host's start, so that it is known whose runs were cut off.
    pub host: String,
    /// The host's own parts of the system prompt; ours come behind them.
    pub system: Vec<String>,
    /// The host's own tools.
    pub tools: Vec<ToolContract>,
    /// Whether the model can give tasks away.
    pub tasks: Tasks,
    /// The model that will be asked, where that is known.
    pub model: Option<ModelName>,
    /// How many tokens that model takes; none where it is unknown, and then no pressure is shown.
    pub window_tokens: Option<u64>,
    /// When a full context gives way to a fresh session by itself.
    pub fresh: FreshPolicy,
}

/// When a full context gives way to a fresh session by itself: without a model, with a pointer in place of a summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FreshPolicy {
    /// Only where somebody says so: a person, or a host whose provider refused a prompt as too long.
    #[default]
    Never,
    /// Also as soon as the provider's newest count fills so much of the window.
    At {
        /// The share of the window, in percent.
        percent: u64,
    },
}

impl Setup {
    /// For a model, with its window as far as it is known.
    #[must_use]
    pub fn for_model(self, windows: &Windows, model: ModelName) -> Self {
        Self { window_tokens: windows.tokens(&model), model: Some(model), ..self }
    }
}

/// Whether a model can give tasks away with the `delegate` tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tasks {
    /// It cannot.
    #[default]
    NotOffered,
    /// It can; the host runs the children.
    Offered,
}

/// What comes next in a turn.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Ask the model with [`Turn::prompt`](crate::Turn::prompt).
    Prompt,
    /// Run these tools, in any order or at once, and give each result to [`Turn::answer`](crate::Turn::answer).
    CallTools(Vec<HostCall>),
    /// The run waits for the tasks that it delegated; take it up again when they are over. The turn is over.
    Parked,
    /// The conversation goes on in a successor. Its run is queued; after a run that was done when the context gave way
    /// there is none, and the successor waits for its first message. The turn is over.
    Continued(ContinuedSession),
    /// The run ended. The turn is over.
    Done(RunOutcome),
}

/// A call of one of the host's tools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostCall {
    /// Where the call stands: the id under which its result is given back.
    pub site: CallSite,
    /// The call.
    pub call: ToolCall,
}

/// What a tool gave back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolOutput {
    /// Whether it did what was asked.
    pub status: ResultStatus,
    /// What it gave back, in order.
    pub blocks: Vec<Block>,
}

impl ToolOutput {
    /// A tool did what was asked.
    pub fn text(text: impl Into<String>) -> Self {
        Self { status: ResultStatus::Ok, blocks: vec![Block::Text(text.into())] }
    }

    /// A tool failed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { status: ResultStatus::Error, blocks: vec![Block::Text(text.into())] }
    }
}

impl ToolOutput {
    /// The text of the output, blocks of other kinds left out.
    pub fn as_text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Whether the tool failed.
    pub fn is_failed(&self) -> bool {
        self.status == ResultStatus::Error
    }
}
