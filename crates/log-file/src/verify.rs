//! Checking a store.

use std::sync::Arc;

use segue_log::{Depth, LogError, Report, verify_chains};

use crate::FileLog;
use crate::footer::Footer;
use crate::scan::{Bound, Memory, is_blank};
use crate::store::Store;
use crate::view::View;

/// Checks every frame and segment anew, whatever this process knows already; and, if asked, every hash, body and blob.
pub(crate) fn verify(log: &FileLog, store: &Arc<Store>, depth: Depth) -> Result<Report, LogError> {
    let (mut view, failure) = scan_anew(store)?;
    let mut report = match depth {
        Depth::Quick => Report {
            events: view.counts.events,
            sessions: view.sessions.len() as u64,
            bytes: view.counts.body_bytes,
            ..Report::default()
        },
        Depth::Full => {
            view.forget_contents();
            verify_chains(log)?
        }
    };
    for damage in &view.damages {
        let place = format!("byte {} of {}", damage.offset, damage.segment.path.display());
        report.problem(place, format!("{} (up to byte {})", damage.what, damage.until));
    }
    check_footers(&view, &mut report);
    if let Some(error) = failure {
        report.problem(store.layout.root().display().to_string(), error.to_string());
    }
    report.notes.extend(view.notes);
    report.notes.extend(store.notes());
    Ok(report)
}

/// A footer must say exactly what the frames say.
fn check_footers(view: &View, report: &mut Report) {
    let open = view.end.place.map(|place| place.segment);
    for (number, span) in view.spans.iter().filter(|(number, _)| Some(**number) != open) {
        let stored = Footer::stored(&span.segment, span.end);
        if stored.is_some() && stored != Footer::make(&span.segment, span.end) {
            let place = format!("the footer of segment {}", number.0);
            report.problem(place, "it does not say what the frames say");
        }
    }
}

/// A view made from nothing but the files, and the damage that stopped it.
fn scan_anew(store: &Store) -> Result<(View, Option<LogError>), LogError> {
    let published = store.published();
    let exact = published.filter(|published| store.is_of_this_boot(published));
    let mut view = View::empty();
    let scanned = view.advance_by(
        &store.layout,
        exact.map_or(Bound::Everything(published), Bound::Published),
        Memory::Nothing,
    );
    if exact.is_some() && !store.is_writing() {
        note_unpublished(&mut view);
    }
    match scanned {
        Ok(_) => Ok((view, None)),
        Err(error) if error.damaged_at().is_some() => Ok((view, Some(error))),
        Err(error) => Err(error),
    }
}

fn note_unpublished(view: &mut View) {
    let Some(span) = view.last_segment() else { return };
    if !is_blank(&span.segment, span.end, span.segment.file_bytes()) {
        view.notes.push(format!(
            "a commit at byte {} of {} is not published: it is under way, or its writer was stopped",
            span.end,
            span.segment.path.display()
        ));
    }
}
