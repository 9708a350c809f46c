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
    /// The transcript. Of two prompts of a session, the earlier one's is the beginning of the later one's.
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

impl Prompt {
    /// The bytes of the parts that are the same for every prompt of a host: system texts, then tools.
    pub fn fixed(&self) -> impl Iterator<Item = Vec<u8>> {
        let system = self.system.iter().map(|text| text.clone().into_bytes());
        system.chain(self.tools.iter().map(ToolContract::to_bytes))
    }

    /// The receipt, given what the transcript amounts to.
    pub fn receipt(&self, about: &ReceiptFor, transcript: TranscriptDigest) -> Receipt {
        let ReceiptFor { run, attempt, model, window_tokens, through } = about.clone();
        let fixed: Vec<_> = self.fixed().map(|part| Digest::of(&part)).collect();
        let blocks: Vec<_> = self.blocks.iter().map(|block| Digest::of(block.as_bytes())).collect();
        let TranscriptDigest { parts, bytes, chain } = transcript;
        let prompt = prompt_hash(&fixed, chain, &blocks);
        let transcript = TranscriptReceipt { through, parts, bytes, chain };
        Receipt { run, attempt, renderer: RENDERER, model, window_tokens, fixed, transcript, blocks, prompt }
    }
}

fn prompt_hash(fixed: &[Digest], transcript: EventHash, blocks: &[Digest]) -> EventHash {
    let mut hasher = blake3::Hasher::new();
    let mut enter = |parts: &[Digest]| {
        // With their number, so that no part passes for one of another kind.
        hasher.update(&(parts.len() as u64).to_le_bytes());
        for part in parts {
            hasher.update(part.blake3.as_bytes());
        }
    };
    enter(fixed);
    enter(&[Digest { bytes: 0, blake3: transcript }]);
    enter(blocks);
    hasher.finalize().into()
}
