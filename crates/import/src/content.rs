//! Content blocks as both programs write them, made into ours.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use segue_event::{Attachment, BlobId, Block, Thinking, ToolCall};
use serde_json::value::RawValue;

use crate::json::{self, Object};
use crate::limits::{EVENT_BLOCKS_MAX, EVENT_TEXT_BYTES_MAX, ID_BYTES_MAX};

/// Bytes that are to be kept as blobs, by their ids.
pub(crate) type Blobs = BTreeMap<BlobId, Vec<u8>>;

/// The blocks of one event, with what did not fit among them put aside as blobs.
pub(crate) struct Content<'b> {
    blobs: &'b mut Blobs,
    blocks: Vec<Block>,
    bytes: usize,
    dropped: usize,
}

impl<'b> Content<'b> {
    /// No blocks yet; large pieces go to `blobs`.
    pub(crate) fn new(blobs: &'b mut Blobs) -> Self {
        Self { blobs, blocks: Vec::new(), bytes: 0, dropped: 0 }
    }

    /// The blocks, with a note if there were too many.
    pub(crate) fn finish(mut self) -> Vec<Block> {
        if self.dropped > 0 {
            let note = format!("[{} more blocks stand in the imported line only]", self.dropped);
            self.blocks.push(Block::Text(note));
        }
        self.blocks
    }

    /// Adds a string, or every block of a list.
    pub(crate) fn add_value(&mut self, content: &RawValue) {
        if let Some(text) = json::text(content) {
            self.add_text(text);
            return;
        }
        for block in json::items(content).unwrap_or_default() {
            self.add_block(block);
        }
    }

    /// Adds a block as a transcript writes it. One of an unknown kind is shown as the JSON text that it is.
    pub(crate) fn add_block(&mut self, raw: &RawValue) {
        let known = Object::read(raw).and_then(|block| self.add_known(&block));
        if known.is_none() {
            self.add_text(json::text(raw).unwrap_or_else(|| raw.get().to_owned()));
        }
    }

    /// Adds text.
    pub(crate) fn add_text(&mut self, text: String) {
        if self.fits(text.len()) {
            self.add(Block::Text(text));
        } else {
            self.add_file(text.into_bytes(), "text/plain", "text.txt");
        }
    }

    fn add_known(&mut self, block: &Object<'_>) -> Option<()> {
        match block.text("type")?.as_str() {
            "text" => self.add_text(block.text("text")?),
            "thinking" => self.add_thinking(
                block.text("thinking")?,
                block.text("signature").or_else(|| block.text("thinkingSignature")).unwrap_or_default(),
            ),
            "redacted_thinking" => self.add_thinking(String::new(), block.text("data")?),
            "tool_use" => self.add_call(block, block.get("input")),
            "toolCall" => self.add_call(block, block.get("arguments")),
            "image" => self.add_media(block, "image")?,
            "document" => self.add_media(block, "document")?,
            _ => return None,
        }
        Some(())
    }

    fn add_thinking(&mut self, text: String, signature: String) {
        if self.fits(text.len() + signature.len()) {
            self.add(Block::Thinking(Thinking { text, signature }));
        } else {
            self.add_file(text.into_bytes(), "text/plain", "thinking.txt");
            self.add_file(signature.into_bytes(), "text/plain", "signature.txt");
        }
    }

    fn add_call(&mut self, block: &Object<'_>, arguments: Option<&RawValue>) {
        let provider_id = block.text("id").unwrap_or_default();
        let name = block.text("name").unwrap_or_default();
        let arguments = arguments.map_or("{}", RawValue::get);
        let fits = self.fits(provider_id.len() + name.len() + arguments.len());
        // A call stays a call whatever its size, so that its result finds it.
        let (provider_id, name) =
            if fits { (provider_id, name) } else { (cut_id(provider_id), cut_id(name)) };
        let shown = if fits { arguments.to_owned() } else { "{}".to_owned() };
        self.add(Block::ToolCall(ToolCall { provider_id, name, arguments: shown }));
        if !fits {
            self.add_file(arguments.as_bytes().to_vec(), "application/json", "arguments.json");
        }
    }

    fn add_media(&mut self, block: &Object<'_>, what: &str) -> Option<()> {
        let holder = block.object("source");
        let holder = holder.as_ref().unwrap_or(block);
        let data = holder.text("data")?;
        let media_type = holder.text("media_type").or_else(|| holder.text("mimeType")).unwrap_or_default();
        if holder.text("type").is_some_and(|kind| kind == "text") {
            self.add_text(data);
            return Some(());
        }
        match STANDARD.decode(&data) {
            Ok(bytes) if what == "image" => {
                let image = self.keep(bytes, &cut_id(media_type), "");
                self.add(Block::Image(image));
            }
            Ok(bytes) => {
                let name = block.text("title").unwrap_or_default();
                self.add_file(bytes, &cut_id(media_type), &cut_id(name));
            }
            // The reference that stands in for data kept elsewhere is short; broken data is not worth showing.
            Err(_) if data.len() <= 200 => {
                self.add_text(format!("[{what} that is not in the transcript: {data}]"));
            }
            Err(error) => self.add_text(format!("[{what} that cannot be decoded: {error}]")),
        }
        Some(())
    }

    fn add_file(&mut self, bytes: Vec<u8>, media_type: &str, name: &str) {
        let file = self.keep(bytes, media_type, name);
        self.add(Block::File(file));
    }

    fn keep(&mut self, bytes: Vec<u8>, media_type: &str, name: &str) -> Attachment {
        let blob = BlobId::of(&bytes);
        let size = bytes.len() as u64;
        self.blobs.insert(blob, bytes);
        let fits = self.fits(media_type.len() + name.len());
        let (media_type, name) = if fits { (media_type, name) } else { ("", "") };
        Attachment { blob, media_type: media_type.to_owned(), name: name.to_owned(), bytes: size }
    }

    fn add(&mut self, block: Block) {
        if self.blocks.len() < EVENT_BLOCKS_MAX {
            self.blocks.push(block);
        } else {
            self.dropped += 1;
        }
    }

    fn fits(&mut self, bytes: usize) -> bool {
        let total = self.bytes.saturating_add(bytes);
        let fits = total <= EVENT_TEXT_BYTES_MAX;
        if fits {
            self.bytes = total;
        }
        fits
    }
}

/// An id of another program, cut to the length that is taken over.
pub(crate) fn cut_id(id: String) -> String {
    cut_text(id, ID_BYTES_MAX)
}

/// Text cut to a number of bytes, or a little before where a character would be broken.
pub(crate) fn cut_text(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(content: &str) -> (Vec<Block>, Blobs) {
        let mut blobs = Blobs::new();
        let mut list = Content::new(&mut blobs);
        list.add_value(&RawValue::from_string(content.to_owned()).unwrap());
        let blocks = list.finish();
        (blocks, blobs)
    }

    #[test]
    fn text_comes_as_a_string_or_as_blocks() {
        assert_eq!(blocks(r#""hi""#).0, [Block::Text("hi".to_owned())]);
        assert_eq!(blocks(r#"[{"type":"text","text":"hi"}]"#).0, [Block::Text("hi".to_owned())]);
        assert_eq!(blocks("null").0, []);
    }

    #[test]
    fn arguments_stay_as_the_model_wrote_them() {
        let (found, _) =
            blocks(r#"[{"type":"tool_use","id":"t1","name":"Bash","input":{"z":1.0, "a":1e2}}]"#);
        let Block::ToolCall(call) = &found[0] else { panic!("{found:?}") };
        assert_eq!((call.name.as_str(), call.arguments.as_str()), ("Bash", r#"{"z":1.0, "a":1e2}"#));
    }

    #[test]
    fn pictures_become_blobs_in_both_spellings() {
        for content in [
            r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAEC"}}]"#,
            r#"[{"type":"image","mimeType":"image/png","data":"AAEC"}]"#,
        ] {
            let (found, blobs) = blocks(content);
            let Block::Image(image) = &found[0] else { panic!("{found:?}") };
            assert_eq!((image.media_type.as_str(), image.bytes), ("image/png", 3));
            assert_eq!(blobs[&image.blob], [0, 1, 2]);
        }
    }

    #[test]
    fn a_picture_that_cannot_be_decoded_leaves_a_note() {
        let (found, _) = blocks(r#"[{"type":"image","mimeType":"image/png","data":"blob:sha256:00"}]"#);
        assert_eq!(found, [Block::Text("[image that is not in the transcript: blob:sha256:00]".to_owned())]);
    }

    #[test]
    fn an_unknown_block_is_shown_as_it_is() {
        let (found, _) = blocks(r#"[{"type":"tool_reference","tool_name":"x"}]"#);
        assert_eq!(found, [Block::Text(r#"{"type":"tool_reference","tool_name":"x"}"#.to_owned())]);
    }

    #[test]
    fn text_that_an_event_cannot_hold_becomes_a_file() {
        let large = "x".repeat(EVENT_TEXT_BYTES_MAX + 1);
        let (found, blobs) = blocks(&format!("[{{\"type\":\"text\",\"text\":\"{large}\"}},\"y\"]"));
        let [Block::File(file), Block::Text(_)] = found.as_slice() else { panic!("two blocks") };
        assert_eq!(blobs[&file.blob].len(), large.len());
    }
}
