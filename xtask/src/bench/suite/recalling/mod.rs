//! Recall beside ripgrep: how long it takes to find something, and what it costs to be ready for it.

mod chain;
mod corpus;
mod filters;
mod hostile;
mod ripgrep;
mod search;
mod shelf;
mod sources;

use super::Bench;
use super::contest::Row;

/// Whether a row is wanted.
type Wanted<'a> = &'a dyn Fn(&str) -> bool;

type MeasureSome = fn(&Bench, Wanted<'_>) -> anyhow::Result<Vec<Row>>;

/// Rows that share what they search, each group with the names of its rows.
const GROUPS: &[(&[&str], MeasureSome)] = &[
    (chain::NAMES, chain::rows),
    (shelf::NAMES, shelf::rows),
    (filters::NAMES, filters::rows),
    (hostile::NAMES, hostile::rows),
    (corpus::NAMES, corpus::rows),
];

/// The names of all rows about recall.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(names, _)| names.iter().copied())
}

/// The rows of all groups of which at least one is wanted.
pub(super) fn rows(bench: &Bench, wanted: Wanted<'_>) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (names, measure) in GROUPS {
        if names.iter().any(|name| wanted(name)) {
            rows.extend(measure(bench, wanted)?);
        }
    }
    Ok(rows)
}
