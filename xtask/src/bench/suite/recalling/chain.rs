//! One long chain of continued sessions, searched by whoever works in the last of them.

use std::path::{Path, PathBuf};

use segue::Where;
use segue::log_file::limits::SEGMENT_BYTES_MAX;
use segue::log_file::{Compression, Options};

use super::super::Bench;
use super::super::contest::{Comparison, Row, Unit, compete};
use super::Wanted;
use super::ripgrep::{RIPGREP, Ripgrep};
use super::search::{Pages, Search, Searched};
use super::sources::{self, Bond, Seal};

pub(super) const NAMES: &[&str] =
    &["recall-chain-nowhere", "recall-chain-rare", "recall-chain-frequent", "recall-chain-frequent-all"];

const SCAN: &str = "segue, not sealed: a plain scan";
const SEALED: &str = "segue, sealed, with filters";
const COMPACT: &str = "segue, sealed and compressed";

const SEARCHES: [Search; 4] = [
    Search {
        name: "recall-chain-nowhere",
        about: "a text that is nowhere",
        text: "a hedgehog in the letterbox",
        finds: false,
        peer: &["-F", "-e", "a hedgehog in the letterbox"],
        target: Some(1.0),
        ..Search::LITERAL
    },
    Search {
        name: "recall-chain-rare",
        about: "a text that was said once",
        text: "north gate of the paddock",
        peer: &["-F", "-e", "north gate of the paddock"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-chain-frequent",
        about: "a frequent text; we stop where the answer is full, ripgrep does not",
        text: "error",
        peer: &["-F", "-e", "error"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-chain-frequent-all",
        about: "a less frequent text, page by page to the end",
        text: "続けてください",
        pages: Pages::All,
        peer: &["-F", "-e", "続けてください"],
        ..Search::LITERAL
    },
];

/// The same chain in every form.
struct Chain {
    scan: Searched,
    sealed: Searched,
    compact: Searched,
    transcripts: PathBuf,
}

pub(super) fn rows(bench: &Bench, wanted: Wanted<'_>) -> anyhow::Result<Vec<Row>> {
    let bytes = bench.sizes.chain_bytes;
    println!("bench: filling stores with a chain of {} MB", bytes / 1_000_000);
    let folder = bench.folder.path().join("recall-chain");
    let chain = Chain::fill(&folder, bytes)?;
    let ripgrep = Ripgrep::find(&chain.transcripts, &folder.join("empty"))?;
    let mut rows = Vec::new();
    for search in SEARCHES.iter().filter(|search| wanted(search.name)) {
        println!("bench: {}", search.name);
        rows.push(chain.row(bench, search, ripgrep.as_ref())?);
    }
    drop(chain);
    std::fs::remove_dir_all(&folder)?;
    Ok(rows)
}

impl Chain {
    fn fill(folder: &Path, bytes: u64) -> anyhow::Result<Self> {
        std::fs::create_dir(folder)?;
        let plain = Options { compression: Compression::Never, ..Options::default() };
        let open = Options { segment_bytes: SEGMENT_BYTES_MAX, ..plain };
        let transcripts = folder.join("transcripts");
        sources::write_transcripts(&transcripts, bytes)?;
        Ok(Self {
            scan: Self::searched(&folder.join("scan"), open, Seal::Full, bytes)?,
            sealed: Self::searched(&folder.join("sealed"), plain, Seal::Everything, bytes)?,
            compact: Self::searched(&folder.join("compact"), Options::default(), Seal::Everything, bytes)?,
            transcripts,
        })
    }

    fn searched(store: &Path, options: Options, seal: Seal, bytes: u64) -> anyhow::Result<Searched> {
        let last = sources::fill(store, options, bytes, Bond::Continued, seal)?;
        Searched::open(store, Where::Chain(last))
    }

    fn row(&self, bench: &Bench, search: &Search, ripgrep: Result<&Ripgrep, &String>) -> anyhow::Result<Row> {
        let ours = [SCAN, SEALED, COMPACT];
        let stores = [&self.scan, &self.sealed, &self.compact];
        let mut contenders: Vec<_> =
            ours.into_iter().zip(stores).map(|(name, store)| store.contender(name, search)).collect();
        if let Ok(ripgrep) = ripgrep {
            contenders.extend(ripgrep.contenders(search.peer, search.finds));
        }
        let against = |ours| Comparison::speed(ours, RIPGREP, search.target);
        let size = bench.sizes.chain_bytes / 1_000_000;
        let peer = ripgrep.map_or_else(String::clone, |ripgrep| ripgrep.version.clone());
        Ok(Row {
            name: search.name,
            about: format!("{}, in a chain of {size} MB, warm; {peer}", search.about),
            unit: Unit::millis(1),
            series: compete(bench.rounds, contenders)?,
            comparisons: ours.into_iter().filter(|_| ripgrep.is_ok()).map(against).collect(),
            limits: Vec::new(),
        })
    }
}
