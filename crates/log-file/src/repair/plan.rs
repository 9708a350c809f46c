//! What stands at which position of the new log.

use std::collections::BTreeMap;

use segue_event::{EventHeader, LostEvent, Position, Seq, SessionId, Timestamp};
use segue_log::LogError;

use crate::layout::Layout;
use crate::repair::seats::{Seats, seat};
use crate::repair::survey::{Found, Hole, Step, Survey, Told, contradiction};
use crate::repair::trails::{Finding, Missing};

/// How the new log is made.
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) lost: BTreeMap<Position, Mark>,
}

/// What is put in the place of a lost event.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) session: SessionId,
    pub(super) seq: Seq,
    pub(super) hole: Hole,
    pub(super) was: Option<LostEvent>,
    /// When the lost event was written, if that is known.
    pub(super) time: Option<Timestamp>,
}

/// Which of the uncertain things are believed in seating lost events.
#[derive(Clone, Copy)]
struct Belief {
    /// That a header of an event that is not whole tells where it belongs.
    headers: Trust,
    /// That the footer of a damaged segment is right.
    footers: Trust,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Yes,
    No,
}

/// What is tried, one after the other, until there is a place for every number.
const BELIEFS: [Belief; 4] = [
    Belief { headers: Trust::Yes, footers: Trust::Yes },
    Belief { headers: Trust::No, footers: Trust::Yes },
    Belief { headers: Trust::Yes, footers: Trust::No },
    Belief { headers: Trust::No, footers: Trust::No },
];

/// Decides what stands where.
///
/// # Errors
/// [`segue_log::LogErrorKind::Corrupt`] if sessions have more numbers than the log has positions.
pub(super) fn plan(mut survey: Survey, layout: &Layout) -> Result<Plan, LogError> {
    mend(&mut survey);
    let seats = BELIEFS
        .iter()
        .find_map(|belief| seat(survey.holes.keys().copied(), &missing(&survey, *belief)))
        .ok_or_else(|| contradiction(layout, "sessions have more events than the log"))?;
    settle_claims(&mut survey);
    let lost = marks(&survey, &seats);
    Ok(Plan { steps: survey.steps, lost })
}

/// Takes events for whole of which only the id was damaged.
fn mend(survey: &mut Survey) {
    for finding in survey.trails.findings.clone() {
        let Finding::Mended { position, id } = finding else { continue };
        let Some(Found { place, header }) = survey.sights.remove(&position) else { continue };
        let header = EventHeader { hash: id, ..header };
        let index = survey.steps.iter().position(
            |step| matches!(step, Step::Patch(patch) if patch.first <= position && position < patch.end),
        );
        if let Some(Step::Patch(patch)) = index.and_then(|index| survey.steps.get_mut(index)) {
            patch.found.insert(position, Found { place, header });
            survey.holes.remove(&position);
            survey
                .trails
                .missing
                .retain(|missing| (missing.session, missing.seq) != (header.session, header.seq));
        }
    }
}

/// The numbers that sessions miss.
fn missing(survey: &Survey, belief: Belief) -> Vec<Missing> {
    let mut all: BTreeMap<(SessionId, Seq), Missing> = BTreeMap::new();
    let key = |missing: &Missing| (missing.session, missing.seq);
    if belief.footers == Trust::Yes {
        all.extend(behind_the_newest(survey).iter().map(|missing| (key(missing), *missing)));
    }
    if belief.headers == Trust::Yes {
        all.extend(survey.trails.sighted_at_the_end().map(|missing| (key(&missing), missing)));
    }
    all.extend(survey.trails.missing.iter().map(|missing| (key(missing), *missing)));
    let narrow = |missing: Missing| {
        let told = match belief.footers {
            Trust::Yes => survey.roster.narrow(missing),
            Trust::No => missing,
        };
        let sighted = told.sighted.filter(|_| belief.headers == Trust::Yes);
        sighted.map_or(told, |at| Missing { from: told.from.max(at), to: told.to.min(at), ..told })
    };
    all.into_values().map(narrow).collect()
}

/// The numbers behind the newest whole event of a session that footers tell of.
fn behind_the_newest(survey: &Survey) -> Vec<Missing> {
    let Some(to) = survey.holes.keys().next_back().copied() else { return Vec::new() };
    let mut all = Vec::new();
    for (session, head) in survey.roster.heads() {
        let newest = survey.trails.newest(session);
        let from = newest.map_or(Position::FIRST, |(_, at)| at.next());
        let due = newest.map_or(Seq::FIRST, |(seq, _)| seq.next());
        // A footer that tells of more than was lost tells nothing.
        let count = (head.get() + 1).saturating_sub(due.get()).min(survey.holes.len() as u64 + 1);
        let numbers = (0..count).filter_map(|index| Seq::new(due.get() + index));
        all.extend(numbers.map(|seq| Missing { session, seq, from, to, sighted: None }));
    }
    all
}

/// A footer tells claims for sure; what stands in damaged bytes may be garbled.
fn settle_claims(survey: &mut Survey) {
    for step in &mut survey.steps {
        let Step::Patch(patch) = step else { continue };
        if let Some(claims) = survey.roster.claims(patch.first, patch.end) {
            patch.claims = claims;
            patch.claims_lost = 0;
            patch.claims_told = Told::ByFooter;
        }
    }
}

fn marks(survey: &Survey, seats: &Seats) -> BTreeMap<Position, Mark> {
    let lost_and_found = lost_and_found(survey, seats);
    let confirmed = survey.trails.findings.iter().filter_map(|finding| match finding {
        Finding::Confirmed { position, session, seq } => Some((*position, (*session, *seq))),
        Finding::Mended { .. } => None,
    });
    let confirmed: BTreeMap<_, _> = confirmed.collect();
    let mut unknown = Seq::FIRST;
    let mut marks = BTreeMap::new();
    for (position, hole) in &survey.holes {
        let seat = seats.get(position).copied().flatten();
        let (session, seq) = seat.unwrap_or((lost_and_found, unknown));
        if seat.is_none() {
            unknown = unknown.next();
        }
        let header = survey.sights.get(position).map(|sight| sight.header);
        // A header proves nothing by itself.
        let is_right = |header: &EventHeader| {
            let is_head = (header.session, header.seq) == (session, seq)
                && survey.roster.is_head(session, seq, &header.hash);
            is_head || confirmed.get(position) == Some(&(session, seq))
        };
        let header = header.filter(is_right);
        let was = header.map(|header| LostEvent { kind: header.kind, id: header.hash });
        let time = header.map(|header| header.time);
        marks.insert(*position, Mark { session, seq, hole: *hole, was, time });
    }
    marks
}

/// The first lost and found that the log does not have yet.
fn lost_and_found(survey: &Survey, seats: &Seats) -> SessionId {
    let mut session = SessionId::LOST_AND_FOUND;
    while survey.trails.has(session) || seats.values().flatten().any(|(seated, _)| *seated == session) {
        session = session.next_lost_and_found();
    }
    session
}
