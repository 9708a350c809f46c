//! A whole store of many sessions, none of which belongs to another.

use std::path::{Path, PathBuf};

use segue::Where;
use segue::log_file::{Compression, Options};
use segue::thread::{Case, Style};

use super::super::Bench;
use super::super::contest::{Comparison, Row, Unit, compete};
use super::Wanted;
use super::ripgrep::{RIPGREP, Ripgrep};
use super::search::{Pages, Search, Searched, opening};
use super::sources::{self, Bond, Seal};

pub(super) const NAMES: &[&str] = &[
    "recall-store-rare",
    "recall-store-own-words",
    "recall-store-nowhere",
    "recall-store-frequent",
    "recall-store-all",
    "recall-store-words",
    "recall-store-regex",
    "recall-store-regex-bare",
    "recall-store-any-case",
    "recall-store-cjk",
    "recall-store-short",
    "recall-store-hash",
];

const PLAIN: &str = "segue, sealed, with filters";
const COMPACT: &str = "segue, sealed and compressed";
const OPENED: &str = "segue, the same, opened for it";

/// How many times as fast as ripgrep a rare text is to be found in a store of 1 GB.
const RARE_TARGET: f64 = 20.0;

const SEARCHES: [Search; 12] = [
    Search {
        name: "recall-store-rare",
        about: "a text that was said once",
        text: "north gate of the paddock",
        peer: &["-F", "-e", "north gate of the paddock"],
        target: Some(RARE_TARGET),
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-own-words",
        about: "words that are said everywhere, and were said in this order once",
        text: "planner drains the sanitizer late",
        peer: &["-F", "-e", "planner drains the sanitizer late"],
        target: Some(RARE_TARGET),
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-nowhere",
        about: "a text that is nowhere",
        text: "a hedgehog in the letterbox",
        finds: false,
        peer: &["-F", "-e", "a hedgehog in the letterbox"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-frequent",
        about: "a frequent text; we stop where the answer is full, ripgrep does not",
        text: "error",
        peer: &["-F", "-e", "error"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-all",
        about: "a less frequent text, page by page to the end",
        text: "続けてください",
        pages: Pages::All,
        peer: &["-F", "-e", "続けてください"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-words",
        about: "three words in any order; ripgrep, which has no such search, looks for the longest",
        style: Style::Words,
        text: "paddock gate vet",
        peer: &["-F", "-e", "paddock"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-regex",
        about: "an expression with literals, which matches once",
        style: Style::Regex,
        text: r"north \w+ of the \w+ck stays",
        peer: &["-e", r"north \w+ of the \w+ck stays"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-regex-bare",
        about: "an expression without a literal, which matches nothing, so that all is read",
        style: Style::Regex,
        text: r"[A-Z]{3}[0-9]{7}[A-Z]",
        finds: false,
        peer: &["-e", r"[A-Z]{3}[0-9]{7}[A-Z]"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-any-case",
        about: "a text that was said once, in upper or lower case",
        text: "NORTH GATE of the paddock",
        case: Case::Insensitive,
        peer: &["-i", "-F", "-e", "NORTH GATE of the paddock"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-cjk",
        about: "Japanese that was said once",
        text: "牧場の北門",
        peer: &["-F", "-e", "牧場の北門"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-short",
        about: "two letters that are nowhere: no filter knows, so that all is read",
        text: "Zq",
        finds: false,
        peer: &["-F", "-e", "Zq"],
        ..Search::LITERAL
    },
    Search {
        name: "recall-store-hash",
        about: "a hash that was said once, among so many that filters rule out little",
        text: "3f9a61c0d27be845",
        peer: &["-F", "-e", "3f9a61c0d27be845"],
        ..Search::LITERAL
    },
];

/// The same sessions in every form.
struct Shelf {
    plain: Searched,
    compact: Searched,
    compact_store: PathBuf,
    transcripts: PathBuf,
}

pub(super) fn rows(bench: &Bench, wanted: Wanted<'_>) -> anyhow::Result<Vec<Row>> {
    let bytes = bench.sizes.library_bytes;
    println!("bench: filling stores with {} sessions, {} MB", sources::sessions(bytes), bytes / 1_000_000);
    let folder = bench.folder.path().join("recall-store");
    let shelf = Shelf::fill(&folder, bytes)?;
    let ripgrep = Ripgrep::find(&shelf.transcripts, &folder.join("empty"))?;
    let mut rows = Vec::new();
    for search in SEARCHES.iter().filter(|search| wanted(search.name)) {
        println!("bench: {}", search.name);
        rows.push(shelf.row(bench, search, ripgrep.as_ref())?);
    }
    drop(shelf);
    std::fs::remove_dir_all(&folder)?;
    Ok(rows)
}

impl Shelf {
    fn fill(folder: &Path, bytes: u64) -> anyhow::Result<Self> {
        std::fs::create_dir(folder)?;
        let transcripts = folder.join("transcripts");
        let (plain, compact_store) = (folder.join("plain"), folder.join("compact"));
        sources::write_transcripts(&transcripts, bytes)?;
        let uncompressed = Options { compression: Compression::Never, ..Options::default() };
        sources::fill(&plain, uncompressed, bytes, Bond::None, Seal::Everything)?;
        sources::fill(&compact_store, Options::default(), bytes, Bond::None, Seal::Everything)?;
        Ok(Self {
            plain: Searched::open(&plain, Where::Everywhere)?,
            compact: Searched::open(&compact_store, Where::Everywhere)?,
            compact_store,
            transcripts,
        })
    }

    fn row(&self, bench: &Bench, search: &Search, ripgrep: Result<&Ripgrep, &String>) -> anyhow::Result<Row> {
        let mut contenders = vec![
            self.plain.contender(PLAIN, search),
            self.compact.contender(COMPACT, search),
            opening(OPENED, &self.compact_store, Where::Everywhere, search),
        ];
        if let Ok(ripgrep) = ripgrep {
            contenders.extend(ripgrep.contenders(search.peer, search.finds));
        }
        // What the filters win grows with the store, what a search costs at least does not.
        let target = search.target.filter(|_| bench.sizes.is_gigabyte());
        let compared = [(PLAIN, target), (COMPACT, target), (OPENED, None)];
        let against = |(ours, target)| Comparison::speed(ours, RIPGREP, target);
        let peer = ripgrep.map_or_else(String::clone, |ripgrep| ripgrep.version.clone());
        let (bytes, megabytes) = (bench.sizes.library_bytes, bench.sizes.library_bytes / 1_000_000);
        let sessions = sources::sessions(bytes);
        Ok(Row {
            name: search.name,
            about: format!("{}, in {sessions} sessions, {megabytes} MB, warm; {peer}", search.about),
            unit: Unit::millis(1),
            series: compete(bench.rounds, contenders)?,
            comparisons: compared.into_iter().filter(|_| ripgrep.is_ok()).map(against).collect(),
            limits: Vec::new(),
        })
    }
}
