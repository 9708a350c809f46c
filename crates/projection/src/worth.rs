//! What of a session is worth citing, kept up as events come.

use std::collections::VecDeque;

use segue_continuation::deeds::edited_path;
use segue_continuation::phrases::{
    CORRECTION_OPENINGS, CORRECTIONS, DECISIONS, DENIALS, QUIET_TOOLS, opens_with, says,
};
use segue_event::{
    Author, Block, CallSite, Digest, Fold, Message, Recommended, Recorded, ResultStatus, Seq, SeqRange,
    SessionId, ToolResult, TranscriptEvent, WhyRecommended,
};

/// How many ranges are remembered for each reason, the newest ones.
pub const REMEMBERED_MAX: usize = 64;

/// How many ranges are recommended for each reason.
pub const RECOMMENDED_EACH_MAX: usize = 4;

/// From how many readings on a range counts as read often.
pub const READ_OFTEN: usize = 2;

/// How many readings of a range are counted, the newest ones.
pub const READINGS_MAX: usize = 8;

/// A reading of more events than this is no recall of a place, but leafing.
pub const READ_EVENTS_MAX: u64 = 32;

/// What of a session is worth citing, as a fold over its transcript.
///
/// It holds places, no text, and never more than [`REMEMBERED_MAX`] for each reason, however long the session is. What
/// it knows of the newest events does not depend on whether it saw those before them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worth {
    session: SessionId,
    /// What the session's own projection left out, with its readings.
    left_out: Vec<(Place, Readings)>,
    read: Newest<Place, Readings>,
    corrections: Newest<Seq, ()>,
    denials: Newest<Digest, Seq>,
    errors: Newest<Digest, Seq>,
    decisions: Newest<Seq, ()>,
    files: Newest<Digest, CallSite>,
}

/// Events of a session.
type Place = (SessionId, SeqRange);

impl Worth {
    /// Nothing yet. `left_out` is what the session's own projection was to show and did not; of it the first
    /// [`REMEMBERED_MAX`] are watched.
    pub fn new(session: SessionId, left_out: impl IntoIterator<Item = (SessionId, SeqRange)>) -> Self {
        let watched = left_out.into_iter().take(REMEMBERED_MAX);
        Self {
            session,
            left_out: watched.map(|place| (place, Readings::default())).collect(),
            read: Newest::default(),
            corrections: Newest::default(),
            denials: Newest::default(),
            errors: Newest::default(),
            decisions: Newest::default(),
            files: Newest::default(),
        }
    }

    /// What is worth citing, the best first, judged by the events from `since` on.
    ///
    /// What was left out and read back comes first. Then the reasons take turns, each with its newest, at most
    /// [`RECOMMENDED_EACH_MAX`] of each.
    pub fn recommend(&self, since: Seq) -> Vec<Recommended> {
        let mut recommended = Vec::new();
        for place in often(&self.left_out, since) {
            add(&mut recommended, place, WhyRecommended::LeftOutBefore);
        }
        let rows = self.rows(since);
        for turn in 0..RECOMMENDED_EACH_MAX {
            for (why, places) in &rows {
                places.get(turn).into_iter().for_each(|place| add(&mut recommended, *place, *why));
            }
        }
        recommended
    }

    /// The places for each reason, the best first.
    fn rows(&self, since: Seq) -> [(WhyRecommended, Vec<Place>); 6] {
        let own = |seqs: Vec<Seq>| {
            let recent = seqs.into_iter().filter(|seq| *seq >= since);
            recent.map(|seq| (self.session, SeqRange::one(seq))).collect()
        };
        [
            (WhyRecommended::RecalledOften, often(self.read.newest(), since)),
            (WhyRecommended::Correction, own(self.corrections.newest().map(|(seq, ())| *seq).collect())),
            (WhyRecommended::Denial, own(self.denials.newest().map(|(_, seq)| *seq).collect())),
            (WhyRecommended::Error, own(self.errors.newest().map(|(_, seq)| *seq).collect())),
            (WhyRecommended::Decision, own(self.decisions.newest().map(|(seq, ())| *seq).collect())),
            (WhyRecommended::EditedFile, own(self.files.newest().map(|(_, site)| site.message).collect())),
        ]
    }

    fn message(&mut self, seq: Seq, message: &Message) {
        match message.author {
            Author::User if texts(&message.blocks).any(corrects) => self.corrections.put(seq, ()),
            Author::Agent => self.agent_message(seq, &message.blocks),
            Author::User | Author::System | Author::Trigger => {}
        }
    }

    fn agent_message(&mut self, seq: Seq, blocks: &[Block]) {
        if texts(blocks).any(|text| says(text, DECISIONS)) {
            self.decisions.put(seq, ());
        }
        for (block, content) in (0..).zip(blocks) {
            if let Block::ToolCall(call) = content
                && let Some(path) = edited_path(call)
            {
                self.files.put(Digest::of(path.as_bytes()), CallSite { message: seq, block });
            }
        }
    }

    fn result(&mut self, seq: Seq, result: &ToolResult) {
        self.readings(seq, result);
        if result.status == ResultStatus::Ok || QUIET_TOOLS.contains(&result.tool.as_str()) {
            return;
        }
        // A change that failed tells nothing of the file.
        self.files.forget(|site| Some(*site) == result.call.site);
        let text = texts(&result.blocks).next().unwrap_or_default();
        let kind = if says(text, DENIALS) { &mut self.denials } else { &mut self.errors };
        kind.put(Digest::of(text.as_bytes()), seq);
    }

    fn readings(&mut self, seq: Seq, result: &ToolResult) {
        for (place, readings) in &mut self.left_out {
            if touches(result, *place) {
                readings.add(seq);
            }
        }
        for touched in &result.touched {
            let SeqRange { from, to } = touched.range;
            if to.get() - from.get() < READ_EVENTS_MAX {
                self.read.change((touched.thread, touched.range), |readings| readings.add(seq));
            }
        }
    }
}

impl Fold for Worth {
    type Family = TranscriptEvent;

    fn apply(&mut self, recorded: &Recorded<TranscriptEvent>) {
        let seq = recorded.seq;
        match &recorded.event {
            TranscriptEvent::Message(message) => self.message(seq, message),
            TranscriptEvent::ToolResult(result) => self.result(seq, result),
            TranscriptEvent::ErrorNoted(error) => self.errors.put(Digest::of(error.message.as_bytes()), seq),
            TranscriptEvent::Unreadable(_)
            | TranscriptEvent::Lost(_)
            | TranscriptEvent::ContextCompacted(_) => {}
        }
    }
}

/// Whether a tool read some of a place.
pub(crate) fn touches(result: &ToolResult, (thread, range): Place) -> bool {
    let meets = |other: SeqRange| other.from <= range.to && range.from <= other.to;
    result.touched.iter().any(|touched| touched.thread == thread && meets(touched.range))
}

fn add(recommended: &mut Vec<Recommended>, (thread, range): Place, why: WhyRecommended) {
    let is_there = recommended.iter().any(|other| other.thread == thread && other.range == range);
    if !is_there {
        recommended.push(Recommended { thread, range, why });
    }
}

/// The places that were read often, those first that were read most.
fn often<'a>(read: impl IntoIterator<Item = &'a (Place, Readings)>, since: Seq) -> Vec<Place> {
    let counted = read.into_iter().map(|(place, readings)| (readings.since(since), *place));
    let mut often: Vec<_> = counted.filter(|(times, _)| *times >= READ_OFTEN).collect();
    often.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    often.into_iter().map(|(_, place)| place).collect()
}

fn texts(blocks: &[Block]) -> impl Iterator<Item = &str> {
    blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

fn corrects(text: &str) -> bool {
    opens_with(text, CORRECTION_OPENINGS) || says(text, CORRECTIONS)
}

/// When a place was read, the newest [`READINGS_MAX`] times.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Readings(VecDeque<Seq>);

impl Readings {
    fn add(&mut self, seq: Seq) {
        self.0.push_back(seq);
        if self.0.len() > READINGS_MAX {
            self.0.pop_front();
        }
    }

    fn since(&self, since: Seq) -> usize {
        self.0.iter().filter(|seq| **seq >= since).count()
    }
}

/// The newest [`REMEMBERED_MAX`] things, each once, the oldest first.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Newest<K, V>(Vec<(K, V)>);

impl<K, V> Default for Newest<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: PartialEq, V> Newest<K, V> {
    /// Adds something, or moves it to the front of all.
    fn put(&mut self, key: K, value: V) {
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, value));
        if self.0.len() > REMEMBERED_MAX {
            self.0.remove(0);
        }
    }

    /// Changes what is there, or else a fresh value, which then counts as newest.
    fn change(&mut self, key: K, change: impl FnOnce(&mut V))
    where
        V: Default,
    {
        let at = self.0.iter().position(|(other, _)| *other == key);
        let mut value = at.map(|at| self.0.remove(at).1).unwrap_or_default();
        change(&mut value);
        self.put(key, value);
    }

    fn forget(&mut self, is_meant: impl Fn(&V) -> bool) {
        self.0.retain(|(_, value)| !is_meant(value));
    }

    fn newest(&self) -> impl Iterator<Item = &(K, V)> {
        self.0.iter().rev()
    }
}
