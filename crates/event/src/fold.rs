//! Views as folds over events.

use crate::{Family, Recorded};

/// A view that is built by taking one event after another.
///
/// Taking the same events in the same order gives the same view, on any machine.
pub trait Fold {
    /// The events that the view is made from.
    type Family: Family;

    /// Takes the next event.
    fn apply(&mut self, recorded: &Recorded<Self::Family>);
}
