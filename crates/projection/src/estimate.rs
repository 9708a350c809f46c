//! What a continuation would cost, against staying.

use segue_event::{Omitted, SeqRange, SessionId};

use crate::Projection;

/// How many bytes of text are taken for one token: an estimate, good to a third or so for English and code.
pub const BYTES_PER_TOKEN: u64 = 4;

/// What a successor would begin with, and what staying costs.
///
/// The system prompt and the contracts of tools are in neither figure that is estimated; a provider's count has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// The lines that would be shown.
    pub loaded: Vec<Loaded>,
    /// What would only be linked, and why.
    pub left_out: Vec<Omitted>,
    /// The projection and the message that is to be answered.
    pub continuing: Measured,
    /// The transcript as it is.
    pub staying: Staying,
}

/// Lines that would be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The session.
    pub thread: SessionId,
    /// The events.
    pub range: SeqRange,
    /// The lines, in bytes.
    pub bytes: u64,
}

/// A text whose bytes are known, and whose tokens are estimated from them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    /// Its bytes.
    pub bytes: u64,
}

impl Measured {
    /// About how many tokens it has.
    pub const fn tokens_estimated(self) -> u64 {
        self.bytes.div_ceil(BYTES_PER_TOKEN)
    }
}

/// How large the context is without a continuation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Staying {
    /// The tokens of the prompt as the provider counted them for its newest answer.
    Counted {
        /// Tokens.
        tokens: u64,
    },
    /// No provider has counted: the lines of the transcript.
    Measured(Measured),
}

impl Staying {
    /// How many tokens there are, counted or estimated.
    pub const fn tokens(self) -> u64 {
        match self {
            Self::Counted { tokens } => tokens,
            Self::Measured(measured) => measured.tokens_estimated(),
        }
    }
}

/// Sets a projection, with the message that follows it, beside staying.
pub fn estimate(projection: &Projection, message_bytes: u64, staying: Staying) -> Estimate {
    let manifest = &projection.manifest;
    let loaded = manifest.included.iter().map(|included| Loaded {
        thread: included.thread,
        range: included.range,
        bytes: included.rendered.bytes,
    });
    Estimate {
        loaded: loaded.collect(),
        left_out: manifest.omitted.clone(),
        continuing: Measured { bytes: manifest.projection.bytes + message_bytes },
        staying,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_begun_counts_and_a_count_is_taken_as_it_is() {
        let tokens = [0, 1, 4, 5].map(|bytes| Measured { bytes }.tokens_estimated());
        assert_eq!(tokens, [0, 1, 1, 2]);
        assert_eq!(Staying::Counted { tokens: 7 }.tokens(), 7);
        assert_eq!(Staying::Measured(Measured { bytes: 9 }).tokens(), 3);
    }
}
