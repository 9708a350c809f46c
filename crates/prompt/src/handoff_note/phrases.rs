//! Whether a line says that work is left, by phrases in English.
//!
//! A miss costs nothing but a user's word; a false hit makes an agent go on that is done. So what may be negated counts
//! as negated.

/// What says that work is left, word by word. `need to` and `next step` also in the forms that they take.
const UNFINISHED: &[&[&str]] = &[
    &["need", "to"],
    &["needs", "to"],
    &["waiting", "for"],
    &["next", "step"],
    &["next", "steps"],
    &["pending"],
    &["not", "done"],
    &["isn't", "done"],
    &["isnt", "done"],
    &["aren't", "done"],
    &["arent", "done"],
    &["wasn't", "done"],
    &["weren't", "done"],
    &["incomplete"],
    &["unfinished"],
];

/// Words that negate what comes soon: `nothing is left pending`.
const NONE_OF: &[&str] = &["no", "nothing", "none", "neither", "nobody", "without", "never"];

/// How many words may stand between one of those and the phrase.
const NONE_OF_REACH: usize = 4;

/// Words that negate what comes next: `not really pending`. So does every word that ends in `n't`.
const NOT: &[&str] = &[
    "not", "non", "nor", "cannot", "zero", "0", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "wont",
    "cant", "hardly",
];

/// How many words may stand between one of those and the phrase.
const NOT_REACH: usize = 2;

/// Words behind a phrase that say that there is nothing: `pending: none`.
const NOTHING_FOLLOWS: &[&str] = &["none", "nothing", "nil", "no", "n/a"];

/// Words with which another thought begins, which a negation before them does not reach.
const ANOTHER_THOUGHT: &[&str] = &[
    "and",
    "but",
    "so",
    "because",
    "since",
    "then",
    "that",
    "which",
    "what",
    "while",
    "until",
    "when",
    "if",
    "before",
    "after",
    "however",
    "though",
    "although",
    "as",
    "therefore",
];

/// Whether a line says that work is left, in whole words and not negated.
pub fn is_unfinished(line: &str) -> bool {
    let tokens = tokens(line);
    (0..tokens.len()).any(|at| {
        let rest = tokens.get(at..).unwrap_or_default();
        let found = UNFINISHED.iter().find(|phrase| begins_with(rest, phrase));
        found.is_some_and(|phrase| {
            let (before, behind) = (tokens.get(..at), rest.get(phrase.len()..));
            !is_negated_before(before.unwrap_or_default()) && !is_negated_behind(behind.unwrap_or_default())
        })
    })
}

/// A word, or what stands between two thoughts.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    /// In lower case.
    Word(String),
    /// A colon or a dash: what follows says more of the same.
    Colon,
    /// Any other sign that ends a thought.
    End,
}

fn tokens(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for character in line.chars() {
        let character = if character == '’' { '\'' } else { character };
        if is_of_word(character, &word) {
            word.extend(character.to_lowercase());
        } else {
            end_word(&mut word, &mut tokens);
            tokens.extend(sign(before, character));
        }
        before = character;
    }
    end_word(&mut word, &mut tokens);
    tokens
}

fn is_of_word(character: char, word: &str) -> bool {
    // An apostrophe belongs to "don't", and a stroke to "n/a".
    character.is_alphanumeric()
        || character == '_'
        || (character == '\'' && !word.is_empty())
        || (character == '/' && word == "n")
}

fn end_word(word: &mut String, tokens: &mut Vec<Token>) {
    let ended = std::mem::take(word);
    let ended = ended.trim_end_matches('\'');
    if !ended.is_empty() {
        tokens.push(Token::Word(ended.to_owned()));
    }
}

fn sign(before: char, character: char) -> Option<Token> {
    match character {
        ':' | '=' | '–' | '—' => Some(Token::Colon),
        // Within a word, as in "next-step", it only parts two words.
        '-' if before.is_whitespace() => Some(Token::Colon),
        '.' | ',' | ';' | '!' | '?' | '(' | ')' | '…' | '|' => Some(Token::End),
        _ => None,
    }
}

fn begins_with(tokens: &[Token], phrase: &[&str]) -> bool {
    let is_same = |(token, word): (&Token, &&str)| matches!(token, Token::Word(found) if found == word);
    tokens.len() >= phrase.len() && tokens.iter().zip(phrase).all(is_same)
}

fn is_negated_before(tokens: &[Token]) -> bool {
    let words = tokens.iter().rev().map_while(|token| match token {
        Token::Word(word) if !ANOTHER_THOUGHT.contains(&word.as_str()) => Some(word.as_str()),
        _ => None,
    });
    words.take(NONE_OF_REACH + 1).enumerate().any(|(between, word)| {
        let is_not = NOT.contains(&word) || word.ends_with("n't");
        (between <= NOT_REACH && is_not) || (between <= NONE_OF_REACH && NONE_OF.contains(&word))
    })
}

fn is_negated_behind(tokens: &[Token]) -> bool {
    let next = tokens.iter().find(|token| **token != Token::Colon);
    matches!(next, Some(Token::Word(word)) if NOTHING_FOLLOWS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEFT: bool = true;
    const DONE: bool = false;

    const TABLE: &[(&str, bool)] = &[
        // The phrases, in every case and form.
        ("need to write the tests", LEFT),
        ("I need to write the tests", LEFT),
        ("The parser needs to handle blanks", LEFT),
        ("NEED TO fix it", LEFT),
        ("Need\u{a0}to fix it", LEFT),
        ("need  to fix it", LEFT),
        ("waiting for the build", LEFT),
        ("Still waiting for: review", LEFT),
        ("next step is the grammar", LEFT),
        ("Next steps: grammar, tests", LEFT),
        ("the next-step list is long", LEFT),
        ("The review is pending", LEFT),
        ("pending", LEFT),
        ("PENDING: two tests", LEFT),
        ("[pending] tests", LEFT),
        ("`pending` tests", LEFT),
        ("tests (pending)", LEFT),
        ("tests—pending", LEFT),
        ("The tests are not done", LEFT),
        ("The tests are not done.", LEFT),
        ("this isn't done", LEFT),
        ("they aren’t done", LEFT),
        ("not done: tests", LEFT),
        ("The list is incomplete", LEFT),
        ("Incomplete!", LEFT),
        ("unfinished business", LEFT),
        ("Left it unfinished, sorry", LEFT),
        ("日本語 pending 日本語", LEFT),
        // Borders of words.
        ("spending a day on it", DONE),
        ("impending doom", DONE),
        ("unfinishedness", DONE),
        ("incompletely parsed", DONE),
        ("incompleteness theorem", DONE),
        ("needed to write tests, and did", DONE),
        ("need tools", DONE),
        ("we need two of them", DONE),
        ("indeed to be sure", DONE),
        ("the next stepping stone", DONE),
        ("next, step by step", DONE),
        ("not. Done.", DONE),
        ("PENDING_STATE is a constant", DONE),
        ("is_pending returns", DONE),
        ("waiting forever", DONE),
        ("awaiting for", DONE),
        ("done", DONE),
        ("", DONE),
        // Negated before.
        ("nothing pending", DONE),
        ("Nothing is pending", DONE),
        ("nothing else is pending", DONE),
        ("there is nothing left unfinished", DONE),
        ("no longer need to write tests", DONE),
        ("We no longer need to.", DONE),
        ("no longer waiting for the build", DONE),
        ("don't need to write tests", DONE),
        ("don’t need to write tests", DONE),
        ("dont need to write tests", DONE),
        ("do not need to write tests", DONE),
        ("You won't need to", DONE),
        ("it doesn't really need to", DONE),
        ("no need to wait", DONE),
        ("not pending", DONE),
        ("isn't pending any more", DONE),
        ("Not yet pending", DONE),
        ("no next step", DONE),
        ("No further next steps", DONE),
        ("there are no more next steps", DONE),
        ("no tests are pending", DONE),
        ("none of the tests are pending", DONE),
        ("0 tests pending", DONE),
        ("zero pending", DONE),
        ("non-pending tests", DONE),
        ("not incomplete", DONE),
        ("never left unfinished", DONE),
        ("without waiting for the build", DONE),
        ("nothing is not done", DONE),
        // Negated behind.
        ("Pending: none", DONE),
        ("Pending: None.", DONE),
        ("Next steps: nothing", DONE),
        ("Next steps - none", DONE),
        ("next step: n/a", DONE),
        ("waiting for nothing", DONE),
        // What is negated is something else.
        ("It does not compile, need to fix it", LEFT),
        ("No luck; next step is a bisection", LEFT),
        ("The build is not green and we need to see why", LEFT),
        ("nothing works so we need to start over", LEFT),
        ("no tests yet, pending review", LEFT),
        ("Nothing pending. Need to deploy.", LEFT),
        ("nothing pending, but the docs are incomplete", LEFT),
        ("Pending: no longer the parser, but tests. Next step: tests", LEFT),
        ("It is not the parser that is pending", LEFT),
        ("pending, none the less", LEFT),
    ];

    #[test]
    fn every_row_of_the_table_holds() {
        assert!(TABLE.len() >= 60);
        for (line, expected) in TABLE {
            assert_eq!(is_unfinished(line), *expected, "{line:?}: {:?}", tokens(line));
        }
    }

    proptest! {
        #[test]
        fn a_phrase_within_a_word_is_none(before in "[a-z]{1,4}", phrase in prop::sample::select(UNFINISHED)) {
            let glued = format!("{before}{}", phrase.join(" "));
            let is_other = UNFINISHED.iter().any(|other| begins_with(&tokens(&glued), other));
            prop_assert!(is_other || !is_unfinished(&glued), "{glued}");
        }

        #[test]
        fn any_line_is_read(line in any::<String>()) {
            let _ = is_unfinished(&line);
        }
    }
}
