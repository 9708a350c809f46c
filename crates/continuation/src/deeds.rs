//! What a tool call does with a file, as far as the names of the tool and of its arguments tell.

use std::collections::BTreeMap;

use segue_event::ToolCall;
use serde_json::value::RawValue;

use crate::phrases::{FILE_TOOLS, PATH_ARGUMENTS};

/// How a tool treats a file, the weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FileUse {
    /// It reads it.
    Read,
    /// It writes it as a whole.
    Written,
    /// It changes some of it.
    Edited,
}

impl FileUse {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Written => "written",
            Self::Edited => "edited",
        }
    }
}

/// The file that a call touches, and how; none if it touches none, as far as is known.
pub fn touched_by(call: &ToolCall) -> Option<(String, FileUse)> {
    let name = call.name.to_ascii_lowercase();
    let (_, how) = FILE_TOOLS.iter().find(|(word, _)| name.contains(word))?;
    Some((path_of(call)?, *how))
}

/// The file that a call changes; none if it changes none.
pub fn edited_path(call: &ToolCall) -> Option<String> {
    touched_by(call).filter(|(_, how)| *how != FileUse::Read).map(|(path, _)| path)
}

/// The file that a call names in its arguments.
fn path_of(call: &ToolCall) -> Option<String> {
    let arguments: Arguments<'_> = serde_json::from_str(&call.arguments).ok()?;
    let path = PATH_ARGUMENTS.iter().find_map(|name| arguments.get(*name))?;
    serde_json::from_str(path.get()).ok()
}

/// A change of a file by a tool call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The file, as the call names it.
    pub path: String,
    /// What is replaced by what, each as JSON; none where the whole file is written.
    pub swaps: Vec<(String, String)>,
}

impl Edit {
    /// The change that a call makes; none if it changes no file.
    pub fn of(call: &ToolCall) -> Option<Self> {
        let path = edited_path(call)?;
        let arguments: Arguments<'_> = serde_json::from_str(&call.arguments).ok()?;
        let listed = arguments
            .get("edits")
            .and_then(|edits| serde_json::from_str::<Vec<Arguments<'_>>>(edits.get()).ok());
        let swaps = std::iter::once(arguments).chain(listed.into_iter().flatten());
        Some(Self { path, swaps: swaps.filter_map(|arguments| swap(&arguments)).collect() })
    }

    /// Whether a change undoes another one of the same file: all that was replaced there is put back.
    pub fn undoes(&self, other: &Self) -> bool {
        let is_back = |(old, new): &(String, String)| self.swaps.contains(&(new.clone(), old.clone()));
        self.path == other.path && !other.swaps.is_empty() && other.swaps.iter().all(is_back)
    }
}

type Arguments<'a> = BTreeMap<String, &'a RawValue>;

/// Whether a call takes a file back to what it was, by a command of git.
pub fn restores(call: &ToolCall, path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let is_restoring = ["git checkout", "git restore"].iter().any(|command| call.arguments.contains(command));
    is_restoring && !name.is_empty() && call.arguments.contains(name)
}

/// What one replacement replaces by what, in the words of the agents that are known.
fn swap(arguments: &Arguments<'_>) -> Option<(String, String)> {
    let text = |names: [&str; 2]| Some(names.iter().find_map(|name| arguments.get(*name))?.get().to_owned());
    Some((text(["old_string", "oldText"])?, text(["new_string", "newText"])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { provider_id: String::new(), name: name.to_owned(), arguments: arguments.to_owned() }
    }

    #[test]
    fn an_edit_is_undone_by_its_opposite() {
        let there = Edit::of(&call("Edit", r#"{"file_path": "a.rs", "old_string": "x", "new_string": "y"}"#))
            .unwrap();
        let back =
            Edit::of(&call("edit", r#"{"path": "a.rs", "edits": [{"oldText": "y", "newText": "x"}]}"#))
                .unwrap();
        assert_eq!(there.path, "a.rs");
        assert!(back.undoes(&there) && there.undoes(&back) && !there.undoes(&there));
        let whole = Edit::of(&call("Write", r#"{"file_path": "a.rs", "content": "x"}"#)).unwrap();
        assert!(!whole.undoes(&there) && !there.undoes(&whole) && whole.swaps.is_empty());
    }

    #[test]
    fn what_changes_no_file_is_no_edit() {
        assert_eq!(Edit::of(&call("Read", r#"{"file_path": "a.rs"}"#)), None);
        assert_eq!(Edit::of(&call("Edit", "no JSON")), None);
        assert_eq!(Edit::of(&call("Edit", r#"{"file_path": 7}"#)), None);
    }

    #[test]
    fn git_takes_a_file_back() {
        let command = |text: &str| call("bash", &format!("{{\"command\": \"{text}\"}}"));
        assert!(restores(&command("git checkout -- src/a.rs"), "/home/x/src/a.rs"));
        assert!(!restores(&command("git checkout -- src/b.rs"), "/home/x/src/a.rs"));
        assert!(!restores(&command("cat src/a.rs"), "/home/x/src/a.rs"));
    }

    #[test]
    fn a_file_is_told_by_the_names_of_tool_and_argument() {
        let call = |name: &str, arguments: &str| touched_by(&call(name, arguments));
        let found = |path: &str, how| Some((path.to_owned(), how));
        assert_eq!(call("Read", r#"{"file_path": "a.rs"}"#), found("a.rs", FileUse::Read));
        assert_eq!(call("MultiEdit", r#"{"filePath": "a.rs"}"#), found("a.rs", FileUse::Edited));
        assert_eq!(
            call("NotebookEdit", r#"{"notebook_path": "a.ipynb"}"#),
            found("a.ipynb", FileUse::Edited)
        );
        assert_eq!(call("write_file", r#"{"filename": "b"}"#), found("b", FileUse::Written));
        assert_eq!(call("bash", r#"{"path": "a.rs"}"#), None);
        assert_eq!(call("read", r#"{"thread": "x"}"#), None);
        assert_eq!(call("read", "no JSON"), None);
        assert_eq!(call("read", r#"{"path": 3}"#), None);
    }
}
