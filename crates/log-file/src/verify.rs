//! Checking a store.

use std::sync::Arc;

use segue_log::{Depth, LogError, Meter, Progress, Report, verify_chains};

use crate::FileLog;
use crate::filter::Filter;
use crate::footer::{Footer, Made};
use crate::scan::{Bound, Memory, is_blank};
use crate::store::Store;
use crate::view::View;

/// Checks every frame and segment anew, whatever this process knows already; and, if asked, every hash, body and blob.
pub(crate) fn verify(
    log: &FileLog,
    store: &Arc<Store>,
    depth: Depth,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, LogError> {
    // The frames are read once for themselves, once for the footers, and once for the hashes.
    let readings = match depth {
        Depth::Quick => 2,
        Depth::Full => 3,
    };
    let mut meter = Meter::new(known_events(store) * readings, progress);
    let (mut view, failure) = scan_anew(store, &mut meter)?;
    let mut report = match depth {
        Depth::Quick => Report {
            events: view.counts.events,
            sessions: view.sessions.len() as u64,
            bytes: view.counts.body_bytes,
            ..Report::default()
        },
        Depth::Full => {
            view.forget_contents();
            verify_chains(log, &mut meter)?
        }
    };
    for damage in &view.damages {
        let place = format!("byte {} of {}", damage.offset, damage.segment.path.display());
        report.problem(place, format!("{} (up to byte {})", damage.what, damage.until));
    }
    check_footers(&view, &mut report, &mut meter);
    if let Some(error) = failure {
        report.problem(store.layout.root().display().to_string(), error.to_string());
    }
    report.notes.extend(view.notes);
    report.notes.extend(store.notes());
    meter.finish();
    Ok(report)
}

/// How many events a reader finds; what keeps it from that is told by the check itself.
fn known_events(store: &Store) -> u64 {
    store.view().map_or(0, |view| view.counts.events)
}

/// A footer and a search filter must say exactly what the frames say.
fn check_footers(view: &View, report: &mut Report, meter: &mut Meter<'_>) {
    let open = view.end.place.map(|place| place.segment);
    for (number, span) in view.spans.iter().filter(|(number, _)| Some(**number) != open) {
        let (segment, end) = (&span.segment, span.end);
        if Footer::stored(segment, end).is_none() {
            continue;
        }
        let made = Footer::make(segment, end, &mut |events| meter.advance(events));
        let mut compare = |what: &str, is_same: bool| {
            if !is_same {
                let place = format!("the {what} of segment {}", number.0);
                report.problem(place, "it does not say what the frames say");
            }
        };
        let stored = Footer::stored_bytes(segment, end);
        let is_same = |made: &Made| {
            stored == Some(made.footer.len() as u64) && segment.has_behind(end, 0, &made.footer)
        };
        compare("footer", made.as_ref().is_some_and(is_same));
        // One that is not whole is not used, and segments that were sealed by an older build have none.
        let Some(bytes) = Filter::whole_bytes(segment, end) else { continue };
        let is_same = |made: &Made| {
            bytes == made.filter.len() as u64
                && segment.has_behind(end, stored.unwrap_or_default(), &made.filter)
        };
        compare("search filter", made.as_ref().is_some_and(is_same));
    }
}

/// A view made from nothing but the files, and the damage that stopped it.
fn scan_anew(store: &Store, meter: &mut Meter<'_>) -> Result<(View, Option<LogError>), LogError> {
    let published = store.published();
    let exact = published.filter(|published| store.is_of_this_boot(published));
    let mut view = View::empty();
    let scanned = view.advance_by(
        &store.layout,
        exact.map_or(Bound::Everything(published), Bound::Published),
        Memory::Nothing,
        &mut |events| meter.advance(events),
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
