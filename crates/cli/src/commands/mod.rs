//! The commands, one file each.

mod audit;
mod continuing;
mod demo;
mod fork;
mod fresh;
mod get;
mod import;
mod lineage;
mod recall;
mod repair;
mod replay;
mod sessions;
mod show;
mod stats;
mod verify;

use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;

/// What can be asked for.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Brings transcripts of Claude Code and pi into the store; again and again, only what is new is added.
    Import(import::Arguments),
    /// Lists the sessions, newest first.
    Sessions(sessions::Arguments),
    /// Shows the lines of a session.
    Show(show::Arguments),
    /// Shows which session was continued in which, why and when.
    Lineage(lineage::Arguments),
    /// Continues a session in a fresh one.
    Continue(continuing::Arguments),
    /// Goes on from a session in a fresh one that begins with a pointer to it, without a handoff.
    Fresh(fresh::Arguments),
    /// Tells what became of the sources of a continuation, and how often they were read back since.
    Audit(audit::Arguments),
    /// Goes on from an earlier point of a session, in a session that holds what came before by reference.
    Fork(fork::Arguments),
    /// Goes back from a session to the one that it goes on from; nothing is deleted.
    Back(fork::BackArguments),
    /// Finds text, exactly as it was said.
    Recall(recall::Arguments),
    /// Shows one event of a session in full, exactly.
    Get(get::Arguments),
    /// Rebuilds what a model was given, and holds it to its receipt.
    Replay(replay::Arguments),
    /// Tells how much the store holds, and how much room it takes.
    Stats,
    /// Checks the record.
    Verify(verify::Arguments),
    /// Makes a sound store of all that is whole in a damaged one.
    Repair(repair::Arguments),
    /// Shows in a fresh store what this program does.
    Demo,
}

impl Command {
    pub(crate) fn run(&self, place: &Place) -> Result<Answer, Failure> {
        match self {
            Self::Import(arguments) => import::run(place, arguments),
            Self::Sessions(arguments) => sessions::run(place, arguments),
            Self::Show(arguments) => show::run(place, arguments),
            Self::Lineage(arguments) => lineage::run(place, arguments),
            Self::Continue(arguments) => continuing::run(place, arguments),
            Self::Fresh(arguments) => fresh::run(place, arguments),
            Self::Audit(arguments) => audit::run(place, arguments),
            Self::Fork(arguments) => fork::run(place, arguments),
            Self::Back(arguments) => fork::back(place, arguments),
            Self::Recall(arguments) => recall::run(place, arguments),
            Self::Get(arguments) => get::run(place, arguments),
            Self::Replay(arguments) => replay::run(place, arguments),
            Self::Stats => stats::run(place),
            Self::Verify(arguments) => verify::run(place, arguments),
            Self::Repair(arguments) => repair::run(place, arguments),
            Self::Demo => demo::run(place),
        }
    }
}
