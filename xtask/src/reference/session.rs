//! A long session of an agent that programs: the same for the same seed, as long as one wants.

use std::cell::Cell;

use segue::event::{
    Author, Block, CallRef, CallSite, Event, Message, ModelName, ResultStatus, Role, Seq, Thinking, ToolCall,
    ToolResult, Usage,
};
use serde_json::{Value, json};

use super::words::{CODE, NAMES, OUTPUT, PROSE, REQUESTS};

/// Tool calls between two messages of the person, at most.
const CALLS_MAX: u64 = 12;

/// The window of the model that the session speaks to, in tokens; how full it is grows and begins again.
const WINDOW_TOKENS: u64 = 200_000;

/// A session that goes on for ever, event by event.
pub(crate) struct Reference {
    random: Random,
    next: u64,
    calls_left: u64,
    open_call: Option<(CallSite, ToolCall)>,
    tokens: u64,
}

impl Reference {
    /// A session whose first event gets a number.
    pub(crate) fn new(seed: u64, first: Seq) -> Self {
        Self { random: Random::new(seed), next: first.get(), calls_left: 0, open_call: None, tokens: 9_000 }
    }

    fn event(&mut self) -> Event {
        if let Some((site, call)) = self.open_call.take() {
            return self.result(site, &call).into();
        }
        if self.calls_left == 0 {
            self.calls_left = 1 + self.random.below(CALLS_MAX);
            return Message::text(Role::User, Author::User, fill(&self.random, self.random.pick(REQUESTS)))
                .into();
        }
        self.calls_left -= 1;
        self.answer().into()
    }

    /// What the model says: mostly a thought, some words, and a call; at the end only words.
    fn answer(&mut self) -> Message {
        let mut message = Message::text(Role::Assistant, Author::Agent, prose(&self.random, 12));
        message.model = Some(ModelName { provider: "example".to_owned(), model: "reference-1".to_owned() });
        self.tokens = (self.tokens + 300 + self.random.below(3_000)) % WINDOW_TOKENS;
        message.usage = Some(Usage {
            input: Some(12),
            output: Some(180),
            cache_read: Some(self.tokens),
            cache_write: Some(600),
        });
        if self.random.below(3) == 0 {
            let thinking = Thinking { text: prose(&self.random, 60), signature: hash(&self.random) };
            message.blocks.insert(0, Block::Thinking(thinking));
        }
        if self.calls_left > 0 {
            let block = u32::try_from(message.blocks.len()).unwrap_or(0);
            let call = self.call();
            message.blocks.push(Block::ToolCall(call.clone()));
            if let Some(at) = Seq::new(self.next) {
                self.open_call = Some((CallSite { message: at, block }, call));
            }
        }
        message
    }

    fn call(&self) -> ToolCall {
        let random = &self.random;
        let path = path(random);
        let (name, arguments): (_, Value) = match random.below(10) {
            0..3 => ("Read", json!({"file_path": path, "offset": random.below(400), "limit": 120})),
            3..5 => (
                "Edit",
                json!({"file_path": path, "old_string": code(random, 3), "new_string": code(random, 5)}),
            ),
            5 => ("Write", json!({"file_path": path, "content": code(random, 40)})),
            6..9 => (
                "Bash",
                json!({"command": format!("cargo test -p {} -- --nocapture", name(random)), "timeout": 120_000}),
            ),
            _ => (
                "Grep",
                json!({"pattern": format!("fn {}", name(random)), "path": "src", "output_mode": "content"}),
            ),
        };
        ToolCall {
            provider_id: format!("toolu_{}", hash(random)),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        }
    }

    fn result(&self, site: CallSite, call: &ToolCall) -> ToolResult {
        let random = &self.random;
        let failed = random.below(12) == 0;
        let text = match call.name.as_str() {
            _ if failed => format!("Error: {}", lines(random, OUTPUT, 3)),
            "Read" => numbered(&code(random, 40 + random.below(160))),
            "Edit" | "Write" => format!("The file has been updated.\n{}", numbered(&code(random, 8))),
            _ => lines(random, OUTPUT, 10 + random.below(90)),
        };
        ToolResult {
            call: CallRef { site: Some(site), provider_id: call.provider_id.clone() },
            tool: call.name.clone(),
            status: if failed { ResultStatus::Error } else { ResultStatus::Ok },
            blocks: vec![Block::Text(text)],
            touched: Vec::new(),
            continuation: None,
            provenance: None,
        }
    }
}

impl Iterator for Reference {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let event = self.event();
        self.next += 1;
        Some(event)
    }
}

fn prose(random: &Random, words: u64) -> String {
    let words = words / 2 + random.below(words);
    let words: Vec<_> = (0..=words).map(|_| random.pick(PROSE)).collect();
    format!("{}.", words.join(" "))
}

fn name(random: &Random) -> String {
    let parts: Vec<_> = (0..1 + random.below(3)).map(|_| random.pick(NAMES)).collect();
    parts.join("_")
}

fn path(random: &Random) -> String {
    let [folder, file] = [random.pick(NAMES), random.pick(NAMES)];
    format!("/home/dev/work/project/crates/{folder}/src/{file}_{}.rs", random.below(9))
}

fn hash(random: &Random) -> String {
    format!("{:016x}{:016x}", random.next(), random.next())
}

fn code(random: &Random, count: u64) -> String {
    lines(random, CODE, count)
}

fn lines(random: &Random, templates: &[&str], count: u64) -> String {
    let lines: Vec<_> = (0..count.max(1)).map(|_| fill(random, random.pick(templates))).collect();
    lines.join("\n")
}

fn numbered(text: &str) -> String {
    let lines: Vec<_> = text.lines().enumerate().map(|(at, line)| format!("{:>6}\t{line}", at + 1)).collect();
    lines.join("\n")
}

/// A template with its places filled.
fn fill(random: &Random, template: &str) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(at) = rest.find(['{', '#', '%']) {
        let (before, behind) = rest.split_at(at);
        text.push_str(before);
        rest = if let Some(behind) = behind.strip_prefix("{}") {
            text.push_str(&name(random));
            behind
        } else if let Some(behind) = behind.strip_prefix('#') {
            text.push_str(&random.below(5_000).to_string());
            behind
        } else if let Some(behind) = behind.strip_prefix('%') {
            text.push_str(&hash(random));
            behind
        } else {
            text.push('{');
            behind.strip_prefix('{').unwrap_or_default()
        };
    }
    text + rest
}

/// Numbers that look random and are the same in every run.
struct Random(Cell<u64>);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Cell::new(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1))
    }

    /// The next number of a xorshift generator, mixed.
    fn next(&self) -> u64 {
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&self, end: u64) -> u64 {
        (self.next() >> 11) % end.max(1)
    }

    fn pick<'a>(&self, from: &[&'a str]) -> &'a str {
        from.get(self.below(from.len() as u64) as usize).copied().unwrap_or_default()
    }
}
