//! Prompts rebuilt from the record, and held to their receipts.

use std::collections::BTreeMap;

use segue_event::{Digest, KindSet, Receipt, ReceiptEvent, Recorded, Seq, SeqRange, SessionId};
use segue_log::{Direction, EventLog, Head, LogError};
use segue_prompt::{PartName, Prompt, RENDERER, ReceiptFor, ToolContract, TranscriptDigest};

use crate::error::Detail;
use crate::turn::{Known, Surroundings, blocks};
use crate::{Error, Workspace};

/// A prompt as it comes out now, and what its receipt says to it.
#[derive(Clone, PartialEq, Debug)]
pub struct RebuiltPrompt {
    /// Where the receipt stands.
    pub at: Seq,
    /// The receipt.
    pub receipt: Receipt,
    /// The prompt, rebuilt from the record.
    pub prompt: Prompt,
    /// What the comparison says.
    pub verdict: ReceiptVerdict,
}

/// What comparing a prompt with its receipt says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReceiptVerdict {
    /// The same bytes.
    Same,
    /// Another version of the renderer made it, and this one gives other bytes; what differs first.
    OtherRenderer(Divergence),
    /// The same version gives other bytes; what differs first.
    Diverged(Divergence),
}

/// The first part of a prompt that is not as its receipt says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// A part other than the transcript: its bytes are others, or not there any more.
    Part(PartName),
    /// The transcript: what the events of this range were made into.
    Transcript(SeqRange),
    /// There are more or fewer parts of a kind.
    Count,
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Part(name) => write!(f, "{name} differs"),
            Self::Transcript(range) => write!(f, "what was made of events {range} differs"),
            Self::Count => f.write_str("the number of parts differs"),
        }
    }
}

impl Workspace {
    /// Where prompts were given out in a session, oldest first.
    ///
    /// # Errors
    /// If there is no such session, or the log cannot be read.
    pub fn receipts(&self, session: SessionId) -> Result<Vec<Recorded<Receipt>>, Error> {
        self.log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        Ok(receipts(&*self.log, session, SeqRange::ALL)?)
    }

    /// Rebuilds the newest prompt that was given out up to an event, and compares it with its receipt.
    ///
    /// # Errors
    /// If there is no such session, no prompt was given out up to there, or the log cannot be read.
    pub fn rebuild_prompt(&self, session: SessionId, at: Seq) -> Result<RebuiltPrompt, Error> {
        let log = &*self.log;
        log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let mut earlier = receipts(log, session, SeqRange::up_to(at))?;
        let Recorded { seq, event: receipt, .. } = earlier.pop().ok_or(Detail::NoReceipt(session, at))?;
        let through = receipt.transcript.through;
        let mut digests = BTreeMap::new();
        let known = Known::watched(log, session, head_at(log, session, through)?, |known| {
            digests.insert(known.taken, known.transcript.digest());
        })?;
        let known = known.ok_or(Detail::SessionNotFound(session))?;
        let prompt = self.prompt_of(&receipt, &known)?;
        let about = ReceiptFor {
            run: receipt.run,
            attempt: receipt.attempt,
            model: receipt.model.clone(),
            window_tokens: receipt.window_tokens,
            through,
        };
        let now = prompt.receipt(&about, known.transcript.digest());
        let verdict = match divergence(&receipt, &now, &earlier, &digests) {
            None => ReceiptVerdict::Same,
            Some(divergence) if receipt.renderer != RENDERER => ReceiptVerdict::OtherRenderer(divergence),
            Some(divergence) => ReceiptVerdict::Diverged(divergence),
        };
        Ok(RebuiltPrompt { at: seq, receipt, prompt, verdict })
    }

    /// The prompt that a receipt tells of. Fixed parts that are gone are empty.
    fn prompt_of(&self, receipt: &Receipt, known: &Known) -> Result<Prompt, Error> {
        let part = |digest: &Digest| Ok(self.log.blob(&digest.as_blob())?.unwrap_or_default().to_vec());
        let text = |digest| part(digest).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let empty =
            || ToolContract { name: String::new(), description: String::new(), parameters: String::new() };
        let tool =
            |digest| part(digest).map(|bytes| serde_json::from_slice(&bytes).unwrap_or_else(|_| empty()));
        let around = Surroundings::of(self, known, receipt.run, receipt.window_tokens)?;
        Ok(Prompt {
            system: receipt.system.iter().map(text).collect::<Result<_, LogError>>()?,
            tools: receipt.tools.iter().map(tool).collect::<Result<_, LogError>>()?,
            transcript: known.transcript.messages().to_vec(),
            blocks: blocks(known, &around, receipt.run),
        })
    }
}

/// The first part in which two receipts of one prompt differ.
fn divergence(
    then: &Receipt,
    now: &Receipt,
    earlier: &[Recorded<Receipt>],
    digests: &BTreeMap<Seq, TranscriptDigest>,
) -> Option<Divergence> {
    let fixed = differing(&then.system, &now.system, PartName::System)
        .or_else(|| differing(&then.tools, &now.tools, PartName::Tool));
    let transcript = || {
        (then.transcript != now.transcript)
            .then(|| Divergence::Transcript(differing_events(then.transcript.through, earlier, digests)))
    };
    let blocks = || differing(&then.blocks, &now.blocks, PartName::Block);
    fixed.or_else(transcript).or_else(blocks)
}

fn differing(then: &[Digest], now: &[Digest], name: fn(usize) -> PartName) -> Option<Divergence> {
    let part = then.iter().zip(now).position(|(then, now)| then != now);
    let count = (then.len() != now.len()).then_some(Divergence::Count);
    part.map(|at| Divergence::Part(name(at))).or(count)
}

/// The events behind the newest receipt whose transcript still comes out as it did.
fn differing_events(
    through: Seq,
    earlier: &[Recorded<Receipt>],
    digests: &BTreeMap<Seq, TranscriptDigest>,
) -> SeqRange {
    let comes_out = |receipt: &&Recorded<Receipt>| {
        let transcript = receipt.event.transcript;
        let now = digests.range(..=transcript.through).next_back();
        now.is_some_and(|(_, digest)| digest.chain == transcript.chain)
    };
    let sound = earlier.iter().rev().find(comes_out).map(|receipt| receipt.event.transcript.through);
    let from = sound.map_or(Seq::FIRST, Seq::next);
    SeqRange::new(from, through).unwrap_or(SeqRange::one(through))
}

fn receipts(
    log: &dyn EventLog,
    session: SessionId,
    range: SeqRange,
) -> Result<Vec<Recorded<Receipt>>, LogError> {
    let mut all = Vec::new();
    for raw in log.read_kinds(session, range, Direction::Forward, KindSet::of::<ReceiptEvent>())? {
        let Some(recorded) = raw?.decode_as::<ReceiptEvent>().map_err(LogError::codec)? else { continue };
        let Recorded { session, seq, position, time, hash, event } = recorded;
        let ReceiptEvent::Receipt(event) = event;
        all.push(Recorded { session, seq, position, time, hash, event });
    }
    Ok(all)
}

fn head_at(log: &dyn EventLog, session: SessionId, seq: Seq) -> Result<Head, Error> {
    let raw = log.read(session, SeqRange::one(seq), Direction::Forward)?.next().transpose()?;
    let raw = raw.ok_or(Detail::NoReceipt(session, seq))?;
    Ok(Head { seq, hash: raw.header.hash })
}
