//! A scripted model, and turns that it plays.

use segue::event::{Author, Block, CallSite, Lane, Message, ModelName, Role, Thinking, Usage};
use segue::prompt::ToolContract;
use segue::{FreshPolicy, HostCall, Said, Sent, Setup, Tasks, ToolOutput, Turn};
use serde_json::json;

use crate::Run;
use crate::runner::in_words;
use crate::scenario::{Line, Provider, ScriptedAnswer, Then};

/// How many tokens the scripted model takes.
const WINDOW_TOKENS: u64 = 1_000;

/// The host that plays the turns of fixtures: one tool, and tasks can be given away.
pub(crate) fn setup(fresh: FreshPolicy) -> Setup {
    let bash = ToolContract::new(
        "bash",
        "Runs a command.",
        &json!({"type": "object", "required": ["command"], "properties": {"command": {"type": "string"}}}),
    );
    Setup {
        host: "fixture".to_owned(),
        system: vec!["You are a careful engineer.\n".to_owned()],
        tools: vec![bash],
        tasks: Tasks::Offered,
        model: Some(ModelName { provider: "scripted".to_owned(), model: "fixture-1".to_owned() }),
        window_tokens: Some(WINDOW_TOKENS),
        fresh,
    }
}

impl Line {
    /// What the model says by this line.
    pub fn to_said(&self) -> Said {
        let mut said = Said { model: setup(FreshPolicy::Never).model, ..Said::default() };
        if !self.thinks.is_empty() {
            let thinking = Thinking { text: self.thinks.clone(), signature: String::new() };
            said.blocks.push(Block::Thinking(thinking));
        }
        if !self.says.is_empty() {
            said.blocks.push(Block::Text(self.says.clone()));
        }
        for call in &self.calls {
            let arguments = call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned);
            said = said.call(&call.id, &call.tool, &arguments);
        }
        let usage = |input| Usage { input: Some(input), ..Usage::default() };
        Said { usage: self.tokens.map(usage), ..said }
    }
}

impl Run {
    pub(crate) fn send(&mut self, session: &str, text: &str) -> Result<(), String> {
        let id = self.session(session)?;
        let message = Message::text(Role::User, Author::User, text);
        let sent = self.workspace.send(id, &message, Lane::Interactive).map_err(in_words)?;
        self.answers.push(match sent {
            Sent::ToRun(_) => format!("{session}: a run is queued"),
            Sent::Behind(_) => format!("{session}: queued behind the run at work"),
        });
        Ok(())
    }

    pub(crate) fn turn(
        &mut self,
        session: &str,
        (script, fresh): (&[Line], FreshPolicy),
        successor: &str,
        then: Then,
    ) -> Result<(), String> {
        let id = self.session(session)?;
        let mut prompts = Vec::new();
        let played = match self.workspace.turn(id, &setup(fresh)).map_err(in_words)? {
            None => Played::NothingToDo,
            Some(turn) => {
                let meanwhile = |text: &str| {
                    let message = Message::text(Role::User, Author::User, text);
                    self.workspace.send(id, &message, Lane::Interactive).map(drop).map_err(in_words)
                };
                play(turn, script, then, &meanwhile, &mut prompts)?
            }
        };
        self.prompts.extend(prompts.into_iter().map(|prompt| (session.to_owned(), prompt)));
        self.answers.push(format!("{session}: {}", played.in_words()));
        if let Played::Over(segue::Step::Continued(continued)) = played {
            self.sessions.insert(successor.to_owned(), continued.successor);
        }
        Ok(())
    }

    /// The newest child of a session's run gets a name.
    pub(crate) fn name_child(&mut self, session: &str, child: &str) -> Result<(), String> {
        let id = self.session(session)?;
        let state = self.workspace.reader(segue::Scope::Workspace).state(id).map_err(in_words)?;
        let newest = state.runs.values().flat_map(|run| &run.children).next_back();
        let newest = newest.ok_or_else(|| format!("{session} gave no task away"))?;
        self.sessions.insert(child.to_owned(), newest.session);
        Ok(())
    }
}

/// How a scripted turn went.
enum Played {
    NothingToDo,
    Over(segue::Step),
    /// The script ended before the turn did.
    Left(Then),
}

impl Played {
    fn in_words(&self) -> String {
        match self {
            Self::NothingToDo => "no run can be taken up".to_owned(),
            Self::Over(segue::Step::Continued(continued)) => {
                format!("the turn is over, continued in {}", continued.successor)
            }
            Self::Over(segue::Step::Parked) => "the turn is over, waiting for tasks".to_owned(),
            Self::Over(segue::Step::Done(outcome)) => format!("the turn is over, {outcome:?}"),
            Self::Over(other) => format!("{other:?}"),
            Self::Left(then) => format!("the turn is left: {then:?}"),
        }
    }
}

fn play(
    mut turn: Turn<'_>,
    script: &[Line],
    then: Then,
    meanwhile: &dyn Fn(&str) -> Result<(), String>,
    prompts: &mut Vec<segue::prompt::Prompt>,
) -> Result<Played, String> {
    for line in script {
        match turn.make_room().map_err(in_words)? {
            segue::Step::Prompt => {}
            over => return Ok(Played::Over(over)),
        }
        prompts.push(turn.prompt().map_err(in_words)?);
        if !line.meanwhile.is_empty() {
            meanwhile(&line.meanwhile)?;
        }
        let mut step = match line.provider {
            Provider::Answers => turn.record(line.to_said()).map_err(in_words)?,
            Provider::Overflows => turn.overflowed().map_err(in_words)?,
        };
        for answer in &line.answers {
            let segue::Step::CallTools(open) = &step else {
                return Err(format!("no tool waits for {}", answer.call));
            };
            step = turn.answer(site_of(open, answer)?, output_of(answer)).map_err(in_words)?;
        }
        match step {
            segue::Step::Prompt => {}
            segue::Step::CallTools(_) => break,
            over => return Ok(Played::Over(over)),
        }
    }
    match then {
        Then::Leave => {}
        Then::Retry => drop(turn.retry("the fixture says so").map_err(in_words)?),
        Then::Fail => turn.fail("the fixture says so").map_err(in_words)?,
        Then::Cancel => turn.cancel().map_err(in_words)?,
    }
    Ok(Played::Left(then))
}

fn site_of(open: &[HostCall], answer: &ScriptedAnswer) -> Result<CallSite, String> {
    let found = open.iter().find(|call| call.call.provider_id == answer.call);
    found.map(|call| call.site).ok_or_else(|| format!("no open call has the id {}", answer.call))
}

fn output_of(answer: &ScriptedAnswer) -> ToolOutput {
    if answer.failed { ToolOutput::failed(&answer.text) } else { ToolOutput::text(&answer.text) }
}
