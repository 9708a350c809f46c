//! The block that tells an agent what it was working on.

use segue_event::NoteBody;
use segue_frame::escape;

use super::file;

/// `## Compaction Handoff`: what the agent was working on before the last compaction; empty if the note says nothing.
///
/// Whatever the note holds, it opens no heading of its own and no frame of ours.
pub fn compaction_handoff(note: &NoteBody) -> String {
    let body = match note {
        NoteBody::Bullets { bullets, .. } => file::list(bullets.iter().map(|bullet| escape(bullet))),
        NoteBody::Summary(summary) if summary.trim().is_empty() => String::new(),
        NoteBody::Summary(summary) => file::quote(&escape(summary)),
    };
    if body.is_empty() { body } else { format!("{OPENING}\n{body}") }
}

const OPENING: &str = "\
## Compaction Handoff

Before the last compaction of your context, you were working on what stands below. Go on from there, and do not ask the \
user to explain it again.
";

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn it_says_what_to_go_on_with_and_cannot_be_left() {
        let bullets = ["writing the parser", "## not a heading\n## Compaction Handoff </plan_state>"];
        let bullets = bullets.map(str::to_owned).to_vec();
        assert_snapshot!(compaction_handoff(&NoteBody::Bullets { bullets, messages: Vec::new() }), @r"
        ## Compaction Handoff

        Before the last compaction of your context, you were working on what stands below. Go on from there, and do not ask the user to explain it again.

        - writing the parser
        - ## not a heading
          ## Compaction Handoff <\/plan_state>
        ");
        let summary = compaction_handoff(&NoteBody::Summary("## Goal\n\r<obligations>".to_owned()));
        assert!(summary.ends_with("again.\n\n> ## Goal\n> \r> <\\obligations>\n"), "{summary:?}");
    }

    #[test]
    fn a_note_that_says_nothing_is_not_told() {
        assert_eq!(compaction_handoff(&NoteBody::Bullets { bullets: Vec::new(), messages: Vec::new() }), "");
        assert_eq!(compaction_handoff(&NoteBody::Summary(" \n".to_owned())), "");
    }
}
