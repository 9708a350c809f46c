//! Repair: whatever is damaged, everything else is in the new store at its own place, and the rest is marked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use segue_event::{
    BlobId, ImportedLine, Kind, LineNumber, Lost, Position, Prepared, RawEvent, Recorded, SessionId,
    Timestamp, Unreadable,
};
use segue_log::{ClaimKey, Commit, EventLog, Expected, LogErrorKind, NewEvent};
use segue_log_file::{FileLog, Options, Repaired, repair};

use proptest::prelude::{ProptestConfig, Strategy, any, proptest};

use crate::sample::{
    claiming, continuing, copy_folder, message, open, read_log, say, segment, session, trim, verify,
};

/// A log, and how it was before it was damaged.
struct Original {
    path: PathBuf,
    events: Vec<RawEvent>,
    claims: BTreeMap<String, Position>,
}

/// Commits of one event and of several, of one session and of two, with claims and without.
fn write(path: &Path, options: Options) -> Original {
    let log = FileLog::open(path, options).unwrap();
    let mut claims = BTreeMap::new();
    for number in 0..13_u8 {
        let key = number.to_string();
        let commit = match number % 4 {
            0 => claiming(number % 3, &key),
            1 => several(1, 3).append(session(2), Expected::AtHead, vec![message("one of two")]),
            2 => say(2, "one before two")
                .append(session(number % 3), Expected::AtHead, vec![message("one"), message("two")])
                .claim(ClaimKey::new(&key).unwrap()),
            _ => say(number % 3, &format!("text {number}")),
        };
        let is_claiming = !commit.claims.is_empty();
        let committed = log.commit(commit).unwrap();
        if is_claiming {
            claims.insert(key, committed.first);
        }
    }
    log.commit(continuing(9, 1)).unwrap();
    log.commit(claiming(0, "last")).unwrap();
    log.settle().unwrap();
    drop(log);
    let events = read_log(&*open(path));
    Original { path: path.to_owned(), events, claims }
}

fn several(number: u8, count: usize) -> Commit {
    let texts = (0..count).map(|index| message(&format!("part {index} of {count}")));
    Commit::new().append(session(number), Expected::AtHead, texts.collect())
}

/// A store whose only segment is not compressed.
fn plain(path: &Path) -> Original {
    let original = write(path, Options::default());
    trim(&segment(path, 1));
    original
}

/// A store of some small segments, of which all but the last are compressed.
fn packed(path: &Path) -> Original {
    let original = write(path, Options { segment_bytes: 1024, ..Options::default() });
    assert!(segment(path, 4).exists());
    original
}

/// The bytes of every file in a folder.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, blake3::Hash> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files.extend(snapshot(&entry.path()));
        } else {
            files.insert(entry.path(), blake3::hash(&fs::read(entry.path()).unwrap()));
        }
    }
    files
}

/// Writes a file as a new one: what was mapped before stays as it was.
fn replace(file: &Path, bytes: &[u8]) {
    drop(fs::remove_file(file));
    fs::write(file, bytes).unwrap();
}

/// Repairs a spoilt store and holds the new one to the original.
fn check(original: &Original, into: &Path, what: &str) -> Repaired {
    drop(fs::remove_dir_all(into));
    let before = snapshot(&original.path);
    let repaired = repair(&original.path, into, &mut |_| ()).map_err(|error| format!("{what}: {error}"));
    let repaired = repaired.unwrap();
    assert_eq!(snapshot(&original.path), before, "{what}: the old store is as it was");
    let log = open(into);
    let events = read_log(&*log);
    assert_eq!(events.len(), original.events.len(), "{what}: every position has an event");
    let lost: Vec<&RawEvent> = (events.iter().zip(&original.events))
        .filter(|(new, old)| new != old && new.kind() == Kind::Lost)
        .map(|(_, old)| old)
        .collect();
    for (new, old) in events.iter().zip(&original.events).filter(|(new, old)| new != old) {
        assert_eq!(new.kind(), Kind::Lost, "{what}: {old:?} became {new:?}");
        let place = |event: &RawEvent| (event.header.session, event.header.seq);
        // Where several were lost they may be exchanged.
        let is_right = lost.iter().any(|lost| place(lost) == place(new));
        assert!(
            is_right || new.header.session == SessionId::LOST_AND_FOUND,
            "{what}: {old:?} became {new:?}"
        );
        let mark: Recorded<Lost> = new.decode_as().unwrap().unwrap();
        if let Some(was) = mark.event.was.filter(|_| place(new) == place(old)) {
            assert_eq!(was.id, old.header.hash, "{what}: the id of {old:?}");
        }
    }
    let marked: Vec<_> = repaired.lost.iter().map(|lost| lost.position).collect();
    assert_eq!(marked, lost.iter().map(|lost| lost.position).collect::<Vec<_>>(), "{what}");
    assert_eq!(repaired.events, original.events.len() as u64, "{what}");
    drop(log);
    let report = verify(into);
    assert!(report.is_sound(), "{what}: {report:?}");
    repaired
}

/// A repaired store is like any other: it is written to, and a second repair of it loses nothing.
fn check_further(into: &Path, again: &Path, what: &str) {
    let log = open(into);
    for number in 0..3 {
        log.commit(say(number, "on we go")).map_err(|error| format!("{what}: {error}")).unwrap();
    }
    let events = read_log(&*log);
    drop(log);
    assert!(verify(into).is_sound(), "{what}: {:?}", verify(into));
    drop(fs::remove_dir_all(again));
    let repaired = repair(into, again, &mut |_| ()).unwrap();
    assert!(repaired.is_complete() && repaired.salvaged == 0, "{what}: {repaired:?}");
    assert_eq!(read_log(&*open(again)), events, "{what}");
}

#[test]
fn a_sound_store_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    for (name, make) in [("plain", plain as fn(&Path) -> Original), ("packed", packed)] {
        let original = make(&folder.path().join(name));
        let into = folder.path().join(format!("{name}-new"));
        let repaired = check(&original, &into, name);
        assert!(repaired.is_complete() && repaired.salvaged == 0, "{name}: {repaired:?}");
        check_claims(&original, &into, name);
        check_further(&into, &folder.path().join("again"), name);
    }
}

fn check_claims(original: &Original, into: &Path, what: &str) {
    let log = open(into);
    for (key, position) in &original.claims {
        let claimed = log.claimed(&ClaimKey::new(key).unwrap()).unwrap();
        assert_eq!(claimed, Some(*position), "{what}: claim {key}");
    }
}

/// How many bytes there are from one that is flipped to the next: few enough that each field is met somewhere.
const STRIDE: usize = 13;

/// The same for the longer tests.
const LONG_STRIDE: usize = 31;

#[test]
fn one_flipped_byte_of_a_plain_segment_loses_at_most_one_event() {
    let folder = tempfile::tempdir().unwrap();
    let original = plain(&folder.path().join("store"));
    let (into, again) = (folder.path().join("new"), folder.path().join("again"));
    let file = segment(&original.path, 1);
    let bytes = fs::read(&file).unwrap();
    let mut lost = 0;
    // The header of the segment, of a frame, and of events that begin sessions and do not.
    let headers = (0..128).step_by(5).chain(128..400);
    for at in (0..bytes.len()).step_by(STRIDE).chain(headers) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        replace(&file, &flipped);
        let what = format!("byte {at} flipped");
        let repaired = check(&original, &into, &what);
        assert!(repaired.lost.len() <= 1, "{what}: {repaired:?}");
        for lost in &repaired.lost {
            let old = &original.events[usize::try_from(lost.position.get()).unwrap() - 1].header;
            let is_followed = original
                .events
                .iter()
                .any(|event| event.header.session == old.session && event.header.seq > old.seq);
            let is_exact = (lost.session, lost.seq) == (old.session, old.seq);
            assert!(is_exact || !is_followed, "{what}: {lost:?} was {old:?}");
        }
        lost += repaired.lost.len();
        if at % 20 == 0 {
            check_further(&into, &again, &what);
        }
    }
    assert!(lost > 100, "most bytes are those of events: {lost}");
}

#[test]
fn a_flipped_byte_of_a_body_is_marked_with_all_that_its_header_says() {
    let folder = tempfile::tempdir().unwrap();
    let original = plain(&folder.path().join("store"));
    let into = folder.path().join("new");
    let file = segment(&original.path, 1);
    let bytes = fs::read(&file).unwrap();
    for (text, spot) in [("part 1 of 3", 2), ("part 2 of 3", 3), ("one of two", 4)] {
        let at = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        replace(&file, &flipped);
        let repaired = check(&original, &into, text);
        let old = &original.events[spot];
        assert_eq!(
            repaired.lost.iter().map(|lost| lost.position).collect::<Vec<_>>(),
            [old.position],
            "{text}"
        );
        assert_eq!((repaired.lost[0].session, repaired.lost[0].seq), (old.header.session, old.header.seq));
        let mark: Recorded<Lost> = read_log(&*open(&into))[spot].decode_as().unwrap().unwrap();
        let lost = mark.event;
        let was = lost.was.unwrap();
        assert_eq!((was.kind, was.id, mark.time), (old.kind(), old.header.hash, old.header.time), "{text}");
        assert!((lost.bytes.start..lost.bytes.end).contains(&(at as u64)), "{lost:?}");
        check_claims(&original, &into, text);
    }
}

#[test]
fn a_segment_cut_anywhere_keeps_what_is_before() {
    let folder = tempfile::tempdir().unwrap();
    let original = plain(&folder.path().join("store"));
    let (into, again) = (folder.path().join("new"), folder.path().join("again"));
    let file = segment(&original.path, 1);
    let bytes = fs::read(&file).unwrap();
    for length in (0..bytes.len()).step_by(STRIDE) {
        replace(&file, &bytes[..length]);
        let what = format!("cut to {length}");
        let repaired = check(&original, &into, &what);
        let first = repaired.lost.first().map_or(0, |lost| lost.position.get());
        let all = original.events.len() as u64;
        assert!(repaired.lost.is_empty() || repaired.lost.len() as u64 > all - first, "{what}");
        if length % 20 == 0 {
            check_further(&into, &again, &what);
        }
    }
}

#[test]
fn every_byte_of_a_compressed_store_is_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let original = packed(&folder.path().join("store"));
    let (into, again) = (folder.path().join("new"), folder.path().join("again"));
    for number in (1..).take_while(|number| segment(&original.path, *number).exists()).collect::<Vec<_>>() {
        let file = segment(&original.path, number);
        let bytes = fs::read(&file).unwrap();
        for at in (0..bytes.len()).step_by(LONG_STRIDE) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            replace(&file, &flipped);
            let what = format!("byte {at} of segment {number} flipped");
            check(&original, &into, &what);
            if at % 5 == 0 {
                check_further(&into, &again, &what);
            }
        }
        for length in (0..bytes.len()).step_by(LONG_STRIDE * 3) {
            replace(&file, &bytes[..length]);
            check(&original, &into, &format!("segment {number} cut to {length}"));
        }
        replace(&file, &bytes);
    }
}

#[test]
fn the_footer_of_a_destroyed_segment_tells_whose_every_event_was() {
    let folder = tempfile::tempdir().unwrap();
    let original = packed(&folder.path().join("store"));
    let into = folder.path().join("new");
    for number in 1..=3 {
        let file = segment(&original.path, number);
        let bytes = fs::read(&file).unwrap();
        let mut destroyed = bytes.clone();
        destroyed[128..400].fill(0x55);
        replace(&file, &destroyed);
        let what = format!("segment {number} destroyed");
        let repaired = check(&original, &into, &what);
        assert!(repaired.lost.len() > 2, "{what}: {repaired:?}");
        for lost in &repaired.lost {
            let old = &original.events[usize::try_from(lost.position.get()).unwrap() - 1].header;
            assert_eq!((lost.session, lost.seq), (old.session, old.seq), "{what}");
        }
        check_claims(&original, &into, &what);
        assert_eq!((repaired.claims_lost, repaired.claims_doubtful), (0, 0), "{what}");
        replace(&file, &bytes);
    }
}

#[test]
fn a_damaged_block_loses_no_more_than_the_events_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let log = FileLog::open(&path, Options::default()).unwrap();
    let mut noise = 1_u64;
    let mut text = move || -> String {
        let mut letter = || {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'a' + u8::try_from((noise >> 33) % 26).unwrap())
        };
        (0..2_000).map(|_| letter()).collect()
    };
    (0..700).for_each(|number| drop(log.commit(say(number_of(number), &text())).unwrap()));
    log.settle().unwrap();
    drop(log);
    let events = read_log(&*open(&path));
    let original = Original { path, events, claims: BTreeMap::new() };
    let file = segment(&original.path, 1);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 9].fill(0);
    replace(&file, &bytes);
    let into = folder.path().join("new");
    let repaired = check(&original, &into, "a block");
    let lost: Vec<u64> = repaired.lost.iter().map(|lost| lost.position.get()).collect();
    assert!((1..=70).contains(&lost.len()), "a block holds some sixty: {lost:?}");
    let log = open(&into);
    for lost in &repaired.lost {
        let old = &original.events[usize::try_from(lost.position.get()).unwrap() - 1].header;
        assert_eq!((lost.session, lost.seq), (old.session, old.seq));
    }
    assert_eq!(log.end().unwrap().map(Position::get), Some(700));
    check_further(&into, &folder.path().join("again"), "a block");
}

fn number_of(number: u32) -> u8 {
    u8::try_from(number % 3).unwrap()
}

#[test]
fn blobs_are_copied_if_they_are_whole_and_told_if_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let log = open(&path);
    let ids = ["whole", "damaged", "missing", "unnamed"].map(|text| log.put_blob(text.as_bytes()).unwrap());
    let unreadable = |(line, blob): (u64, &BlobId)| {
        let line = LineNumber(line);
        let unreadable = Unreadable { line, offset: 0, bytes: 1, blob: *blob, reason: "no JSON".to_owned() };
        NewEvent::new(Timestamp::default(), unreadable)
    };
    let named = (1..).zip(&ids[..3]).map(unreadable).collect();
    log.commit(Commit::new().append(session(1), Expected::AtHead, named)).unwrap();
    drop(log);
    let file = |id: &BlobId| {
        let name = id.to_string();
        path.join("blobs").join(name.get(..2).unwrap()).join(name)
    };
    fs::write(file(&ids[1]), "changed").unwrap();
    fs::remove_file(file(&ids[2])).unwrap();
    let into = folder.path().join("new");
    let mut told = Vec::new();
    let repaired = repair(&path, &into, &mut |progress| told.push(progress)).unwrap();
    assert_eq!((repaired.blobs, &*repaired.blobs_damaged), (2, &ids[1..2]));
    assert_eq!(repaired.blobs_missing, &ids[2..3]);
    assert!(!repaired.is_complete());
    let log = open(&into);
    assert_eq!(log.blob(&ids[0]).unwrap().as_deref(), Some(b"whole".as_slice()));
    assert_eq!(log.blob(&ids[3]).unwrap().as_deref(), Some(b"unnamed".as_slice()));
    assert!(told.iter().map(|progress| progress.done).is_sorted());
    assert_eq!(told.last().map(|progress| progress.done), told.first().map(|progress| progress.total));
}

#[test]
fn a_missing_segment_is_marked_event_by_event() {
    let folder = tempfile::tempdir().unwrap();
    let original = packed(&folder.path().join("store"));
    let into = folder.path().join("new");
    let numbers: Vec<_> = (1..).take_while(|number| segment(&original.path, *number).exists()).collect();
    for number in numbers {
        let file = segment(&original.path, number);
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let what = format!("without segment {number}");
        let repaired = check(&original, &into, &what);
        assert!(repaired.lost.iter().all(|lost| lost.segment == number), "{what}: {repaired:?}");
        check_further(&into, &folder.path().join("again"), &what);
        fs::write(&file, bytes).unwrap();
    }
}

/// Something that happens to a file.
#[derive(Clone, Copy, Debug)]
enum Mishap {
    /// Bytes from a place on are overwritten.
    Overwritten {
        at: u16,
        count: u16,
        with: u8,
    },
    Cut {
        to: u16,
    },
    Gone,
}

fn mishap() -> impl Strategy<Value = Mishap> {
    (0..10_u8, any::<u16>(), 1..200_u16, any::<u8>()).prop_map(|(which, at, count, with)| match which {
        0 => Mishap::Gone,
        1 => Mishap::Cut { to: at },
        2..5 => Mishap::Overwritten { at, count, with },
        _ => Mishap::Overwritten { at, count: 1, with },
    })
}

fn happen(file: &Path, mishap: Mishap) {
    let Ok(mut bytes) = fs::read(file) else { return };
    let place = |number: u16| usize::from(number) % bytes.len().max(1);
    match mishap {
        Mishap::Gone => return fs::remove_file(file).unwrap(),
        Mishap::Cut { to } => bytes.truncate(place(to)),
        Mishap::Overwritten { at, count, with } => {
            let at = place(at);
            bytes.iter_mut().skip(at).take(count.into()).for_each(|byte| *byte = with);
        }
    }
    replace(file, &bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_mishaps_at_once_are_repaired(
        is_packed in any::<bool>(),
        mishaps in proptest::collection::vec((1..6_u32, mishap()), 1..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let make = if is_packed { packed } else { plain };
        let original = make(&folder.path().join("store"));
        for (number, mishap) in &mishaps {
            let number = if is_packed { *number } else { 1 };
            happen(&segment(&original.path, number), *mishap);
        }
        let into = folder.path().join("new");
        let what = format!("{mishaps:?}");
        check(&original, &into, &what);
        check_further(&into, &folder.path().join("again"), &what);
    }
}

#[test]
fn what_looks_like_an_event_inside_a_damaged_one_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let log = open(&path);
    log.commit(several(1, 2).append(session(2), Expected::AtHead, vec![message("real")])).unwrap();
    // Whoever knows the id of the newest event of another session can make the one that follows.
    let head = log.head(session(2)).unwrap().unwrap();
    let forged = Prepared::new(Timestamp::default(), &message("forged").event).unwrap();
    let forged = forged.place(session(2), head.seq.next(), &head.hash, Position::FIRST);
    let bytes = [&forged.header.to_bytes()[..], &forged.body].concat();
    let line =
        ImportedLine { line: LineNumber(1), offset: 0, bytes: bytes.clone().into(), holes: Vec::new() };
    let carrier = NewEvent::new(Timestamp::default(), line);
    let events = vec![carrier, message("one"), message("two")];
    log.commit(Commit::new().append(session(1), Expected::AtHead, events)).unwrap();
    log.commit(say(2, "the real next")).unwrap();
    let original = Original { events: read_log(&*log), path, claims: BTreeMap::new() };
    drop(log);
    let file = segment(&original.path, 1);
    let whole = fs::read(&file).unwrap();
    let inner = whole.windows(bytes.len()).position(|window| window == bytes).unwrap();
    let id = original.events[3].header.hash;
    let outer = whole.windows(32).position(|window| window == id.as_bytes()).unwrap() - 42;
    assert!((outer..outer + 100).contains(&inner));
    for at in outer..inner {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x40;
        replace(&file, &flipped);
        let repaired = check(&original, &folder.path().join("new"), &format!("byte {at}"));
        assert!(repaired.lost.len() <= 3, "{repaired:?}");
    }
}

#[test]
fn a_store_that_is_written_to_is_repaired_up_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let log = open(&path);
    (0..9).for_each(|number| drop(log.commit(say(number % 3, "before")).unwrap()));
    let original = Original { path, events: read_log(&*log), claims: BTreeMap::new() };
    let (into, later) = (folder.path().join("new"), folder.path().join("later"));
    assert!(check(&original, &into, "while it is open").is_complete());
    log.commit(say(0, "after")).unwrap();
    assert_eq!(log.end().unwrap().map(Position::get), Some(10), "its writer did not notice");
    assert_eq!(repair(&original.path, &later, &mut |_| ()).unwrap().events, 10);
}

#[test]
fn a_torn_tail_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let mut original = plain(&folder.path().join("store"));
    let published = fs::read(original.path.join("published")).unwrap();
    open(&original.path).commit(claiming(0, "torn")).unwrap();
    let file = segment(&original.path, 1);
    let end = trim(&file);
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..usize::try_from(end).unwrap() - 3]).unwrap();
    fs::write(original.path.join("published"), published).unwrap();
    let repaired = check(&original, &folder.path().join("new"), "torn");
    assert!(repaired.is_complete(), "{repaired:?}");
    // Without `published` nothing says where it ends; the frames do.
    fs::remove_file(original.path.join("published")).unwrap();
    check(&original, &folder.path().join("other"), "torn, not published");
    // A whole one that was not published yet is kept then.
    fs::write(&file, &bytes).unwrap();
    original.events = read_log(&*open(&original.path));
    assert!(check(&original, &folder.path().join("third"), "whole").is_complete());
}

#[test]
fn the_place_of_a_new_store_must_be_empty() {
    let folder = tempfile::tempdir().unwrap();
    let original = plain(&folder.path().join("store"));
    let into = folder.path().join("new");
    let refused = |from: &Path, into: &Path| repair(from, into, &mut |_| ()).unwrap_err().kind();
    assert_eq!(refused(&original.path, &original.path), LogErrorKind::Occupied);
    assert_eq!(refused(&folder.path().join("nothing"), &into), LogErrorKind::NotFound);
    fs::create_dir(&into).unwrap();
    repair(&original.path, &into, &mut |_| ()).unwrap();
    assert_eq!(refused(&original.path, &into), LogErrorKind::Occupied);
    // What a repair that was killed left behind is no store, and stays.
    let unfinished = folder.path().join("other.unfinished");
    copy_folder(&into, &unfinished.join("store"));
    assert_eq!(FileLog::open(&unfinished, Options::default()).unwrap_err().kind(), LogErrorKind::Occupied);
    assert_eq!(refused(&original.path, &folder.path().join("other")), LogErrorKind::Occupied);
}
