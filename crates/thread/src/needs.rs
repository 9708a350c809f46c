//! What a text must hold to match a regular expression.
//!
//! A walk over the parsed expression that keeps, for each part of it, either the few strings that it matches or a
//! condition that every match fulfils. What it cannot say anything about it leaves out, so that the condition is never
//! too strict. Where ASCII case does not matter, there are fewer strings, all in lower case.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, LookSet, Repetition};
use segue_log::{Case, Sieve};

/// More alternatives than this are not looked at one by one.
const STRINGS_MAX: usize = 32;

/// A class with more members than this says nothing.
const CLASS_MAX: usize = 16;

/// Longer strings are cut into parts.
const STRING_BYTES_MAX: usize = 64;

/// A counted repetition is looked at only for so many rounds.
const ROUNDS_MAX: u32 = 8;

/// The condition that every text fulfils in which an expression matches somewhere.
pub(crate) fn sieve_of(hir: &Hir, case: Case) -> Sieve {
    let walk = Walk { case };
    walk.sieve(walk.need_of(hir))
}

/// The same expression without its words' borders, so that it matches wherever the expression does; none if it has none.
pub(crate) fn without_words(hir: &Hir) -> Option<Hir> {
    hir.properties().look_set().contains_word_unicode().then(|| bare(hir))
}

fn bare(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(look) if LookSet::singleton(*look).contains_word_unicode() => Hir::empty(),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
        HirKind::Capture(capture) => bare(&capture.sub),
        HirKind::Repetition(repetition) => {
            Hir::repetition(Repetition { sub: Box::new(bare(&repetition.sub)), ..*repetition })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(bare).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(bare).collect()),
    }
}

/// A walk over an expression.
#[derive(Clone, Copy)]
struct Walk {
    case: Case,
}

/// What is known of the strings that a part of an expression matches.
enum Need {
    /// They are these, but for ASCII case.
    Exactly(BTreeSet<Vec<u8>>),
    /// They fulfil this.
    Such(Sieve),
}

impl Need {
    fn empty() -> Self {
        Self::Exactly(BTreeSet::from([Vec::new()]))
    }
}

impl Walk {
    fn need_of(self, hir: &Hir) -> Need {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Need::empty(),
            HirKind::Literal(literal) => Need::Exactly(BTreeSet::from([self.string(&literal.0)])),
            HirKind::Class(class) => self.members(class).map_or(Need::Such(Sieve::Everything), Need::Exactly),
            HirKind::Capture(capture) => self.need_of(&capture.sub),
            HirKind::Repetition(repetition) => self.repeated(repetition),
            HirKind::Concat(parts) => self.in_a_row(parts.iter().map(|part| self.need_of(part))),
            HirKind::Alternation(parts) => self.one_of(parts.iter().map(|part| self.need_of(part)).collect()),
        }
    }

    fn string(self, bytes: &[u8]) -> Vec<u8> {
        match self.case {
            Case::Sensitive => bytes.to_vec(),
            Case::Insensitive => bytes.to_ascii_lowercase(),
        }
    }

    fn sieve(self, need: Need) -> Sieve {
        match need {
            Need::Such(sieve) => sieve,
            Need::Exactly(strings) if strings.iter().any(Vec::is_empty) => Sieve::Everything,
            Need::Exactly(strings) => {
                let mut any: Vec<_> =
                    strings.iter().map(|string| Sieve::holding(string, self.case)).collect();
                match (any.pop(), any.is_empty()) {
                    (Some(only), true) => only,
                    (last, _) => Sieve::Any(any.into_iter().chain(last).collect()),
                }
            }
        }
    }

    /// The members of a small class.
    fn members(self, class: &Class) -> Option<BTreeSet<Vec<u8>>> {
        let Class::Unicode(class) = class else { return None };
        let mut members = BTreeSet::new();
        for member in class.iter().flat_map(|range| range.start()..=range.end()) {
            members.insert(self.string(member.to_string().as_bytes()));
            if members.len() > CLASS_MAX {
                return None;
            }
        }
        Some(members)
    }

    fn repeated(self, repetition: &Repetition) -> Need {
        let rounds = repetition.min.min(ROUNDS_MAX);
        if repetition.min == 0 {
            return match (repetition.max, self.need_of(&repetition.sub)) {
                (Some(1), Need::Exactly(mut strings)) => {
                    strings.insert(Vec::new());
                    Need::Exactly(strings)
                }
                _ => Need::Such(Sieve::Everything),
            };
        }
        let all = self.in_a_row((0..rounds).map(|_| self.need_of(&repetition.sub)));
        if repetition.max == Some(rounds) { all } else { Need::Such(self.sieve(all)) }
    }

    /// Parts that follow each other.
    fn in_a_row(self, parts: impl Iterator<Item = Need>) -> Need {
        let mut sieves = Vec::new();
        let mut run = BTreeSet::from([Vec::new()]);
        for part in parts {
            match part {
                Need::Exactly(strings) => match join(&run, &strings) {
                    Some(joined) => run = joined,
                    None => sieves.push(self.sieve(Need::Exactly(std::mem::replace(&mut run, strings)))),
                },
                Need::Such(sieve) => {
                    let before = std::mem::replace(&mut run, BTreeSet::from([Vec::new()]));
                    sieves.extend([self.sieve(Need::Exactly(before)), sieve]);
                }
            }
        }
        if sieves.is_empty() {
            return Need::Exactly(run);
        }
        sieves.push(self.sieve(Need::Exactly(run)));
        sieves.retain(|sieve| !matches!(sieve, Sieve::Everything));
        match (sieves.pop(), sieves.is_empty()) {
            (None, _) => Need::Such(Sieve::Everything),
            (Some(only), true) => Need::Such(only),
            (last, false) => Need::Such(Sieve::All(sieves.into_iter().chain(last).collect())),
        }
    }

    /// Parts of which one is there.
    fn one_of(self, parts: Vec<Need>) -> Need {
        let mut strings = BTreeSet::new();
        let mut others = Vec::new();
        for part in parts {
            match part {
                Need::Exactly(some) => strings.extend(some),
                Need::Such(sieve) => others.push(sieve),
            }
        }
        if others.is_empty() && strings.len() <= STRINGS_MAX {
            return Need::Exactly(strings);
        }
        if !strings.is_empty() {
            others.push(self.sieve(Need::Exactly(strings)));
        }
        if others.iter().any(|sieve| matches!(sieve, Sieve::Everything)) {
            return Need::Such(Sieve::Everything);
        }
        Need::Such(Sieve::Any(others))
    }
}

/// Each of some strings before each of others; none if that is too much.
fn join(before: &BTreeSet<Vec<u8>>, behind: &BTreeSet<Vec<u8>>) -> Option<BTreeSet<Vec<u8>>> {
    if before.len() * behind.len() > STRINGS_MAX {
        return None;
    }
    let pairs =
        before.iter().flat_map(|start| behind.iter().map(move |end| [start.as_slice(), end].concat()));
    let joined: BTreeSet<_> = pairs.collect();
    let is_first = before.iter().all(Vec::is_empty);
    (is_first || joined.iter().all(|string| string.len() <= STRING_BYTES_MAX)).then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(sieve: &Sieve) -> String {
        let join = |all: &[Sieve], with: &str| all.iter().map(show).collect::<Vec<_>>().join(with);
        match sieve {
            Sieve::Everything => "*".to_owned(),
            Sieve::Holds(literal) => String::from_utf8_lossy(literal.bytes()).into_owned(),
            Sieve::All(all) => format!("({})", join(all, " & ")),
            Sieve::Any(any) => format!("({})", join(any, " | ")),
        }
    }

    fn needs(pattern: &str) -> String {
        show(&sieve_of(&regex_syntax::Parser::new().parse(pattern).unwrap(), Case::Sensitive))
    }

    #[test]
    fn an_expression_needs_its_literals() {
        for (pattern, expected) in [
            ("Error", "Error"),
            ("error: .*not found", "(error:  & not found)"),
            ("(foo|bar)baz", "(barbaz | foobaz)"),
            ("a.b", "(a & b)"),
            ("fo{2,4}bar", "(f & oo & bar)"),
            ("ab?c", "(abc | ac)"),
            ("x*", "*"),
            (r"\d+", "*"),
            (r"\bfn\s+main\b", "(fn & main)"),
            ("(a|.)b", "b"),
            ("(abc|.*)", "*"),
            ("(ab){3}", "ababab"),
        ] {
            assert_eq!(needs(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn letters_in_either_case_are_one() {
        let hir =
            regex_syntax::ParserBuilder::new().case_insensitive(true).build().parse("Über-Maß 1").unwrap();
        let found = show(&sieve_of(&hir, Case::Insensitive));
        assert_eq!(found, "(Über-maß 1 | Über-maẞ 1 | über-maß 1 | über-maẞ 1)");
    }
}
