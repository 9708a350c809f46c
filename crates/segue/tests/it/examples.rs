//! What the examples print.

use std::error::Error;
use std::io::Write;

use segue_testkit::FixedHost;

#[expect(dead_code, reason = "only `main` is not used: the test has its own output")]
#[path = "../../examples/agent.rs"]
mod agent;

#[expect(dead_code, reason = "only `main` is not used: the test has its own output")]
#[path = "../../examples/follow.rs"]
mod follow;

/// What an example prints, on a clock and ids that are the same every time.
fn printed(run: impl FnOnce(&mut dyn Write, FixedHost) -> Result<(), Box<dyn Error>>) -> String {
    let mut out = Vec::new();
    run(&mut out, FixedHost::new()).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_agent_goes_on_in_a_successor() {
    insta::assert_snapshot!(printed(agent::run));
}

#[test]
fn the_follower_sees_a_lineage_grow() {
    insta::assert_snapshot!(printed(follow::run));
}

/// The example is what its first reader is promised.
#[test]
fn the_agent_fits_on_a_page() {
    let lines = include_str!("../../examples/agent.rs").lines().count();
    assert!(lines < 100, "{lines} lines");
}
