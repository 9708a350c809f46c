//! A folder with a home, transcripts and a store, and the program run in it with nothing else around.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The transcript that the project wrote for its demo.
const CLAUDE: &str = include_str!("../../demo/transcript.jsonl");

/// A short session of the pi coding agent, written for these tests.
const PI: &str = r#"{"type":"session","version":3,"id":"0198b2c0-1111-7000-8000-000000000001","timestamp":"2026-03-03T08:00:00.000Z","cwd":"/home/ada/letters"}
{"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2026-03-03T08:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Sort the letters by year."}],"timestamp":1772524801000}}
{"type":"message","id":"b1b2c3d4","parentId":"a1b2c3d4","timestamp":"2026-03-03T08:00:05.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Sorted: 1911 to 1947."}],"api":"x","provider":"demo","model":"demo-1","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1772524805000}}
"#;

pub(crate) struct Desk {
    folder: TempDir,
}

/// What a run of the program said: stdout, stderr and exit code together.
#[must_use = "snapshot it, or check its exit code"]
pub(crate) struct Said {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
    folder: PathBuf,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        for (path, text) in [(".claude/projects/demo/a.jsonl", CLAUDE), (".pi/agent/sessions/b.jsonl", PI)] {
            desk.write(path, text);
        }
        desk
    }

    /// With both transcripts imported.
    pub(crate) fn with_sessions() -> Self {
        let desk = Self::new();
        assert_eq!(desk.run(&["import", ".claude", ".pi"]).code, Some(0));
        desk
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder().join(".local/share/segue/store")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.folder().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
        command.args(arguments);
        self.said(&mut command)
    }

    /// A line of a shell, in which `segue` is the program.
    pub(crate) fn shell(&self, line: &str) -> Said {
        let mut command = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_segue");
        command.args(["-c", &line.replace("cargo run --release --", program)]);
        self.said(&mut command)
    }

    fn said(&self, command: &mut Command) -> Said {
        let home = self.folder();
        command
            .current_dir(home)
            .env_clear()
            .env("HOME", home)
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", home);
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { stdout: text(stdout), stderr: text(stderr), code: status.code(), folder: home.to_owned() }
    }
}

impl Said {
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self}");
        self
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.to_string_lossy();
        let hide = |text: &str| hide_heads(&text.replace(&*folder, "$HOME"));
        write!(f, "{}", hide(&self.stdout))?;
        if !self.stderr.is_empty() {
            write!(f, "------- stderr -------\n{}", hide(&self.stderr))?;
        }
        writeln!(f, "[exit {}]", self.code.map_or("by signal".to_owned(), |code| code.to_string()))
    }
}

/// The id of a session's newest event depends on when the import was.
fn hide_heads(text: &str) -> String {
    const HEAD: &str = "\"head\":\"";
    let mut pieces = text.split(HEAD);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |shown, piece| {
        let (_, after) = piece.split_at_checked(64).unwrap_or(("", piece));
        format!("{shown}{HEAD}(64 digits){after}")
    })
}
