//! What a pointer takes from a transcript, read backwards until there is enough of it.

use segue_event::{Attachment, Author, Block, Digest, Message, MessageOrigin, Recorded, Role, Seq};

use segue_continuation::deeds::{FileUse, touched_by};

/// The most user messages that a pointer lists beside the request.
pub const INDEX_MAX: usize = 5;

/// The most files that a pointer lists.
pub const FILES_MAX: usize = 8;

/// The most pictures of the request that go along.
pub const PICTURES_MAX: usize = 4;

/// So much of a text is held, in bytes; no section of a pointer shows more.
const HELD_BYTES_MAX: usize = 2_048;

/// What is known of a transcript, from its newest message backwards.
///
/// It is bounded, whatever the messages hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LookBack {
    pub(crate) request: Option<Asked>,
    pub(crate) progress: Option<(Seq, HeldText)>,
    pub(crate) earlier: Vec<Indexed>,
    pub(crate) files: Vec<(String, FileUse)>,
    /// The files that are not held, so that each counts once.
    other_files: Vec<Digest>,
    pub(crate) more_messages: usize,
    ending: Option<Ending>,
    pub(crate) reach: Reach,
}

/// How far was looked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reach {
    /// There may be more before.
    #[default]
    Newest,
    /// To the beginning.
    Everything,
}

/// Whether a transcript waits for its agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The agent said its last word.
    Answered,
    /// It has something to do still.
    Open,
}

/// A request of a user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Where it was made.
    pub origin: MessageOrigin,
    /// Its pictures, the first [`PICTURES_MAX`].
    pub pictures: Vec<Attachment>,
    pub(crate) author: Author,
    /// None if it has no text.
    pub(crate) text: Option<HeldText>,
}

/// The beginning of one text of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HeldText {
    /// Which of the message's texts it is.
    pub(crate) part: u32,
    pub(crate) text: String,
    /// How long the message's texts are together.
    pub(crate) all_bytes: usize,
}

/// A user message in the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Indexed {
    pub(crate) seq: Seq,
    pub(crate) author: Author,
    pub(crate) text: HeldText,
}

impl Asked {
    /// What a message asks; none if it comes from no user.
    pub fn of(recorded: &Recorded<Message>) -> Option<Self> {
        let message = &recorded.event;
        if message.role != Role::User || message.author == Author::System {
            return None;
        }
        let origin = MessageOrigin { session: recorded.session, seq: recorded.seq, event: recorded.hash };
        let pictures = pictures(message).take(PICTURES_MAX).cloned().collect();
        Some(Self { origin, pictures, author: message.author, text: HeldText::of(message) })
    }
}

impl LookBack {
    /// Takes the next message, going back.
    pub fn take(&mut self, recorded: &Recorded<Message>) {
        let message = &recorded.event;
        if message.author != Author::System {
            self.ending.get_or_insert_with(|| ending(message));
        }
        match (Asked::of(recorded), message.role) {
            (Some(asked), _) => self.asked(recorded.seq, asked),
            (None, Role::Assistant) => self.agent_message(recorded.seq, message),
            (None, Role::User | Role::System) => {}
        }
    }

    /// Notes that there is nothing before.
    pub fn reached_the_beginning(&mut self) {
        self.reach = Reach::Everything;
    }

    /// Whether nothing more is needed.
    pub fn is_enough(&self) -> bool {
        self.request.is_some()
            && self.progress.is_some()
            && self.earlier.len() == INDEX_MAX
            && self.files.len() == FILES_MAX
    }

    /// The newest request; none if none was met.
    pub fn request(&self) -> Option<&Asked> {
        self.request.as_ref()
    }

    /// Takes a request that was found elsewhere, unless one was met.
    pub fn or_request(&mut self, request: Option<Asked>) {
        self.request = self.request.take().or(request);
    }

    /// Whether the transcript waits for its agent; one without messages does not.
    pub fn ending(&self) -> Ending {
        self.ending.unwrap_or(Ending::Answered)
    }

    /// How many files were met beyond those that are held.
    pub(crate) fn more_files(&self) -> usize {
        self.other_files.len()
    }

    fn asked(&mut self, seq: Seq, asked: Asked) {
        if self.request.is_none() {
            self.request = Some(asked);
            return;
        }
        match asked.text {
            Some(text) if self.earlier.len() < INDEX_MAX => {
                self.earlier.push(Indexed { seq, author: asked.author, text });
            }
            _ => self.more_messages += 1,
        }
    }

    fn agent_message(&mut self, seq: Seq, message: &Message) {
        if self.progress.is_none() {
            self.progress = HeldText::of(message).map(|text| (seq, text));
        }
        // The last call of a message is the newest.
        for block in message.blocks.iter().rev() {
            if let Block::ToolCall(call) = block
                && let Some((path, how)) = touched_by(call)
            {
                self.touch(path, how);
            }
        }
    }

    /// A file that was changed stays so, even if it was read since.
    fn touch(&mut self, path: String, how: FileUse) {
        if let Some((_, known)) = self.files.iter_mut().find(|(other, _)| *other == path) {
            *known = how.max(*known);
        } else if self.files.len() < FILES_MAX {
            self.files.push((path, how));
        } else {
            let digest = Digest::of(path.as_bytes());
            if !self.other_files.contains(&digest) {
                self.other_files.push(digest);
            }
        }
    }
}

impl HeldText {
    /// The beginning of the first text that says something; none if there is none.
    fn of(message: &Message) -> Option<Self> {
        let texts = (0..).zip(&message.blocks).filter_map(|(part, block)| match block {
            Block::Text(text) if !text.trim().is_empty() => Some((part, text)),
            _ => None,
        });
        let all_bytes = texts.clone().map(|(_, text)| text.len()).sum();
        let (part, text) = texts.into_iter().next()?;
        let end = text.floor_char_boundary(HELD_BYTES_MAX);
        Some(Self { part, text: text.get(..end).unwrap_or_default().to_owned(), all_bytes })
    }
}

fn ending(message: &Message) -> Ending {
    let calls = message.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
    if message.role == Role::Assistant && !calls { Ending::Answered } else { Ending::Open }
}

fn pictures(message: &Message) -> impl Iterator<Item = &Attachment> {
    let shown = message.blocks.iter().filter_map(|block| match block {
        Block::Image(picture) => Some(picture),
        _ => None,
    });
    shown.chain(message.attachments.iter().filter(|file| file.media_type.starts_with("image/")))
}
