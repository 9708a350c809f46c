//! `segue get`: entries in full, exactly.

use segue::event::{Seq, SessionId};
use segue::frame::line;
use segue::thread::{FETCH_BYTES, Fetched, Piece, TextPlace, WINDOW_ENTRIES_MAX, Window};
use segue::{Reader, Scope};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;
use crate::thread_argument::resolve;

/// Which entries.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, or `latest`.
    #[arg(required_unless_present = "file")]
    thread: Option<String>,
    /// The event's number, as in brackets.
    #[arg(value_parser = clap::value_parser!(u64).range(1..), required_unless_present = "file")]
    seq: Option<u64>,
    /// Instead of both: the file that a session was imported from, or the last parts of its path.
    #[arg(long, requires = "entry", conflicts_with_all = ["thread", "seq"])]
    file: Option<String>,
    /// The entry's own id in that file.
    #[arg(long, value_name = "ID", requires = "file")]
    entry: Option<String>,
    /// So many entries before it as well.
    #[arg(long, default_value_t = 0, value_parser = entries)]
    before: usize,
    /// So many entries behind it as well.
    #[arg(long, default_value_t = 0, value_parser = entries)]
    after: usize,
    /// Writes one text of the event to the byte, without a label: the first is 0.
    #[arg(long, conflicts_with_all = ["before", "after", "cursor"])]
    part: Option<u32>,
    /// How many bytes of text are given at once.
    #[arg(long, value_name = "BYTES", default_value_t = FETCH_BYTES)]
    max_bytes: usize,
    /// Goes on where an answer before this one ended, or at a place `seq.part.byte`.
    #[arg(long)]
    cursor: Option<String>,
}

fn entries(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count <= WINDOW_ENTRIES_MAX);
    count.ok_or_else(|| format!("`{text}` is no number of entries up to {WINDOW_ENTRIES_MAX}"))
}

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let reader = place.read()?.reader(Scope::Workspace);
    let (thread, seq) = arguments.entry(&reader)?;
    if let Some(part) = arguments.part {
        return one_text(&reader, thread, seq, part);
    }
    let window = Window { thread, seq, before: arguments.before, after: arguments.after };
    let from: Option<TextPlace> = arguments.cursor.as_deref().map(str::parse).transpose()?;
    let fetched = reader.fetch(window, from, arguments.max_bytes)?;
    Ok(Answer::new(show(&fetched), &to_json(thread, &fetched)))
}

impl Arguments {
    fn entry(&self, reader: &Reader) -> Result<(SessionId, Seq), Failure> {
        if let (Some(file), Some(entry)) = (&self.file, &self.entry) {
            return reader.find_imported(file, entry)?.ok_or_else(|| {
                let message = format!("no session of {file} has an entry {entry}");
                Failure::new(Exit::NotFound, "entry-not-found", message, "`segue import` brings it in")
            });
        }
        let thread = resolve(reader, self.thread.as_deref().unwrap_or_default())?;
        Ok((thread, self.seq.and_then(Seq::new).unwrap_or(Seq::FIRST)))
    }
}

fn one_text(reader: &Reader, thread: SessionId, seq: Seq, part: u32) -> Result<Answer, Failure> {
    let place = TextPlace { seq, part, offset: 0 };
    let window = Window { thread, seq, before: 0, after: 0 };
    let all = reader.fetch(window, None, usize::MAX)?;
    let found = all.pieces.iter().find(|piece| piece.place == place).ok_or_else(|| {
        let there: Vec<_> = all.pieces.iter().map(|piece| piece.place.part.to_string()).collect();
        let message = format!("event {seq} has no text {part}; it has {}", there.join(", "));
        Failure::new(Exit::NotFound, "part-not-found", message, "")
    })?;
    Ok(Answer::exact(found.text.clone().into_bytes(), &to_json(thread, &all)))
}

fn show(fetched: &Fetched) -> String {
    let mut text = String::new();
    for Piece { place, who, text: said, whole, .. } in &fetched.pieces {
        line::write(&mut text, place.seq, who, said);
        if (said.len() as u64) < whole.bytes {
            let end = place.offset + said.len() as u64;
            text.push_str(&format!(
                "(bytes {}-{end} of {}, blake3 {})\n",
                place.offset, whole.bytes, whole.blake3
            ));
        }
    }
    if let Some(next) = fetched.next {
        text.push_str(&format!("there is more: go on with --cursor {next}\n"));
    }
    text
}

fn to_json(thread: SessionId, fetched: &Fetched) -> Value {
    json!({
        "thread": thread.to_string(),
        "pieces": fetched.pieces.iter().map(piece).collect::<Vec<_>>(),
        "cursor": fetched.next.map(|next| next.to_string()),
    })
}

fn piece(piece: &Piece) -> Value {
    json!({
        "seq": piece.place.seq,
        "part": piece.place.part,
        "offset": piece.place.offset,
        "who": piece.who.as_str(),
        "time": piece.time.to_string(),
        "text": piece.text,
        "text_bytes": piece.whole.bytes,
        "blake3": piece.whole.blake3,
    })
}
