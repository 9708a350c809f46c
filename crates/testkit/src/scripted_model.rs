//! A model that says what its script says.

use std::collections::VecDeque;

use segue::event::{ModelName, Usage};
use segue::prompt::Prompt;
use segue::{Said, Setup};

/// A model that says what its script says, and remembers what it was asked.
#[derive(Clone, Debug, Default)]
pub struct ScriptedModel {
    script: VecDeque<Result<Said, ModelError>>,
    asked: Vec<Prompt>,
}

/// Why a scripted model did not answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ModelError {
    /// The script says that it fails here.
    #[error("{0}")]
    Scripted(String),
    /// The script has no more lines: the agent asked more often than was foreseen.
    #[error("the script ended after {0} answers")]
    ScriptEnded(usize),
}

impl ScriptedModel {
    /// A model that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How the model is called, and how many tokens it takes.
    pub fn setup(window_tokens: u64) -> Setup {
        let model = ModelName { provider: "scripted".to_owned(), model: "scripted-1".to_owned() };
        Setup { model: Some(model), window_tokens: Some(window_tokens), ..Setup::default() }
    }

    /// Says something next.
    #[must_use]
    pub fn says(mut self, said: Said) -> Self {
        self.script.push_back(Ok(said));
        self
    }

    /// Says something next, at a prompt that its provider counts as so many tokens.
    #[must_use]
    pub fn says_at(self, tokens: u64, said: Said) -> Self {
        self.says(said.with_usage(Usage { input: Some(tokens), ..Usage::default() }))
    }

    /// Fails next.
    #[must_use]
    pub fn fails(mut self, reason: &str) -> Self {
        self.script.push_back(Err(ModelError::Scripted(reason.to_owned())));
        self
    }

    /// Answers a prompt with the next line of the script.
    ///
    /// # Errors
    /// If the script says so, or has ended.
    pub fn answer(&mut self, prompt: &Prompt) -> Result<Said, ModelError> {
        self.asked.push(prompt.clone());
        self.script.pop_front().unwrap_or(Err(ModelError::ScriptEnded(self.asked.len() - 1)))
    }

    /// What it was asked, in order.
    pub fn asked(&self) -> &[Prompt] {
        &self.asked
    }

    /// How many lines of the script were not needed.
    pub fn left(&self) -> usize {
        self.script.len()
    }
}
