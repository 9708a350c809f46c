//! `segue repair`, from a damaged store to one that is worked with.

use insta::assert_snapshot;

use crate::desk::Desk;

/// Changes a letter of what was said at the end of the session of pi.
fn damage(desk: &Desk) {
    let segment = desk.store().join("log/00000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    // The line is kept as it was, and beside it is the message.
    let text = b"Sorted: 1911";
    let places = bytes.windows(text.len()).enumerate().filter(|(_, window)| window == text);
    let at = places.map(|(at, _)| at).next_back().unwrap();
    *bytes.get_mut(at).unwrap() ^= 1;
    std::fs::write(&segment, bytes).unwrap();
}

#[test]
fn a_sound_store_loses_nothing() {
    let desk = Desk::with_sessions();
    assert_snapshot!(desk.run(&["repair", "--into", "new"]));
    assert_snapshot!(desk.run(&["repair", "--into", "other", "--json"]));
    assert_eq!(desk.run(&["--store", "new", "verify"]).succeeded().stdout, desk.run(&["verify"]).stdout);
}

#[test]
fn a_damaged_one_becomes_one_in_which_work_goes_on() {
    let desk = Desk::with_sessions();
    damage(&desk);
    desk.write("handoff.json", "{}");
    let refused = desk.run(&["continue", "latest", "--handoff", "handoff.json"]);
    assert!(
        refused.stderr.contains("hint: `segue verify`") && refused.stderr.contains("`segue repair`"),
        "{refused}"
    );
    assert_snapshot!(desk.run(&["repair", "--into", "new"]));
    assert_snapshot!(desk.run(&["repair", "--into", "other", "--json"]));
    let said = desk.run(&["--store", "new", "verify"]).succeeded();
    assert!(
        said.stdout.starts_with("sound: ") && said.stdout.contains("note: events lost to damage"),
        "{said}"
    );
    let said = desk.run(&["--store", "new", "show", "latest"]).succeeded();
    assert!(said.stdout.contains("] lost: ") && said.stdout.contains("(Message in bytes "), "{said}");
    assert!(said.stdout.contains("] user: Sort the letters by year."), "{said}");
    assert_eq!(desk.run(&["--store", "new", "import", ".claude", ".pi"]).code, Some(0));
    assert_eq!(desk.run(&["verify"]).code, Some(5), "the old store is as it was");
}

#[test]
fn a_folder_that_holds_something_is_left_alone() {
    let desk = Desk::with_sessions();
    desk.write("taken/notes.txt", "mine");
    assert_snapshot!(desk.run(&["repair", "--into", "taken"]));
    assert_snapshot!(desk.run(&["repair", "--into", ".local/share/segue/store"]));
    assert_snapshot!(desk.run(&["--store", "nowhere", "repair", "--into", "new"]));
    assert!(!desk.folder().join("new").exists());
}
