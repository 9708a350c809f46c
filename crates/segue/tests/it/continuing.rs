//! The one commit: what the successor gets, what the predecessor gets, and that nothing else happens.

use segue::continuation::Batch;
use segue::event::{
    Attachment, Author, BlobId, Block, CallRef, Event, Message, ResultStatus, Role, RunEnded, RunId,
    RunOutcome, RunQueued, SessionStarted, Title, TitleSource,
};
use segue::{Asker, NewSession, ToolCaller};

use crate::desk::{continued, events, person, said, session, session_count, workspace};

fn run(number: u8) -> RunId {
    RunId::from_bytes([number; 16])
}

fn by_tool(number: u8) -> Asker {
    Asker::Tool(ToolCaller {
        run: run(number),
        attempt: 1,
        call: CallRef { site: None, provider_id: "call_0".to_owned() },
        batch: Batch::First,
    })
}

fn queued(number: u8) -> RunQueued {
    let trigger = segue::event::Seq::new(2).unwrap();
    RunQueued {
        run: run(number),
        lane: segue::event::Lane::Interactive,
        trigger,
        parent: None,
        attempt: 1,
        result_schema: None,
    }
}

#[test]
fn the_successor_begins_with_its_four_events() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    let mut message = Message::text(Role::User, Author::User, "look at this");
    message.markdown = Some("*look* at this".to_owned());
    message.context_lines = vec!["open: a.rs".to_owned()];
    let blob = workspace.log().put_blob(b"picture").unwrap();
    assert_eq!(blob, BlobId::of(b"picture"));
    message.attachments =
        vec![Attachment { blob, media_type: "image/png".to_owned(), name: "a.png".to_owned(), bytes: 7 }];
    workspace.append(first, [message.clone()]).unwrap();
    let made = continued(&workspace, first, &person("1"));

    let [started, projection, copied, run] = events(&workspace, made.successor).try_into().unwrap();
    let Event::SessionStarted(SessionStarted { edge: Some(edge), title, description, .. }) = started else {
        panic!("{started:?}")
    };
    assert_eq!((edge.predecessor, edge.origin, edge.continuation), (first, first, made.continuation));
    assert_eq!(
        (title.text.as_str(), title.source, description.as_str()),
        ("Next", TitleSource::Agent, "under way")
    );
    let Event::Message(projection) = projection else { panic!("{projection:?}") };
    assert_eq!((projection.role, projection.author), (Role::User, Author::System));
    let Event::Message(copied) = copied else { panic!("{copied:?}") };
    let origin = copied.continued_from.unwrap();
    assert_eq!(
        (origin.session, origin.seq.get(), origin.event),
        (first, 2, edge.handover().unwrap().initiating.event)
    );
    assert_eq!(Message { continued_from: None, ..copied }, message, "copied word for word");
    let Event::RunQueued(run) = run else { panic!("{run:?}") };
    assert_eq!((run.trigger.get(), run.lane), (3, segue::event::Lane::Interactive));
}

#[test]
fn a_persons_continuation_leaves_the_predecessor_as_it_was() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin")]).unwrap();
    let before = workspace.log().head(first).unwrap();
    continued(&workspace, first, &person("1"));
    assert_eq!(workspace.log().head(first).unwrap(), before);
}

#[test]
fn a_tool_call_gets_its_result_and_its_run_ends() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin"), queued(1).into()]).unwrap();
    let before = events(&workspace, first);
    let made = continued(&workspace, first, &by_tool(1));
    let after = events(&workspace, first);
    let (kept, added) = after.split_at(before.len());
    assert_eq!(kept, before);
    let [Event::ToolResult(result), Event::RunEnded(RunEnded { outcome: RunOutcome::Continued(to), .. })] =
        added
    else {
        panic!("{added:?}")
    };
    assert_eq!((result.status, result.continuation), (ResultStatus::Ok, Some(made.continuation)));
    let [Block::Text(text)] = result.blocks.as_slice() else { panic!("{result:?}") };
    for field in ["summary", "continuationId", "successorSessionId", "title"] {
        assert!(text.contains(field), "{text}");
    }
    assert_eq!((to.session, to.continuation), (made.successor, made.continuation));
}

#[test]
fn the_same_asker_gets_the_same_successor_and_another_run_another() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin"), queued(1).into(), queued(2).into()]).unwrap();
    let one = continued(&workspace, first, &by_tool(1));
    let count = session_count(&workspace);
    let again = continued(&workspace, first, &by_tool(1));
    assert_eq!((again.successor, again.replayed, session_count(&workspace)), (one.successor, true, count));
    let other = continued(&workspace, first, &by_tool(2));
    assert!(!other.replayed && other.successor != one.successor);
}

#[test]
fn a_title_that_a_user_set_stays() {
    let workspace = workspace();
    let title = Title { text: "Mine".to_owned(), source: TitleSource::User };
    let new =
        NewSession { title: title.clone(), ..NewSession::of(segue::event::AgentId::new("coder").unwrap()) };
    let first = workspace.start_session(new).unwrap();
    workspace.append(first, [said("begin")]).unwrap();
    let made = continued(&workspace, first, &person("1"));
    let state = workspace.reader(segue::Scope::Workspace).state(made.successor).unwrap();
    assert_eq!(state.title, title);
}
