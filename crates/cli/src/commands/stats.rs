//! `segue stats`: how much the store holds, and how much room it takes.

use segue::log::LogSize;
use serde_json::json;

use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;

pub(crate) fn run(place: &Place) -> Result<Answer, Failure> {
    let workspace = place.read()?;
    let size = workspace.log().size()?;
    let LogSize {
        events,
        sessions,
        written_bytes,
        stored_bytes,
        compressed_bytes,
        blobs,
        blob_bytes,
        index_bytes,
    } = size;
    let text = format!(
        "{events} events in {sessions} sessions\n\
         {written_bytes} bytes written, {stored_bytes} stored ({}), of which {compressed_bytes} compressed\n\
         {blobs} blobs of {blob_bytes} bytes\n\
         {index_bytes} bytes of index, which can be rebuilt\n",
        percent(stored_bytes, written_bytes)
    );
    let json = json!({
        "events": events,
        "sessions": sessions,
        "written_bytes": written_bytes,
        "stored_bytes": stored_bytes,
        "compressed_bytes": compressed_bytes,
        "blobs": blobs,
        "blob_bytes": blob_bytes,
        "index_bytes": index_bytes,
    });
    Ok(Answer::new(text, &json).with_damage(workspace.log().known_damage().as_ref()))
}

fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "nothing".to_owned(),
        whole => format!("{} %", u128::from(part) * 100 / u128::from(whole)),
    }
}
