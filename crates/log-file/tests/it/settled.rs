//! Compressed segments and their footers: every byte flipped, every length cut, every step interrupted.

use std::fs;
use std::path::Path;

use segue_log::{ClaimKey, EventLog};
use segue_log_file::{FileLog, Options};

use crate::sample::{answers, copy_folder, is_packed, open, say, segment, trim, verify};

/// A store whose first two segments are compressed and have footers, with one claim in each.
fn settled(path: &Path) {
    let options = Options { segment_bytes: 1024, ..Options::default() };
    let log = FileLog::open(path, options).unwrap();
    for number in 0..13_u8 {
        let key = ClaimKey::new(number.to_string()).unwrap();
        log.commit(say(number % 3, &format!("common, rare {number}")).claim(key)).unwrap();
    }
    log.settle().unwrap();
    drop(log);
    assert!(is_packed(&segment(path, 1)) && is_packed(&segment(path, 2)));
    assert!(verify(path).is_sound(), "{:?}", verify(path));
    trim(&segment(path, 3));
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).unwrap()
}

/// What is to be true of a spoilt copy: its answers are those of the original, or a check finds something.
fn check(path: &Path, expected: &str, what: &str) {
    let Ok(log) = FileLog::open(path, Options::default()) else { return };
    let unchanged = answers(&log) == expected;
    drop(log);
    assert!(unchanged || !verify(path).is_sound(), "{what}: neither the same nor found");
}

#[test]
fn every_byte_of_a_compressed_segment_counts_or_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    settled(&path);
    let expected = answers(&*open(&path));
    for number in 1..=3 {
        let file = segment(&path, number);
        let bytes = fs::read(&file).unwrap();
        for at in worth_spoiling(&bytes, 0) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            replace(&file, &flipped);
            check(&path, &expected, &format!("byte {at} of segment {number} flipped"));
            replace(&file, &bytes[..at]);
            check(&path, &expected, &format!("segment {number} cut to {at} bytes"));
        }
        replace(&file, &bytes);
    }
    assert_eq!(answers(&*open(&path)), expected);
}

/// The bytes from one on; of the rows of a search filter, which are all alike, one in some.
fn worth_spoiling(bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let filter = bytes.windows(8).position(|window| window == b"SegueFlt");
    let rows = filter.map_or(bytes.len(), |filter| filter + 48)..bytes.len() - 128;
    (from..bytes.len()).filter(move |at| !rows.contains(at) || at % 61 == 0)
}

/// Writes a file as a new one: what was mapped before stays as it was.
fn replace(file: &Path, bytes: &[u8]) {
    drop(fs::remove_file(file));
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_garbled_footer_is_passed_over_and_one_that_lies_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    settled(&path);
    let expected = answers(&*open(&path));
    let file = segment(&path, 1);
    let bytes = fs::read(&file).unwrap();
    let footer = find(&bytes, b"SegueFtr");
    for at in worth_spoiling(&bytes, footer) {
        let mut garbled = bytes.clone();
        garbled[at] ^= 0x10;
        replace(&file, &garbled);
        assert_eq!(answers(&*open(&path)), expected, "byte {at}");
    }
    for length in worth_spoiling(&bytes, footer) {
        replace(&file, &bytes[..length]);
        assert_eq!(answers(&*open(&path)), expected, "cut to {length}");
        assert!(verify(&path).is_sound(), "there need not be a footer");
    }
    // The claim of the first commit, which a claim `c0` in the footer stands for, becomes another one.
    let mut lying = bytes.clone();
    let claim = footer + find(&lying[footer..], b"c0");
    lying[claim + 1] = b'8';
    // Behind the footer stand the search filter, and the header once more.
    let length = u32::from_le_bytes(*lying[footer + 8..].first_chunk().unwrap());
    let end = footer + 16 + usize::try_from(length).unwrap();
    assert_eq!(end, find(&lying, b"SegueFlt"));
    let checksum = crc32fast::hash(&lying[footer + 16..end]);
    lying[footer + 12..footer + 16].copy_from_slice(&checksum.to_le_bytes());
    replace(&file, &lying);
    let problems = verify(&path).problems;
    assert!(problems.iter().any(|problem| problem.place.contains("footer of segment 1")), "{problems:?}");
}

#[test]
fn a_filter_that_lies_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    settled(&path);
    let file = segment(&path, 1);
    let mut lying = fs::read(&file).unwrap();
    // One column, a byte a row, in one chunk: no bit is set any more but for what is always read.
    let filter = find(&lying, b"SegueFlt");
    assert_eq!(lying[filter + 12..filter + 16], 1_u32.to_le_bytes());
    let rows = 1 << u32::from_le_bytes(*lying[filter + 8..].first_chunk().unwrap());
    let tables = filter + 32;
    let chunk = tables + 8;
    assert_eq!(chunk + rows + 1 + 128, lying.len());
    lying[chunk..chunk + rows].fill(0);
    let sum = crc32fast::hash(&lying[chunk..chunk + rows + 1]);
    lying[chunk - 4..chunk].copy_from_slice(&sum.to_le_bytes());
    let sum = crc32fast::hash(&lying[tables..chunk]);
    lying[filter + 16..filter + 20].copy_from_slice(&sum.to_le_bytes());
    let sum = crc32fast::hash(&lying[filter..filter + 28]);
    lying[filter + 28..filter + 32].copy_from_slice(&sum.to_le_bytes());
    replace(&file, &lying);
    let problems = verify(&path).problems;
    assert!(
        problems.iter().any(|problem| problem.place.contains("search filter of segment 1")),
        "{problems:?}"
    );
}

#[test]
fn a_compressed_segment_is_read_by_its_second_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    settled(&path);
    let expected = answers(&*open(&path));
    let file = segment(&path, 1);
    let bytes = fs::read(&file).unwrap();
    for at in 0..128 {
        let mut garbled = bytes.clone();
        garbled[at] ^= 0x10;
        replace(&file, &garbled);
        assert_eq!(answers(&*open(&path)), expected, "byte {at}");
    }
    // Without either, it is told which file is damaged, and not that it was never used.
    let mut headless = bytes.clone();
    headless[40] ^= 1;
    let second = headless.len() - 128 + 40;
    headless[second] ^= 1;
    replace(&file, &headless);
    let problems = verify(&path).problems;
    assert!(problems.iter().any(|problem| problem.place.contains("00000001.seg")), "{problems:?}");
}

#[test]
fn without_the_newest_segment_the_others_are_still_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    settled(&path);
    let newest = (1..).take_while(|number| segment(&path, *number).exists()).last().unwrap();
    let before = FileLog::open_reader(&path).unwrap().end().unwrap();
    fs::remove_file(segment(&path, newest)).unwrap();
    let log = FileLog::open_reader(&path).unwrap();
    assert!(log.end().unwrap() > None && log.end().unwrap() <= before);
    assert!(!verify(&path).is_sound(), "and it is told");
}

/// A store whose one sealed segment is plain and has a footer, and where that begins.
fn unsettled(path: &Path) -> usize {
    let options = Options { segment_bytes: 4096, ..Options::default() };
    let log = FileLog::open(path, options).unwrap();
    for number in 0..3_u8 {
        log.commit(say(number % 3, &format!("{number}").repeat(1500))).unwrap();
    }
    loop {
        let bytes = fs::read(segment(path, 1)).unwrap();
        assert_eq!(bytes[12], 0, "it is plain");
        if let Some(footer) = bytes.windows(8).position(|window| window == b"SegueFtr") {
            return footer;
        }
    }
}

#[test]
fn upkeep_that_was_killed_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    unsettled(&original);
    let expected_after = |path: &Path, what: &str| {
        let before = answers(&*open(path));
        let log = FileLog::open(path, Options::default()).unwrap();
        assert_eq!(answers(&log), before, "{what}");
        log.commit(say(0, "one more")).unwrap();
        let after = answers(&log);
        log.settle().unwrap();
        assert_eq!(answers(&log), after, "{what}: settled");
        drop(log);
        assert_eq!(answers(&*open(path)), after, "{what}: reopened");
        assert!(verify(path).is_sound(), "{what}: {:?}", verify(path));
        assert!(is_packed(&segment(path, 1)), "{what}");
        assert!(!segment(path, 1).with_extension("new").exists(), "{what}");
        before
    };
    let whole = folder.path().join("whole");
    copy_folder(&original, &whole);
    let expected = expected_after(&whole, "as it was");
    let packed = fs::read(segment(&whole, 1)).unwrap();
    for length in [0, 1, 64, 128, 129, packed.len() / 2, packed.len() - 1, packed.len()] {
        let path = folder.path().join(format!("new-{length}"));
        copy_folder(&original, &path);
        fs::write(segment(&path, 1).with_extension("new"), &packed[..length]).unwrap();
        assert_eq!(expected_after(&path, &format!("{length} bytes of a new file")), expected);
    }
}

#[test]
fn a_footer_that_was_half_written_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    let footer = unsettled(&original);
    let expected = answers(&*open(&original));
    let length = fs::read(segment(&original, 1)).unwrap().len();
    for (round, cut) in (footer..=length).step_by(37).enumerate() {
        let path = folder.path().join(format!("cut-{round}"));
        copy_folder(&original, &path);
        let bytes = fs::read(segment(&path, 1)).unwrap();
        fs::write(segment(&path, 1), &bytes[..cut]).unwrap();
        assert_eq!(answers(&*open(&path)), expected, "cut to {cut}");
        assert!(verify(&path).is_sound(), "cut to {cut}: {:?}", verify(&path));
        let log = FileLog::open(&path, Options::default()).unwrap();
        log.commit(say(0, "one more")).unwrap();
        log.settle().unwrap();
        drop(log);
        assert!(verify(&path).is_sound(), "cut to {cut}: {:?}", verify(&path));
    }
}
