//! How many tokens models take at most.

use std::collections::BTreeMap;

use segue_event::ModelName;

/// The table that comes with this version; `cargo xtask windows` writes it.
const SHIPPED: &str = include_str!("windows.txt");

/// Names of providers beside those of the table.
const ALIASES: &[(&str, &str)] = &[
    ("amazon_bedrock", "bedrock"),
    ("google", "gemini"),
    ("google_vertex", "vertex_ai"),
    ("vertex", "vertex_ai"),
];

/// How many tokens models take at most: a table from public data, and a user's own entries, which win.
///
/// ```
/// use segue_event::ModelName;
/// use segue_prompt::Windows;
///
/// let name = |provider: &str, model: &str| ModelName { provider: provider.into(), model: model.into() };
/// let windows = Windows::shipped().with([(name("home", "llama"), 8_192)]);
/// assert_eq!(windows.tokens(&name("anthropic", "claude-haiku-4-5-20251001")), Some(200_000));
/// assert_eq!(windows.tokens(&name("home", "llama")), Some(8_192));
/// assert_eq!(windows.tokens(&name("home", "alpaca")), None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Windows {
    own: Table,
    shipped: Table,
}

/// Models by provider, in their normal spelling.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Table(BTreeMap<String, BTreeMap<String, u64>>);

impl Windows {
    /// The table that comes with this version.
    pub fn shipped() -> Self {
        Self { own: Table::default(), shipped: Table::parse(SHIPPED) }
    }

    /// No model's window is known.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// With a user's own entries, in tokens. They win over the table, and later ones over earlier ones.
    #[must_use]
    pub fn with(mut self, entries: impl IntoIterator<Item = (ModelName, u64)>) -> Self {
        for (name, tokens) in entries {
            let (provider, model) = spelling(&name);
            self.own.0.entry(provider).or_default().insert(model, tokens);
        }
        self
    }

    /// How many tokens a model takes at most; none if that is not known.
    ///
    /// Upper and lower case are the same, and so is a model named with its provider before it (`openai/gpt-5`). A model
    /// with the date of its version is looked up with it and then without it; one without a date is what all its
    /// dated versions agree on. Nothing else is guessed.
    pub fn tokens(&self, model: &ModelName) -> Option<u64> {
        let (provider, model) = spelling(model);
        let known = self.own.find(&provider, &model).or_else(|| self.shipped.find(&provider, &model));
        known.filter(|tokens| *tokens > 0)
    }
}

impl Table {
    /// Reads `[provider]`, then lines of a model and its tokens; `#` begins a comment.
    fn parse(text: &str) -> Self {
        let mut table = Self::default();
        let mut provider = String::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                provider = name.to_owned();
            } else if let Some((model, tokens)) = line.split_once(' ')
                && let Ok(tokens) = tokens.parse()
            {
                table.0.entry(provider.clone()).or_default().insert(model.to_owned(), tokens);
            }
        }
        table
    }

    fn find(&self, provider: &str, model: &str) -> Option<u64> {
        let models = self.0.get(provider)?;
        let undated = without_date(model);
        models.get(model).or_else(|| models.get(undated)).copied().or_else(|| agreed(models, undated))
    }
}

/// What all dated versions of a model agree on.
fn agreed(models: &BTreeMap<String, u64>, undated: &str) -> Option<u64> {
    let behind = models.range(undated.to_owned()..).take_while(|(name, _)| name.starts_with(undated));
    let mut dated = behind.filter(|(name, _)| without_date(name) == undated).map(|(_, tokens)| *tokens);
    let first = dated.next()?;
    dated.all(|tokens| tokens == first).then_some(first)
}

/// Provider and model as the table spells them.
fn spelling(name: &ModelName) -> (String, String) {
    let provider = name.provider.trim().to_lowercase().replace('-', "_");
    let model = name.model.trim().to_lowercase();
    let alias = |provider: String| match ALIASES.iter().find(|(alias, _)| *alias == provider) {
        Some((_, provider)) => (*provider).to_owned(),
        None => provider,
    };
    match model.split_once('/') {
        Some((prefix, rest)) if provider.is_empty() || prefix.replace('-', "_") == provider => {
            (alias(prefix.replace('-', "_")), rest.to_owned())
        }
        _ => (alias(provider), model),
    }
}

/// A model's name without the date of its version: `-20251001`, `@20251001` or `-2025-10-01` at its end.
fn without_date(model: &str) -> &str {
    let is_number =
        |text: &str, digits| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    let in_one = model.rsplit_once(['-', '@']).filter(|(_, date)| is_number(date, 8)).map(|(name, _)| name);
    let in_three = || {
        let (rest, day) = model.rsplit_once('-')?;
        let (rest, month) = rest.rsplit_once('-')?;
        let (name, year) = rest.rsplit_once(['-', '@'])?;
        (is_number(day, 2) && is_number(month, 2) && is_number(year, 4)).then_some(name)
    };
    in_one.or_else(in_three).unwrap_or(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(provider: &str, model: &str) -> ModelName {
        ModelName { provider: provider.to_owned(), model: model.to_owned() }
    }

    fn windows() -> Windows {
        let table = "# a comment\n[acme]\nbig 900\nbig-20250101 500\nold-20240101 100\nold-2024-02-02 100\n\
            split-20240101 1\nsplit-20250101 2\n[gemini]\nflash 7\n";
        Windows { own: Table::default(), shipped: Table::parse(table) }
    }

    #[test]
    fn a_model_is_found_in_any_spelling() {
        let windows = windows();
        let found = |provider, model| windows.tokens(&name(provider, model));
        assert_eq!(found("acme", "big"), Some(900));
        assert_eq!(found(" ACME ", "Big"), Some(900));
        assert_eq!(found("acme", "acme/big"), Some(900));
        assert_eq!(found("", "acme/big"), Some(900));
        assert_eq!(found("google", "flash"), Some(7));
        assert_eq!(found("acme", "big-20250101"), Some(500), "what is listed with its date counts first");
        assert_eq!(found("acme", "big@2026-03-04"), Some(900));
        assert_eq!(found("acme", "old"), Some(100), "its dated versions agree");
    }

    #[test]
    fn what_is_unknown_stays_unknown() {
        let windows = windows();
        for (provider, model) in
            [("acme", "bigger"), ("acme", "split"), ("other", "big"), ("", "big"), ("", ""), ("acme", "")]
        {
            assert_eq!(windows.tokens(&name(provider, model)), None, "{provider}/{model}");
        }
        assert_eq!(Windows::unknown().tokens(&name("acme", "big")), None);
    }

    #[test]
    fn a_users_entry_wins() {
        let windows = windows().with([(name("acme", "big"), 1), (name("acme", "big"), 2)]);
        assert_eq!(windows.tokens(&name("acme", "big")), Some(2));
        assert_eq!(
            windows.tokens(&name("acme", "big-20250101")),
            Some(2),
            "also over a dated one of the table"
        );
        let forgotten = windows.with([(name("acme", "big"), 0)]);
        assert_eq!(forgotten.tokens(&name("acme", "big")), None, "nothing is known of 0 tokens");
    }

    #[test]
    fn the_shipped_table_is_sorted_unique_and_small() {
        assert!(SHIPPED.len() < 150_000, "{} bytes", SHIPPED.len());
        let (head, entries): (Vec<_>, Vec<_>) = SHIPPED.lines().partition(|line| line.starts_with('#'));
        assert!(head.iter().any(|line| line.contains("source: ") && line.contains("date: 20")));
        let mut provider = "";
        let mut before: Option<(&str, &str)> = None;
        for line in &entries {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                provider = name;
                continue;
            }
            let (model, tokens) = line.split_once(' ').unwrap();
            assert!(tokens.parse::<u64>().unwrap() > 0, "{line}");
            assert_eq!(spelling(&name(provider, model)), (provider.to_owned(), model.to_owned()));
            assert!(before < Some((provider, model)), "{line} is not behind the one before it");
            before = Some((provider, model));
        }
        let parsed: usize = Windows::shipped().shipped.0.values().map(BTreeMap::len).sum();
        let providers = entries.iter().filter(|line| line.starts_with('[')).count();
        assert_eq!(parsed + providers, entries.len());
    }
}
