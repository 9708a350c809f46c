//! A small store that is kept with the sources, so that stores written before can still be read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use segue::Host as _;
use segue::event::{
    Attachment, Author, Block, Digest, Event, Hole, ImportProgress, ImportedLine, LineNumber, Message, Role,
    Unreadable,
};
use segue::log::{ClaimKey, Commit, EventLog, Expected, NewEvent};
use segue::log_file::limits::FORMAT_VERSION;
use segue::log_file::{FileLog, Options};
use segue_testkit::{FixedHost, NoImporter, Scenario};

use crate::root;

/// The key that one commit takes.
const CLAIM: &str = "fixture/claim";

/// What the blob holds.
const BLOB: &[u8] = b"the bytes of a picture, as far as anybody here can tell";

/// Small enough for a few segments.
const SEGMENT_BYTES: u64 = 24 * 1024;

/// How many messages make the first session long enough for that.
const LONG_MESSAGES: usize = 60;

/// Zeros that are left at the end of the open segment: an event may end with some of its own.
const ZEROS_LEFT: usize = 256;

const BEGINNING: &str = r#"
{"do":"start","session":"first","agent":"coder","title":"Parser"}
{"do":"say","session":"first","text":"Write a parser for a.txt. No regexes, please."}
{"do":"run","session":"first","run":"one"}
{"do":"reply","session":"first","text":"I look at the file.","thinking":"Small steps.","calls":[{"id":"c1","tool":"bash","arguments":{"command":"cat a.txt"}}]}
{"do":"result","session":"first","call":"c1","tool":"bash","text":"key = value\nother = 12"}
{"do":"plan","session":"first","steps":[{"id":"p1","label":"grammar","status":"done"},{"id":"p2","label":"tests","status":"pending"}]}
{"do":"start","session":"other","agent":"writer","title":"Letters","titled_by_user":true}
{"do":"say","session":"other","author":"trigger","text":"It is Monday."}
"#;

const END: &str = r#"
{"do":"reply","session":"first","text":"This grows long.","calls":[{"id":"c2","tool":"continue_thread","arguments":{}}]}
{"do":"continue","session":"first","as":"second","by":{"tool":{"run":"one","call":"c2"}},"arguments":{"reason":"phase_change","title":"Parser tests","description":"grammar done, tests next","handoff":{"purpose":"A parser for a.txt","currentRequest":"Write the tests","decisions":["no regexes: the user said so"]},"sources":[{"type":"session_events","fromSeq":2,"toSeq":5,"relevance":"the request"}]}}
{"do":"reply","session":"second","text":"The tests are written."}
{"do":"compact","session":"other","kept_from":2,"summary":"It was Monday."}
{"do":"fresh","session":"other","as":"third"}
"#;

/// Writes the fixture of the present format anew.
pub(crate) fn run() -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let written = temporary.path().join("store");
    write(&written)?;
    let folder = folder();
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let bytes = keep(&written, &folder)?;
    println!("store-fixture: {bytes} bytes in {}", folder.display());
    Ok(())
}

/// Where the fixture of the present format lies.
fn folder() -> PathBuf {
    root().join(format!("fixtures/stores/format-{FORMAT_VERSION}"))
}

/// Writes a store with a bit of everything, the same in every run.
fn write(store: &Path) -> anyhow::Result<()> {
    let options = Options { segment_bytes: SEGMENT_BYTES, ..Options::default() };
    let log = Arc::new(FileLog::open(store, options)?);
    let ran = scenario()?.run(log.clone(), store, &NoImporter)?;
    let other = *ran.sessions.get("other").context("the scenario has no such session")?;
    let host = FixedHost::new();
    let mut commit = Commit::new().claim(ClaimKey::new(CLAIM)?);
    for event in extras(&log)? {
        commit = commit.append(other, Expected::AtHead, vec![NewEvent::new(host.now(), event)]);
    }
    log.commit(commit)?;
    log.settle()?;
    Ok(())
}

fn scenario() -> anyhow::Result<Scenario> {
    let mut steps = BEGINNING.to_owned();
    for number in 0..LONG_MESSAGES {
        let text = format!("{number}: {}", "on and on, and ".repeat(80));
        steps.push_str(&serde_json::json!({"do": "say", "session": "first", "text": text}).to_string());
        steps.push('\n');
    }
    steps.push_str(END);
    let lines = steps.lines().filter(|line| !line.is_empty());
    Ok(Scenario { steps: lines.map(serde_json::from_str).collect::<Result<_, _>>()? })
}

/// Events that no step of a scenario makes.
fn extras(log: &FileLog) -> anyhow::Result<[Event; 4]> {
    let blob = log.put_blob(BLOB)?;
    let bytes = BLOB.len() as u64;
    let mut message = Message::text(Role::User, Author::User, "a picture");
    let name = "p.png".to_owned();
    message.blocks.push(Block::Image(Attachment { blob, media_type: "image/png".to_owned(), name, bytes }));
    let line = LineNumber(1);
    let kept =
        ImportedLine { line, offset: 0, bytes: vec![b'\n'].into(), holes: vec![Hole::Raw { at: 0, blob }] };
    let whole = [BLOB, b"\n"].concat();
    let bytes = whole.len() as u64;
    let unreadable = Unreadable { line, offset: 0, bytes, blob, reason: "no record begins here".to_owned() };
    let progress = ImportProgress { path: "letters.jsonl".to_owned(), lines: 1, prefix: Digest::of(&whole) };
    Ok([message.into(), kept.into(), unreadable.into(), progress.into()])
}

/// Copies what is the record, without what belongs to the machine that wrote it or can be made again, and without
/// the zeros that were filled ahead. Gives the size.
fn keep(store: &Path, folder: &Path) -> anyhow::Result<u64> {
    let mut total = 0;
    for file in record_files(store)? {
        let mut bytes = fs::read(store.join(&file))?;
        if file.extension().is_some_and(|extension| extension == "seg") {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            bytes.truncate(end + ZEROS_LEFT);
        }
        let target = folder.join(&file);
        fs::create_dir_all(target.parent().context("a file without a folder")?)?;
        total += bytes.len() as u64;
        fs::write(target, bytes)?;
    }
    Ok(total)
}

/// The format, the segments and the blobs, by their paths in the store.
fn record_files(store: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = vec![PathBuf::from("format")];
    let mut folders = vec![PathBuf::from("log"), PathBuf::from("blobs")];
    while let Some(folder) = folders.pop() {
        for entry in store.join(&folder).read_dir()? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let into = if entry.file_type()?.is_dir() { &mut folders } else { &mut files };
            into.push(path);
        }
    }
    files.sort();
    ensure!(files.len() > 2, "{} holds no store", store.display());
    Ok(files)
}

#[cfg(test)]
mod tests {
    use segue::event::{BlobId, Position, SeqRange};
    use segue::log::{Depth, Direction, SessionPage};

    use super::*;

    /// All event ids, in order, below what they add up to.
    fn ids(log: &FileLog) -> String {
        let events: Vec<_> = log.read_log(Position::FIRST).unwrap().map(Result::unwrap).collect();
        let ids: Vec<_> = events.iter().map(|event| event.header.hash.to_string()).collect();
        let lines: String = events
            .iter()
            .map(|event| {
                let recorded = event.decode().unwrap();
                let kind = recorded.event.kind().name().unwrap_or("?");
                format!("{} {} {} {kind}\n", event.header.hash, event.header.session, event.header.seq)
            })
            .collect();
        format!("{}\n\n{lines}", BlobId::of(ids.join("\n").as_bytes()))
    }

    fn assert_sound(log: &FileLog) {
        let report = log.verify(Depth::Full, &mut |_| ()).unwrap();
        assert!(report.is_sound() && report.notes.is_empty(), "{report:?}");
    }

    /// The flags of a segment: 0 for an open one.
    fn flags(store: &Path) -> Vec<u8> {
        let files = record_files(store).unwrap();
        let segments = files.iter().filter(|file| file.starts_with("log"));
        segments.map(|file| fs::read(store.join(file)).unwrap()[12]).collect()
    }

    #[test]
    fn the_store_that_is_kept_can_be_read() {
        let log = FileLog::open_reader(folder()).unwrap();
        assert_sound(&log);
        insta::assert_snapshot!(ids(&log));
        assert!(log.claimed(&ClaimKey::new(CLAIM).unwrap()).unwrap().is_some());
        assert_eq!(log.blob(&BlobId::of(BLOB)).unwrap().unwrap(), BLOB);
        let page = SessionPage { before: None, limit: 10 };
        let sessions = log.sessions(page).unwrap();
        assert_eq!(sessions.len(), 4);
        for newer in [0, 1] {
            let older = sessions[newer + 2].session;
            assert_eq!(log.predecessor(sessions[newer].session).unwrap(), Some(older));
        }
        for listing in sessions {
            let events = log.read(listing.session, SeqRange::ALL, Direction::Backward).unwrap();
            assert_eq!(events.count() as u64, listing.head.seq.get());
        }
        let flags = flags(&folder());
        let (open, sealed) = flags.split_last().unwrap();
        assert!(*open == 0 && !sealed.is_empty() && sealed.iter().all(|flags| *flags != 0), "{flags:?}");
    }

    #[test]
    fn the_store_that_is_kept_can_be_written_on() {
        let temporary = tempfile::tempdir().unwrap();
        let store = temporary.path().join("store");
        keep(&folder(), &store).unwrap();
        let log = FileLog::open(&store, Options::default()).unwrap();
        let end = log.end().unwrap().unwrap();
        let session = log.sessions(SessionPage { before: None, limit: 1 }).unwrap()[0].session;
        let event = NewEvent::new(FixedHost::new().now(), Message::text(Role::User, Author::User, "more"));
        let committed = log.commit(Commit::new().append(session, Expected::AtHead, vec![event])).unwrap();
        assert_eq!(committed.first, end.next());
        assert_sound(&log);
    }

    #[test]
    fn each_run_writes_the_same_files() {
        let temporary = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| {
            let (written, kept) =
                (temporary.path().join(name), temporary.path().join(format!("{name}-kept")));
            write(&written).unwrap();
            keep(&written, &kept).unwrap();
            let files = record_files(&kept).unwrap();
            files
                .into_iter()
                .map(|file| (file.clone(), fs::read(kept.join(file)).unwrap()))
                .collect::<Vec<_>>()
        });
        assert!(one == other, "two runs differ");
    }
}
