//! What a model said, whole or as it comes.

use segue_event::{Block, Message, ModelName, Role, Thinking, ToolCall, Usage};

/// One answer of a model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Said {
    /// What it said, thought and called, in order.
    pub blocks: Vec<Block>,
    /// The tokens as the provider counted them; a number that it did not give stays unknown.
    pub usage: Option<Usage>,
    /// The model that answered.
    pub model: Option<ModelName>,
}

impl Said {
    /// An answer of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::Text(text.into())], ..Self::default() }
    }

    /// Adds a tool call.
    #[must_use]
    pub fn call(mut self, id: &str, tool: &str, arguments: &str) -> Self {
        self.blocks.push(Block::ToolCall(ToolCall {
            provider_id: id.to_owned(),
            name: tool.to_owned(),
            arguments: arguments.to_owned(),
        }));
        self
    }

    /// Adds the provider's counts.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    pub(crate) fn into_message(self) -> Message {
        let Self { blocks, usage, model } = self;
        let message = Message::text(Role::Assistant, segue_event::Author::Agent, "");
        Message { blocks, usage, model, ..message }
    }
}

/// An answer that is still coming. Nothing of it is recorded until it is whole; dropped, it never was.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Streaming {
    blocks: Vec<Block>,
}

/// The next piece of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More reasoning.
    Thinking(String),
    /// The provider's proof of the reasoning so far.
    Signature(String),
    /// A call begins.
    Call {
        /// The provider's id of the call; may be empty.
        id: String,
        /// The tool.
        tool: String,
    },
    /// More of the arguments of the call that began last.
    Arguments(String),
}

impl Streaming {
    /// An answer of which nothing has come yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece.
    pub fn push(&mut self, delta: Delta) {
        match (delta, self.blocks.last_mut()) {
            (Delta::Text(more), Some(Block::Text(text))) => text.push_str(&more),
            (Delta::Text(text), _) => self.blocks.push(Block::Text(text)),
            (Delta::Thinking(more), Some(Block::Thinking(thinking))) if thinking.signature.is_empty() => {
                thinking.text.push_str(&more);
            }
            (Delta::Thinking(text), _) => {
                self.blocks.push(Block::Thinking(Thinking { text, signature: String::new() }));
            }
            (Delta::Signature(more), Some(Block::Thinking(thinking))) => thinking.signature.push_str(&more),
            (Delta::Signature(signature), _) => {
                self.blocks.push(Block::Thinking(Thinking { text: String::new(), signature }));
            }
            (Delta::Call { id, tool }, _) => self.blocks.push(Block::ToolCall(ToolCall {
                provider_id: id,
                name: tool,
                arguments: String::new(),
            })),
            (Delta::Arguments(more), Some(Block::ToolCall(call))) => call.arguments.push_str(&more),
            // Arguments of no call: kept as text, for nothing is dropped in silence.
            (Delta::Arguments(text), _) => self.blocks.push(Block::Text(text)),
        }
    }

    /// What has come so far, for whoever watches.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The whole answer.
    pub fn finish(self) -> Said {
        Said { blocks: self.blocks, ..Said::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_one_answer() {
        let mut streaming = Streaming::new();
        let call = |id: &str| Delta::Call { id: id.to_owned(), tool: "read".to_owned() };
        for delta in [
            Delta::Thinking("let ".to_owned()),
            Delta::Thinking("me see".to_owned()),
            Delta::Signature("sig".to_owned()),
            Delta::Text("I ".to_owned()),
            Delta::Text("look.".to_owned()),
            call("a"),
            Delta::Arguments("{\"from".to_owned()),
            Delta::Arguments("Seq\":1}".to_owned()),
            call("b"),
        ] {
            streaming.push(delta);
        }
        let thinking = Thinking { text: "let me see".to_owned(), signature: "sig".to_owned() };
        let mut expected = Said { blocks: vec![Block::Thinking(thinking)], ..Said::default() };
        expected.blocks.push(Block::Text("I look.".to_owned()));
        assert_eq!(streaming.finish(), expected.call("a", "read", "{\"fromSeq\":1}").call("b", "read", ""));
    }
}
