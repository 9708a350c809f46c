//! What people and programs get to read of it.

use std::fmt;

use serde_json::{Value, json};

use super::contest::{Comparison, Limit, Row, Sense, Series, Unit, median};
use super::machine::Machine;
use super::workload::Sizes;

/// Raised when a program that reads the file would misunderstand it.
const SCHEMA_VERSION: u32 = 1;

/// Everything that was measured.
pub(super) struct Report {
    pub(super) machine: Machine,
    pub(super) sizes: Sizes,
    pub(super) rounds: u32,
    pub(super) rows: Vec<Row>,
}

/// A ratio or a figure that has to reach something, in words.
struct Verdict {
    text: String,
    reached: Option<bool>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cores, filesystem, system, architecture } = &self.machine;
        let (sizes, rounds) = (self.sizes.name, self.rounds);
        writeln!(
            f,
            "{system} {architecture}, {cores} cores, {filesystem}; {sizes} sizes, medians of {rounds} rounds"
        )?;
        for row in &self.rows {
            write_row(f, row)?;
        }
        write_list(f, "\nSlower than a peer:", &self.lost())?;
        write_list(f, "\nTargets missed:", &self.missed())
    }
}

impl Report {
    fn lost(&self) -> Vec<String> {
        let compared = self.rows.iter().flat_map(|row| row.comparisons.iter().map(move |c| (row, c)));
        let speeds = compared.filter(|(_, c)| c.sense == Sense::Speed);
        let ratios = speeds.map(|(row, c)| (row, c, median(&row.ratios(c))));
        let lost = ratios.filter(|(_, _, ratio)| *ratio < 1.0);
        lost.map(|(row, c, ratio)| {
            format!("{}: {} has {ratio:.2} of the speed of {}", row.name, c.ours, c.peer)
        })
        .collect()
    }

    fn missed(&self) -> Vec<String> {
        let verdicts =
            self.rows.iter().flat_map(|row| verdicts(row).map(move |(ours, verdict)| (row, ours, verdict)));
        let missed = verdicts.filter(|(_, _, verdict)| verdict.reached == Some(false));
        missed.map(|(row, ours, verdict)| format!("{}: {ours}: {}", row.name, verdict.text)).collect()
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "schema_version": SCHEMA_VERSION,
            "machine": {
                "cores": self.machine.cores,
                "filesystem": self.machine.filesystem,
                "system": self.machine.system,
                "architecture": self.machine.architecture,
            },
            "sizes": self.sizes.name,
            "rounds": self.rounds,
            "rows": self.rows.iter().map(row_json).collect::<Vec<_>>(),
        })
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, row: &Row) -> fmt::Result {
    writeln!(f, "\n{}: {}", row.name, row.about)?;
    for series in &row.series {
        let figures = figures(row, series);
        let (least, most) = extremes(&figures);
        let (figure, unit) = (number(median(&figures)), row.unit.name());
        let spread = format!("{} … {}", number(least), number(most));
        writeln!(f, "  {:<40} {figure:>9} {unit:<9} ({spread})", series.name)?;
        for (_, verdict) in verdicts(row).filter(|(ours, _)| *ours == series.name) {
            writeln!(f, "    {}{}", verdict.text, verdict.mark())?;
        }
    }
    Ok(())
}

fn write_list(f: &mut fmt::Formatter<'_>, title: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return writeln!(f, "{title} none");
    }
    writeln!(f, "{title}")?;
    lines.iter().try_for_each(|line| writeln!(f, "  {line}"))
}

impl Verdict {
    fn mark(&self) -> &'static str {
        match self.reached {
            Some(true) => ": reached",
            Some(false) => ": MISSED",
            None => "",
        }
    }
}

/// What is to be said of each contender of ours.
fn verdicts(row: &Row) -> impl Iterator<Item = (&'static str, Verdict)> {
    let compared = row.comparisons.iter().map(|comparison| (comparison.ours, compared(row, comparison)));
    compared.chain(row.limits.iter().map(|limit| (limit.ours, limited(row, limit))))
}

fn compared(row: &Row, comparison: &Comparison) -> Verdict {
    let ratio = median(&row.ratios(comparison));
    let (of, sign) = match comparison.sense {
        Sense::Speed => ("speed", "≥"),
        Sense::Cost => (cost(row), "≤"),
    };
    let target = comparison.target.map(|target| format!(", target {sign} {target}")).unwrap_or_default();
    let text = format!("{ratio:.2} × the {of} of {}{target}", comparison.peer);
    Verdict { text, reached: comparison.is_reached(ratio) }
}

/// What is compared where less is better.
fn cost(row: &Row) -> &'static str {
    match row.unit {
        Unit::Rate { .. } | Unit::Time { .. } => "time",
        Unit::Megabytes => "size",
    }
}

fn limited(row: &Row, limit: &Limit) -> Verdict {
    let figure = row.median(limit.ours).unwrap_or(f64::NAN);
    let unit = row.unit.name();
    let text = format!("{} {unit}, target ≤ {} {unit}", number(figure), limit.at_most);
    Verdict { text, reached: Some(figure <= limit.at_most) }
}

fn figures(row: &Row, series: &Series) -> Vec<f64> {
    series.measured.iter().map(|measured| row.unit.figure(*measured)).collect()
}

fn extremes(figures: &[f64]) -> (f64, f64) {
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    (least, figures.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// With as many digits as mean something.
fn number(figure: f64) -> String {
    if figure >= 100.0 { format!("{figure:.0}") } else { format!("{figure:.2}") }
}

fn row_json(row: &Row) -> Value {
    json!({
        "name": row.name,
        "about": row.about,
        "unit": row.unit.name(),
        "contenders": row.series.iter().map(|series| series_json(row, series)).collect::<Vec<_>>(),
        "comparisons": row.comparisons.iter().map(|c| comparison_json(row, c)).collect::<Vec<_>>(),
        "limits": row.limits.iter().map(|limit| limit_json(row, limit)).collect::<Vec<_>>(),
    })
}

fn series_json(row: &Row, series: &Series) -> Value {
    let figures = figures(row, series);
    json!({
        "name": series.name,
        "median": median(&figures),
        "rounds": figures,
        row.unit.measured(): series.measured,
    })
}

fn comparison_json(row: &Row, comparison: &Comparison) -> Value {
    let ratios = row.ratios(comparison);
    let ratio = median(&ratios);
    json!({
        "ours": comparison.ours,
        "peer": comparison.peer,
        "of": match comparison.sense { Sense::Speed => "speed", Sense::Cost => cost(row) },
        "ratio": ratio,
        "rounds": ratios,
        "target": comparison.target,
        "reached": comparison.is_reached(ratio),
    })
}

fn limit_json(row: &Row, limit: &Limit) -> Value {
    let figure = row.median(limit.ours);
    let reached = figure.is_some_and(|figure| figure <= limit.at_most);
    json!({ "ours": limit.ours, "figure": figure, "at_most": limit.at_most, "reached": reached })
}
