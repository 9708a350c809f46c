//! An answer as text that is safe to give to a model.

use segue_frame::{Tag, line};

use segue_event::SessionId;

use crate::{Answer, Fetched, Hit, LaterFate, MATCHES_COUNTED_MAX, Piece, Query};

/// Frames an answer as data: the hits as transcript lines, then how far was looked.
pub fn render_answer(query: &Query, answer: &Answer) -> String {
    let mut body = String::new();
    let mut thread = None;
    for hit in &answer.hits {
        if thread != Some(hit.thread) {
            body.push_str(&format!("thread:{}\n", hit.thread));
            thread = Some(hit.thread);
        }
        line::write(&mut body, hit.seq, &hit.who, &hit.excerpt);
        body.push_str(&format!("({})\n", about(hit)));
    }
    body.push_str(&verdict(answer));
    Tag::Recall.frame(&[("query", query.text())], &body)
}

/// Frames fetched entries as data: the texts as transcript lines, with what each is a piece of.
pub fn render_fetched(thread: SessionId, fetched: &Fetched) -> String {
    let mut body = String::new();
    for piece in &fetched.pieces {
        let Piece { place, who, text, whole, .. } = piece;
        line::write(&mut body, place.seq, who, text);
        let end = place.offset + text.len() as u64;
        if end - place.offset < whole.bytes {
            let (part, offset, bytes) = (place.part, place.offset, whole.bytes);
            body.push_str(&format!(
                "(bytes {offset}-{end} of {bytes}, part {part}, blake3 {})\n",
                whole.blake3
            ));
        }
    }
    let next = fetched.next.map(|next| next.to_string());
    let thread = thread.to_string();
    let cursor = next.as_deref().map(|next| ("cursor", next));
    let attributes: Vec<_> = [("thread", thread.as_str())].into_iter().chain(cursor).collect();
    Tag::Excerpt.frame(&attributes, &body)
}

/// Which bytes of which text an excerpt is, and what became of it.
fn about(hit: &Hit) -> String {
    let end = hit.excerpt_offset + hit.excerpt.len() as u64;
    let mut about = format!("bytes {}-{end} of {}", hit.excerpt_offset, hit.text_bytes);
    if hit.part > 0 {
        about.push_str(&format!(", part {}", hit.part));
    }
    match hit.matches {
        0 | 1 => {}
        MATCHES_COUNTED_MAX.. => about.push_str(&format!(", {MATCHES_COUNTED_MAX} matches or more")),
        matches => about.push_str(&format!(", {matches} matches")),
    }
    for LaterFate { what, seq } in &hit.fate {
        about.push_str(&format!(", {} at [{seq}]", what.as_str()));
    }
    about
}

/// How far was looked. What depends on how the record is stored, such as bytes, is left to those who ask for it.
fn verdict(answer: &Answer) -> String {
    let coverage = &answer.coverage;
    let mut searched = format!("{} of {} sessions searched", coverage.threads_searched, coverage.threads);
    if let Some(up_to) = coverage.up_to {
        searched.push_str(&format!(", up to position {up_to} of the log"));
    }
    if coverage.damaged > 0 {
        let damaged = coverage.damaged;
        searched
            .push_str(&format!("; the record is damaged at {damaged} places, which could not be searched"));
    }
    match (&answer.cursor, coverage.complete, answer.hits.is_empty()) {
        (Some(cursor), ..) => format!("not complete: {searched}. Go on with cursor {cursor}\n"),
        (None, false, _) => format!("not complete: {searched}.\n"),
        (None, true, true) => format!("not found; the search is complete: {searched}.\n"),
        (None, true, false) => format!("that is all; the search is complete: {searched}.\n"),
    }
}
