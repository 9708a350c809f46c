//! What a projection was built from: enough to prove it, and to build it again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{BlobId, EventHash, Position, SeqRange, SessionId};

/// The account of one projection: every byte of it, and everything that was left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the compiler; the same version over the same record gives the same bytes.
    pub compiler: u32,
    /// The most bytes the projection could have.
    pub budget_bytes: u64,
    /// The agent's or person's prose.
    pub handoff: Handoff,
    /// What the agent or person cited, in the order given.
    pub sources: Vec<Source>,
    /// What the runtime recommended beside that, the best first.
    pub recommended: Vec<Recommended>,
    /// The pieces of the text in order; together they are all of it.
    pub parts: Vec<ProjectionPart>,
    /// Every line of a transcript that is rendered, range by range.
    pub included: Vec<Included>,
    /// Everything that was cited or a candidate, and is not rendered.
    pub omitted: Vec<Omitted>,
    /// What became of the predecessor's plan.
    pub plan: PlanTransfer,
    /// Size and hash of the whole text.
    pub projection: Digest,
    /// The newest event of the log when it was compiled; none for an empty log.
    pub compiled_at: Option<Position>,
}

/// A size and a hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Digest {
    /// How many bytes there are.
    pub bytes: u64,
    /// Their blake3 hash.
    pub blake3: EventHash,
}

impl Digest {
    /// Measures bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, blake3: blake3::hash(bytes).into() }
    }

    /// The blob that holds the bytes, if they were kept as one.
    pub const fn as_blob(&self) -> BlobId {
        BlobId::from_bytes(*self.blake3.as_bytes())
    }
}

/// An agent's prose for a colleague who has read nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Handoff {
    /// What the work is for.
    pub purpose: String,
    /// What is asked for right now.
    pub current_request: String,
    /// What is known to be so.
    pub established_facts: Vec<String>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// What is not known yet.
    pub open_questions: Vec<String>,
    /// What to do next.
    pub next_actions: Vec<String>,
    /// What to beware of.
    pub cautions: Vec<String>,
    /// Whatever else the agent wrote, by the key it chose.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// Something a handoff cites.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Source {
    /// What is cited.
    pub target: SourceTarget,
    /// Why it matters.
    pub relevance: String,
}

/// What a source points at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceTarget {
    /// Something on the network; never fetched by us.
    Resource {
        /// Its address.
        url: String,
        /// The version that was meant; empty for any.
        version: String,
        /// The part that was meant; empty for the whole.
        block_id: String,
    },
    /// A file of the agent's memory, relative to the memory root.
    Memory {
        /// The path, as `~/memory/…`.
        path: String,
    },
    /// Events of a session.
    Events {
        /// The session.
        thread: SessionId,
        /// The events.
        range: SeqRange,
    },
}

/// A range that the runtime thinks worth citing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recommended {
    /// The session.
    pub thread: SessionId,
    /// The events.
    pub range: SeqRange,
    /// Why.
    pub why: WhyRecommended,
}

/// Why a range is worth citing, as far as the runtime can tell without a model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyRecommended {
    /// An earlier projection left it out, and it was read back again and again.
    LeftOutBefore,
    /// It was read back again and again.
    RecalledOften,
    /// A person corrects the agent.
    Correction,
    /// Something was not allowed.
    Denial,
    /// Something failed, with the exact text.
    Error,
    /// Something was decided.
    Decision,
    /// How a file was changed last.
    EditedFile,
}

impl WhyRecommended {
    /// Every reason, in the order in which they come first.
    pub const ALL: [Self; 7] = [
        Self::LeftOutBefore,
        Self::RecalledOften,
        Self::Correction,
        Self::Denial,
        Self::Error,
        Self::Decision,
        Self::EditedFile,
    ];

    /// The reason in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LeftOutBefore => "left out before, and read back often",
            Self::RecalledOften => "read back often",
            Self::Correction => "a correction",
            Self::Denial => "a denial",
            Self::Error => "an error",
            Self::Decision => "a decision",
            Self::EditedFile => "an edited file",
        }
    }
}

/// One stretch of the rendered text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProjectionPart {
    /// What it is: `lineage`, `handoff`, `sources`, `excerpt`, `recommended`, `recent`, `earlier`, `not_loaded`; of a
    /// pointer: `opening`, `request`, `progress`, `plan`, `index`, `files`, `closing`.
    pub name: String,
    /// Its size and hash.
    pub digest: Digest,
}

/// Lines of a transcript that stand in the projection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Included {
    /// The session they come from.
    pub thread: SessionId,
    /// The events.
    pub range: SeqRange,
    /// The texts of which only a part is rendered; empty where everything is.
    pub cuts: Vec<Cut>,
    /// Size and hash of the lines as they are rendered.
    pub rendered: Digest,
}

/// A text of which only a part is rendered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cut {
    /// Which of the event's texts it is, from 0.
    pub part: u32,
    /// The bytes of the original text that are rendered.
    pub shown: ByteRange,
}

/// A range of bytes, the end excluded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ByteRange {
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

/// Something that was left out of a projection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Omitted {
    /// What.
    pub item: OmittedItem,
    /// Why.
    pub why: WhyOmitted,
}

/// What was left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OmittedItem {
    /// The source at this index of the manifest's list, from 0.
    Source(u32),
    /// Events of a session.
    Events {
        /// The session.
        thread: SessionId,
        /// The events, neighbours merged.
        range: SeqRange,
    },
}

/// Why something was left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyOmitted {
    /// It is linked, and never loaded into a projection.
    LinkedOnly,
    /// It would not have fitted into the budget.
    OverBudget,
    /// The recipe for this reason takes no more.
    BeyondRecipe,
    /// It is a projection of an earlier continuation.
    EarlierProjection,
    /// It is the initiating message, which follows in full.
    InitiatingMessage,
    /// It holds nothing that a transcript shows.
    NothingToShow,
    /// It came after the initiating message; the handoff tells what came of it.
    AfterInitiating,
}

impl WhyOmitted {
    /// The reason in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LinkedOnly => "linked only",
            Self::OverBudget => "over budget",
            Self::BeyondRecipe => "older",
            Self::EarlierProjection => "an earlier projection",
            Self::InitiatingMessage => "the initiating message, which follows in full",
            Self::NothingToShow => "nothing to show",
            Self::AfterInitiating => "after the initiating message",
        }
    }
}

/// What becomes of the predecessor's plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanTransfer {
    /// The successor goes on with it; in the predecessor it reads as handed over.
    Carry,
    /// It ends here; in the predecessor it reads as closed.
    Close,
    /// It stays open in the predecessor.
    Omit,
}

impl PlanTransfer {
    /// The word that models and people write for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Carry => "carry",
            Self::Close => "close",
            Self::Omit => "omit",
        }
    }
}
