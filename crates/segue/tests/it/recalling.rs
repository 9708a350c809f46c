//! Recall by an agent's own tools, and that none of its ways in leads anywhere else.

use std::fs;
use std::sync::Arc;

use segue::event::{
    AgentId, Author, ChildDelegated, ContinuationId, Edge, Event, EventHash, EventRef, ImportSource,
    Initiator, Lane, Message, Provenance, ResultStatus, Role, Seq, SessionId, SessionStarted, SourceKind,
    Timestamp, Title, Transition,
};
use segue::log::{Commit, Expected, MemoryLog, NewEvent};
use segue::thread::{Budget, Cursor, Query};
use segue::{
    Freshened, Kept, NewSession, Options, Outcome, Said, Scope, StandIn, Step, Task, Where, Workspace,
};
use segue_testkit::FixedHost;
use serde_json::{Value, json};

use crate::desk::{HANDOFF, continued, events, person, said, session, user, workspace};
use crate::stage::begin;

/// What a built-in tool answers an agent in a session, and whether it did what was asked.
fn ask(workspace: &Workspace, session: SessionId, tool: &str, arguments: &Value) -> (ResultStatus, String) {
    workspace.send(session, &user("look"), Lane::Interactive).unwrap();
    let mut turn = begin(workspace, session);
    turn.prompt().unwrap();
    let step = turn.record(Said::default().call("c", tool, &arguments.to_string())).unwrap();
    assert_eq!(step, Step::Prompt);
    turn.prompt().unwrap();
    turn.record(Said::text("done")).unwrap();
    let answer = events(workspace, session).into_iter().rev().find_map(|event| match event {
        Event::ToolResult(result) => Some(result),
        _ => None,
    });
    let answer = answer.unwrap();
    let [segue::event::Block::Text(text)] = answer.blocks.as_slice() else { panic!("{answer:?}") };
    (answer.status, text.clone())
}

/// That an answer tells nothing of another agent's secret.
fn tells_nothing(workspace: &Workspace, session: SessionId, tool: &str, arguments: &Value) {
    let (_, text) = ask(workspace, session, tool, arguments);
    assert!(!text.contains("sesame"), "{tool} {arguments}: {text}");
}

/// Two agents' sessions; what the second says, the first must never see.
fn two_agents() -> (Workspace, SessionId, SessionId) {
    let workspace = workspace();
    let (mine, theirs) = (session(&workspace, "mine"), session(&workspace, "theirs"));
    workspace.append(mine, [said("open what?")]).unwrap();
    workspace.append(theirs, [said("open sesame")]).unwrap();
    (workspace, mine, theirs)
}

#[test]
fn no_name_of_another_agents_thread_opens_it() {
    let (workspace, mine, theirs) = two_agents();
    for thread in
        [theirs.to_string(), format!("thread:{theirs}"), format!(" thread:{theirs} "), "thread:..".to_owned()]
    {
        tells_nothing(&workspace, mine, "recall", &json!({"query": "open", "thread": thread}));
        tells_nothing(&workspace, mine, "recall", &json!({"query": "open", "thread": thread, "tasks": true}));
        tells_nothing(&workspace, mine, "recall_get", &json!({"thread": thread, "seq": 2}));
        tells_nothing(
            &workspace,
            mine,
            "recall_get",
            &json!({"thread": thread, "seq": 1, "before": 9, "after": 9}),
        );
        tells_nothing(
            &workspace,
            mine,
            "recall_get",
            &json!({"around": {"thread": thread, "seq": 2}, "cursor": "2.0.0"}),
        );
        tells_nothing(&workspace, mine, "read", &json!({"thread": thread}));
    }
    tells_nothing(&workspace, mine, "recall", &json!({"query": "open"}));
    tells_nothing(&workspace, mine, "recall", &json!({"query": "open", "tasks": true}));
    let (status, text) = ask(&workspace, mine, "recall", &json!({"query": "open what?"}));
    assert!(status == ResultStatus::Ok && text.contains("[2] user: open what?"), "{text}");
}

#[test]
fn a_cursor_of_another_search_or_another_workspace_opens_nothing() {
    let (workspace, mine, theirs) = two_agents();
    workspace.append(theirs, [said("open, I say")]).unwrap();
    let query = Query::literal("open").unwrap();
    let limits = segue::thread::RecallLimits { answer_bytes: 1, ..Default::default() };
    let cursor = |workspace: &Workspace, session| {
        let reader = workspace.reader(Scope::Workspace);
        reader.recall(Where::Chain(session), &query, &limits.into(), None).unwrap().cursor.unwrap()
    };
    let foreign = cursor(&workspace, theirs);
    let (elsewhere, _, there) = two_agents();
    elsewhere.append(there, [said("open, I say")]).unwrap();
    for cursor in [foreign, cursor(&elsewhere, there)] {
        let arguments = json!({"query": "open", "cursor": cursor.to_string()});
        let (status, text) = ask(&workspace, mine, "recall", &arguments);
        assert!(status == ResultStatus::Error && text.contains("the cursor belongs to"), "{text}");
    }
    let reader = workspace.reader(Scope::Agent(AgentId::new("mine").unwrap()));
    let refused =
        |cursor: Cursor| reader.recall(Where::Chain(mine), &query, &Budget::default(), Some(cursor));
    assert!(refused(foreign).is_err());
}

/// A session of an agent that says of itself that it came from another one.
fn forged(workspace: &Workspace, agent: &str, predecessor: SessionId, transition: Transition) -> SessionId {
    let forged = SessionId::from_bytes([9; 16]);
    let event = EventRef { seq: Seq::FIRST, event: EventHash::from_bytes([0; 32]) };
    let edge = Edge {
        continuation: ContinuationId::from_bytes([9; 16]),
        predecessor,
        predecessor_title: String::new(),
        predecessor_head: event,
        origin: predecessor,
        initiator: Initiator::Person { request: "r".to_owned() },
        created_at: Timestamp::default(),
        transition,
    };
    start(workspace, forged, agent, Some(Box::new(edge)), None);
    forged
}

fn start(
    workspace: &Workspace,
    session: SessionId,
    agent: &str,
    edge: Option<Box<Edge>>,
    import: Option<ImportSource>,
) {
    let started = SessionStarted {
        agent: AgentId::new(agent).unwrap(),
        title: Title::default(),
        description: String::new(),
        working_directory: String::new(),
        model: None,
        plan: None,
        edge,
        import,
    };
    let started = NewEvent::new(Timestamp::default(), started);
    let commit = Commit::new().append(session, Expected::first(), vec![started]);
    workspace.log().commit(commit).unwrap();
}

#[test]
fn an_ancestor_counts_only_if_it_is_the_agents_own() {
    let (workspace, _, theirs) = two_agents();
    let handover = {
        let successor = continued(&workspace, theirs, &person("1")).successor;
        let state = workspace.reader(Scope::Workspace).state(successor).unwrap();
        state.edge.unwrap().transition
    };
    let forged = forged(&workspace, "mine", theirs, handover);
    tells_nothing(&workspace, forged, "recall", &json!({"query": "sesam"}));
    tells_nothing(&workspace, forged, "recall", &json!({"tail": 9}));
    tells_nothing(&workspace, forged, "recall_get", &json!({"thread": theirs.to_string(), "seq": 2}));
}

/// A session that was imported, of which one message holds a text.
fn imported(workspace: &Workspace, number: u8, agent: &str, path: &str, text: &str) -> SessionId {
    let session = SessionId::from_bytes([number; 16]);
    let import = ImportSource {
        kind: SourceKind::ClaudeCode,
        original_id: "o".to_owned(),
        path: path.to_owned(),
        version: 0,
    };
    start(workspace, session, agent, None, Some(import));
    let provenance = Provenance {
        line: segue::event::LineNumber(1),
        original_id: "entry-1".to_owned(),
        parent_id: String::new(),
    };
    let message = Message { provenance: Some(provenance), ..Message::text(Role::User, Author::User, text) };
    workspace.append(session, [Event::from(message)]).unwrap();
    session
}

#[test]
fn an_entry_of_an_imported_file_is_found_by_its_name_and_no_file_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.jsonl");
    fs::write(&secret, "open sesame entry-1").unwrap();
    let workspace = workspace();
    let mine = imported(&workspace, 1, "mine", "/home/ada/a.jsonl", "mine alone");
    imported(&workspace, 2, "theirs", "/home/ada/theirs.jsonl", "open sesame");
    let here = session(&workspace, "mine");
    let get = |file: &str, entry: &str| json!({"file": file, "entryId": entry});
    for file in ["a.jsonl", "ada/a.jsonl", "/home/ada/a.jsonl"] {
        let (status, text) = ask(&workspace, here, "recall_get", &get(file, "entry-1"));
        assert!(status == ResultStatus::Ok && text.contains("mine alone"), "{file}: {text}");
        assert!(text.contains(&mine.to_string()));
    }
    let secret = secret.display().to_string();
    for file in [
        "theirs.jsonl",
        "/home/ada/../ada/theirs.jsonl",
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        "",
        &secret,
    ] {
        tells_nothing(&workspace, here, "recall_get", &get(file, "entry-1"));
    }
    let (status, _) = ask(&workspace, here, "recall_get", &get("a.jsonl", "entry"));
    assert_eq!(status, ResultStatus::Error, "part of an id is none");
}

#[test]
fn tasks_are_searched_on_request_and_only_then() {
    let workspace = workspace();
    let first = session(&workspace, "mine");
    workspace.send(first, &user("delegate"), Lane::Interactive).unwrap();
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let task = Task { text: "count the needles".to_owned(), title: String::new(), result_schema: None };
    let asker = person("task");
    let child = workspace.delegate(first, turn.run(), &asker, &task).unwrap().session;
    turn.cancel().unwrap();
    let found =
        |arguments: &Value| ask(&workspace, first, "recall", arguments).1.contains(&child.to_string());
    assert!(!found(&json!({"query": "needles", "kinds": ["user", "system", "trigger", "agent"]})));
    assert!(found(&json!({"query": "needles", "tasks": true})));
}

#[test]
fn a_search_of_tasks_goes_on_though_more_are_given_away_meanwhile() {
    let workspace = workspace();
    let first = session(&workspace, "mine");
    workspace.append(first, [said("a needle"), said("another needle")]).unwrap();
    workspace.send(first, &user("delegate"), Lane::Interactive).unwrap();
    let mut turn = begin(&workspace, first);
    turn.prompt().unwrap();
    let delegate = |text: &str| {
        let task = Task { text: text.to_owned(), title: String::new(), result_schema: None };
        workspace.delegate(first, turn.run(), &person(text), &task).unwrap().session
    };
    delegate("count the needles");
    let query = Query::literal("needle").unwrap();
    let limits = segue::thread::RecallLimits { answer_bytes: 1, ..Default::default() };
    let reader = workspace.reader(Scope::Workspace);
    let page = |cursor| reader.recall(Where::WithTasks(first), &query, &limits.into(), cursor).unwrap();
    let mut answer = page(None);
    let later = delegate("find the needle");
    let mut found = 1;
    while let Some(cursor) = answer.cursor {
        answer = page(Some(cursor));
        assert!(answer.hits.iter().all(|hit| hit.thread != later));
        found += answer.hits.len();
    }
    assert!(found >= 3 && answer.coverage.complete, "{found}");
}

#[test]
fn tasks_beyond_the_largest_number_are_told_of() {
    let workspace = workspace();
    let first = session(&workspace, "mine");
    let run = segue::event::RunId::from_bytes([1; 16]);
    let given = (0..segue::limits::TASKS_SEARCHED_MAX + 2).map(|number| {
        let child = SessionId::from_bytes(id_bytes(number));
        start(&workspace, child, "mine", None, None);
        Event::from(ChildDelegated { run, child, child_run: run, call: None })
    });
    let given: Vec<_> = given.collect();
    workspace.append(first, given).unwrap();
    let query = Query::literal("needle").unwrap();
    let reader = workspace.reader(Scope::Workspace);
    let answer = reader.recall(Where::WithTasks(first), &query, &Budget::default(), None).unwrap();
    let coverage = answer.coverage;
    assert!(answer.hits.is_empty() && !coverage.complete, "two were not searched");
    assert_eq!(coverage.threads - coverage.threads_searched, 2);
    let own = reader.recall(Where::Chain(first), &query, &Budget::default(), None).unwrap();
    assert!(own.coverage.complete);
}

/// The bytes of an id that goes with a number.
fn id_bytes(number: usize) -> [u8; 16] {
    let mut bytes = [7; 16];
    bytes.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
    bytes
}

#[test]
fn a_session_that_is_not_there_was_not_searched() {
    let workspace = workspace();
    session(&workspace, "mine");
    let missing = SessionId::from_bytes([9; 16]);
    let query = Query::literal("needle").unwrap();
    let reader = workspace.reader(Scope::Workspace);
    for within in [Where::Thread(missing), Where::Chain(missing), Where::WithTasks(missing)] {
        let error = reader.recall(within, &query, &Budget::default(), None).unwrap_err();
        assert_eq!(error.kind(), segue::ErrorKind::SessionNotFound, "{within:?}");
    }
}

#[test]
fn memory_is_cited_from_below_its_root_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("memory");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("notes.md"), "mine").unwrap();
    fs::write(folder.path().join("secret.md"), "sesame").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.md"), root.join("link.md")).unwrap();
    let options = Options { memory_root: Some(root), ..Options::default() };
    let workspace = Workspace::with_options(Arc::new(MemoryLog::new()), FixedHost::new(), options);
    let first = workspace.start_session(NewSession::of(AgentId::new("mine").unwrap())).unwrap();
    workspace.append(first, [said("go on")]).unwrap();
    let mut request: Value = serde_json::from_str(HANDOFF).unwrap();
    let mut cite = |path: &str| {
        request["sources"] = json!([{"type": "memory", "path": path, "relevance": "notes"}]);
        workspace.continue_session(first, &person(path), &request.to_string()).unwrap()
    };
    assert!(matches!(cite("~/memory/notes.md"), Outcome::Continued(_)));
    for outside in [
        "~/memory/../secret.md",
        "~/memory/link.md",
        "~/memory//etc/passwd",
        "/etc/passwd",
        "~/memory/none.md",
    ] {
        assert!(matches!(cite(outside), Outcome::Refused(_)), "{outside}");
    }
}

#[test]
fn what_was_recalled_counts_as_read() {
    let workspace = workspace();
    let first = session(&workspace, "mine");
    workspace.append(first, [said("a needle"), said("hay")]).unwrap();
    ask(&workspace, first, "recall", &json!({"query": "needle"}));
    let touched = |workspace: &Workspace| {
        let all = events(workspace, first).into_iter().rev();
        all.filter_map(
            |event| if let Event::ToolResult(result) = event { Some(result.touched) } else { None },
        )
        .next()
        .unwrap()
    };
    let here: Vec<_> =
        touched(&workspace).iter().map(|touched| (touched.thread, touched.range.to_string())).collect();
    assert_eq!(here, [(first, "2".to_owned())]);
    ask(&workspace, first, "recall_get", &json!({"seq": 2, "after": 1}));
    let here: Vec<_> = touched(&workspace).iter().map(|touched| touched.range.to_string()).collect();
    assert_eq!(here, ["2-3"]);
}

#[test]
fn the_tail_ends_where_the_newest_compaction_stands_and_keeps_the_size_of_an_answer() {
    let workspace = workspace();
    let mine = session(&workspace, "mine");
    workspace.append(mine, [said("first"), said("second")]).unwrap();
    workspace.compact(mine, &StandIn::Pointer, Kept::Nothing).unwrap();
    let (status, text) = ask(&workspace, mine, "recall", &json!({"tail": 1}));
    assert!(status == ResultStatus::Ok && text.contains("[3] user: second\n"), "{text}");
    assert!(!text.contains("first") && !text.contains("look"), "{text}");
    // The pointer itself is what the agent sees already.
    let Freshened::Switched(fresh) = workspace.fresh(mine, "1").unwrap() else { panic!("it stays") };
    let (_, text) = ask(&workspace, fresh.successor, "recall", &json!({"tail": 1}));
    assert!(text.contains("user: look\n") || text.contains("agent: done\n"), "{text}");
    for long in ["x".repeat(20_000), "é".repeat(20_000)] {
        let mine = session(&workspace, "mine");
        workspace.append(mine, [said("first"), said(&long), said(&long), said("last")]).unwrap();
        workspace.compact(mine, &StandIn::Pointer, Kept::Nothing).unwrap();
        let (_, text) = ask(&workspace, mine, "recall", &json!({"tail": 9}));
        assert!(text.contains("user: last\n") && text.len() < 34_000, "{}", text.len());
        let left_out = if long.starts_with('x') { "back from [3]" } else { "back from [4]" };
        assert!(text.contains(left_out), "{text:.200}");
    }
    let mine = session(&workspace, "mine");
    workspace.append(mine, [said(&"x".repeat(40_000))]).unwrap();
    workspace.compact(mine, &StandIn::Pointer, Kept::Nothing).unwrap();
    let (status, text) = ask(&workspace, mine, "recall", &json!({"tail": 1}));
    assert!(
        status == ResultStatus::Ok && text.len() < 1_000 && text.contains("back from [2]"),
        "{text:.200}"
    );
}
