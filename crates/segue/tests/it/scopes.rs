//! Reading stays inside its scope; whatever is outside reads as not found.

use segue::event::{AgentId, Seq, SeqRange, SessionId};
use segue::thread::{Budget, Limit, Query};
use segue::{ErrorKind, NewSession, Reader, Scope, Where};

use crate::desk::{continued, person, said, session, workspace};

/// Every way to read a session.
fn begin() -> Query {
    Query::literal("begin").unwrap()
}

fn answers(reader: &Reader, session: SessionId) -> Vec<Result<(), ErrorKind>> {
    let kind = |error: segue::Error| error.kind();
    vec![
        reader.state(session).map(drop).map_err(kind),
        reader.read(session, SeqRange::ALL, Limit::default()).map(drop).map_err(kind),
        reader.entry(session, Seq::new(2).unwrap()).map(drop).map_err(kind),
        reader.chain(session).map(drop).map_err(kind),
        reader.recall(Where::Chain(session), &begin(), &Budget::default(), None).map(drop).map_err(kind),
    ]
}

#[test]
fn another_agents_session_is_not_found() {
    let workspace = workspace();
    let (mine, theirs) = (session(&workspace, "mine"), session(&workspace, "theirs"));
    for session in [mine, theirs] {
        workspace.append(session, [said("begin")]).unwrap();
    }
    let reader = workspace.reader(Scope::Agent(AgentId::new("mine").unwrap()));
    assert!(answers(&reader, mine).iter().all(Result::is_ok));
    assert!(answers(&reader, theirs).iter().all(|answer| *answer == Err(ErrorKind::SessionNotFound)));
    let listed: Vec<_> = reader.sessions(None, 10).unwrap().iter().map(|overview| overview.session).collect();
    assert_eq!(listed, [mine]);
    assert_eq!(reader.recall(Where::Everywhere, &begin(), &Budget::default(), None).unwrap().hits.len(), 1);
}

#[test]
fn a_chain_reaches_its_ancestors_only() {
    let workspace = workspace();
    let first = session(&workspace, "coder");
    workspace.append(first, [said("begin")]).unwrap();
    let (one, other) =
        (continued(&workspace, first, &person("1")), continued(&workspace, first, &person("2")));
    let reader = workspace.reader(Scope::Chain(one.successor));
    for inside in [one.successor, first] {
        assert!(answers(&reader, inside).iter().all(Result::is_ok));
    }
    assert!(
        answers(&reader, other.successor).iter().all(|answer| *answer == Err(ErrorKind::SessionNotFound))
    );
}

#[test]
fn a_project_is_its_folder() {
    let workspace = workspace();
    let agent = AgentId::new("coder").unwrap();
    let in_folder =
        |folder: &str| NewSession { working_directory: folder.to_owned(), ..NewSession::of(agent.clone()) };
    let inside = workspace.start_session(in_folder("/home/ada/letters")).unwrap();
    let outside = workspace.start_session(in_folder("/home/ada/letters/old")).unwrap();
    for session in [inside, outside] {
        workspace.append(session, [said("begin")]).unwrap();
    }
    let reader = workspace.reader(Scope::Project("/home/ada/letters".to_owned()));
    assert!(answers(&reader, inside).iter().all(Result::is_ok));
    assert!(answers(&reader, outside).iter().all(|answer| *answer == Err(ErrorKind::SessionNotFound)));
}
