//! An answer as text that is safe to give to a model.

use segue_frame::{Tag, line};

use crate::{Answer, Query};

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
        let end = hit.excerpt_offset + hit.excerpt.len() as u64;
        let more = if hit.matches > 1 { format!(", {} matches", hit.matches) } else { String::new() };
        body.push_str(&format!("(bytes {}-{end} of {}{more})\n", hit.excerpt_offset, hit.text_bytes));
    }
    body.push_str(&verdict(answer));
    Tag::Recall.frame(&[("query", query.text())], &body)
}

fn verdict(answer: &Answer) -> String {
    let coverage = &answer.coverage;
    let searched = format!(
        "{} of {} sessions and {} bytes of text searched",
        coverage.threads_searched, coverage.threads, coverage.bytes_searched
    );
    let searched = match coverage.damaged {
        0 => searched,
        damaged => {
            format!("{searched}, and the record is damaged at {damaged} places, which could not be searched")
        }
    };
    match (&answer.cursor, coverage.complete, answer.hits.is_empty()) {
        (Some(cursor), ..) => format!("not complete: {searched}. Go on with cursor {cursor}\n"),
        (None, false, _) => format!("not complete: {searched}.\n"),
        (None, true, true) => format!("not found; the search is complete: {searched}.\n"),
        (None, true, false) => format!("that is all; the search is complete: {searched}.\n"),
    }
}
