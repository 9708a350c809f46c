//! Contenders that take turns, and what their turns tell.

use std::time::{Duration, Instant};

/// One of those that are compared. A turn does the row's work once and tells how long that took.
pub(super) struct Contender<'a> {
    pub(super) name: &'static str,
    turn: Box<dyn FnMut() -> anyhow::Result<Duration> + 'a>,
}

impl<'a> Contender<'a> {
    pub(super) fn new(name: &'static str, turn: impl FnMut() -> anyhow::Result<Duration> + 'a) -> Self {
        Self { name, turn: Box::new(turn) }
    }
}

/// What a row's work is counted in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    /// So much work a second; more is better.
    Rate { name: &'static str, work: f64 },
    /// Time for each piece of work; less is better.
    Time { name: &'static str, each_second: f64, pieces: f64 },
    /// Memory; less is better.
    Megabytes,
}

impl Unit {
    pub(super) fn events_a_second(events: u64) -> Self {
        Self::Rate { name: "events/s", work: events as f64 }
    }

    pub(super) fn megabytes_a_second(bytes: u64) -> Self {
        Self::Rate { name: "MB/s", work: bytes as f64 / 1e6 }
    }

    pub(super) fn micros(pieces: u64) -> Self {
        Self::Time { name: "µs", each_second: 1e6, pieces: pieces as f64 }
    }

    pub(super) fn millis(pieces: u64) -> Self {
        Self::Time { name: "ms", each_second: 1e3, pieces: pieces as f64 }
    }

    pub(super) fn millis_a_megabyte(bytes: u64) -> Self {
        Self::Time { name: "ms/MB", each_second: 1e3, pieces: bytes as f64 / 1e6 }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rate { name, .. } | Self::Time { name, .. } => name,
            Self::Megabytes => "MB",
        }
    }

    /// What is measured for it.
    pub(super) fn measured(self) -> &'static str {
        match self {
            Self::Rate { .. } | Self::Time { .. } => "seconds",
            Self::Megabytes => "bytes",
        }
    }

    pub(super) fn figure(self, measured: f64) -> f64 {
        match self {
            Self::Rate { work, .. } => work / measured,
            Self::Time { each_second, pieces, .. } => measured / pieces * each_second,
            Self::Megabytes => measured / 1e6,
        }
    }
}

/// The turns of one contender, in order of rounds: seconds or, for memory, bytes.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) measured: Vec<f64>,
}

/// How two contenders are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sense {
    /// Our throughput as a multiple of theirs: more is better, and below 1 we lose.
    Speed,
    /// Our time, or our memory or room, as a multiple of theirs: less is better.
    Cost,
}

/// A comparison, and what it has to reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    pub(super) ours: &'static str,
    pub(super) peer: &'static str,
    pub(super) sense: Sense,
    pub(super) target: Option<f64>,
}

impl Comparison {
    pub(super) fn speed(ours: &'static str, peer: &'static str, target: Option<f64>) -> Self {
        Self { ours, peer, sense: Sense::Speed, target }
    }

    pub(super) fn cost(ours: &'static str, peer: &'static str, target: Option<f64>) -> Self {
        Self { ours, peer, sense: Sense::Cost, target }
    }

    /// Whether the target is reached by `ratio`; none without a target.
    pub(super) fn is_reached(&self, ratio: f64) -> Option<bool> {
        self.target.map(|target| match self.sense {
            Sense::Speed => ratio >= target,
            Sense::Cost => ratio <= target,
        })
    }
}

/// A figure, in the row's unit, that one contender may not exceed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) ours: &'static str,
    pub(super) at_most: f64,
}

/// What was measured.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) about: String,
    pub(super) unit: Unit,
    pub(super) series: Vec<Series>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) limits: Vec<Limit>,
}

impl Row {
    pub(super) fn median(&self, name: &str) -> Option<f64> {
        let series = self.series.iter().find(|series| series.name == name)?;
        Some(self.unit.figure(median(&series.measured)))
    }

    /// The ratio of every round: what disturbed a round disturbed both.
    pub(super) fn ratios(&self, comparison: &Comparison) -> Vec<f64> {
        let seconds = |name| self.series.iter().filter(move |s| s.name == name).flat_map(|s| &s.measured);
        let pairs = seconds(comparison.ours).zip(seconds(comparison.peer));
        match comparison.sense {
            Sense::Speed => pairs.map(|(ours, peer)| peer / ours).collect(),
            Sense::Cost => pairs.map(|(ours, peer)| ours / peer).collect(),
        }
    }
}

/// Lets the contenders take turns: once to warm up, then `rounds` times, each time another one first.
pub(super) fn compete(rounds: u32, mut contenders: Vec<Contender<'_>>) -> anyhow::Result<Vec<Series>> {
    let mut series: Vec<_> =
        contenders.iter().map(|c| Series { name: c.name, measured: Vec::new() }).collect();
    for contender in &mut contenders {
        (contender.turn)()?;
    }
    for _ in 0..rounds {
        for (contender, series) in contenders.iter_mut().zip(&mut series) {
            series.measured.push((contender.turn)()?.as_secs_f64());
        }
        contenders.rotate_left(1);
        series.rotate_left(1);
    }
    let first = rounds as usize % contenders.len().max(1);
    series.rotate_right(first);
    Ok(series)
}

/// The middle one, or what is between the two in the middle.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.wrapping_sub(1)), at(middle)) }
}

/// How long something took.
pub(super) fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(Duration, T)> {
    let clock = start();
    let done = work()?;
    Ok((clock.elapsed(), done))
}

/// The time now, to measure from.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(super) fn start() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_keep_their_own_turns_whoever_comes_first() {
        let fast = Contender::new("fast", || Ok(Duration::from_secs(1)));
        let slow = Contender::new("slow", || Ok(Duration::from_secs(2)));
        let series = compete(3, vec![fast, slow]).unwrap();
        assert_eq!((series[0].name, &series[0].measured), ("fast", &vec![1.0; 3]));
        assert_eq!((series[1].name, &series[1].measured), ("slow", &vec![2.0; 3]));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
    }
}
