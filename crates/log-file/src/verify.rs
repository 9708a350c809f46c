//! Checking a store.

use std::sync::Arc;

use segue_log::{Depth, LogError, Report, verify_chains};

use crate::FileLog;
use crate::published::Published;
use crate::scan::Bound;
use crate::store::Store;
use crate::view::View;

/// Checks every frame and segment anew, whatever this process knows already; and, if asked, every hash, body and blob.
pub(crate) fn verify(log: &FileLog, store: &Arc<Store>, depth: Depth) -> Result<Report, LogError> {
    let (view, failure) = scan_anew(store)?;
    let mut report = match depth {
        Depth::Quick => Report {
            events: view.counts.events,
            sessions: view.sessions.len() as u64,
            bytes: view.counts.body_bytes,
            ..Report::default()
        },
        Depth::Full => verify_chains(log)?,
    };
    for damage in &view.damages {
        let place = format!("byte {} of {}", damage.offset, damage.segment.path.display());
        report.problem(place, format!("{} (up to byte {})", damage.what, damage.until));
    }
    if let Some(error) = failure {
        report.problem(store.layout.root().display().to_string(), error.to_string());
    }
    report.notes.extend(view.notes);
    Ok(report)
}

/// A view made from nothing but the files, and the damage that stopped it.
fn scan_anew(store: &Store) -> Result<(View, Option<LogError>), LogError> {
    let published = Published::of(&store.layout);
    let bound = match published {
        // A writer in this very process may be in the middle of a group; to all others the record is as exact.
        Some(published) if store.is_of_this_boot(&published) => Bound::Published(published),
        _ => Bound::Everything(published),
    };
    let mut view = View::empty();
    let scanned = view.advance(&store.layout, bound);
    match scanned {
        Ok(()) => Ok((view, None)),
        Err(error) if error.damaged_at().is_some() => Ok((view, Some(error))),
        Err(error) => Err(error),
    }
}
