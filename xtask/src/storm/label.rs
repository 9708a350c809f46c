//! What each event of a storm says of itself, so that whoever finds it knows what else must be there.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context as _, ensure};
use segue::event::{Author, Message, Role};
use segue::log::{ClaimKey, LogError};

/// Names one commit of the whole storm.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct CommitName {
    /// The child, from 0.
    pub(super) round: u64,
    /// The thread in it.
    pub(super) thread: u64,
    /// From 0, without gaps within the thread.
    pub(super) number: u64,
}

impl CommitName {
    /// The key that the commit takes if it claims one.
    pub(super) fn claim(self) -> Result<ClaimKey, LogError> {
        ClaimKey::new(self.to_string())
    }
}

impl fmt::Display for CommitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.round, self.thread, self.number)
    }
}

/// Whether a commit takes a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claims {
    Nothing,
    Its,
}

/// What an event says: its commit, and which of how many events of it this one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label {
    pub(super) commit: CommitName,
    pub(super) index: u64,
    pub(super) count: u64,
    pub(super) claims: Claims,
}

impl Label {
    /// An event that says this, and has `padding` bytes more.
    pub(super) fn message(self, padding: usize) -> Message {
        let Self { commit, index, count, claims } = self;
        let claimed = u8::from(claims == Claims::Its);
        let text = format!("{commit} {index} {count} {claimed} {}", "x".repeat(padding));
        Message::text(Role::User, Author::User, text)
    }
}

impl FromStr for Label {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut words = text.split(' ');
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).context("no label");
        let commit = CommitName { round: number()?, thread: number()?, number: number()? };
        let (index, count, claimed) = (number()?, number()?, number()?);
        ensure!(index < count && claimed <= 1, "no label");
        Ok(Self { commit, index, count, claims: if claimed == 1 { Claims::Its } else { Claims::Nothing } })
    }
}

/// Numbers that look random, the same in every run with the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`: splitmix64.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use segue::event::Block;

    use super::*;

    #[test]
    fn a_label_reads_back_from_the_event_that_bears_it() {
        let commit = CommitName { round: 7, thread: 1, number: 40 };
        let label = Label { commit, index: 2, count: 3, claims: Claims::Its };
        let Some(Block::Text(text)) = label.message(20).blocks.pop() else { panic!("no text") };
        assert_eq!(text.parse::<Label>().unwrap(), label);
        assert!("1 2 3 4 4 0".parse::<Label>().is_err());
    }
}
