//! Runs a scenario on a log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use segue::continuation::Batch;
use segue::event::{
    AgentId, Author, Block, CallRef, CallSite, CompactionReason, Lane, Message, Plan, PlanStep, Recommended,
    ResultStatus, Role, RunEnded, RunId, RunOutcome, RunQueued, RunStarted, Seq, SeqRange, SessionId,
    SourceTarget, Thinking, Title, TitleSource, ToolCall, ToolResult, Touched, Usage,
};
use segue::log::EventLog;
use segue::projection::{AuditedSource, Estimate};
use segue::prompt::Prompt;
use segue::prompt::handoff_note::{HandoffSettings, Resume, Retry};
use segue::thread::Budget;
use segue::{
    Asker, Compaction, FreshPolicy, Host as _, NewSession, Options, Outcome, Preview, Scope, Task,
    ToolCaller, Where, Workspace,
};
use serde_json::Value;

use crate::scenario::{Call, PlanLine, TouchedLine};
use crate::{Caller, FixedHost, Scenario, Step};

/// Brings a transcript of another program into a log. The testkit knows no formats; who does, passes one in.
pub trait Importer {
    /// Imports one file.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn import(&self, log: &dyn EventLog, file: &Path) -> Result<SessionId, String>;
}

/// For scenarios without imports.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoImporter;

impl Importer for NoImporter {
    fn import(&self, _: &dyn EventLog, file: &Path) -> Result<SessionId, String> {
        Err(format!("no importer was given for {}", file.display()))
    }
}

/// A scenario while and after it runs.
pub struct Run {
    /// The workspace that it ran in.
    pub workspace: Workspace,
    /// The sessions by the names that the scenario gave them.
    pub sessions: BTreeMap<String, SessionId>,
    /// What each step answered, in words, as far as it answered anything.
    pub answers: Vec<String>,
    /// The prompts that were given out, in order, each with its session's name.
    pub(crate) prompts: Vec<(String, Prompt)>,
    runs: BTreeMap<String, RunId>,
    /// Where each tool call stands: by session and the provider's id, the newest one with an empty id last.
    calls: BTreeMap<(SessionId, String), CallSite>,
    ids: FixedHost,
    folder: PathBuf,
}

/// A step that could not be run.
#[derive(Debug, thiserror::Error)]
#[error("step {number}: {problem}")]
pub struct RunError {
    number: usize,
    problem: String,
}

impl Scenario {
    /// Runs the steps on a fresh log. `folder` is where files that steps name are looked for.
    ///
    /// # Errors
    /// If a step names what is not there, or the log fails. A refusal is an answer, not an error.
    pub fn run(
        &self,
        log: Arc<dyn EventLog>,
        folder: &Path,
        importer: &dyn Importer,
    ) -> Result<Run, RunError> {
        let mut run = Run {
            workspace: Workspace::with_options(log, FixedHost::new(), Options::default()),
            sessions: BTreeMap::new(),
            answers: Vec::new(),
            prompts: Vec::new(),
            runs: BTreeMap::new(),
            calls: BTreeMap::new(),
            ids: FixedHost::new(),
            folder: folder.to_owned(),
        };
        for (number, step) in (1..).zip(&self.steps) {
            run.step(step, importer).map_err(|problem| RunError { number, problem })?;
        }
        Ok(run)
    }
}

impl Run {
    fn step(&mut self, step: &Step, importer: &dyn Importer) -> Result<(), String> {
        match step {
            Step::Start { session, agent, title, titled_by_user } => {
                self.start(session, agent, title, *titled_by_user)
            }
            Step::Say { session, author, text } => self.say(session, author, text),
            Step::Reply { session, text, thinking, calls, prompt_tokens } => {
                self.reply(session, text, thinking, calls, *prompt_tokens)
            }
            Step::Result { session, call, tool, text, failed, touched } => {
                let status = if *failed { ResultStatus::Error } else { ResultStatus::Ok };
                self.result(session, call, (tool, text), status, touched)
            }
            Step::Send { session, text } => self.send(session, text),
            Step::Turn { session, script, successor, then, fresh_at } => {
                let never = FreshPolicy::Never;
                let fresh = fresh_at.map_or(never, |percent| FreshPolicy::At { percent });
                self.turn(session, (script, fresh), successor, *then)
            }
            Step::Fresh { session, successor } => self.fresh(session, successor),
            Step::Compact { session, kept_from, summary } => self.compact(session, *kept_from, summary),
            Step::NameChild { session, child } => self.name_child(session, child),
            Step::Plan { session, steps } => self.plan(session, steps),
            Step::Run { session, run, typed } => self.run(session, run, *typed),
            Step::Delegate { session, run, child, task } => self.delegate(session, run, child, task),
            Step::EndRun { session, run } => self.end_run(session, run),
            Step::Continue { session, successor, by, arguments, dry_run: false } => {
                self.continue_session(session, successor, by, arguments)
            }
            Step::Continue { session, successor, by, arguments, dry_run: true } => {
                self.preview(session, successor, by, arguments)
            }
            Step::RetryRun { session } => self.retry_run(session),
            Step::Fork { session, at, fork } => self.fork(session, *at, fork),
            Step::Back { session, note } => self.back(session, note),
            Step::Recall { session, text } => self.recall(session, text),
            Step::Recommend { session } => self.recommend(session),
            Step::Audit { session } => self.audit(session),
            Step::HarnessCompacts { session, key, reason, summary } => {
                self.harness_compacts(session, key, *reason, summary)
            }
            Step::Import { session, file } => {
                let id = importer.import(&**self.workspace.log(), &self.folder.join(file))?;
                self.sessions.insert(session.clone(), id);
                Ok(())
            }
        }
    }

    fn start(&mut self, session: &str, agent: &str, title: &str, titled_by_user: bool) -> Result<(), String> {
        let source = match (title.is_empty(), titled_by_user) {
            (true, _) => TitleSource::Fallback,
            (false, true) => TitleSource::User,
            (false, false) => TitleSource::Agent,
        };
        let mut new = NewSession::of(AgentId::new(agent).map_err(in_words)?);
        new.title = Title { text: title.to_owned(), source };
        let id = self.workspace.start_session(new).map_err(in_words)?;
        self.sessions.insert(session.to_owned(), id);
        Ok(())
    }

    fn say(&mut self, session: &str, author: &str, text: &str) -> Result<(), String> {
        let author = match author {
            "user" => Author::User,
            "system" => Author::System,
            "trigger" => Author::Trigger,
            other => return Err(format!("{other} is no author: use user, system or trigger")),
        };
        let id = self.session(session)?;
        self.workspace.append(id, [Message::text(Role::User, author, text)]).map_err(in_words)?;
        Ok(())
    }

    fn reply(
        &mut self,
        session: &str,
        text: &str,
        thinking: &str,
        calls: &[Call],
        prompt_tokens: Option<u64>,
    ) -> Result<(), String> {
        let id = self.session(session)?;
        let mut message = Message::text(Role::Assistant, Author::Agent, text);
        message.usage = prompt_tokens.map(|tokens| Usage { input: Some(tokens), ..Usage::default() });
        if !thinking.is_empty() {
            let thinking = Thinking { text: thinking.to_owned(), signature: String::new() };
            message.blocks.insert(0, Block::Thinking(thinking));
        }
        message.blocks.extend(calls.iter().map(|call| {
            Block::ToolCall(ToolCall {
                provider_id: call.id.clone(),
                name: call.tool.clone(),
                arguments: call.arguments.to_string(),
            })
        }));
        let first = message.blocks.len() - calls.len();
        let committed = self.workspace.append(id, [message]).map_err(in_words)?;
        let Some(seq) = committed.extents.first().map(|extent| extent.range.to) else { return Ok(()) };
        for (block, call) in (u32::try_from(first).unwrap_or(0)..).zip(calls) {
            self.calls.insert((id, call.id.clone()), CallSite { message: seq, block });
        }
        Ok(())
    }

    fn result(
        &mut self,
        session: &str,
        call: &str,
        (tool, text): (&str, &str),
        status: ResultStatus,
        touched: &[TouchedLine],
    ) -> Result<(), String> {
        let id = self.session(session)?;
        let touched = touched.iter().map(|line| self.touched(line)).collect::<Result<_, _>>()?;
        let result = ToolResult {
            call: self.call(id, call),
            tool: tool.to_owned(),
            status,
            blocks: vec![Block::Text(text.to_owned())],
            touched,
            continuation: None,
            provenance: None,
        };
        self.workspace.append(id, [result]).map_err(in_words)?;
        Ok(())
    }

    fn touched(&self, line: &TouchedLine) -> Result<Touched, String> {
        let range = SeqRange::new(line.from, line.to).ok_or("a range ends before it begins")?;
        Ok(Touched { thread: self.session(&line.session)?, range })
    }

    fn plan(&mut self, session: &str, steps: &[PlanLine]) -> Result<(), String> {
        let id = self.session(session)?;
        let steps = steps.iter().map(|line| PlanStep {
            id: line.id.clone(),
            label: line.label.clone(),
            status: line.status,
        });
        let plan = Plan { owner: self.runs.values().last().copied(), steps: steps.collect() };
        self.workspace.append(id, [plan]).map_err(in_words)?;
        Ok(())
    }

    fn run(&mut self, session: &str, name: &str, typed: bool) -> Result<(), String> {
        let id = self.session(session)?;
        let head = self.workspace.log().head(id).map_err(in_words)?.map_or(Seq::FIRST, |head| head.seq);
        let run = RunId::v7(self.ids.now(), self.ids.random());
        let queued = RunQueued {
            run,
            lane: Lane::Interactive,
            trigger: head,
            parent: None,
            attempt: 1,
            result_schema: typed.then(|| "{}".to_owned()),
        };
        let started = RunStarted { run, attempt: 1, host: "fixture".to_owned(), told: Vec::new() };
        let events: [segue::event::Event; 2] = [queued.into(), started.into()];
        self.workspace.append(id, events).map_err(in_words)?;
        self.runs.insert(name.to_owned(), run);
        Ok(())
    }

    fn delegate(&mut self, session: &str, run: &str, child: &str, task: &str) -> Result<(), String> {
        let (id, run) = (self.session(session)?, self.run_id(run)?);
        let task = Task { text: task.to_owned(), title: child.to_owned(), result_schema: None };
        let asker = Asker::Person { request: child.to_owned() };
        let delegated = self.workspace.delegate(id, run, &asker, &task).map_err(in_words)?;
        self.sessions.insert(child.to_owned(), delegated.session);
        self.runs.insert(child.to_owned(), delegated.run);
        Ok(())
    }

    fn end_run(&mut self, session: &str, name: &str) -> Result<(), String> {
        let (id, run) = (self.session(session)?, self.run_id(name)?);
        self.workspace.append(id, [RunEnded { run, outcome: RunOutcome::Succeeded }]).map_err(in_words)?;
        Ok(())
    }

    fn continue_session(
        &mut self,
        session: &str,
        name: &str,
        by: &Caller,
        arguments: &Value,
    ) -> Result<(), String> {
        let id = self.session(session)?;
        let asker = self.asker(id, by)?;
        let outcome = self.workspace.continue_session(id, &asker, &as_text(arguments)).map_err(in_words)?;
        self.answers.push(match outcome {
            Outcome::Refused(refusal) => format!("{session}: refused ({}): {refusal}", refusal.code()),
            Outcome::Continued(continued) => {
                self.sessions.insert(name.to_owned(), continued.successor);
                let again = if continued.replayed { ", which was there already" } else { "" };
                let notes =
                    continued.diagnostics.iter().map(|note| format!("\n  {note}")).collect::<String>();
                format!("{session}: continued in {name} ({}){again}{notes}", continued.successor)
            }
        });
        Ok(())
    }

    fn preview(&mut self, session: &str, name: &str, by: &Caller, arguments: &Value) -> Result<(), String> {
        let id = self.session(session)?;
        let asker = self.asker(id, by)?;
        let preview =
            self.workspace.preview_continuation(id, &asker, &as_text(arguments)).map_err(in_words)?;
        self.answers.push(match preview {
            Preview::WouldRefuse(refusal) => {
                format!("{session}: would be refused ({}): {refusal}", refusal.code())
            }
            Preview::Replay(replayed) => {
                format!("{session}: is continued already, in {}", replayed.successor)
            }
            Preview::WouldContinue { projection, estimate, .. } => {
                let bytes = projection.text.len();
                format!(
                    "{session}: would continue in {name} with {bytes} bytes\n{}",
                    show_estimate(&estimate)
                )
            }
        });
        Ok(())
    }

    fn retry_run(&mut self, session: &str) -> Result<(), String> {
        let id = self.session(session)?;
        let state = self.workspace.reader(Scope::Workspace).state(id).map_err(in_words)?;
        let (run, _) = state.runs.last_key_value().ok_or_else(|| format!("{session} has no run"))?;
        self.answers.push(match self.workspace.retry_run(id, *run) {
            Ok(_) => format!("{session}: the run is queued anew"),
            Err(error) => format!("{session}: not queued: {error}"),
        });
        Ok(())
    }

    fn fork(&mut self, session: &str, at: u64, name: &str) -> Result<(), String> {
        let id = self.session(session)?;
        let at = Seq::new(at).ok_or("events count from 1")?;
        match self.workspace.fork(id, at, name) {
            Ok(fork) => {
                self.sessions.insert(name.to_owned(), fork);
                self.answers.push(format!("{session}: forked at [{at}] as {name}"));
            }
            Err(error) => self.answers.push(format!("{session}: not forked: {error}")),
        }
        Ok(())
    }

    fn back(&mut self, session: &str, note: &str) -> Result<(), String> {
        let id = self.session(session)?;
        self.answers.push(match self.workspace.go_back(id, note) {
            Ok(predecessor) => format!("{session}: left for {predecessor}"),
            Err(error) => format!("{session}: not left: {error}"),
        });
        Ok(())
    }

    fn recall(&mut self, session: &str, text: &str) -> Result<(), String> {
        let id = self.session(session)?;
        let reader = self.workspace.reader(Scope::Workspace);
        let query = segue::thread::Query::literal(text).map_err(in_words)?;
        let answer = reader.recall(Where::Chain(id), &query, &Budget::default(), None).map_err(in_words)?;
        self.answers.push(segue::thread::render_answer(&query, &answer));
        Ok(())
    }

    fn recommend(&mut self, session: &str) -> Result<(), String> {
        let id = self.session(session)?;
        let reader = self.workspace.reader(Scope::Chain(id));
        let recommended = reader.recommend(id).map_err(in_words)?;
        let lines = recommended.iter().map(|Recommended { thread, range, why }| {
            format!("\n  thread:{thread} [{range}]: {}", why.as_str())
        });
        self.answers.push(format!("{session}: worth citing{}", lines.collect::<String>()));
        Ok(())
    }

    fn audit(&mut self, session: &str) -> Result<(), String> {
        let id = self.session(session)?;
        let audited = self.workspace.reader(Scope::Workspace).audit(id).map_err(in_words)?;
        let lines = audited.audit.sources().iter().map(show_source);
        let sessions = audited.sessions.len();
        self.answers.push(format!("{session}: sources, {sessions} sessions on{}", lines.collect::<String>()));
        Ok(())
    }

    fn harness_compacts(
        &mut self,
        session: &str,
        key: &str,
        reason: CompactionReason,
        summary: &str,
    ) -> Result<(), String> {
        let id = self.session(session)?;
        let compaction = Compaction { key: key.to_owned(), reason, retry: Retry::WillNot };
        let note = self.workspace.take_note(id, &compaction).map_err(in_words)?;
        let entry = note.map_or_else(|| "nothing to note".to_owned(), |note| note.entry().render());
        let settings = HandoffSettings { consolidate_on_compact: !summary.is_empty(), ..Default::default() };
        let told = self.workspace.follow_up(id, &compaction, &settings).map_err(in_words)?;
        self.answers.push(format!("{session}: compacted\n{entry}  follow-up: {told:?}"));
        if told == Resume::Consolidate {
            let consolidated = self.workspace.consolidate_note(id, &compaction, summary).map_err(in_words)?;
            self.answers.push(format!("{session}: consolidated\n{}", consolidated.note.entry().render()));
        }
        Ok(())
    }

    fn asker(&self, session: SessionId, by: &Caller) -> Result<Asker, String> {
        Ok(match by {
            Caller::Person(request) => Asker::Person { request: request.clone() },
            Caller::Tool { run, call, after_continue } => Asker::Tool(ToolCaller {
                run: self.run_id(run)?,
                attempt: 1,
                call: self.call(session, call),
                batch: if *after_continue { Batch::AfterContinue } else { Batch::First },
            }),
        })
    }

    fn call(&self, session: SessionId, id: &str) -> CallRef {
        let site = self.calls.get(&(session, id.to_owned())).copied();
        CallRef { site, provider_id: id.to_owned() }
    }

    pub(crate) fn session(&self, name: &str) -> Result<SessionId, String> {
        self.sessions.get(name).copied().ok_or_else(|| format!("no session is called {name}"))
    }

    fn run_id(&self, name: &str) -> Result<RunId, String> {
        self.runs.get(name).copied().ok_or_else(|| format!("no run is called {name}"))
    }
}

fn show_source(source: &AuditedSource) -> String {
    let AuditedSource { cited_by, target, fate, readings } = source;
    let target = match target {
        SourceTarget::Events { thread, range } => format!("thread:{thread} [{range}]"),
        SourceTarget::Resource { url, .. } => url.clone(),
        SourceTarget::Memory { path } => path.clone(),
    };
    format!("\n  {target}: {cited_by:?}, {fate:?}, read {readings} times since")
}

fn show_estimate(estimate: &Estimate) -> String {
    let Estimate { loaded, left_out, continuing, staying } = estimate;
    let continuing = (continuing.bytes, continuing.tokens_estimated());
    let loaded: Vec<_> =
        loaded.iter().map(|loaded| format!("{} ({} bytes)", loaded.range, loaded.bytes)).collect();
    let left_out = left_out.len();
    format!("  bytes and tokens {continuing:?} against {staying:?}; loaded {loaded:?}, {left_out} left out")
}

fn as_text(arguments: &Value) -> String {
    arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned)
}

pub(crate) fn in_words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
