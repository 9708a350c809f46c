//! Torn tails, damage, and an index in every state.

use std::fs;
use std::path::Path;

use segue_log::{EventLog, LogErrorKind};
use segue_log_file::{FileLog, Options};

use crate::sample::{answers, claiming, copy_folder, open, read_log, say, segment, session, trim, verify};

/// A store of some commits, the last one of which is not published: its writer was stopped before it could.
fn with_an_unpublished_commit(path: &Path) -> (u64, u64) {
    let log = open(path);
    (0..4).for_each(|number| drop(log.commit(claiming(number % 2, &number.to_string())).unwrap()));
    drop(log);
    let before = fs::read(path.join("published")).unwrap();
    let copy = path.with_extension("measured");
    copy_folder(path, &copy);
    let whole = trim(&segment(&copy, 1));
    open(path).commit(claiming(2, "last one")).unwrap();
    fs::write(path.join("published"), before).unwrap();
    let longer = trim(&segment(path, 1));
    (whole, longer)
}

#[test]
fn a_tail_torn_at_any_length_is_ignored_and_writing_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    let (whole, longer) = with_an_unpublished_commit(&original);
    let bytes = fs::read(segment(&original, 1)).unwrap();
    let path = folder.path().join("copy");
    for length in whole..=longer {
        drop(fs::remove_dir_all(&path));
        copy_folder(&original, &path);
        fs::write(segment(&path, 1), &bytes[..usize::try_from(length).unwrap()]).unwrap();
        let log = open(&path);
        assert_eq!(read_log(&*log).len(), 4, "length {length}: readers stop at the published end");
        let answer = log.commit(say(3, "after")).unwrap();
        let kept = if length == longer { 5 } else { 4 };
        assert_eq!(
            answer.first.get(),
            kept + 1,
            "length {length}: a whole commit is kept, a torn one is not"
        );
        assert_eq!(read_log(&*log).len() as u64, kept + 1, "length {length}");
        let new_segment = length != whole && length != longer;
        assert_eq!(segment(&path, 2).exists(), new_segment, "length {length}: nothing is written over");
        drop(log);
        assert_eq!(read_log(&*open(&path)).len() as u64, kept + 1, "length {length}: reopened");
        assert!(verify(&path).is_sound(), "length {length}: {:?}", verify(&path));
    }
}

#[test]
fn without_a_trusted_end_every_whole_frame_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    with_an_unpublished_commit(&path);
    for published in [None, Some([1; 64].as_slice()), Some([].as_slice())] {
        drop(fs::remove_file(path.join("published")));
        if let Some(bytes) = published {
            fs::write(path.join("published"), bytes).unwrap();
        }
        assert_eq!(read_log(&*open(&path)).len(), 5, "{published:?}");
        assert!(verify(&path).is_sound());
    }
}

#[test]
fn a_torn_tail_is_noted_and_is_no_problem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (_, longer) = with_an_unpublished_commit(&path);
    let report = verify(&path);
    assert!(report.is_sound() && report.notes.len() == 1, "whole, but not published: {report:?}");
    fs::remove_file(path.join("published")).unwrap();
    fs::OpenOptions::new().write(true).open(segment(&path, 1)).unwrap().set_len(longer - 1).unwrap();
    let report = verify(&path);
    assert!(report.is_sound(), "{report:?}");
    assert_eq!((report.events, report.notes.len()), (4, 1), "{report:?}");
}

/// Four commits of which the last three are one group, and a fifth in a group of its own; the bytes where each ends.
fn with_a_group_of_three(path: &Path) -> Vec<usize> {
    let log = open(path);
    let mut ends = Vec::new();
    for number in 0..5_u8 {
        let commit = claiming(number % 2, &format!("text {number}"));
        let in_group = number == 1 || number == 2;
        log.commit(if in_group { commit.without_waiting() } else { commit }).unwrap();
        let copy = path.with_extension(format!("after-{number}"));
        fs::copy(segment(path, 1), &copy).unwrap();
        ends.push(usize::try_from(trim(&copy)).unwrap());
    }
    ends
}

#[test]
fn of_a_torn_group_a_prefix_remains_and_of_a_synced_one_a_loss_is_corruption() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    let ends = with_a_group_of_three(&original);
    let bytes = fs::read(segment(&original, 1)).unwrap();
    let path = folder.path().join("copy");
    for lost in 1..8_usize {
        for synced in [false, true] {
            let mut bytes = bytes[..ends[if synced { 4 } else { 3 }]].to_vec();
            for frame in (0..3).filter(|frame| lost >> frame & 1 == 1) {
                bytes[ends[frame]..ends[frame + 1]].fill(0);
            }
            drop(fs::remove_dir_all(&path));
            copy_folder(&original, &path);
            fs::remove_file(path.join("published")).unwrap();
            fs::write(segment(&path, 1), bytes).unwrap();
            assert_eq!(verify(&path).is_sound(), !synced, "lost {lost:b}: {:?}", verify(&path));
            let log = open(&path);
            if synced {
                assert_eq!(
                    log.commit(say(0, "x")).unwrap_err().kind(),
                    LogErrorKind::Corrupt,
                    "lost {lost:b}"
                );
                continue;
            }
            let kept = 1 + u64::from(lost.trailing_zeros());
            assert_eq!(
                read_log(&*log).len() as u64,
                kept,
                "lost {lost:b}: the commits before the first lost one"
            );
            assert_eq!(log.commit(say(0, "x")).unwrap().first.get(), kept + 1, "lost {lost:b}");
            drop(log);
            assert!(verify(&path).is_sound(), "lost {lost:b}: {:?}", verify(&path));
        }
    }
}

#[test]
fn damage_in_what_was_acknowledged_is_corruption_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let log = open(&path);
    (0..5).for_each(|number| drop(log.commit(say(number, &format!("text {number}"))).unwrap()));
    drop(log);
    let file = segment(&path, 1);
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(6).position(|window| window == b"text 2").unwrap();
    bytes[at] ^= 1;
    fs::write(&file, bytes).unwrap();
    let log = open(&path);
    let found: Vec<_> = log.read_log(segue_event::Position::FIRST).unwrap().collect();
    let errors: Vec<_> = found.iter().filter_map(|event| event.as_ref().err()).collect();
    assert_eq!((found.len(), errors.len()), (5, 1), "everything else is readable: {found:?}");
    let (damaged, offset) = errors[0].damaged_at().unwrap();
    assert_eq!(damaged, file);
    assert!((offset as usize) < at && at - (offset as usize) < 200, "the frame at {offset} holds byte {at}");
    assert_eq!(log.head(session(4)).unwrap().unwrap().seq.get(), 1, "what is behind it is found");
    assert_eq!(
        log.commit(say(1, "more")).unwrap_err().kind(),
        LogErrorKind::Corrupt,
        "nothing is built on it"
    );
    assert!(verify(&path).problems.iter().any(|problem| problem.place.contains("00000001.seg")));
}

#[test]
fn a_flipped_byte_is_found_or_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    let options = Options { segment_bytes: 1024, ..Options::default() };
    let log = FileLog::open(&original, options).unwrap();
    (0..9).for_each(|number| drop(log.commit(claiming(number % 3, &number.to_string())).unwrap()));
    log.put_blob(b"picture").unwrap();
    drop(log);
    for number in 1..=2 {
        trim(&segment(&original, number));
    }
    let expected = answers(&*open(&original));
    let path = folder.path().join("copy");
    copy_folder(&original, &path);
    for file in ["log/00000001.seg", "log/00000002.seg", "published", "format", "LOCK"].map(|f| path.join(f))
    {
        let bytes = fs::read(&file).unwrap();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&file, &flipped).unwrap();
            if let Ok(log) = FileLog::open(&path, Options::default()) {
                let unchanged = answers(&log) == expected;
                let sound = verify(&path).is_sound();
                assert!(unchanged || !sound, "byte {at} of {}: neither the same nor found", file.display());
            }
        }
        fs::write(&file, &bytes).unwrap();
    }
}
