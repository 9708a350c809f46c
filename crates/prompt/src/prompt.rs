//! A whole prompt, and the receipt for it.

use std::sync::Arc;

use segue_event::{Digest, EventHash, ModelName, Receipt, RunId, Seq, TranscriptReceipt};

use crate::{PromptMessage, ToolContract, TranscriptDigest};

/// The version of what renders prompts. The same version over the same record gives the same bytes.
pub const RENDERER: u32 = 1;

/// What a model is given, in the order in which providers cache: what never changes first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Prompt {
    /// The parts of the system prompt.
    pub system: Vec<String>,
    /// The tools.
    pub tools: Vec<ToolContract>,
    /// The transcript. Of two prompts of a session, the earlier one's is the beginning of the later one's, unless a
    /// pointer or a summary came between them.
    pub transcript: Vec<Arc<PromptMessage>>,
    /// What is told anew every time, and stands at the end.
    pub blocks: Vec<String>,
}

/// What a receipt says beside the prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceiptFor {
    /// The run it was made for.
    pub run: RunId,
    /// The run's attempt.
    pub attempt: u32,
    /// The model it was made for, where that is known.
    pub model: Option<ModelName>,
    /// How many tokens that model takes, as far as it was known.
    pub window_tokens: Option<u64>,
    /// The newest event of the session when it was made.
    pub through: Seq,
}

/// One part of a prompt, with the bytes that its receipt is made over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromptPart {
    /// Where it stands.
    pub name: PartName,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Where a part of a prompt stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PartName {
    /// A part of the system prompt, from 0.
    System(usize),
    /// A tool, from 0.
    Tool(usize),
    /// A message of the transcript, by the event that it was made from.
    Message(Seq),
    /// A block at the end, from 0.
    Block(usize),
}

impl std::fmt::Display for PartName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::System(number) => write!(f, "system part {number}"),
            Self::Tool(number) => write!(f, "tool {number}"),
            Self::Message(seq) => write!(f, "the message of event {seq}"),
            Self::Block(number) => write!(f, "block {number}"),
        }
    }
}

/// The first byte in which two prompts differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Where it stands in the one; none if the one ends before.
    pub left: Option<PartName>,
    /// Where it stands in the other.
    pub right: Option<PartName>,
    /// The byte within those parts.
    pub byte: usize,
}

impl Prompt {
    /// Every part, in order.
    pub fn parts(&self) -> impl Iterator<Item = PromptPart> {
        let part = |name, bytes| PromptPart { name, bytes };
        let system =
            (0..).zip(&self.system).map(move |(at, text)| (PartName::System(at), text.clone().into_bytes()));
        let tools = (0..).zip(&self.tools).map(|(at, tool)| (PartName::Tool(at), tool.to_bytes()));
        let messages =
            self.transcript.iter().map(|message| (PartName::Message(message.seq), message.to_bytes()));
        let blocks =
            (0..).zip(&self.blocks).map(|(at, text)| (PartName::Block(at), text.clone().into_bytes()));
        system.chain(tools).chain(messages).chain(blocks).map(move |(name, bytes)| part(name, bytes))
    }

    /// Where two prompts begin to differ; none if they are the same.
    pub fn first_difference(&self, other: &Self) -> Option<Difference> {
        let (mut ours, mut theirs) = (self.parts(), other.parts());
        loop {
            let (left, right) = (ours.next(), theirs.next());
            if left.is_none() && right.is_none() {
                return None;
            }
            let bytes =
                |part: &Option<PromptPart>| part.as_ref().map(|part| part.bytes.clone()).unwrap_or_default();
            let (one, two) = (bytes(&left), bytes(&right));
            if one != two || left.is_none() || right.is_none() {
                let byte = one.iter().zip(&two).take_while(|(one, two)| one == two).count();
                let name = |part: Option<PromptPart>| part.map(|part| part.name);
                return Some(Difference { left: name(left), right: name(right), byte });
            }
        }
    }

    /// The receipt, given what the transcript amounts to.
    pub fn receipt(&self, about: &ReceiptFor, transcript: TranscriptDigest) -> Receipt {
        let ReceiptFor { run, attempt, model, window_tokens, through } = about.clone();
        let system: Vec<_> = self.system.iter().map(|text| Digest::of(text.as_bytes())).collect();
        let tools: Vec<_> = self.tools.iter().map(|tool| Digest::of(&tool.to_bytes())).collect();
        let blocks: Vec<_> = self.blocks.iter().map(|block| Digest::of(block.as_bytes())).collect();
        let TranscriptDigest { parts, bytes, chain } = transcript;
        let prompt = prompt_hash([&system, &tools, &[Digest { bytes, blake3: chain }], &blocks]);
        let transcript = TranscriptReceipt { through, parts, bytes, chain };
        Receipt {
            run,
            attempt,
            renderer: RENDERER,
            model,
            window_tokens,
            system,
            tools,
            transcript,
            blocks,
            prompt,
        }
    }
}

fn prompt_hash(kinds: [&[Digest]; 4]) -> EventHash {
    let mut hasher = blake3::Hasher::new();
    for parts in kinds {
        // With their number, so that no part passes for one of another kind.
        hasher.update(&(parts.len() as u64).to_le_bytes());
        for part in parts {
            hasher.update(part.blake3.as_bytes());
        }
    }
    hasher.finalize().into()
}
