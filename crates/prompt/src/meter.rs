//! How full a model's context is.

use segue_event::Usage;

/// How full a model's context is, from the newest counts of its provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContextMeter {
    tokens: u64,
    parts: ContextParts,
    window: u64,
}

/// What a prompt's tokens are made of; a number that the provider did not give is unknown, and counts as none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ContextParts {
    /// Neither read from a cache nor written to one.
    pub input: Option<u64>,
    /// Read from the cache.
    pub cache_read: Option<u64>,
    /// Written to the cache.
    pub cache_write: Option<u64>,
}

impl ContextParts {
    /// All of them together.
    pub fn total(&self) -> u64 {
        let parts = [self.input, self.cache_read, self.cache_write];
        parts.into_iter().flatten().fold(0, u64::saturating_add)
    }
}

/// How urgent a continuation is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pressure {
    /// There is room.
    Low,
    /// From 70 % on: continue at the next good boundary.
    Rising,
    /// From 85 % on: continue now.
    High,
}

impl ContextMeter {
    /// Reads the usage of the newest assistant message; none if no part of the prompt was counted, or the window is
    /// unknown, for a wrong figure is worse than none.
    ///
    /// The prompt is its uncached input, what was read from the cache, and what was written to it.
    pub fn read(usage: &Usage, window_tokens: u64) -> Option<Self> {
        let Usage { input, cache_read, cache_write, .. } = *usage;
        let parts = ContextParts { input, cache_read, cache_write };
        let tokens = usage.prompt_tokens()?;
        (window_tokens > 0).then_some(Self { tokens, parts, window: window_tokens })
    }

    /// Tokens of the prompt: the total of its parts.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// What these tokens are made of.
    pub fn parts(&self) -> ContextParts {
        self.parts
    }

    /// Tokens that the model takes at most.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The share in whole percent, rounded down; above 100 if the provider counted more than the window.
    pub fn percent(&self) -> u64 {
        u64::try_from(u128::from(self.tokens) * 100 / u128::from(self.window)).unwrap_or(u64::MAX)
    }

    /// How urgent a continuation is; both marks are inclusive.
    pub fn pressure(&self) -> Pressure {
        match self.percent() {
            85.. => Pressure::High,
            70.. => Pressure::Rising,
            _ => Pressure::Low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_the_sum_of_its_parts() {
        let usage = Usage { input: Some(10), output: Some(999), cache_read: Some(50), cache_write: Some(9) };
        let meter = ContextMeter::read(&usage, 100).unwrap();
        assert_eq!((meter.percent(), meter.tokens()), (69, meter.parts().total()));
        let expected = ContextParts { input: Some(10), cache_read: Some(50), cache_write: Some(9) };
        assert_eq!(meter.parts(), expected);
        let only_read = Usage { cache_read: Some(7), output: Some(1), ..Usage::default() };
        let meter = ContextMeter::read(&only_read, 100).unwrap();
        assert_eq!((meter.tokens(), meter.parts().input), (7, None), "an unknown part stays unknown");
        assert_eq!(ContextMeter::read(&Usage { output: Some(1), ..Usage::default() }, 100), None);
        assert_eq!(ContextMeter::read(&Usage::default(), 100), None);
        assert_eq!(ContextMeter::read(&usage, 0), None);
    }

    #[test]
    fn both_marks_are_inclusive() {
        let pressure = |input| {
            let usage = Usage { input: Some(input), ..Usage::default() };
            ContextMeter::read(&usage, 1_000).unwrap().pressure()
        };
        let expected =
            [(699, Pressure::Low), (700, Pressure::Rising), (849, Pressure::Rising), (850, Pressure::High)];
        assert_eq!(expected.map(|(tokens, _)| (tokens, pressure(tokens))), expected);
        assert_eq!(pressure(u64::MAX), Pressure::High);
    }
}
