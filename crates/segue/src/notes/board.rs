//! What the events of a session say about notes.

use segue_event::{Author, Block, Event, EventRef, Message, NoteGiven, Recorded, Role, RunId, Seq};
use segue_prompt::handoff_note::Resume;

/// The notes of a session, folded from its events.
#[derive(Clone, Debug, Default)]
pub(crate) struct NoteBoard {
    /// The newest note that was taken in the session.
    pub(crate) newest: Option<EventRef>,
    /// The newest message that asks the agent for something: of the user, or a follow-up of ours.
    pub(crate) asked: Option<Seq>,
    given: Vec<NoteGiven>,
}

impl NoteBoard {
    pub(crate) fn apply(&mut self, recorded: &Recorded<Event>) {
        match &recorded.event {
            Event::NoteTaken(_) => {
                self.newest = Some(EventRef { seq: recorded.seq, event: recorded.hash });
            }
            Event::NoteGiven(given) => self.given.push(given.clone()),
            Event::Message(message) if asks(message) => self.asked = Some(recorded.seq),
            _ => {}
        }
    }

    /// The note that the prompts of a run show: the newest that was given to it, or to one that did the same work.
    pub(crate) fn given_to(&self, is_same_work: impl Fn(RunId) -> bool) -> Option<&NoteGiven> {
        self.given.iter().rev().find(|given| given.run.is_some_and(&is_same_work))
    }
}

/// The words of a message, its blocks of other kinds left out.
pub(super) fn text_of(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Whether the user said it.
pub(super) fn is_of_user(message: &Message) -> bool {
    message.role == Role::User && message.author == Author::User
}

fn asks(message: &Message) -> bool {
    let is_follow_up = || message.author == Author::System && Resume::is_follow_up(&text_of(message));
    is_of_user(message) || (message.role == Role::User && is_follow_up())
}
