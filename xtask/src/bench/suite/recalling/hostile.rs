//! Regular expressions that somebody wrote to do harm: how soon they are refused.

use anyhow::ensure;
use segue::thread::{Case, Query, Style};

use super::super::Bench;
use super::super::contest::{Contender, Limit, Row, Unit, compete, timed};
use super::Wanted;

pub(super) const NAMES: &[&str] = &["recall-hostile"];

/// An expression may be looked at for so long, in milliseconds.
const AT_MOST: f64 = 100.0;

/// Expressions that take too much to compile, each with what it is.
const HOSTILE: &[(&str, &str)] = &[
    ("counted words, counted again", r"(\w{1000}){1000}"),
    ("three counts in each other", "((a{100}){100}){100}"),
    ("many letters of any script", r"\pL{4000}"),
    ("many letters in either case", r"(?i)(\pL|x){0,5000}y"),
    ("counts of counts of nothing", "(((a{0,100}){0,100}){0,100})b"),
    ("many words of any length", r"(\w+\s*){1,900}x"),
];

pub(super) fn rows(bench: &Bench, _: Wanted<'_>) -> anyhow::Result<Vec<Row>> {
    let [name] = NAMES else { return Ok(Vec::new()) };
    println!("bench: {name}");
    let deep = format!("{}a{}", "(".repeat(2_000), ")".repeat(2_000));
    let hostile = HOSTILE.iter().copied().chain([("groups two thousand deep", deep.as_str())]);
    let contenders = hostile.map(|(what, pattern)| Contender::new(what, move || refuse(pattern)));
    let series = compete(bench.rounds, contenders.collect())?;
    Ok(vec![Row {
        name,
        about: "refusing an expression that is too large, or too deep".to_owned(),
        unit: Unit::millis(1),
        limits: series.iter().map(|series| Limit { ours: series.name, at_most: AT_MOST }).collect(),
        series,
        comparisons: Vec::new(),
    }])
}

fn refuse(pattern: &str) -> anyhow::Result<std::time::Duration> {
    let (time, is_refused) = timed(|| Ok(Query::new(Style::Regex, pattern, Case::Sensitive).is_err()))?;
    ensure!(is_refused, "{pattern} was not refused");
    Ok(time)
}
