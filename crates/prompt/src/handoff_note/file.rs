//! HANDOFF.md: the newest notes as people read them.
//!
//! The record holds all notes; the file is a view of the last few. What others wrote into it stays as it is.

use segue_event::{NoteBody, NoteTaken, Timestamp};
use segue_frame::{indent, unindent};

/// An entry of the file: a note with its time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandoffEntry {
    /// When the note was taken: local ISO time with its offset.
    pub time: String,
    /// Why the context was compacted, in a word.
    pub reason: String,
    /// What the note says.
    pub body: EntryBody,
}

/// What an entry says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntryBody {
    /// Bullets, one a line.
    Bullets(Vec<String>),
    /// A summary, as a quotation.
    Summary(String),
    /// Something that we do not write, as it stands.
    Other(String),
}

impl HandoffEntry {
    /// The entry of a note that was taken at a time.
    pub fn of(time: Timestamp, note: &NoteTaken) -> Self {
        let body = match &note.body {
            NoteBody::Bullets { bullets, .. } => EntryBody::Bullets(bullets.clone()),
            NoteBody::Summary(summary) => EntryBody::Summary(summary.clone()),
        };
        Self { time: time.to_local_string(), reason: note.reason.as_str().to_owned(), body }
    }

    /// The entry as text: `## <time> (<reason>)`, and what it says, of which no line can open another entry.
    pub fn render(&self) -> String {
        let Self { time, reason, body } = self;
        let body = match body {
            EntryBody::Bullets(bullets) => list(bullets),
            EntryBody::Summary(summary) => quote(summary),
            EntryBody::Other(text) => text.clone(),
        };
        format!("{OPENING}{time} ({reason})\n\n{body}")
    }

    /// Reads an entry; none if the text does not begin with the heading of one.
    fn read(text: &str) -> Option<Self> {
        let (heading, body) = text.split_once('\n').unwrap_or((text, ""));
        let (time, reason) = read_heading(heading)?;
        let body = body.strip_prefix('\n').unwrap_or(body).trim_end_matches('\n');
        let read =
            read_list(body).map(EntryBody::Bullets).or_else(|| read_quote(body).map(EntryBody::Summary));
        let body = read.unwrap_or_else(|| EntryBody::Other(body.to_owned()));
        Some(Self { time: time.to_owned(), reason: reason.to_owned(), body })
    }
}

/// What a line begins with that opens a section.
const OPENING: &str = "## ";

/// Further lines of a bullet.
const INDENT: &str = "  ";

/// Each line of a quotation.
const QUOTED: &str = "> ";

/// Texts as bullets; further lines of a text are indented, so that it comes back whole.
pub(super) fn list(bullets: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    bullets.into_iter().map(|bullet| format!("- {}\n", indent(bullet.as_ref(), INDENT))).collect()
}

fn read_list(text: &str) -> Option<Vec<String>> {
    let mut bullets: Vec<String> = Vec::new();
    if text.is_empty() {
        return Some(bullets);
    }
    for line in text.split('\n') {
        match (line.strip_prefix("- "), bullets.last_mut()) {
            (Some(bullet), _) => bullets.push(bullet.to_owned()),
            (None, Some(bullet)) if line.starts_with(INDENT) => {
                bullet.push('\n');
                bullet.push_str(line);
            }
            _ => return None,
        }
    }
    bullets.iter().map(|bullet| unindent(bullet, INDENT)).collect()
}

/// A text as a quotation, whatever its lines are broken by.
pub(super) fn quote(text: &str) -> String {
    format!("{QUOTED}{}\n", indent(text, QUOTED))
}

fn read_quote(text: &str) -> Option<String> {
    unindent(text.strip_prefix(QUOTED)?, QUOTED)
}

/// The time and the reason of an entry's heading; none if it is some other line.
fn read_heading(line: &str) -> Option<(&str, &str)> {
    let heading = line.trim_end().strip_prefix(OPENING)?;
    let (time, reason) = heading.strip_suffix(')')?.split_once(" (")?;
    looks_like_time(time).then_some((time, reason))
}

fn looks_like_time(text: &str) -> bool {
    let is_of_time = |character: char| character.is_ascii_digit() || "-+:.TZ".contains(character);
    let is_iso = text.chars().all(is_of_time) && text.contains('T');
    let micros = text.strip_suffix(" µs").map(|micros| micros.strip_prefix('-').unwrap_or(micros));
    is_iso || micros.is_some_and(|micros| micros.chars().all(|digit| digit.is_ascii_digit()))
}

/// The file: entries, and between them whatever people wrote there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HandoffFile {
    sections: Vec<Section>,
}

/// A part of the file as it stands there.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Section {
    Entry(String),
    /// Whatever is no entry: it is never dropped.
    Other(String),
}

impl Section {
    fn of(text: String) -> Self {
        if HandoffEntry::read(&text).is_some() { Self::Entry(text) } else { Self::Other(text) }
    }

    fn text(&self) -> &str {
        match self {
            Self::Entry(text) | Self::Other(text) => text,
        }
    }

    fn is(&self, entry: &HandoffEntry) -> bool {
        matches!(self, Self::Entry(text) if text.trim_end_matches('\n') == entry.render().trim_end_matches('\n'))
    }
}

impl HandoffFile {
    /// Reads a file; any text is one.
    pub fn read(text: &str) -> Self {
        let mut sections: Vec<String> = Vec::new();
        for line in text.split_inclusive('\n') {
            match sections.last_mut() {
                Some(section) if !line.starts_with(OPENING) => section.push_str(line),
                _ => sections.push(line.to_owned()),
            }
        }
        Self { sections: sections.into_iter().map(Section::of).collect() }
    }

    /// The file as text: what was read, to the byte, where nothing was changed.
    pub fn render(&self) -> String {
        self.sections.iter().map(Section::text).collect()
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = HandoffEntry> {
        self.sections.iter().filter_map(|section| match section {
            Section::Entry(text) => HandoffEntry::read(text),
            Section::Other(_) => None,
        })
    }

    /// The file with one entry more, at its end, and of all entries the last `keep`. An entry that is there already
    /// is not added again.
    #[must_use]
    pub fn with(mut self, entry: &HandoffEntry, keep: usize) -> Self {
        if !self.sections.iter().any(|section| section.is(entry)) {
            self.end_with_blank_line();
            self.sections.push(Section::Entry(entry.render()));
        }
        self.keeping(keep)
    }

    /// The file without an entry, for another that takes its place.
    #[must_use]
    pub fn without(mut self, entry: &HandoffEntry) -> Self {
        self.sections.retain(|section| !section.is(entry));
        self
    }

    fn keeping(mut self, keep: usize) -> Self {
        let is_entry = |section: &&Section| matches!(section, Section::Entry(_));
        let mut surplus = self.sections.iter().filter(is_entry).count().saturating_sub(keep);
        self.sections.retain(|section| {
            let goes = surplus > 0 && matches!(section, Section::Entry(_));
            surplus -= usize::from(goes);
            !goes
        });
        self
    }

    fn end_with_blank_line(&mut self) {
        let text = self.sections.last_mut().map(|section| match section {
            Section::Entry(text) | Section::Other(text) => text,
        });
        if let Some(text) = text {
            let missing = if text.ends_with("\n\n") {
                ""
            } else if text.ends_with('\n') {
                "\n"
            } else {
                "\n\n"
            };
            text.push_str(missing);
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;
    use segue_event::CompactionReason;

    use super::*;

    fn entry(minute: i64, bullets: &[&str]) -> HandoffEntry {
        let bullets = bullets.iter().map(|bullet| (*bullet).to_owned()).collect();
        let note = NoteTaken {
            compaction: "c".to_owned(),
            reason: CompactionReason::Threshold,
            body: NoteBody::Bullets { bullets, messages: Vec::new() },
            replaces: None,
        };
        HandoffEntry::of(Timestamp { micros: minute * 60_000_000, offset_minutes: 60 }, &note)
    }

    #[test]
    fn the_last_entries_are_kept_and_what_others_wrote_stays() {
        let file = HandoffFile::read(
            "# Mine\n\n## Notes (old)\nkeep this\n## 2026-01-01T00:00:00+00:00 (manual)\nby another",
        )
        .with(&entry(1, &["one"]), 3)
        .with(&entry(2, &["two", "three"]), 3);
        assert_snapshot!(file.render(), @r"
        # Mine

        ## Notes (old)
        keep this
        ## 2026-01-01T00:00:00+00:00 (manual)
        by another

        ## 1970-01-01T01:01:00+01:00 (threshold)

        - one

        ## 1970-01-01T01:02:00+01:00 (threshold)

        - two
        - three
        ");
        let later = file.with(&entry(3, &["four"]), 2);
        assert_snapshot!(later.render(), @r"
        # Mine

        ## Notes (old)
        keep this
        ## 1970-01-01T01:02:00+01:00 (threshold)

        - two
        - three

        ## 1970-01-01T01:03:00+01:00 (threshold)

        - four
        ");
    }

    #[test]
    fn an_entry_is_there_once_and_can_give_way() {
        let file = HandoffFile::default().with(&entry(1, &["one"]), 3).with(&entry(2, &["two"]), 3);
        let again = file.clone().with(&entry(1, &["one"]), 3);
        assert_eq!(again, file);
        assert_eq!(again.without(&entry(2, &["two"])).entries().collect::<Vec<_>>(), [entry(1, &["one"])]);
    }

    #[test]
    fn a_summary_reads_back_with_its_headings() {
        let summary = "## Goal\n\n## 2026-01-01T00:00:00Z (manual)\n- x\n> y\n".to_owned();
        let entry = HandoffEntry { body: EntryBody::Summary(summary), ..entry(1, &[]) };
        let file = HandoffFile::default().with(&entry, 3);
        assert_eq!(HandoffFile::read(&file.render()).entries().collect::<Vec<_>>(), [entry]);
    }

    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            prop::sample::select(
                &[
                    "\n",
                    "\r\n",
                    "\r",
                    "\u{2028}",
                    "## ",
                    "## 2026-01-01T00:00:00Z (manual)\n",
                    "- ",
                    "> ",
                    "  "
                ][..]
            )
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_bullets_read_back(notes in prop::collection::vec(prop::collection::vec(text(), 1..4), 1..5)) {
            let entries: Vec<_> = (1..).zip(&notes).map(|(minute, bullets)| {
                entry(minute, &bullets.iter().map(String::as_str).collect::<Vec<_>>())
            }).collect();
            let file = entries.iter().fold(HandoffFile::default(), |file, entry| file.with(entry, 9));
            prop_assert_eq!(HandoffFile::read(&file.render()).entries().collect::<Vec<_>>(), entries);
        }

        #[test]
        fn any_summary_reads_back(summary in text()) {
            let entry = HandoffEntry { body: EntryBody::Summary(summary), ..entry(1, &[]) };
            let file = HandoffFile::default().with(&entry, 1);
            prop_assert_eq!(HandoffFile::read(&file.render()).entries().collect::<Vec<_>>(), [entry]);
        }

        #[test]
        fn any_time_reads_back(micros in any::<i64>(), offset_minutes in any::<i16>()) {
            let time = Timestamp { micros, offset_minutes }.to_local_string();
            let entry = HandoffEntry { time, ..entry(1, &["one"]) };
            let file = HandoffFile::default().with(&entry, 1);
            prop_assert_eq!(HandoffFile::read(&file.render()).entries().collect::<Vec<_>>(), [entry]);
        }

        #[test]
        fn a_file_that_is_not_changed_keeps_its_bytes(text in text()) {
            prop_assert_eq!(HandoffFile::read(&text).render(), text);
        }
    }
}
