//! `segue repair`: a sound store beside a damaged one.

use std::path::{Path, PathBuf};

use segue::log_file::{LostAt, Repaired, repair};
use serde_json::{Value, json};

use crate::bar::Bar;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;

/// Where to.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the new store, which must not be there yet or be empty. The old one is left as it is.
    #[arg(long, value_name = "FOLDER")]
    into: PathBuf,
}

/// How many lost events are listed as text.
const SHOWN_MAX: usize = 20;

pub(crate) fn run(place: &Place, arguments: &Arguments) -> Result<Answer, Failure> {
    let mut bar = Bar::new("repairing");
    let repaired = repair(place.folder(), &arguments.into, &mut |progress| bar.show(progress))?;
    drop(bar);
    let exit = if repaired.is_complete() { Exit::Ok } else { Exit::Partial };
    Ok(Answer::new(show(&repaired, &arguments.into), &to_json(&repaired, &arguments.into)).with_exit(exit))
}

fn show(repaired: &Repaired, into: &Path) -> String {
    let Repaired { events, salvaged, lost, claims, claims_doubtful, claims_lost, blobs, .. } = repaired;
    let verdict = if repaired.is_complete() { "nothing is lost" } else { "SOME IS LOST" };
    let mut text = format!(
        "{verdict}: {events} events, {claims} claims and {blobs} blobs are in {}\n  {salvaged} events were whole in \
         damaged commits, {} events are lost and marked in their places\n",
        into.display(),
        lost.len()
    );
    lost.iter().take(SHOWN_MAX).for_each(|lost| text.push_str(&line(lost)));
    if lost.len() > SHOWN_MAX {
        text.push_str(&format!("  … and {} more, which --json lists\n", lost.len() - SHOWN_MAX));
    }
    for (count, what) in [
        (*claims_lost, "claims are lost: their keys can be taken again"),
        (*claims_doubtful, "claims stood in damaged commits, so that their keys may be wrong"),
    ] {
        if count > 0 {
            text.push_str(&format!("  {count} {what}\n"));
        }
    }
    let damaged = repaired.blobs_damaged.iter().map(|id| (id, "damaged, and not copied"));
    for (id, what) in damaged.chain(repaired.blobs_missing.iter().map(|id| (id, "missing"))) {
        text.push_str(&format!("  blob {id} is {what}\n"));
    }
    text
}

fn line(lost: &LostAt) -> String {
    let LostAt { position, session, seq, segment, bytes } = lost;
    format!(
        "  lost: position {position}, session {session} [{seq}], in bytes {}-{} of segment {segment}\n",
        bytes.start, bytes.end
    )
}

fn to_json(repaired: &Repaired, into: &Path) -> Value {
    let lost: Vec<_> = repaired.lost.iter().map(lost_to_json).collect();
    let ids = |ids: &[segue::event::BlobId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "into": into,
        "complete": repaired.is_complete(),
        "events": repaired.events,
        "salvaged": repaired.salvaged,
        "lost": lost,
        "claims": repaired.claims,
        "claims_doubtful": repaired.claims_doubtful,
        "claims_lost": repaired.claims_lost,
        "blobs": repaired.blobs,
        "blobs_damaged": ids(&repaired.blobs_damaged),
        "blobs_missing": ids(&repaired.blobs_missing),
    })
}

fn lost_to_json(lost: &LostAt) -> Value {
    json!({
        "position": lost.position,
        "session": lost.session.to_string(),
        "seq": lost.seq,
        "segment": lost.segment,
        "bytes": lost.bytes,
    })
}
