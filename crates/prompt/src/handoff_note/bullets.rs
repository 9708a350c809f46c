//! Terse lines of what an agent said last.

/// How many of the agent's newest texts that are not empty a note is made of.
pub const TEXTS_MAX: usize = 3;

/// How many bullets a note has at most.
pub const BULLETS_MAX: usize = 15;

/// How many characters a bullet has at most; what is longer ends in an ellipsis.
pub const BULLET_CHARS_MAX: usize = 1_000;

/// The bullets of a note, from the agent's texts of the whole branch, oldest first.
///
/// They come from the last [`TEXTS_MAX`] texts that are not empty: one for each line, without the markers of lists and
/// emphasis. Blank lines, headings and rules are dropped, and code fences with the code in them: a note says what was
/// being done, and the code is in the files. At most [`BULLETS_MAX`] are kept, in order, and the newest are never what
/// is cut. A bullet has no line breaks.
pub fn bullets_of<'a>(texts: impl DoubleEndedIterator<Item = &'a str>) -> Vec<String> {
    let newest = texts.rev().filter(|text| !text.trim().is_empty()).take(TEXTS_MAX);
    let mut kept: Vec<String> = Vec::new();
    for text in newest {
        let room = BULLETS_MAX - kept.len();
        // Newest first to fill, and turned round at the end.
        kept.extend(bullets_of_text(text).into_iter().rev().take(room));
    }
    kept.reverse();
    kept
}

fn bullets_of_text(text: &str) -> Vec<String> {
    let mut bullets = Vec::new();
    let mut open: Option<Fence> = None;
    for line in text.split(is_line_break) {
        let line = line.trim();
        if let Some(fence) = open {
            open = (!fence.is_closed_by(line)).then_some(fence);
            continue;
        }
        let item = without_list_markers(line);
        open = Fence::opened_by(item);
        if open.is_none() && !is_heading(line) && !is_rule(line) {
            // Shortened first: how long it takes to find the pairs of marks depends on the length.
            bullets.push(without_emphasis(&shortened(item)).trim().to_owned());
        }
    }
    bullets.retain(|bullet| !bullet.is_empty());
    bullets
}

fn is_line_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The fence of a block of code.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // "```x```" on one line is code within a sentence.
        let is_inline = mark == '`' && info.contains('`');
        (length >= 3 && !is_inline).then_some(Self { mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        line.len() >= self.length && line.chars().all(|character| character == self.mark)
    }
}

fn is_heading(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']))
}

/// A line that separates, or underlines a heading.
fn is_rule(line: &str) -> bool {
    let marks = line.chars().filter(|character| !character.is_whitespace());
    ['-', '*', '_', '=']
        .iter()
        .any(|rule| marks.clone().count() >= 3 && marks.clone().all(|mark| mark == *rule))
}

fn without_list_markers(line: &str) -> &str {
    let mut rest = line;
    while let Some(item) = list_item(rest) {
        rest = item.trim_start();
    }
    rest
}

/// What stands behind the marker of a list; none if there is no marker.
fn list_item(line: &str) -> Option<&str> {
    let behind_number = || {
        let rest = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let digits = line.len() - rest.len();
        (1..=9).contains(&digits).then(|| rest.strip_prefix(['.', ')'])).flatten()
    };
    let rest = line.strip_prefix(['-', '*', '+', '•']).or_else(behind_number)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

/// A run of the same mark, such as `**`.
struct MarkRun {
    mark: char,
    from: usize,
    to: usize,
    opens: bool,
    closes: bool,
}

/// The text without the marks of emphasis that come in pairs. What is code stays as it is, and so does a mark that
/// stands alone, as in `2 * 3` or `a_b`.
fn without_emphasis(text: &str) -> String {
    let mut open: Vec<MarkRun> = Vec::new();
    let mut dropped: Vec<(usize, usize)> = Vec::new();
    for run in mark_runs(text) {
        let is_partner =
            |other: &MarkRun| other.mark == run.mark && other.to - other.from == run.to - run.from;
        let partner = if run.closes { open.iter().rposition(is_partner) } else { None };
        match partner {
            Some(at) => {
                // What was opened in between has no partner any more.
                let opening = open.drain(at..).next();
                dropped.extend(opening.map(|opening| (opening.from, opening.to)));
                dropped.push((run.from, run.to));
            }
            None if run.opens => open.push(run),
            None => {}
        }
    }
    let is_dropped = |at: usize| dropped.iter().any(|(from, to)| (*from..*to).contains(&at));
    text.char_indices().filter(|(at, _)| !is_dropped(*at)).map(|(_, character)| character).collect()
}

fn mark_runs(text: &str) -> Vec<MarkRun> {
    let mut runs = Vec::new();
    let mut characters = text.char_indices().peekable();
    let mut before: Option<char> = None;
    let mut is_code = false;
    while let Some((from, mark)) = characters.next() {
        if mark == '`' {
            is_code = !is_code;
        }
        if is_code || !matches!(mark, '*' | '_') {
            before = Some(mark);
            continue;
        }
        let mut to = from + 1;
        while characters.next_if(|(_, next)| *next == mark).is_some() {
            to += 1;
        }
        let after = characters.peek().map(|(_, next)| *next);
        let (opens, closes) = flanks(mark, before, after);
        runs.push(MarkRun { mark, from, to, opens, closes });
        before = Some(mark);
    }
    runs
}

/// Whether a run of marks can open and close emphasis, given what stands on both sides of it, as CommonMark has it.
fn flanks(mark: char, before: Option<char>, after: Option<char>) -> (bool, bool) {
    let is_space = |side: Option<char>| side.is_none_or(char::is_whitespace);
    let is_sign =
        |side: Option<char>| side.is_some_and(|side| !side.is_alphanumeric() && !side.is_whitespace());
    let left = !is_space(after) && (!is_sign(after) || is_space(before) || is_sign(before));
    let right = !is_space(before) && (!is_sign(before) || is_space(after) || is_sign(after));
    if mark == '_' {
        (left && (!right || is_sign(before)), right && (!left || is_sign(after)))
    } else {
        (left, right)
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(BULLET_CHARS_MAX) {
        Some(_) => text.chars().take(BULLET_CHARS_MAX - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bullets(texts: &[&str]) -> Vec<String> {
        bullets_of(texts.iter().copied())
    }

    #[test]
    fn a_line_becomes_a_bullet_without_its_markers() {
        for (line, bullet) in [
            ("- item", "item"),
            ("* item", "item"),
            ("  + item  ", "item"),
            ("12. item", "item"),
            ("3) item", "item"),
            ("- 1. nested", "nested"),
            ("- [ ] write tests", "[ ] write tests"),
            ("-5 degrees", "-5 degrees"),
            ("3.5 seconds", "3.5 seconds"),
            ("**Bold** and *it* and __b__ and _i_", "Bold and it and b and i"),
            ("***both*** **nested *in* it**", "both nested in it"),
            ("2 * 3 * 4 and a_b_c and *.rs", "2 * 3 * 4 and a_b_c and *.rs"),
            ("**open", "**open"),
            ("run `a * b * **c**` now", "run `a * b * **c**` now"),
            ("#12 is fixed", "#12 is fixed"),
            ("> said", "> said"),
            ("```inline``` code", "```inline``` code"),
            ("日本語 **太字** です", "日本語 太字 です"),
        ] {
            assert_eq!(bullets(&[line]), [bullet], "{line}");
        }
    }

    #[test]
    fn headings_rules_blanks_and_code_are_dropped() {
        let text = "# Plan\n\n###### deep\n##\n---\n* * *\n===\n- \nkept\r\n```rust\nlet code = 1;\n~~~\n# no heading\n```\n\
                    - ~~~~\n  more\n~~~\n  ~~~~\nalso kept\n```\nnever closed";
        assert_eq!(bullets(&[text]), ["kept", "also kept"]);
    }

    #[test]
    fn only_the_last_texts_that_are_not_empty_count() {
        assert_eq!(bullets(&["one", "two", "", "three", " \n", "four"]), ["two", "three", "four"]);
        assert_eq!(bullets(&[]), Vec::<String>::new());
    }

    #[test]
    fn the_newest_are_kept_and_stand_in_order() {
        let lines = |name: &str, count: usize| {
            (1..=count).map(|number| format!("{name}{number}")).collect::<Vec<_>>().join("\n")
        };
        let (old, middle, new) = (lines("a", 20), lines("b", 10), lines("c", 3));
        let kept = bullets(&[&old, &middle, &new]);
        assert_eq!(kept.len(), BULLETS_MAX);
        assert_eq!(kept.iter().take(3).collect::<Vec<_>>(), ["a19", "a20", "b1"]);
        assert_eq!(kept.last().unwrap(), "c3");
        assert_eq!(bullets(&[&old, &lines("d", 16)]).first().unwrap(), "d2");
    }

    #[test]
    fn a_long_line_is_shortened() {
        let bullet = bullets(&["ä".repeat(BULLET_CHARS_MAX).as_str()]);
        assert!(!bullet[0].contains('…'));
        let bullet = bullets(&["ä".repeat(BULLET_CHARS_MAX + 1).as_str()]);
        assert_eq!(bullet[0].chars().count(), BULLET_CHARS_MAX);
        assert!(bullet[0].ends_with("ä…"));
        // However long it is, its marks are soon found.
        let bullet = bullets(&["*a*_b_".repeat(1_000_000).as_str()]);
        assert!(bullet[0].ends_with('…'));
    }

    fn line() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => any::<String>(),
            6 => prop::sample::select(
                &["\n", "\r", "\u{2028}", "- ", "## ", "```", "~~~", "**", "_", "`", "word", " ", "1. "][..]
            ).prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text_gives_few_bullets_without_breaks(texts in prop::collection::vec(line(), 0..6)) {
            let bullets = bullets_of(texts.iter().map(String::as_str));
            prop_assert!(bullets.len() <= BULLETS_MAX);
            for bullet in &bullets {
                prop_assert!(!bullet.trim().is_empty() && !bullet.contains(is_line_break), "{bullet:?}");
                prop_assert!(bullet.chars().count() <= BULLET_CHARS_MAX);
            }
        }

        #[test]
        fn what_is_kept_is_the_end_of_what_there_is(counts in prop::collection::vec(0_usize..12, 0..6)) {
            let mut all = Vec::new();
            let texts: Vec<String> = (0..).zip(&counts).map(|(text, count)| {
                let lines: Vec<_> = (0..*count).map(|line| format!("w{text}x{line}")).collect();
                all.push(lines.clone());
                lines.join("\n")
            }).collect();
            let newest = all.iter().filter(|lines| !lines.is_empty()).rev().take(TEXTS_MAX);
            let mut expected: Vec<_> = newest.flat_map(|lines| lines.iter().rev()).take(BULLETS_MAX).collect();
            expected.reverse();
            let bullets = bullets_of(texts.iter().map(String::as_str));
            prop_assert_eq!(bullets.iter().collect::<Vec<_>>(), expected);
        }
    }
}
