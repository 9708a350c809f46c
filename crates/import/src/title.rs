//! A title made from the first thing that was said.

use segue_event::{Author, Block, Message};

use crate::limits::TITLE_CHARS_MAX;

/// The title that a message gives; none if the host wrote it or it has no text.
pub(crate) fn title_from(message: &Message) -> Option<String> {
    if message.author == Author::System {
        return None;
    }
    message.blocks.iter().find_map(|block| match block {
        Block::Text(text) => shortened(text),
        _ => None,
    })
}

/// The text on one line and within [`TITLE_CHARS_MAX`] characters; none if it is blank.
fn shortened(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let mut title = words.next()?.to_owned();
    for word in words {
        // Looking further than the title can reach would only cost time.
        if title.len() > TITLE_CHARS_MAX * 4 {
            break;
        }
        title.push(' ');
        title.push_str(word);
    }
    if title.chars().count() <= TITLE_CHARS_MAX {
        return Some(title);
    }
    let cut: String = title.chars().take(TITLE_CHARS_MAX - 1).collect();
    Some(format!("{}…", cut.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(shortened("  fix\n the   build "), Some("fix the build".to_owned()));
        assert_eq!(shortened(" \n"), None);
        let long = shortened(&"wörd ".repeat(1_000)).unwrap();
        assert!(long.chars().count() <= TITLE_CHARS_MAX && long.ends_with("wörd…"), "{long}");
        assert_eq!(shortened(&"x".repeat(500)).unwrap().chars().count(), TITLE_CHARS_MAX);
    }
}
