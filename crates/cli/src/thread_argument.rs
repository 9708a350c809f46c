//! Naming a session on the command line.

use segue::Reader;
use segue::event::SessionId;

use crate::exit::Exit;
use crate::failure::Failure;

/// The shortest beginning of an id that is taken for one.
const PREFIX_CHARS_MIN: usize = 4;

/// How many sessions are looked through at a time.
const PAGE: usize = 1_000;

/// The word for the session that began last.
const LATEST: &str = "latest";

/// Finds the session that an argument names: its id, with or without `thread:`, the beginning of it if only one session
/// begins so, or `latest`.
pub(crate) fn resolve(reader: &Reader, argument: &str) -> Result<SessionId, Failure> {
    if argument == LATEST {
        let newest = reader.listings(None, 1)?;
        return newest.first().map(|listing| listing.session).ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                "session-not-found",
                "the store holds no session",
                "`segue import PATH`",
            )
        });
    }
    let text = argument.strip_prefix("thread:").unwrap_or(argument);
    if let Ok(session) = text.parse() {
        return Ok(session);
    }
    let is_prefix = text.chars().all(|digit| digit.is_ascii_hexdigit() || digit == '-');
    if !is_prefix || text.len() < PREFIX_CHARS_MIN {
        let message =
            format!("{argument:?} is no session id, nor the beginning of one with at least 4 digits");
        return Err(Failure::new(Exit::Usage, "no-session-id", message, "`segue sessions` lists them"));
    }
    let matching = matching(reader, &text.to_lowercase())?;
    match matching.as_slice() {
        [single] => Ok(*single),
        [] => {
            let message = format!("no session id begins with {text}");
            Err(Failure::new(
                Exit::NotFound,
                "session-not-found",
                message,
                "`segue sessions` lists what is there",
            ))
        }
        several => {
            let message = format!("{} session ids begin with {text}: give more of it", several.len());
            Err(Failure::new(Exit::Usage, "ambiguous-session-id", message, ""))
        }
    }
}

fn matching(reader: &Reader, prefix: &str) -> Result<Vec<SessionId>, Failure> {
    let mut matching = Vec::new();
    let mut before = None;
    loop {
        let listings = reader.listings(before, PAGE)?;
        let Some(last) = listings.last() else { return Ok(matching) };
        before = Some(last.first);
        let ids = listings.iter().map(|listing| listing.session);
        matching.extend(ids.filter(|session| session.to_string().starts_with(prefix)));
    }
}
