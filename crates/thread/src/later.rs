//! What became of a tool call later, as far as the record of its session shows.

use std::collections::BTreeMap;

use segue_continuation::deeds::{Edit, restores};
use segue_continuation::phrases::{DENIALS, says};
use segue_event::{
    Block, CallSite, Kind, KindSet, ResultStatus, Seq, SeqRange, SessionId, ToolCall, ToolResult,
    TranscriptEvent,
};
use segue_log::{Case, Direction, EventLog, LogError, LogErrorKind, Sieve};

use crate::{Hit, LaterFate, Superseded};

/// How many events behind a call are looked at for what became of it.
pub const LATER_EVENTS_MAX: u64 = 1_000;

/// How many events behind a call its result is looked for.
const RESULT_WITHIN: u64 = 200;

/// A tool call that was found.
pub(crate) struct FoundCall {
    /// Which of the hits it is.
    pub(crate) hit: usize,
    pub(crate) thread: SessionId,
    pub(crate) site: CallSite,
    /// What it changes, if it changes a file. The call itself may be large, and is not held.
    pub(crate) edit: Option<Edit>,
}

/// Notes at each hit that is a tool call what became of it within [`LATER_EVENTS_MAX`] events.
pub(crate) fn look_later(
    log: &dyn EventLog,
    calls: Vec<FoundCall>,
    hits: &mut [Hit],
) -> Result<(), LogError> {
    let mut threads: BTreeMap<SessionId, Vec<Watched>> = BTreeMap::new();
    for found in calls {
        threads.entry(found.thread).or_default().push(Watched::new(found));
    }
    for (thread, mut watched) in threads {
        watched.sort_by_key(|watched| watched.site);
        for range in ranges(&watched) {
            look_through(log, thread, range, &mut watched)?;
        }
        for watched in watched {
            if let Some(hit) = hits.get_mut(watched.hit) {
                hit.fate = watched.fate();
            }
        }
    }
    Ok(())
}

/// The events behind some calls, each once.
fn ranges(watched: &[Watched]) -> Vec<SeqRange> {
    let mut ranges: Vec<SeqRange> = Vec::new();
    for Watched { site, .. } in watched {
        let (from, to) = (site.message.next(), site.message.plus(LATER_EVENTS_MAX));
        match ranges.last_mut() {
            Some(last) if from <= last.to => last.to = to,
            _ => ranges.extend(SeqRange::new(from, to)),
        }
    }
    ranges
}

fn look_through(
    log: &dyn EventLog,
    thread: SessionId,
    range: SeqRange,
    watched: &mut [Watched],
) -> Result<(), LogError> {
    let kinds = KindSet::one(Kind::Message).with(Kind::ToolResult);
    let paths = watched.iter().filter_map(|watched| watched.edit.as_ref());
    let names: Sieve =
        Sieve::Any(paths.map(|edit| Sieve::holding(file_name(&edit.path), Case::Sensitive)).collect());
    let mut later: Vec<(CallSite, ToolCall)> = Vec::new();
    for raw in log.read_kinds(thread, range, Direction::Forward, kinds)? {
        let raw = match raw {
            Ok(raw) => raw,
            // What is damaged shows nothing; the search has told of it.
            Err(error) if error.kind() == LogErrorKind::Corrupt => continue,
            Err(error) => return Err(error),
        };
        let seq = raw.header.seq;
        let awaits_result = watched.iter().any(|watched| watched.awaits_result(seq)) || !later.is_empty();
        let is_wanted = match raw.kind() {
            Kind::ToolResult => awaits_result,
            kind => names.passes(kind, &raw.body),
        };
        if !is_wanted {
            continue;
        }
        match raw.decode_as::<TranscriptEvent>().ok().flatten().map(|recorded| recorded.event) {
            Some(TranscriptEvent::ToolResult(result)) => take_result(seq, &result, watched, &mut later),
            Some(TranscriptEvent::Message(message)) => {
                later.retain(|(site, _)| site.message.plus(RESULT_WITHIN) >= seq);
                later.extend((0..).zip(message.blocks).filter_map(|(block, content)| match content {
                    Block::ToolCall(call) => Some((CallSite { message: seq, block }, call)),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The end of a path, which is in every way to name the file.
fn file_name(path: &str) -> &[u8] {
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path).as_bytes()
}

/// The result of a call that was found, or of one behind those.
fn take_result(
    seq: Seq,
    result: &ToolResult,
    watched: &mut [Watched],
    later: &mut Vec<(CallSite, ToolCall)>,
) {
    let Some(site) = result.call.site else { return };
    watched
        .iter_mut()
        .filter(|watched| watched.site == site)
        .for_each(|watched| watched.take_result(seq, result));
    let Some(at) = later.iter().position(|(other, _)| *other == site) else { return };
    let (site, call) = later.swap_remove(at);
    // Only what was done counts.
    if result.status == ResultStatus::Ok {
        let edit = Edit::of(&call);
        let before = watched.iter_mut().filter(|watched| watched.is_before(site));
        before.for_each(|watched| watched.take_later(site.message, &call, edit.as_ref()));
    }
}

/// A tool call, and what is known of it so far.
struct Watched {
    hit: usize,
    site: CallSite,
    /// What it changes, if it changes a file.
    edit: Option<Edit>,
    result: Option<Option<LaterFate>>,
    reverted: Option<Seq>,
    edited_again: Option<Seq>,
}

impl Watched {
    fn new(found: FoundCall) -> Self {
        let FoundCall { hit, site, edit, .. } = found;
        Self { hit, site, edit, result: None, reverted: None, edited_again: None }
    }

    fn awaits_result(&self, seq: Seq) -> bool {
        self.result.is_none() && self.site.message < seq && seq <= self.site.message.plus(RESULT_WITHIN)
    }

    fn is_before(&self, site: CallSite) -> bool {
        self.site < site && site.message <= self.site.message.plus(LATER_EVENTS_MAX)
    }

    fn take_result(&mut self, seq: Seq, result: &ToolResult) {
        let denies = |block: &Block| matches!(block, Block::Text(text) if says(text, DENIALS));
        let what = match result.status {
            ResultStatus::Ok => None,
            ResultStatus::Error if result.blocks.iter().any(denies) => Some(Superseded::Refused),
            ResultStatus::Error => Some(Superseded::Failed),
        };
        self.result = Some(what.map(|what| LaterFate { what, seq }));
    }

    fn take_later(&mut self, seq: Seq, call: &ToolCall, later: Option<&Edit>) {
        let Some(edit) = &self.edit else { return };
        if later.is_some_and(|later| later.undoes(edit)) || restores(call, &edit.path) {
            self.reverted = Some(seq);
        } else if later.is_some_and(|later| later.path == edit.path) {
            self.edited_again = Some(seq);
        }
    }

    fn fate(&self) -> Vec<LaterFate> {
        let fate = |what, seq: Option<Seq>| seq.map(|seq| LaterFate { what, seq });
        // A call that did nothing has nothing that could be undone.
        if let Some(Some(failed)) = self.result {
            return vec![failed];
        }
        let later =
            [fate(Superseded::Reverted, self.reverted), fate(Superseded::EditedAgain, self.edited_again)];
        later.into_iter().flatten().collect()
    }
}
