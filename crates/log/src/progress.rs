//! How far a long piece of work has come.

/// How far a long piece of work has come: `done` of `total`, in units that the work names.
///
/// `done` never falls, and is `total` when the work has ended well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is to do.
    pub total: u64,
}

/// Tells of progress, but only once there is more to tell than before: at most some hundred times in all.
pub struct Meter<'a> {
    tell: &'a mut dyn FnMut(Progress),
    progress: Progress,
    told: u64,
}

/// How many times a meter tells at most, but for the end.
const TELLINGS_MAX: u64 = 500;

impl<'a> Meter<'a> {
    /// A meter of work that nothing is done of yet.
    pub fn new(total: u64, tell: &'a mut dyn FnMut(Progress)) -> Self {
        let progress = Progress { done: 0, total };
        tell(progress);
        Self { tell, progress, told: 0 }
    }

    /// More was done. What comes over the total is not told: a log may grow while it is read.
    pub fn advance(&mut self, by: u64) {
        let Progress { done, total } = self.progress;
        self.progress.done = done.saturating_add(by).min(total);
        let news = self.progress.done - self.told;
        if news > total / TELLINGS_MAX {
            self.tell();
        }
    }

    /// All is done.
    pub fn finish(mut self) {
        self.progress.done = self.progress.total;
        self.tell();
    }

    fn tell(&mut self) {
        self.told = self.progress.done;
        (self.tell)(self.progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_tells_seldom_never_too_much_and_ends_at_the_total() {
        let mut told = Vec::new();
        let mut tell = |progress: Progress| told.push(progress.done);
        let mut meter = Meter::new(1_000_000, &mut tell);
        (0..1_100_000).for_each(|_| meter.advance(1));
        meter.finish();
        assert!(told.len() < 510, "{}", told.len());
        assert!(told.is_sorted() && told.first() == Some(&0) && told.last() == Some(&1_000_000));
    }
}
