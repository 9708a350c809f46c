//! Where the store is.

use std::path::{Path, PathBuf};

use segue::{Options, SystemHost, Workspace};

use crate::exit::Exit;
use crate::failure::Failure;

/// The folder of a store, which may not be there yet.
pub(crate) struct Place(PathBuf);

impl Place {
    /// The folder that was named, else the one in the user's data folder.
    #[expect(clippy::disallowed_methods, reason = "a program reads its environment")]
    pub(crate) fn find(named: Option<PathBuf>) -> Result<Self, Failure> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let data = || variable("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
        let home = || variable("HOME").map(|home| home.join(".local/share"));
        let in_data = || data().or_else(home).map(|folder| folder.join("segue/store"));
        named.or_else(in_data).map(Self).ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "no-store",
                "no store is named and HOME is not set",
                "use --store FOLDER",
            )
        })
    }

    /// A place at a folder.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// Opens the store for reading, beside whoever writes to it. It must be there.
    pub(crate) fn read(&self) -> Result<Workspace, Failure> {
        self.check()?;
        Ok(Workspace::open_reader(&self.0, SystemHost, Options::default())?)
    }

    fn check(&self) -> Result<(), Failure> {
        if !self.0.exists() || self.0.is_dir() {
            return Ok(());
        }
        let message = format!("{} is no folder", self.0.display());
        Err(Failure::new(
            Exit::Usage,
            "no-store",
            message,
            "a store is a folder; --store or SEGUE_STORE names it",
        ))
    }

    /// Opens the store for writing. It must be there.
    pub(crate) fn write(&self) -> Result<Workspace, Failure> {
        self.read()?;
        self.make()
    }

    /// Opens the store for writing, and makes it with the first commit if it is not there.
    pub(crate) fn make(&self) -> Result<Workspace, Failure> {
        self.check()?;
        Ok(Workspace::open(&self.0, SystemHost, Options::default())?)
    }
}
