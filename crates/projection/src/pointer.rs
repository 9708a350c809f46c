//! What stands in place of a full context: pure text, made without a model.
//!
//! How to read back, and where, is never cut. Then the sections have their room in this order: the request, the plan's
//! open steps, the last progress, the index of user messages, and the files; what comes later shrinks first.

use segue_event::{
    Author, ByteRange, ContinuationId, Cut, Digest, Handoff, Included, Manifest, MessageOrigin, Omitted,
    OmittedItem, Plan, PlanTransfer, Position, ProjectionPart, Seq, SeqRange, SessionId, WhyOmitted,
};
use segue_frame::{Tag, Who, attribute, escape, indent, line};

use crate::Diagnostic;
use crate::look_back::{Asked, Ending, HeldText, LookBack, Reach};
use crate::ranges::subtract;
use segue_continuation::deeds::FileUse;

/// The version of what makes pointers. It goes up whenever the same input would give other bytes.
pub const POINTER_COMPILER: u32 = 1;

/// The most bytes that a pointer can have: 4 KiB.
pub const POINTER_BYTES_MAX: usize = 4 * 1_024;

/// So many bytes a pointer has at most unless the request or the plan is long.
pub const POINTER_BYTES_GOAL: usize = 1_100;

/// A request that is longer than this, in bytes, is shown by its beginning and its number: 1 KiB.
pub const REQUEST_BYTES_MAX: usize = 1_024;

/// A request that is not longer takes at most so many rendered bytes: each line of it is indented.
const REQUEST_RENDERED_MAX: usize = 1_536;

/// The smallest and the largest size of the sections behind the request, in bytes.
const PROGRESS: Share = Share { least: 64, most: 240 };
const PLAN: Share = Share { least: 160, most: 400 };
const INDEX: Share = Share { least: 88, most: 280 };
const FILES: Share = Share { least: 88, most: 320 };

/// How much of a user message the index shows, in characters.
const INDEX_CHARS_MAX: usize = 32;

/// A file's name that is longer, rendered, is not named: it would leave no room for what it is named for.
const SOURCE_BYTES_MAX: usize = 700;

/// A file's path that is longer, in characters, is shown by its end.
const PATH_CHARS_MAX: usize = 80;

/// Everything a pointer is made from. What has to be read from a log was read before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PointerInput {
    /// The pointer's id.
    pub continuation: ContinuationId,
    /// The session that it points at.
    pub thread: SessionId,
    /// The file that the session was imported from; none if it was not.
    pub source: Option<String>,
    /// The folder the agent works in; what lies in it is named from there.
    pub working_directory: String,
    /// What was found going back from the head.
    pub found: LookBack,
    /// The plan; none if there is none.
    pub plan: Option<Plan>,
    /// What becomes of the plan.
    pub transfer: PlanTransfer,
    /// The newest event of the session.
    pub head: Seq,
    /// The newest event of the log.
    pub compiled_at: Option<Position>,
}

/// What stands in place of a context, with its account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The text, at most [`POINTER_BYTES_MAX`].
    pub text: String,
    /// Where every byte of it comes from, and what was left out.
    pub manifest: Manifest,
    /// The request that it states.
    pub request: Option<MessageOrigin>,
}

/// Makes a pointer. What does not fit is left out and listed.
pub fn point(input: &PointerInput) -> (Pointer, Vec<Diagnostic>) {
    let frame = Frame::of(input);
    let mut sections =
        Sections { left: POINTER_BYTES_MAX.saturating_sub(frame.len()), ..Sections::default() };
    let (request, diagnostics) = request_section(input);
    sections.push(request);
    // What is not of the request shares what it leaves of the goal.
    let mut goal = POINTER_BYTES_GOAL.saturating_sub(frame.len() + sections.len());
    for (share, part, make) in [
        (PLAN, 2, plan_section as fn(&PointerInput, usize) -> Section),
        (PROGRESS, 4, progress_section),
        (INDEX, 2, index_section),
        (FILES, 1, files_section),
    ] {
        let section = make(input, share.of(goal / part).min(sections.left));
        goal = goal.saturating_sub(section.text.len());
        sections.push(section);
    }
    sections.in_order();
    let pointer = assemble(input, &frame, sections);
    (pointer, diagnostics)
}

/// How much room a section has.
#[derive(Clone, Copy)]
struct Share {
    least: usize,
    most: usize,
}

impl Share {
    fn of(self, goal: usize) -> usize {
        goal.clamp(self.least, self.most)
    }
}

/// The beginning and the end, which are always there.
struct Frame {
    opening: String,
    closing: String,
}

impl Frame {
    fn of(input: &PointerInput) -> Self {
        let (continuation, thread) = (input.continuation.to_string(), format!("thread:{}", input.thread));
        let source = input.source.as_deref().filter(|source| attribute(source).len() <= SOURCE_BYTES_MAX);
        let mut attributes = vec![("continuation", continuation.as_str()), ("thread", &thread)];
        attributes.extend(source.map(|source| ("file", source)));
        let empty = Tag::ContextPointer.frame(&attributes, "");
        let end = format!("</{}>\n", Tag::ContextPointer.name());
        let opening = empty.strip_suffix(end.as_str()).unwrap_or(&empty);
        let without = match source {
            Some(_) => "read the named file with your own".to_owned(),
            None => format!("`segue show {0}`, `segue get {0} SEQ`", input.thread),
        };
        Self {
            opening: format!("{opening}{INTRODUCTION}"),
            closing: format!("{READING_BACK}{without}.\n{end}"),
        }
    }

    fn len(&self) -> usize {
        self.opening.len() + self.closing.len()
    }
}

const INTRODUCTION: &str = "\
This stands in place of the conversation so far; nothing of it was summarised or deleted.
";

const READING_BACK: &str = "\
To read back: `recall` with words used there; `recall_get` with thread and [seq]. Without these tools: ";

/// A section, and what of a transcript it shows.
#[derive(Default)]
struct Section {
    name: &'static str,
    text: String,
    included: Vec<Included>,
}

impl Section {
    fn add(&mut self, thread: SessionId, shown: &ShownLine) {
        self.text.push_str(&shown.text);
        self.included.push(Included {
            thread,
            range: SeqRange::one(shown.seq),
            cuts: shown.cut.into_iter().collect(),
            rendered: Digest::of(shown.text.as_bytes()),
        });
    }
}

/// The sections so far, and the bytes that are left for more.
#[derive(Default)]
struct Sections {
    all: Vec<Section>,
    left: usize,
}

impl Sections {
    fn push(&mut self, section: Section) {
        if !section.text.is_empty() && section.text.len() <= self.left {
            self.left -= section.text.len();
            self.all.push(section);
        }
    }

    fn len(&self) -> usize {
        self.all.iter().map(|section| section.text.len()).sum()
    }

    /// They are made in the order of what must have its room, and read in another.
    fn in_order(&mut self) {
        let order = ["request", "progress", "plan", "index", "files"];
        self.all.sort_by_key(|section| order.iter().position(|name| *name == section.name));
    }
}

fn assemble(input: &PointerInput, frame: &Frame, sections: Sections) -> Pointer {
    let mut text = String::new();
    let mut parts = Vec::new();
    let mut included = Vec::new();
    let mut push = |name: &str, piece: &str| {
        text.push_str(piece);
        parts.push(ProjectionPart { name: name.to_owned(), digest: Digest::of(piece.as_bytes()) });
    };
    push("opening", &frame.opening);
    for section in sections.all {
        push(section.name, &section.text);
        included.extend(section.included);
    }
    push("closing", &frame.closing);
    let manifest = Manifest {
        compiler: POINTER_COMPILER,
        budget_bytes: POINTER_BYTES_MAX as u64,
        handoff: Handoff::default(),
        sources: Vec::new(),
        recommended: Vec::new(),
        parts,
        omitted: omitted(input, &included),
        included,
        plan: input.transfer,
        projection: Digest::of(text.as_bytes()),
        compiled_at: input.compiled_at,
    };
    Pointer { text, manifest, request: input.found.request.as_ref().map(|asked| asked.origin) }
}

/// Every event of the session of which nothing is shown.
fn omitted(input: &PointerInput, included: &[Included]) -> Vec<Omitted> {
    let own = included.iter().filter(|included| included.thread == input.thread);
    let shown: Vec<_> = own.map(|included| included.range).collect();
    let left_out = subtract(SeqRange::up_to(input.head), &shown).into_iter();
    let item = |range| OmittedItem::Events { thread: input.thread, range };
    left_out.map(|range| Omitted { item: item(range), why: WhyOmitted::BeyondRecipe }).collect()
}

fn request_section(input: &PointerInput) -> (Section, Vec<Diagnostic>) {
    let mut section = Section { name: "request", ..Section::default() };
    let Some(Asked { origin, author, text, pictures }) = &input.found.request else {
        section.text.push_str("Nothing was asked for yet.\n");
        return (section, vec![Diagnostic::NoRequest]);
    };
    section.text.push_str(match input.found.ending() {
        Ending::Open => "The latest request, to go on with",
        Ending::Answered => "The latest request, which was answered",
    });
    if origin.session != input.thread {
        section.text.push_str(&format!(", in thread:{}", origin.session));
    }
    section.text.push_str(":\n");
    let Some(text) = text else {
        let what = format!("no text; pictures: {}", pictures.len());
        line::write(&mut section.text, origin.seq, &Who::new(label(*author)), &what);
        return (section, Vec::new());
    };
    let is_whole = text.all_bytes == text.text.len() && text.text.len() <= REQUEST_BYTES_MAX;
    let bytes_max = if is_whole { REQUEST_RENDERED_MAX } else { REQUEST_BYTES_MAX };
    let Some(shown) = show(origin.seq, label(*author), text, 0..text.text.len(), bytes_max) else {
        return (section, Vec::new());
    };
    let bytes = text.all_bytes as u64;
    let cut = shown.cut;
    section.add(origin.session, &shown);
    let Some(Cut { shown, .. }) = cut else { return (section, Vec::new()) };
    let more = format!("{} more bytes: read [{}] back", bytes.saturating_sub(shown.end), origin.seq);
    line::write(&mut section.text, origin.seq, &Who::new("(cut)"), &more);
    (section, vec![Diagnostic::RequestCut { seq: origin.seq, bytes }])
}

fn progress_section(input: &PointerInput, bytes_max: usize) -> Section {
    let mut section = Section { name: "progress", text: "Last said:\n".to_owned(), ..Section::default() };
    let left = bytes_max.saturating_sub(section.text.len());
    let Some((seq, text)) = &input.found.progress else { return Section::default() };
    let Some(shown) = show(*seq, "agent", text, 0..text.text.len(), left) else {
        return Section::default();
    };
    section.add(input.thread, &shown);
    section
}

fn plan_section(input: &PointerInput, bytes_max: usize) -> Section {
    let steps = input.plan.iter().flat_map(|plan| &plan.steps);
    let open: Vec<_> = steps.filter(|step| !step.status.is_settled()).collect();
    if open.is_empty() {
        return Section::default();
    }
    let mut text = "Open steps of the plan:\n".to_owned();
    for (number, step) in open.iter().enumerate() {
        let (id, label) = (beginning(&step.id, 16), beginning(&step.label, 60));
        let line = format!("- [{}] {}: {}\n", step.status.as_str(), inset(id), inset(label));
        let more = format!("- {} more\n", open.len() - number);
        if text.len() + line.len() + more.len() > bytes_max {
            text.push_str(&more);
            break;
        }
        text.push_str(&line);
    }
    Section { name: "plan", text, included: Vec::new() }
}

fn index_section(input: &PointerInput, bytes_max: usize) -> Section {
    let found = &input.found;
    let mut shown = Vec::new();
    let mut left = bytes_max.saturating_sub(INDEX_HEAD_BYTES);
    for message in &found.earlier {
        let span = first_words(&message.text.text);
        let line = show(message.seq, label(message.author), &message.text, span, left);
        // Newest first while they fit: a gap would mislead.
        let Some(line) = line else { break };
        left = left.saturating_sub(line.text.len());
        shown.push(line);
    }
    let unshown = found.earlier.len() - shown.len() + found.more_messages;
    if shown.is_empty() {
        return Section::default();
    }
    let mut section = Section { name: "index", ..Section::default() };
    section.text = format!("Earlier requests{}:\n", more(unshown, found.reach));
    shown.into_iter().rev().for_each(|line| section.add(input.thread, &line));
    section
}

/// The longest heading of the index.
const INDEX_HEAD_BYTES: usize = 48;

fn files_section(input: &PointerInput, bytes_max: usize) -> Section {
    let found = &input.found;
    let named = found.files.iter().map(|(path, how)| (shown_path(path, &input.working_directory), *how));
    let mut named: Vec<_> = named.collect();
    loop {
        let unshown = found.files.len() - named.len() + found.more_files();
        let text = render_files(&named, unshown, found.reach);
        if named.is_empty() {
            return Section::default();
        }
        if text.len() <= bytes_max {
            return Section { name: "files", text, included: Vec::new() };
        }
        named.pop();
    }
}

fn render_files(named: &[(String, FileUse)], unshown: usize, reach: Reach) -> String {
    let mut text = format!("Files, newest first{}:\n", more(unshown, reach));
    for how in [FileUse::Edited, FileUse::Written, FileUse::Read] {
        let of_it = named.iter().filter(|(_, other)| *other == how).map(|(path, _)| path.as_str());
        let of_it: Vec<_> = of_it.collect();
        if !of_it.is_empty() {
            text.push_str(&format!("- {}: {}\n", how.as_str(), of_it.join(", ")));
        }
    }
    text
}

fn more(unshown: usize, reach: Reach) -> String {
    match (unshown, reach) {
        (0, Reach::Everything) => String::new(),
        (count, Reach::Everything) => format!(" ({count} more)"),
        (_, Reach::Newest) => " (there are older ones)".to_owned(),
    }
}

/// One line of a transcript as it is rendered.
struct ShownLine {
    seq: Seq,
    text: String,
    /// None if all of the event's text is there.
    cut: Option<Cut>,
}

/// Renders as much of a stretch of a text as `bytes_max` takes; none if nothing does.
fn show(
    seq: Seq,
    who: &str,
    held: &HeldText,
    stretch: std::ops::Range<usize>,
    bytes_max: usize,
) -> Option<ShownLine> {
    let who = Who::new(who);
    let mut end = stretch.end;
    loop {
        let shown = held.text.get(stretch.start..end).filter(|shown| !shown.is_empty())?;
        let mut text = String::new();
        line::write(&mut text, seq, &who, shown);
        let over = text.len().saturating_sub(bytes_max);
        if over == 0 {
            let is_whole = shown.len() == held.all_bytes;
            let shown = ByteRange { start: stretch.start as u64, end: end as u64 };
            return Some(ShownLine { seq, text, cut: (!is_whole).then_some(Cut { part: held.part, shown }) });
        }
        // A byte that is taken away makes the line shorter by one at least and by a line break's indent at most.
        let step = (over / (1 + line::INDENT.len())).max(1);
        end = held.text.floor_char_boundary(end.saturating_sub(step));
    }
}

/// From the first word to the end of its line, as far as the index shows.
fn first_words(text: &str) -> std::ops::Range<usize> {
    let start = text.len() - text.trim_start().len();
    let rest = text.get(start..).unwrap_or_default();
    let words = beginning(rest, INDEX_CHARS_MAX);
    let end = words.find(|character: char| character.is_control() || "\u{2028}\u{2029}".contains(character));
    let line = words.get(..end.unwrap_or(words.len())).unwrap_or_default();
    start..start + line.trim_end().len()
}

/// A path as it is named: from the working directory if it lies there, and by its end if it is long.
fn shown_path(path: &str, working_directory: &str) -> String {
    let folder = working_directory.trim_end_matches('/');
    let inside = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    let path = inside.filter(|_| !folder.is_empty()).unwrap_or(path);
    let cut = path.chars().count().saturating_sub(PATH_CHARS_MAX);
    let tail: String = path.chars().skip(cut).collect();
    inset(&if cut > 0 { format!("…{tail}") } else { tail })
}

fn beginning(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

fn inset(text: &str) -> String {
    indent(&escape(text), "  ").into_owned()
}

const fn label(author: Author) -> &'static str {
    match author {
        Author::User => "user",
        Author::Agent => "agent",
        Author::System => "system",
        Author::Trigger => "trigger",
    }
}
