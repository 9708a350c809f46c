//! One chain of ten continuations and ten fresh switches, through which everything stays word for word.
//!
//! Each session of the chain gets a share of what other sessions say. Then paths, errors, numbers and ids from all over
//! the chain are recalled from its last session.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail, ensure};
use regex::Regex;
use segue::event::{AgentId, Event, Seq, SeqRange, SessionId, TranscriptEvent};
use segue::log::{Direction, LogError};
use segue::thread::{Budget, FETCH_BYTES, Query, Window};
use segue::{Freshened, NewSession, Scope, Where, Workspace};

use super::chain::{Picks, continue_once, say};
use super::scan::{Text, texts};

/// How many strings are looked for.
pub(crate) const NEEDLES: usize = 500;

/// Continuations by a person, and as many fresh switches.
const SWITCHES: usize = 20;

/// How many events each session of the chain takes from the others.
const EVENTS_EACH: usize = 300;

/// What is looked for: paths, errors, numbers, ids.
const KINDS: [&str; 4] = [
    r"/[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+){2,8}",
    r"(?i)\b(?:error|failed|cannot|warning)\b[^\n]{4,60}",
    r"\b[0-9][0-9.,:]{5,20}[0-9]\b",
    r"\b(?:[0-9a-f]{12,40}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:toolu|call|msg)_[A-Za-z0-9]{10,40})\b",
];

/// Builds the chain out of what some sessions say, and recalls [`NEEDLES`] strings, or all that there are.
pub(crate) fn check(workspace: &Workspace, sources: &[SessionId]) -> anyhow::Result<usize> {
    let log = &**workspace.log();
    let mut newest = workspace.start_session(NewSession::of(AgentId::new("corpus")?))?;
    let mut sessions = vec![newest];
    for step in 0..SWITCHES {
        let source = sources.get(step % sources.len().max(1)).context("there is nothing to take from")?;
        take_over(workspace, newest, *source, step / sources.len().max(1))?;
        say(workspace, newest, &format!("Step {step}: go on."))?;
        newest = switch(workspace, newest, step)?;
        sessions.push(newest);
    }
    let texts = texts(log, &sessions)?;
    let needles = needles(&texts)?;
    for needle in &needles {
        recall(workspace, newest, &texts, needle).with_context(|| format!("{needle:?}"))?;
    }
    Ok(needles.len())
}

fn switch(workspace: &Workspace, session: SessionId, step: usize) -> anyhow::Result<SessionId> {
    if step.is_multiple_of(2) {
        return continue_once(workspace, session, step);
    }
    match workspace.fresh(session, &format!("step {step}"))? {
        Freshened::Switched(continued) => Ok(continued.successor),
        Freshened::InPlace(why) => bail!("not switched: {why}"),
    }
}

/// Says in a session what a stretch of another one says.
fn take_over(
    workspace: &Workspace,
    session: SessionId,
    source: SessionId,
    round: usize,
) -> anyhow::Result<()> {
    let from = Seq::new((round * EVENTS_EACH) as u64 + 1).context("no such event")?;
    let mut events = Vec::new();
    for raw in
        workspace.log().read(source, SeqRange::starting_at(from), Direction::Forward)?.take(EVENTS_EACH)
    {
        match raw?.decode_as::<TranscriptEvent>().map_err(LogError::codec)?.map(|recorded| recorded.event) {
            Some(TranscriptEvent::Message(message)) => events.push(Event::from(message)),
            Some(TranscriptEvent::ToolResult(result)) => events.push(result.into()),
            _ => {}
        }
    }
    if !events.is_empty() {
        workspace.append(session, events)?;
    }
    Ok(())
}

/// Strings of every kind from all over some texts, the same in every run.
fn needles(texts: &[Text]) -> anyhow::Result<BTreeSet<String>> {
    let kinds = KINDS.iter().map(|kind| Regex::new(kind)).collect::<Result<Vec<_>, _>>()?;
    let mut picks = Picks("needles".to_owned());
    let mut needles = BTreeSet::new();
    // Many texts hold none; a few thousand tries find enough where there is enough.
    for attempt in 0..NEEDLES * 40 {
        if needles.len() == NEEDLES {
            break;
        }
        let text = texts.get(picks.below(texts.len())).context("there is no text")?;
        let kind = kinds.get(attempt % kinds.len()).context("there is no kind")?;
        let found: Vec<_> = kind.find_iter(&text.text).take(64).collect();
        needles.extend(found.get(picks.below(found.len())).map(|found| found.as_str().to_owned()));
    }
    Ok(needles)
}

/// A needle is found from the end of the chain wherever it was said, and the whole text can be fetched.
fn recall(workspace: &Workspace, newest: SessionId, texts: &[Text], needle: &str) -> anyhow::Result<()> {
    let reader = workspace.reader(Scope::Chain(newest));
    let answer = reader.recall(Where::Chain(newest), &Query::literal(needle)?, &Budget::default(), None)?;
    ensure!(!answer.hits.is_empty(), "not found");
    ensure!(answer.coverage.complete == answer.cursor.is_none(), "coverage and cursor disagree");
    for hit in &answer.hits {
        let said = |text: &&Text| (text.thread, text.seq, text.part) == (hit.thread, hit.seq.get(), hit.part);
        let text = texts.iter().find(said).context("a hit where nothing was said")?;
        ensure!(text.holds(needle), "a hit that does not hold it");
        let excerpt = usize::try_from(hit.excerpt_offset)?;
        ensure!(
            text.text.get(excerpt..excerpt + hit.excerpt.len()) == Some(&hit.excerpt),
            "an excerpt that is not exact"
        );
    }
    let hit = answer.hits.first().context("no hit")?;
    let window = Window { thread: hit.thread, seq: hit.seq, before: 0, after: 0 };
    let from = segue::thread::TextPlace { seq: hit.seq, part: hit.part, offset: hit.excerpt_offset };
    let fetched = reader.fetch(window, Some(from), FETCH_BYTES)?;
    let piece = fetched.pieces.first().context("nothing was fetched")?;
    ensure!(piece.text.starts_with(&hit.excerpt), "what was fetched is not what was found");
    Ok(())
}

#[cfg(test)]
mod tests {
    use segue::log::MemoryLog;
    use segue::{Options, SystemHost};

    use super::*;
    use crate::reference;

    #[test]
    fn every_needle_of_our_own_sessions_is_recalled_word_for_word() {
        let workspace = Workspace::on(MemoryLog::new(), SystemHost);
        let sources: Vec<_> =
            (0..4).map(|seed| reference::fill(&workspace, seed, 200_000).unwrap()).collect();
        assert_eq!(check(&workspace, &sources).unwrap(), NEEDLES);
    }

    #[test]
    fn they_are_in_sealed_and_compressed_segments_too() {
        let folder = tempfile::tempdir().unwrap();
        let options = segue::log_file::Options { segment_bytes: 300_000, ..Default::default() };
        let log = segue::log_file::FileLog::open(folder.path().join("store"), options).unwrap();
        let workspace = Workspace::with_options(std::sync::Arc::new(log), SystemHost, Options::default());
        let sources: Vec<_> =
            (0..4).map(|seed| reference::fill(&workspace, seed, 200_000).unwrap()).collect();
        workspace.log().settle().unwrap();
        assert_eq!(check(&workspace, &sources).unwrap(), NEEDLES);
    }
}
