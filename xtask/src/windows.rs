//! Writes the table of models' windows anew, from a public table.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value};

use crate::root;

/// What `cargo xtask windows` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The table: `model_prices_and_context_window_backup.json` of the Python package litellm.
    table: PathBuf,
    /// The package and its version.
    #[arg(long)]
    source: String,
    /// The day on which it was fetched, as YYYY-MM-DD.
    #[arg(long)]
    date: String,
}

/// Providers under one name that the table splits.
const SAME: &[(&str, &str)] =
    &[("bedrock_converse", "bedrock"), ("bedrock_mantle", "bedrock"), ("cohere_chat", "cohere")];

type Models = BTreeMap<String, BTreeMap<String, u64>>;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(&arguments.table)
        .with_context(|| format!("cannot read {}", arguments.table.display()))?;
    let table: Map<String, Value> = serde_json::from_str(&text)?;
    let models = models(&table);
    let count: usize = models.values().map(BTreeMap::len).sum();
    let file = root().join("crates/prompt/src/windows.txt");
    std::fs::write(&file, written(&models, arguments))?;
    println!("{count} models of {} providers in {}", models.len(), file.display());
    Ok(())
}

/// The chat models whose window is known. Where one is listed twice, the smaller window counts: too early a
/// continuation costs less than too late a one.
fn models(table: &Map<String, Value>) -> Models {
    let mut models = Models::new();
    for (key, entry) in table {
        let Some((provider, model, tokens)) = entry_of(key, entry) else { continue };
        let known = models.entry(provider).or_default().entry(model).or_insert(tokens);
        *known = tokens.min(*known);
    }
    models
}

fn entry_of(key: &str, entry: &Value) -> Option<(String, String, u64)> {
    let text = |field: &str| entry.get(field).and_then(Value::as_str);
    let tokens = entry.get("max_input_tokens")?.as_u64().filter(|tokens| *tokens > 0)?;
    let stated = text("litellm_provider")?;
    let provider = provider_of(stated);
    let key = key.to_lowercase();
    let prefixes = [stated.replace('-', "_"), provider.clone()];
    let mut model = key.as_str();
    while let Some((prefix, rest)) = model.split_once('/')
        && prefixes.contains(&prefix.replace('-', "_"))
    {
        model = rest;
    }
    // Regions and tiers of the same model say nothing new; a name with a space is none.
    let is_routed = matches!(provider.as_str(), "azure" | "bedrock") && model.contains('/');
    let is_chat = matches!(text("mode")?, "chat" | "responses");
    let is_named =
        !model.is_empty() && !model.contains(char::is_whitespace) && !model.starts_with(['#', '[']);
    (is_chat && is_named && !is_routed).then(|| (provider, model.to_owned(), tokens))
}

fn provider_of(stated: &str) -> String {
    let joined = SAME.iter().find(|(name, _)| *name == stated).map_or(stated, |(_, joined)| joined);
    let joined = if joined.starts_with("vertex_ai-") { "vertex_ai" } else { joined };
    joined.to_lowercase().replace('-', "_")
}

fn written(models: &Models, arguments: &Arguments) -> String {
    let Arguments { source, date, .. } = arguments;
    let mut text = format!(
        "# How many tokens chat models take at most, by provider. Written by `cargo xtask windows`.\n\
         # source: {source}; date: {date}\n"
    );
    for (provider, models) in models {
        text.push_str(&format!("[{provider}]\n"));
        models.iter().for_each(|(model, tokens)| text.push_str(&format!("{model} {tokens}\n")));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_chat_models_with_a_window_are_taken() {
        let table = json!({
            "acme/Big": {"litellm_provider": "acme", "mode": "chat", "max_input_tokens": 9},
            "small": {"litellm_provider": "acme", "mode": "responses", "max_input_tokens": 5},
            "acme/small": {"litellm_provider": "acme", "mode": "chat", "max_input_tokens": 3},
            "acme/draws": {"litellm_provider": "acme", "mode": "image_generation", "max_input_tokens": 9},
            "acme/unknown": {"litellm_provider": "acme", "mode": "chat"},
            "bedrock/us-east-1/x": {"litellm_provider": "bedrock", "mode": "chat", "max_input_tokens": 1},
            "x": {"litellm_provider": "bedrock_converse", "mode": "chat", "max_input_tokens": 1},
            "vertex_ai/y": {"litellm_provider": "vertex_ai-some_models", "mode": "chat", "max_input_tokens": 2},
        });
        let models = models(table.as_object().unwrap());
        let arguments =
            Arguments { table: PathBuf::new(), source: "a table".to_owned(), date: "2026-01-01".to_owned() };
        let text = written(&models, &arguments);
        let entries: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(entries, ["[acme]", "big 9", "small 3", "[bedrock]", "x 1", "[vertex_ai]", "y 2"]);
        assert!(text.contains("# source: a table; date: 2026-01-01\n"));
    }
}
