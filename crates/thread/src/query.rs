//! What is searched for.

use regex::{Regex, RegexBuilder};
use segue_event::{Kind, KindSet, Timestamp};
use segue_log::{Case, Sieve};

use crate::ThreadError;
use crate::error::Detail;
use crate::needs;

/// What is searched for: a pattern, and which texts are looked at.
#[derive(Clone, Debug)]
pub struct Query {
    style: Style,
    text: String,
    case: Case,
    only: Only,
    order: Order,
    pub(crate) finders: Vec<Finder>,
    pub(crate) sieve: Sieve,
}

/// How the text of a query is to be understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// As it stands, byte for byte.
    Literal,
    /// As a regular expression, in the syntax of the `regex` crate. `^` and `$` match at lines.
    Regex,
    /// As words between blanks, all of which are in the same text, in any order.
    Words,
}

/// Which findings come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// The newest.
    #[default]
    NewestFirst,
    /// The oldest.
    OldestFirst,
}

/// Which texts are looked at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Only {
    /// Texts of these kinds; of all if there are none.
    pub kinds: Vec<TextKind>,
    /// Calls of these tools and what they answered; of all, and all else, if there are none.
    pub tools: Vec<String>,
    /// No calls of these tools, and nothing that they answered.
    pub except_tools: Vec<String>,
    /// Not what was said before.
    pub since: Option<Timestamp>,
    /// Not what was said after.
    pub until: Option<Timestamp>,
}

/// What kind of text something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TextKind {
    /// What a person said.
    User,
    /// What the agent said.
    Agent,
    /// What the host or the runtime said.
    System,
    /// What something outside said that starts runs.
    Trigger,
    /// What the model thought.
    Thinking,
    /// The arguments of a tool.
    ToolCall,
    /// What a tool answered.
    ToolResult,
    /// An error, or what could not be read or was lost.
    Error,
}

impl TextKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::User,
        Self::Agent,
        Self::System,
        Self::Trigger,
        Self::Thinking,
        Self::ToolCall,
        Self::ToolResult,
        Self::Error,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::System => "system",
            Self::Trigger => "trigger",
            Self::Thinking => "thinking",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Error => "error",
        }
    }

    /// Finds the kind for a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl Query {
    /// The longest text that can be searched for, in bytes.
    pub const BYTES_MAX: usize = 4_096;

    /// The most words of a query.
    pub const WORDS_MAX: usize = 64;

    /// How large a compiled regular expression may be, in bytes. Counted repetitions make it grow.
    pub const REGEX_BYTES_MAX: usize = 1_024 * 1_024;

    /// A text to search for, byte for byte.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn literal(text: &str) -> Result<Self, ThreadError> {
        Self::new(Style::Literal, text, Case::Sensitive)
    }

    /// Something to search for.
    ///
    /// # Errors
    /// If it is empty, longer than [`Self::BYTES_MAX`], has more than [`Self::WORDS_MAX`] words, is no regular
    /// expression or one beyond [`Self::REGEX_BYTES_MAX`], or matches the empty text, which is everywhere.
    pub fn new(style: Style, text: &str, case: Case) -> Result<Self, ThreadError> {
        match text.len() {
            0 => return Err(bad("an empty text is everywhere: say what to look for")),
            bytes if bytes > Self::BYTES_MAX => {
                return Err(bad(format!(
                    "the text has {bytes} bytes; at most {} can be looked for",
                    Self::BYTES_MAX
                )));
            }
            _ => {}
        }
        let (finders, sieve) = match style {
            Style::Literal => Finder::literal(text, case)?,
            Style::Regex => Finder::regex(text, case)?,
            Style::Words => words(text, case)?,
        };
        let text = text.to_owned();
        Ok(Self { style, text, case, only: Only::default(), order: Order::default(), finders, sieve })
    }

    /// The same, but only in some texts.
    #[must_use]
    pub fn only(self, only: Only) -> Self {
        Self { only, ..self }
    }

    /// The same, with these findings first.
    #[must_use]
    pub fn in_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How the text is understood.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Whether upper and lower case are told apart.
    pub fn case(&self) -> Case {
        self.case
    }

    /// Which texts are looked at.
    pub fn texts(&self) -> &Only {
        &self.only
    }

    /// Which findings come first.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Everything that tells one query from another, as bytes.
    pub(crate) fn identity(&self) -> String {
        let Self { style, text, case, only, order, .. } = self;
        format!("{style:?} {case:?} {order:?} {text:?} {only:?}")
    }
}

/// The words of a text, all of which are to be found.
fn words(text: &str, case: Case) -> Result<(Vec<Finder>, Sieve), ThreadError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.len() {
        0 => return Err(bad("there is no word in the query: say what to look for")),
        count if count > Query::WORDS_MAX => {
            return Err(bad(format!(
                "the query has {count} words; at most {} can be looked for",
                Query::WORDS_MAX
            )));
        }
        _ => {}
    }
    let found: Vec<_> =
        words.into_iter().map(|word| Finder::literal(word, case)).collect::<Result<_, _>>()?;
    let (finders, sieves): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    Ok((finders.into_iter().flatten().collect(), Sieve::All(sieves)))
}

/// Finds one thing in a text.
#[derive(Clone, Debug)]
pub(crate) enum Finder {
    Literal(memchr::memmem::Finder<'static>),
    Regex(Expression),
}

/// A regular expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    regex: Regex,
    /// Matches wherever that does, and is sooner done with texts of other scripts: to tell where a word of any script
    /// begins or ends is slow, so it does not ask for that.
    rough: Option<Regex>,
}

impl Finder {
    fn literal(text: &str, case: Case) -> Result<(Vec<Self>, Sieve), ThreadError> {
        match case {
            Case::Sensitive => {
                let finder = memchr::memmem::Finder::new(text).into_owned();
                Ok((vec![Self::Literal(finder)], Sieve::holding(text.as_bytes(), case)))
            }
            Case::Insensitive => Self::regex(&regex_syntax::escape(text), case),
        }
    }

    fn regex(pattern: &str, case: Case) -> Result<(Vec<Self>, Sieve), ThreadError> {
        let ignores_case = case == Case::Insensitive;
        let parsed = regex_syntax::ParserBuilder::new()
            .multi_line(true)
            .case_insensitive(ignores_case)
            .nest_limit(Query::NEST_MAX)
            .build()
            .parse(pattern);
        let hir = parsed.map_err(|error| {
            bad(format!("this is no regular expression that can be used: {}", at_place(&error)))
        })?;
        if hir.properties().minimum_len().is_none_or(|bytes| bytes == 0) {
            return Err(bad(
                "this regular expression matches the empty text, which is everywhere, or nothing at all",
            ));
        }
        let compile = |pattern: &str| {
            RegexBuilder::new(pattern)
                .multi_line(true)
                .case_insensitive(ignores_case)
                .nest_limit(Query::NEST_MAX)
                .size_limit(Query::REGEX_BYTES_MAX)
                .build()
        };
        let regex = compile(pattern)
            .map_err(|error| bad(format!("this regular expression cannot be used: {error}")))?;
        let rough = needs::without_words(&hir).and_then(|hir| compile(&hir.to_string()).ok());
        let expression = Expression { regex, rough };
        Ok((vec![Self::Regex(expression)], needs::sieve_of(&hir, letters(pattern, case))))
    }

    /// Where it stands in a text, from the first on; each has at least one byte.
    pub(crate) fn find_iter<'a>(&'a self, text: &'a str) -> Box<dyn Iterator<Item = (usize, usize)> + 'a> {
        match self {
            Self::Literal(finder) => {
                let bytes = finder.needle().len();
                Box::new(finder.find_iter(text.as_bytes()).map(move |at| (at, at + bytes)))
            }
            Self::Regex(expression) if !expression.may_match(text) => Box::new(std::iter::empty()),
            Self::Regex(expression) => {
                let places = expression.regex.find_iter(text).map(|found| (found.start(), found.end()));
                Box::new(places.filter(|(start, end)| start < end))
            }
        }
    }
}

/// What is wrong with an expression, and where.
fn at_place(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => {
            format!("{} at byte {}", error.kind(), error.span().start.offset)
        }
        regex_syntax::Error::Translate(error) => {
            format!("{} at byte {}", error.kind(), error.span().start.offset)
        }
        other => other.to_string(),
    }
}

impl Expression {
    fn may_match(&self, text: &str) -> bool {
        self.rough.as_ref().is_none_or(|rough| text.is_ascii() || rough.is_match(text))
    }
}

/// Whether a pattern may match letters in either case: a flag inside it can say so too.
fn letters(pattern: &str, case: Case) -> Case {
    if pattern.contains("(?") { Case::Insensitive } else { case }
}

impl Query {
    /// How deep groups of a regular expression can be nested.
    pub const NEST_MAX: u32 = 100;
}

impl Only {
    /// Whether something said at a time is looked at.
    pub(crate) fn takes_time(&self, time: Timestamp) -> bool {
        let (since, until) = (self.since.as_ref(), self.until.as_ref());
        since.is_none_or(|since| time.micros >= since.micros)
            && until.is_none_or(|until| time.micros <= until.micros)
    }

    /// The kinds of events in which such texts stand; marks of lost events are always looked at.
    pub(crate) fn event_kinds(&self) -> KindSet {
        let kinds = if self.kinds.is_empty() { TextKind::ALL.as_slice() } else { &self.kinds };
        kinds.iter().fold(KindSet::one(Kind::Lost), |set, kind| match kind {
            TextKind::ToolResult => set.with(Kind::ToolResult),
            TextKind::Error => set.with(Kind::ErrorNoted).with(Kind::Unreadable),
            TextKind::System => set.with(Kind::Message).with(Kind::ContextCompacted),
            TextKind::User
            | TextKind::Agent
            | TextKind::Trigger
            | TextKind::Thinking
            | TextKind::ToolCall => set.with(Kind::Message),
        })
    }

    pub(crate) fn takes_kind(&self, kind: TextKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    pub(crate) fn takes_tool(&self, tool: &str) -> bool {
        let is_among = |names: &[String]| names.iter().any(|name| name == tool);
        (self.tools.is_empty() || is_among(&self.tools)) && !is_among(&self.except_tools)
    }
}

fn bad(why: impl Into<String>) -> ThreadError {
    Detail::BadQuery(why.into()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadErrorKind;

    fn refused(style: Style, text: &str) -> String {
        let error = Query::new(style, text, Case::Sensitive).unwrap_err();
        assert_eq!(error.kind(), ThreadErrorKind::BadQuery);
        error.to_string()
    }

    #[test]
    fn what_cannot_be_searched_for_is_said() {
        assert!(refused(Style::Literal, "").contains("empty"));
        assert!(refused(Style::Words, " \n ").contains("no word"));
        assert!(refused(Style::Words, &"x ".repeat(Query::WORDS_MAX + 1)).contains("65 words"));
        assert!(refused(Style::Literal, &"x".repeat(Query::BYTES_MAX + 1)).contains("4097 bytes"));
        assert!(refused(Style::Regex, "(").contains("unclosed group"));
        assert!(refused(Style::Regex, r"(a)\1").contains("backreferences are not supported"));
        assert!(refused(Style::Regex, "(?=a)").contains("look-around"));
        for empty in ["a*", "a|", "", "^", r"\b", "(a?)(b?)"] {
            assert!(refused(Style::Regex, empty).contains("empty"), "{empty}");
        }
    }

    #[test]
    fn borders_of_words_are_those_of_any_script() {
        let found = |pattern: &str, text: &str| {
            let query = Query::new(Style::Regex, pattern, Case::Sensitive).unwrap();
            query.finders.iter().flat_map(|finder| finder.find_iter(text)).collect::<Vec<_>>()
        };
        assert_eq!(found(r"\bcaf\b", "café caf"), [(6, 9)]);
        assert_eq!(found(r"\bcafé\b", "cafés, café"), [(8, 13)]);
        assert_eq!(found(r"(x|\b\d{3}\b)+", "→ 12 ４567 123"), [(14, 17)]);
        assert_eq!(found(r"\b[0-9a-f]{4}\b", "é 12345 ０1234"), []);
        assert_eq!(found(r"\B\d", "→ 1 é2"), [(8, 9)]);
    }

    #[test]
    fn a_hostile_pattern_is_refused_while_it_is_compiled() {
        let deep = format!("{}a{}", "(".repeat(2_000), ")".repeat(2_000));
        let hostile = [
            r"(\w{1000}){1000}",
            r"((a{100}){100}){100}",
            r"\pL{4000}",
            r"(?i)(\pL|x){0,5000}y",
            deep.as_str(),
        ];
        for pattern in hostile {
            let error = refused(Style::Regex, pattern);
            assert!(error.contains("limit") || error.contains("maximum"), "{pattern}: {error}");
            assert!(error.len() < 200, "{error}");
        }
    }
}
