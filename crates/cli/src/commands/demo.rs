//! `segue demo`: the whole thing in a fresh store, in a few seconds.

use std::fs;
use std::path::{Path, PathBuf};

use segue::event::{AgentId, SessionId};
use segue::log::Depth;
use segue::thread::{Budget, Query, render_answer};
use segue::{Asker, Host as _, Outcome, Scope, SystemHost, Where, Workspace};
use segue_import::{ImportOptions, Imported, import_path};
use serde_json::json;

use crate::commands::continuing::show_verdict;
use crate::commands::verify::show;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;
use crate::place::Place;

/// A transcript in the format of Claude Code that was written for this demo.
const TRANSCRIPT: &str = include_str!("../../demo/transcript.jsonl");

/// The handoff, as an agent or a person would write it.
const HANDOFF: &str = include_str!("../../demo/handoff.json");

/// A line of the transcript that the successor's first context does not hold.
const RECALLED: &str = "ERR_STAMP_MISSING";

pub(crate) fn run(_: &Place) -> Result<Answer, Failure> {
    let folder = fresh_folder()?;
    let transcript = write(&folder, "transcript.jsonl", TRANSCRIPT)?;
    let handoff = write(&folder, "handoff.json", HANDOFF)?;
    let place = Place::at(folder.join("store"));
    let workspace = place.make()?;
    let predecessor = import(&workspace, &transcript)?;
    let successor = continue_in_fresh_session(&workspace, predecessor)?;
    let recompiled = workspace.recompile(successor)?;
    let reader = workspace.reader(Scope::Workspace);
    let query = Query::literal(RECALLED)?;
    let found = reader.recall(Where::Chain(successor), &query, &Budget::default(), None)?;
    let report = workspace.verify(Depth::Full, &mut |_| ())?;
    let store = place.folder().display();
    let program = std::env::current_exe().map_or("segue".to_owned(), |path| path.display().to_string());
    let text = format!(
        "1. Imported {}\n   as session {predecessor}\n\n\
         2. Continued it in the fresh session {successor}\n   with {}\n   which begins with this projection:\n\n{}\n\
         3. Recalled from the successor, word for word, what only the predecessor holds:\n\n{}\n\
         4. Compiled the projection again: {}\n   Verified the record: {}\n\
         Look around, and delete {} when you are done:\n   {program} --store {store} sessions\n   \
         {program} --store {store} show {successor}\n   {program} --store {store} lineage {successor}\n   \
         {program} --store {store} recall {RECALLED}\n",
        transcript.display(),
        handoff.display(),
        recompiled.stored,
        render_answer(&query, &found),
        show_verdict(recompiled.verdict),
        show(&report),
        folder.display(),
    );
    let json = json!({
        "store": place.folder(),
        "transcript": transcript,
        "handoff": handoff,
        "predecessor": predecessor.to_string(),
        "successor": successor.to_string(),
        "projection": recompiled.stored,
        "recalled": found.hits.iter().map(|hit| hit.excerpt.clone()).collect::<Vec<_>>(),
        "sound": report.is_sound(),
    });
    Ok(Answer::new(text, &json))
}

fn import(workspace: &Workspace, transcript: &Path) -> Result<SessionId, Failure> {
    let agent = AgentId::new("demo").map_err(|error| internal(error.to_string()))?;
    let options = ImportOptions { agent, now: SystemHost.now(), kind: None };
    match import_path(&**workspace.log(), transcript, &options)? {
        Imported::Session(report) => Ok(report.session),
        Imported::Skipped(why) => Err(internal(format!("the demo's transcript was skipped: {why}"))),
    }
}

fn continue_in_fresh_session(workspace: &Workspace, predecessor: SessionId) -> Result<SessionId, Failure> {
    let asker = Asker::Person { request: "demo".to_owned() };
    match workspace.continue_session(predecessor, &asker, HANDOFF)? {
        Outcome::Continued(continued) => Ok(continued.successor),
        Outcome::Refused(refusal) => Err(internal(format!("the demo's handoff was refused: {refusal}"))),
    }
}

/// A folder that nobody has used yet.
fn fresh_folder() -> Result<PathBuf, Failure> {
    let random: String = SystemHost.random().iter().map(|byte| format!("{byte:02x}")).collect();
    let folder = std::env::temp_dir().join(format!("segue-demo-{random}"));
    fs::create_dir(&folder).map_err(|error| Failure::file("cannot make", &folder, &error))?;
    Ok(folder)
}

fn write(folder: &Path, name: &str, content: &str) -> Result<PathBuf, Failure> {
    let file = folder.join(name);
    fs::write(&file, content).map_err(|error| Failure::file("cannot write", &file, &error))?;
    Ok(file)
}

fn internal(message: String) -> Failure {
    Failure::new(Exit::Unhealthy, "demo", message, "")
}
