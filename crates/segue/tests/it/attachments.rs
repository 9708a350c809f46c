//! Pictures and files: by reference, through continuations, and told of where their bytes are missing.

use std::path::{Path, PathBuf};

use segue::event::{Attachment, BlobId, Block, Event, Lane, Message, SessionId};
use segue::projection::Diagnostic;
use segue::prompt::{Prompt, PromptContent};
use segue::{Driven, Options, Outcome, Preview, ReceiptVerdict, Said, Setup, ToolOutput, Workspace, drive};
use segue_testkit::{FixedHost, ScriptedModel};

use crate::desk::{HANDOFF, events, person, session, user, workspace};

fn lost(name: &str) -> Attachment {
    let blob = BlobId::of(name.as_bytes());
    Attachment { blob, media_type: "image/png".to_owned(), name: name.to_owned(), bytes: 7 }
}

/// A session with a message that carries these, and a run that is to answer it.
fn asked(workspace: &Workspace, attachments: &[Attachment]) -> SessionId {
    let first = session(workspace, "coder");
    let message = Message { attachments: attachments.to_vec(), ..user("what is this?") };
    workspace.send(first, &message, Lane::Interactive).unwrap();
    first
}

/// The one prompt of a session whose run is queued.
fn prompt(workspace: &Workspace, session: SessionId) -> Prompt {
    workspace.turn(session, &Setup::default()).unwrap().unwrap().prompt().unwrap()
}

#[test]
fn a_picture_and_a_file_travel_by_blob() {
    let workspace = workspace();
    let picture = workspace.attach(b"a picture", "image/png", "a.png").unwrap();
    let file = workspace.attach(b"a file", "text/plain", "a.txt").unwrap();
    assert_eq!((picture.bytes, file.bytes), (9, 6));
    let first = asked(&workspace, &[picture.clone(), file.clone()]);
    let prompt = prompt(&workspace, first);
    let [text, rest @ ..] = prompt.transcript[0].content.as_slice() else { panic!() };
    assert_eq!(*text, PromptContent::Text("what is this?".to_owned()));
    assert_eq!(rest, [PromptContent::Image(picture.clone()), PromptContent::File(file.clone())]);
    assert_eq!(prompt.transcript[0].attachments().collect::<Vec<_>>(), [&picture, &file]);
    assert_eq!(workspace.blob(picture.blob).unwrap().unwrap(), "a picture");
    assert_eq!(workspace.blob(lost("b.png").blob).unwrap(), None);
    assert!(!prompt.blocks.concat().contains("missing"), "{:?}", prompt.blocks);
}

#[test]
fn the_copied_message_keeps_its_attachments_by_reference() {
    let workspace = workspace();
    let picture = workspace.attach(b"a picture", "image/png", "a.png").unwrap();
    let first = asked(&workspace, std::slice::from_ref(&picture));
    let blobs = workspace.log().size().unwrap().blobs;
    let made = match workspace.continue_session(first, &person("1"), HANDOFF).unwrap() {
        Outcome::Continued(made) => made,
        Outcome::Refused(refusal) => panic!("{refusal}"),
    };
    assert_eq!(made.diagnostics.iter().filter(|about| is_missing(about)).count(), 0);
    let copied = events(&workspace, made.successor).into_iter().find_map(|event| match event {
        Event::Message(message) if message.continued_from.is_some() => Some(message),
        _ => None,
    });
    assert_eq!(copied.unwrap().attachments, std::slice::from_ref(&picture));
    assert_eq!(workspace.log().size().unwrap().blobs, blobs, "no byte was copied");
    let prompt = prompt(&workspace, made.successor);
    assert!(prompt.transcript.iter().flat_map(|message| message.attachments()).eq([&picture]));
}

fn is_missing(about: &Diagnostic) -> bool {
    matches!(about, Diagnostic::AttachmentMissing { .. })
}

#[test]
fn continuing_without_an_attachments_blob_works_and_says_so() {
    let workspace = workspace();
    let first = asked(&workspace, &[lost("gone.png")]);
    let expected = Diagnostic::AttachmentMissing { attachment: lost("gone.png") };
    assert!(expected.to_string().starts_with("attachment \"gone.png\" (image/png) is missing"), "{expected}");
    let preview = workspace.preview_continuation(first, &person("1"), HANDOFF).unwrap();
    let Preview::WouldContinue { diagnostics, .. } = preview else { panic!("{preview:?}") };
    assert!(diagnostics.contains(&expected), "{diagnostics:?}");
    let outcome = workspace.continue_session(first, &person("1"), HANDOFF).unwrap();
    let Outcome::Continued(made) = outcome else { panic!("{outcome:?}") };
    assert!(made.diagnostics.contains(&expected), "{:?}", made.diagnostics);
    let told = prompt(&workspace, made.successor).blocks.concat();
    assert!(told.contains("[3] attachment gone.png (image/png, 7 bytes) is missing"), "{told}");
}

#[test]
fn a_prompt_says_what_is_missing_and_is_rebuilt_to_the_byte() {
    let workspace = workspace();
    let first = asked(&workspace, &[lost("gone.png")]);
    let mut model =
        ScriptedModel::new().says(Said::text("").call("a", "show", "{}")).says(Said::text("done"));
    let setup = Setup {
        tools: vec![segue::prompt::ToolContract::new(
            "show",
            "shows",
            &serde_json::json!({"type": "object"}),
        )],
        ..Setup::default()
    };
    let turn = workspace.turn(first, &setup).unwrap().unwrap();
    let shown = ToolOutput { blocks: vec![Block::Image(lost("shown.png"))], ..ToolOutput::text("") };
    let driven = drive(turn, |prompt| model.answer(prompt), |_| shown.clone()).unwrap();
    assert!(matches!(driven, Driven::Done(_)));
    let told: Vec<_> = model.asked().iter().map(|prompt| prompt.blocks.concat()).collect();
    assert!(told[0].contains("gone.png") && !told[0].contains("shown.png"), "{}", told[0]);
    assert!(told[1].contains("gone.png") && told[1].contains("shown.png"), "{}", told[1]);
    for receipt in workspace.receipts(first).unwrap() {
        let rebuilt = workspace.rebuild_prompt(first, receipt.seq).unwrap();
        assert_eq!(rebuilt.verdict, ReceiptVerdict::Same);
    }
}

/// Where the embedded log keeps a blob.
fn file_of(folder: &Path, id: BlobId) -> PathBuf {
    let name = id.to_string();
    folder.join("blobs").join(name.get(..2).unwrap()).join(name)
}

#[test]
fn a_blob_that_was_deleted_or_damaged_is_missing_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Workspace::open(folder.path(), FixedHost::new(), Options::default()).unwrap();
    let names = ["deleted.png", "damaged.png", "sound.png"];
    let (first, attachments) = {
        let workspace = open();
        let attach = |name: &str| workspace.attach(name.as_bytes(), "image/png", name).unwrap();
        let attachments = names.map(attach);
        (asked(&workspace, &attachments), attachments)
    };
    std::fs::remove_file(file_of(folder.path(), attachments[0].blob)).unwrap();
    std::fs::write(file_of(folder.path(), attachments[1].blob), "else").unwrap();
    let workspace = open();
    let outcome = workspace.continue_session(first, &person("1"), HANDOFF).unwrap();
    let Outcome::Continued(made) = outcome else { panic!("{outcome:?}") };
    assert_eq!(made.diagnostics.iter().filter(|about| is_missing(about)).count(), 2);
    let told = prompt(&workspace, made.successor).blocks.concat();
    assert_eq!(names.map(|name| told.contains(name)), [true, true, false], "{told}");
}
