//! Something to look for, in our words and in ripgrep's.

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use segue::thread::{Budget, Case, Query, Style};
use segue::{Options, Reader, Scope, SystemHost, Where, Workspace};

use super::super::contest::{Contender, timed};

/// Something to look for.
#[derive(Clone, Copy)]
pub(super) struct Search {
    /// The row.
    pub(super) name: &'static str,
    /// What it stands for.
    pub(super) about: &'static str,
    pub(super) style: Style,
    pub(super) text: &'static str,
    pub(super) case: Case,
    pub(super) pages: Pages,
    /// Whether there is anything to be found.
    pub(super) finds: bool,
    /// What ripgrep is asked for.
    pub(super) peer: &'static [&'static str],
    /// How many times as fast as ripgrep it should be.
    pub(super) target: Option<f64>,
}

/// How much of the answer is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pages {
    /// The first page, with the limits that are usual.
    First,
    /// All, one page after the other.
    All,
}

impl Search {
    /// The first page of a text that is there, from which the others differ.
    pub(super) const LITERAL: Self = Self {
        name: "",
        about: "",
        style: Style::Literal,
        text: "",
        case: Case::Sensitive,
        pages: Pages::First,
        finds: true,
        peer: &[],
        target: None,
    };

    fn query(&self) -> anyhow::Result<Query> {
        Ok(Query::new(self.style, self.text, self.case)?)
    }
}

/// A store that is searched.
pub(super) struct Searched {
    reader: Reader,
    within: Where,
}

impl Searched {
    /// Opens a store for reading.
    pub(super) fn open(store: &Path, within: Where) -> anyhow::Result<Self> {
        let workspace = Workspace::open_reader(store, SystemHost, Options::default())?;
        Ok(Self { reader: workspace.reader(Scope::Workspace), within })
    }

    /// A turn looks for something in a store that is open.
    pub(super) fn contender<'a>(&'a self, name: &'static str, search: &'a Search) -> Contender<'a> {
        Contender::new(name, move || search.check(timed(|| self.hits(&search.query()?, search.pages))?))
    }

    /// How many texts are found.
    pub(super) fn hits(&self, query: &Query, pages: Pages) -> anyhow::Result<u64> {
        let (mut hits, mut cursor) = (0, None);
        loop {
            let answer = self.reader.recall(self.within, query, &Budget::default(), cursor)?;
            ensure!(answer.coverage.damaged == 0, "the store is damaged");
            hits += answer.hits.len() as u64;
            cursor = answer.cursor;
            if cursor.is_none() || pages == Pages::First {
                return Ok(hits);
            }
        }
    }
}

/// A turn opens a store and looks for something in it, as a command line does.
pub(super) fn opening<'a>(
    name: &'static str,
    store: &'a Path,
    within: Where,
    search: &'a Search,
) -> Contender<'a> {
    let open_and_search = move || Searched::open(store, within)?.hits(&search.query()?, search.pages);
    Contender::new(name, move || search.check(timed(open_and_search)?))
}

impl Search {
    fn check(&self, (time, hits): (Duration, u64)) -> anyhow::Result<Duration> {
        ensure!((hits > 0) == self.finds, "{} hits for {:?}", hits, self.text);
        Ok(time)
    }
}
