//! Whether an agent is asked to go on after a compaction.

use segue_event::CompactionReason;

use super::{HandoffSettings, is_unfinished};

/// The follow-up that lets an agent go on.
pub const CONTINUE_TEXT: &str = "Continue.";

/// The follow-up that asks an agent to keep what lasts, once the harness's summary is its note.
pub const CONSOLIDATE_TEXT: &str = "\
Your context was compacted. Before you go on, write down what should outlast this session: facts about the project, \
decisions and their reasons, and what the user prefers, each where you keep such things. Leave out what only concerns \
the work at hand, and what is written down already. Then continue.";

/// What is known of a compaction when it is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compacted {
    /// Why the context was compacted.
    pub reason: CompactionReason,
    /// Whether the harness goes on by itself.
    pub retry: Retry,
    /// Whether the agent was asked to go on since the user's last word.
    pub nudge: Nudge,
}

/// Whether a harness tries the interrupted request again by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retry {
    /// It does.
    Will,
    /// It does not.
    WillNot,
}

/// Whether an agent was asked to go on since the user's last word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nudge {
    /// It was: once more would make a loop of it.
    Sent,
    /// It was not.
    NotSent,
}

/// What an agent is told after a compaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// Nothing.
    No,
    /// To go on: [`CONTINUE_TEXT`].
    Continue,
    /// To keep what lasts, and to go on: [`CONSOLIDATE_TEXT`].
    Consolidate,
}

impl Resume {
    /// The text of the follow-up; none if there is none.
    pub const fn text(self) -> Option<&'static str> {
        match self {
            Self::No => None,
            Self::Continue => Some(CONTINUE_TEXT),
            Self::Consolidate => Some(CONSOLIDATE_TEXT),
        }
    }

    /// Whether a message is one of the follow-ups, word for word.
    pub fn is_follow_up(text: &str) -> bool {
        [CONTINUE_TEXT, CONSOLIDATE_TEXT].contains(&text)
    }
}

/// What an agent is told after a compaction.
///
/// Only after one that came because the context was nearly full and that the harness does not retry, and only once
/// between two words of the user. To consolidate comes first, then going on always, then going on where the bullets
/// say that something is unfinished.
pub fn resume(settings: &HandoffSettings, compacted: Compacted, bullets: &[String]) -> Resume {
    let Compacted { reason, retry, nudge } = compacted;
    if reason != CompactionReason::Threshold || retry == Retry::Will || nudge == Nudge::Sent {
        Resume::No
    } else if settings.consolidate_on_compact {
        Resume::Consolidate
    } else if settings.auto_resume_after_threshold_compaction
        || bullets.iter().any(|bullet| is_unfinished(bullet))
    {
        Resume::Continue
    } else {
        Resume::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Compacted =
        Compacted { reason: CompactionReason::Threshold, retry: Retry::WillNot, nudge: Nudge::NotSent };

    fn settings(always: bool, consolidate: bool) -> HandoffSettings {
        HandoffSettings {
            auto_resume_after_threshold_compaction: always,
            consolidate_on_compact: consolidate,
            ..HandoffSettings::default()
        }
    }

    #[test]
    fn one_comes_before_the_other() {
        for (always, consolidate, bullet, expected) in [
            (false, false, "all is done", Resume::No),
            (false, false, "tests are pending", Resume::Continue),
            (true, false, "all is done", Resume::Continue),
            (true, false, "tests are pending", Resume::Continue),
            (false, true, "all is done", Resume::Consolidate),
            (false, true, "tests are pending", Resume::Consolidate),
            (true, true, "all is done", Resume::Consolidate),
        ] {
            let bullets = ["first".to_owned(), bullet.to_owned()];
            assert_eq!(resume(&settings(always, consolidate), QUIET, &bullets), expected, "{bullet}");
        }
        assert_eq!(resume(&settings(true, false), QUIET, &[]), Resume::Continue);
        assert_eq!(resume(&settings(false, false), QUIET, &[]), Resume::No);
    }

    #[test]
    fn it_is_asked_after_threshold_compactions_only_and_never_twice() {
        let reasons =
            CompactionReason::ALL.into_iter().filter(|reason| *reason != CompactionReason::Threshold);
        let others = reasons.map(|reason| Compacted { reason, ..QUIET });
        let refused = [Compacted { retry: Retry::Will, ..QUIET }, Compacted { nudge: Nudge::Sent, ..QUIET }];
        for compacted in others.chain(refused) {
            assert_eq!(resume(&settings(true, true), compacted, &["need to".to_owned()]), Resume::No);
        }
    }

    #[test]
    fn the_follow_ups_know_themselves() {
        assert_eq!(Resume::No.text(), None);
        for told in [Resume::Continue, Resume::Consolidate] {
            assert!(told.text().is_some_and(Resume::is_follow_up));
        }
        assert!(!Resume::is_follow_up("Continue"));
    }
}
