//! A bar on stderr for work that takes a while.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use segue::log::Progress;

/// Work that takes less shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows how far some work has come, once it has taken half a second, and only on a terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
    drawn: Drawn,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Drawn {
    NotYet,
    Now,
}

impl Bar {
    /// A bar that is labelled with what is done.
    pub(crate) fn new(label: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} [{wide_bar}] {percent:>3} %, {eta} left");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(label);
        Self { bar, drawn: Drawn::NotYet }
    }

    /// The work has come so far.
    pub(crate) fn show(&mut self, progress: Progress) {
        let Progress { done, total } = progress;
        if self.drawn == Drawn::NotYet && self.bar.elapsed() > PATIENCE && done < total {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.drawn = Drawn::Now;
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_drawn_for_work_that_is_soon_done() {
        let mut bar = Bar::new("checking");
        for done in 0..=9 {
            bar.show(Progress { done, total: 9 });
        }
        assert!(bar.drawn == Drawn::NotYet && bar.bar.is_hidden());
        assert_eq!((bar.bar.position(), bar.bar.length()), (9, Some(9)));
    }
}
