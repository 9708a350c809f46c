//! A folder to put sources in and a log to import them into.

use std::fs;
use std::path::{Path, PathBuf};

use segue_event::{
    AgentId, CallSite, Event, ImportEvent, ImportSource, Recorded, SeqRange, SessionId, SourceKind,
    Timestamp, TranscriptEvent,
};
use segue_import::{ImportOptions, ImportReport, Imported, import_path, original_bytes};
use segue_log::{Depth, Direction, EventLog, MemoryLog};
use tempfile::TempDir;

/// An event of a transcript: when, what, and the line and block of the call that it answers.
pub(crate) type Shown = (Timestamp, TranscriptEvent, Option<(u64, u32)>);

pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    pub(crate) log: MemoryLog,
    pub(crate) options: ImportOptions,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let options = ImportOptions {
            agent: AgentId::new("importer").unwrap(),
            now: Timestamp::utc_micros(1_000_000),
            kind: None,
        };
        Self { folder: TempDir::new().unwrap(), log: MemoryLog::new(), options }
    }

    /// A desk that takes any source for one of this kind.
    pub(crate) fn for_kind(kind: SourceKind) -> Self {
        let mut desk = Self::new();
        desk.options.kind = Some(kind);
        desk
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn import_file(&self, path: &Path) -> ImportReport {
        match import_path(&self.log, path, &self.options).unwrap() {
            Imported::Session(report) => report,
            Imported::Skipped(reason) => panic!("{} was skipped: {reason}", path.display()),
        }
    }

    /// Imports a source and checks what holds for each: it comes back whole, and importing it again adds nothing.
    pub(crate) fn import(&self, bytes: &[u8]) -> ImportReport {
        let path = self.write("source.jsonl", bytes);
        let report = self.import_file(&path);
        assert_eq!(self.exported(report.session), bytes);
        let end = self.log.end().unwrap();
        let again = self.import_file(&path);
        assert_eq!((again.session, again.events), (report.session, 0));
        assert_eq!(self.log.end().unwrap(), end, "importing again wrote something");
        report
    }

    pub(crate) fn exported(&self, session: SessionId) -> Vec<u8> {
        let mut bytes = Vec::new();
        original_bytes(&self.log, session, &mut bytes).unwrap();
        bytes
    }

    pub(crate) fn events(&self, session: SessionId) -> Vec<Recorded> {
        let raw = self.log.read(session, SeqRange::ALL, Direction::Forward).unwrap();
        raw.map(|raw| raw.unwrap().decode().unwrap()).collect()
    }

    /// What a reader of the transcript sees, with calls named by the line that holds them: numbers of events depend
    /// on how often a growing source was met.
    pub(crate) fn transcript(&self, session: SessionId) -> Vec<Shown> {
        let events = self.events(session);
        let line_of = |site: CallSite| {
            let call = events.iter().find(|recorded| recorded.seq == site.message).unwrap();
            let Event::Message(message) = &call.event else { panic!("a call outside a message: {call:?}") };
            (message.provenance.as_ref().unwrap().line.0, site.block)
        };
        let read = events.iter().filter_map(|recorded| {
            let mut event = TranscriptEvent::try_from(recorded.event.clone()).ok()?;
            let mut place = None;
            if let TranscriptEvent::ToolResult(result) = &mut event {
                place = result.call.site.take().map(line_of);
            }
            Some((recorded.time, event, place))
        });
        read.collect()
    }

    pub(crate) fn texts(&self, session: SessionId) -> Vec<String> {
        let messages = self.events(session).into_iter().filter_map(|recorded| match recorded.event {
            Event::Message(message) => Some(message.blocks),
            _ => None,
        });
        let text = |block| if let segue_event::Block::Text(text) = block { Some(text) } else { None };
        messages.flatten().filter_map(text).collect()
    }

    pub(crate) fn source_of(&self, session: SessionId) -> ImportSource {
        match self.events(session).remove(0).event {
            Event::SessionStarted(started) => started.import.unwrap(),
            other => panic!("a session that begins with {other:?}"),
        }
    }

    /// How many lines stand in the record, and whether they follow each other without a gap.
    pub(crate) fn lines(&self, session: SessionId) -> u64 {
        let mut newest = 0;
        for recorded in self.events(session) {
            if let Ok(ImportEvent::ImportedLine(line)) = ImportEvent::try_from(recorded.event) {
                assert!(line.line.0 == newest || line.line.0 == newest + 1);
                newest = line.line.0;
            }
        }
        newest
    }

    pub(crate) fn assert_sound(&self) {
        let report = self.log.verify(Depth::Full, &mut |_| ()).unwrap();
        assert!(report.is_sound(), "{:?}", report.problems);
    }
}

/// Lines of a small Claude Code session: a prompt, a call, its result and an answer.
pub(crate) fn claude_lines() -> Vec<String> {
    [
        r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s-1","cwd":"/home/dev/app","timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"please look"}}"#,
        r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s-1","timestamp":"2026-01-01T10:00:01.000Z","message":{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"path":"x"}}]}}"#,
        r#"{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s-1","timestamp":"2026-01-01T10:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"found"}]}}"#,
        r#"{"type":"assistant","uuid":"a2","parentUuid":"u2","sessionId":"s-1","timestamp":"2026-01-01T10:00:03.000Z","message":{"role":"assistant","model":"m","content":[{"type":"text","text":"here it is"}]}}"#,
    ]
    .map(|line| format!("{line}\n"))
    .to_vec()
}

/// A user's record of Claude Code with this text as JSON.
pub(crate) fn claude_said(id: &str, json_text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}\",\"sessionId\":\"s-1\",\"message\":{{\"content\":\"{json_text}\"}}}}\n"
    )
}
