//! Compiling a stored continuation again, from the record alone.

use segue_continuation::Budget;
use segue_event::{
    Block, CompactedBy, ContextCompacted, ContinuationId, Digest, Edge, Event, Handover, Manifest, Seq,
    SeqRange, SessionId, Transition,
};
use segue_log::{Direction, EventLog, LogError};
use segue_projection::{COMPILER, Origin, POINTER_COMPILER, Projection, admit, compile};

use crate::error::Detail;
use crate::gather::{Given, PROJECTION_SEQ, gather};
use crate::pointing::{Pointed, pointer_at};
use crate::workspace::{session_state, session_state_up_to};
use crate::{Error, Workspace};

/// A stored continuation, compiled again.
#[derive(Clone, PartialEq, Debug)]
pub struct Recompiled {
    /// The edge as it is stored, with its manifest.
    pub edge: Edge,
    /// The manifest as it is stored.
    pub manifest: Manifest,
    /// The projection or pointer as it is stored.
    pub stored: String,
    /// The same as it comes out now.
    pub compiled: Projection,
    /// What the comparison says.
    pub verdict: Verdict,
}

/// A stored pointer, made again.
#[derive(Clone, PartialEq, Debug)]
pub struct RecompiledPointer {
    /// The pointer as it is stored, with its manifest.
    pub stored: ContextCompacted,
    /// The pointer as it comes out now.
    pub compiled: Projection,
    /// What the comparison says.
    pub verdict: Verdict,
}

/// What comparing a stored projection with a fresh one says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The same bytes, and the same manifest.
    Same,
    /// Another version of the compiler made it; its bytes have the hash that its manifest says.
    OtherCompiler,
    /// The stored text does not have the hash that its manifest says.
    Altered,
    /// The same compiler gives other bytes.
    Different,
}

impl Workspace {
    /// Compiles the continuation that made a session again, from the record as it stood then, and compares.
    ///
    /// # Errors
    /// If there is no such session or predecessor, it was not continued from another, what it was made from does not
    /// fit this build's limits, or the log cannot be read.
    pub fn recompile(&self, successor: SessionId) -> Result<Recompiled, Error> {
        let log = &*self.log;
        let state = session_state(log, successor)?.ok_or(Detail::SessionNotFound(successor))?;
        let edge = state.edge.ok_or(Detail::NotContinued(successor))?;
        let stored = stored_projection(log, successor)?;
        let manifest = edge.manifest().ok_or(Detail::NotContinued(successor))?.clone();
        let (compiled, compiler) = match &edge.transition {
            Transition::Continue(handover) => (compile_again(log, &edge, handover)?, COMPILER),
            Transition::Fresh(fresh) => {
                let (pointer, predecessor) = (fresh.pointer.seq, edge.predecessor);
                (point_again(log, predecessor, pointer, edge.continuation, &manifest)?, POINTER_COMPILER)
            }
            Transition::Delegate(_) | Transition::Fork => return Err(Detail::NotContinued(successor).into()),
        };
        let verdict = verdict(&stored, &manifest, &compiled, compiler);
        Ok(Recompiled { edge, manifest, stored, compiled, verdict })
    }

    /// Makes the pointer that stands at a place of a session again, from the record as it stood then, and compares.
    ///
    /// # Errors
    /// If there is no such session, no pointer stands there, or the log cannot be read.
    pub fn recompile_pointer(&self, session: SessionId, at: Seq) -> Result<RecompiledPointer, Error> {
        let log = &*self.log;
        log.head(session)?.ok_or(Detail::SessionNotFound(session))?;
        let raw = log.read(session, SeqRange::one(at), Direction::Forward)?.next().transpose()?;
        let event = raw.map(|raw| raw.decode().map_err(LogError::codec)).transpose()?;
        let Some(Event::ContextCompacted(stored)) = event.map(|recorded| recorded.event) else {
            return Err(Detail::EventNotFound(session, at).into());
        };
        let CompactedBy::Pointer { continuation, manifest } = &stored.by else {
            return Err(Detail::EventNotFound(session, at).into());
        };
        let compiled = point_again(log, session, at, *continuation, manifest)?;
        let verdict = verdict(&stored.text, manifest, &compiled, POINTER_COMPILER);
        Ok(RecompiledPointer { stored, compiled, verdict })
    }
}

fn verdict(stored: &str, manifest: &Manifest, compiled: &Projection, compiler: u32) -> Verdict {
    if Digest::of(stored.as_bytes()) != manifest.projection {
        Verdict::Altered
    } else if manifest.compiler != compiler {
        Verdict::OtherCompiler
    } else if compiled.text == stored && compiled.manifest == *manifest {
        Verdict::Same
    } else {
        Verdict::Different
    }
}

/// The pointer at a place, from what stood before it.
fn point_again(
    log: &dyn EventLog,
    session: SessionId,
    at: Seq,
    continuation: ContinuationId,
    manifest: &Manifest,
) -> Result<Projection, Error> {
    let head = at.previous().ok_or(Detail::EventNotFound(session, at))?;
    let state = session_state_up_to(log, session, head)?.ok_or(Detail::SessionNotFound(session))?;
    let Pointed { pointer, .. } = pointer_at(log, &state, head, continuation, manifest.compiled_at)?;
    Ok(Projection { text: pointer.text, manifest: pointer.manifest })
}

fn compile_again(log: &dyn EventLog, edge: &Edge, handover: &Handover) -> Result<Projection, Error> {
    let predecessor = edge.predecessor;
    let predecessor = session_state(log, predecessor)?.ok_or(Detail::SessionNotFound(predecessor))?;
    let manifest = &handover.manifest;
    let bytes = usize::try_from(manifest.budget_bytes).unwrap_or(usize::MAX);
    let budget = Budget::new(bytes).unwrap_or_default();
    let admitted = admit(budget, manifest.handoff.clone(), manifest.sources.clone())
        .map_err(|_| Detail::BeyondCaps(edge.continuation))?;
    let origin = Origin {
        continuation: edge.continuation,
        reason: handover.reason,
        first: edge.origin,
        predecessor: edge.predecessor,
        predecessor_title: edge.predecessor_title.clone(),
        initiating: handover.initiating.seq,
    };
    let given = Given {
        origin,
        admitted,
        sources: &manifest.sources,
        recommended: &manifest.recommended,
        budget,
        predecessor: &predecessor,
        head: edge.predecessor_head,
        plan: manifest.plan,
        compiled_at: manifest.compiled_at,
    };
    Ok(compile(&gather(log, given)?).0)
}

fn stored_projection(log: &dyn EventLog, successor: SessionId) -> Result<String, LogError> {
    let raw = log.read(successor, SeqRange::one(PROJECTION_SEQ), Direction::Forward)?.next().transpose()?;
    let Some(raw) = raw else { return Ok(String::new()) };
    let Event::Message(message) = raw.decode().map_err(LogError::codec)?.event else {
        return Ok(String::new());
    };
    let texts = message.blocks.into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}
