//! A stored continuation is compiled again from the record alone.

use segue::event::{Author, Block, Event, EventHash, Message, Role, Transition};
use segue::log::{Commit, EventLog, Expected, MemoryLog, NewEvent};
use segue::{ErrorKind, Verdict, Workspace};
use segue_testkit::FixedHost;

use crate::desk::{continued, events, person, said, session, workspace};

#[test]
fn later_events_change_nothing() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin"), said("and on")]).unwrap();
    let second = continued(&workspace, first, &person("1"));
    workspace.append(first, [said("a branch"), said("that goes on")]).unwrap();
    workspace.append(second.successor, [said("more")]).unwrap();
    let third = continued(&workspace, second.successor, &person("1"));
    for successor in [second.successor, third.successor] {
        assert_eq!(workspace.recompile(successor).unwrap().verdict, Verdict::Same);
    }
}

#[test]
fn a_session_of_its_own_was_not_continued() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    assert_eq!(workspace.recompile(first).unwrap_err().kind(), ErrorKind::NotContinued);
}

/// Copies a chain into another log with one thing changed, as someone might who edits the record.
fn altered(change: impl Fn(&mut Event)) -> Verdict {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("the first thing"), said("begin")]).unwrap();
    let made = continued(&workspace, first, &person("1"));
    let copy = MemoryLog::new();
    for (id, mut events) in
        [(first, events(&workspace, first)), (made.successor, events(&workspace, made.successor))]
    {
        events.iter_mut().for_each(&change);
        let new = events.into_iter().map(|event| NewEvent::new(Default::default(), event)).collect();
        copy.commit(Commit::new().append(id, Expected::AtHead, new)).unwrap();
    }
    Workspace::on(copy, FixedHost::new()).recompile(made.successor).unwrap().verdict
}

#[test]
fn a_changed_projection_or_source_shows() {
    let text_of = |message: &Message| match message.blocks.as_slice() {
        [Block::Text(text)] => text.clone(),
        _ => String::new(),
    };
    assert_eq!(altered(|_| {}), Verdict::Same);
    let projection = altered(|event| {
        if let Event::Message(message) = event
            && message.author == Author::System
        {
            *message =
                Message::text(Role::User, Author::System, text_of(message).replace("purpose", "porpoise"));
        }
    });
    assert_eq!(projection, Verdict::Altered);
    let source = altered(|event| {
        if let Event::Message(message) = event
            && text_of(message) == "the first thing"
        {
            *message = Message::text(Role::User, Author::User, "another thing");
        }
    });
    assert_eq!(source, Verdict::Different);
    let version = altered(|event| {
        if let Event::SessionStarted(started) = event
            && let Some(edge) = &mut started.edge
        {
            let Transition::Continue(handover) = &mut edge.transition else { panic!("{edge:?}") };
            handover.manifest.compiler += 1;
            handover.initiating.event = EventHash::from_bytes([0; 32]);
        }
    });
    assert_eq!(version, Verdict::OtherCompiler);
}
