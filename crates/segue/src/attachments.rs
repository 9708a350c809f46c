//! What messages carry beside their text: kept as blobs, and told of where their bytes are not there.

use bytes::Bytes;
use segue_event::{Attachment, BlobId, Block, Message};
use segue_log::{LogError, LogErrorKind};
use segue_projection::Diagnostic;
use segue_prompt::{MissingAttachment, PromptMessage};

use crate::{Error, Workspace};

impl Workspace {
    /// Keeps bytes as a blob, durably, for a message to carry; the same bytes are kept once.
    ///
    /// # Errors
    /// If they are too large, or the log cannot be written.
    pub fn attach(&self, bytes: &[u8], media_type: &str, name: &str) -> Result<Attachment, Error> {
        let blob = self.log.put_blob(bytes)?;
        let (media_type, name) = (media_type.to_owned(), name.to_owned());
        Ok(Attachment { blob, media_type, name, bytes: bytes.len() as u64 })
    }

    /// The bytes of a blob, such as an attachment's; none if they are not there.
    ///
    /// # Errors
    /// If the bytes are not what they were, or the log cannot be read.
    pub fn blob(&self, id: BlobId) -> Result<Option<Bytes>, Error> {
        Ok(self.log.blob(&id)?)
    }

    /// The attachments of a transcript whose bytes cannot be given to a model, in order.
    pub(crate) fn missing_in<'a>(
        &self,
        transcript: impl IntoIterator<Item = &'a PromptMessage>,
    ) -> Result<Vec<MissingAttachment>, LogError> {
        let mut missing = Vec::new();
        for message in transcript {
            for attachment in message.attachments() {
                if !self.holds(attachment.blob)? {
                    missing.push(MissingAttachment { seq: message.seq, attachment: attachment.clone() });
                }
            }
        }
        Ok(missing)
    }

    /// What is to be said of a message that is copied without the bytes of its attachments.
    pub(crate) fn missing_of(&self, message: &Message) -> Result<Vec<Diagnostic>, LogError> {
        let in_blocks = message.blocks.iter().filter_map(|block| match block {
            Block::Image(attachment) | Block::File(attachment) => Some(attachment),
            _ => None,
        });
        let mut missing = Vec::new();
        for attachment in in_blocks.chain(&message.attachments) {
            if !self.holds(attachment.blob)? {
                missing.push(Diagnostic::AttachmentMissing { attachment: attachment.clone() });
            }
        }
        Ok(missing)
    }

    /// Whether a blob is there and sound. One that was found is not looked for again.
    fn holds(&self, id: BlobId) -> Result<bool, LogError> {
        if self.is_known(id) {
            return Ok(true);
        }
        match self.log.blob(&id) {
            Ok(None) => Ok(false),
            Ok(Some(_)) => {
                self.remember(id);
                Ok(true)
            }
            // Damaged bytes are as good as none; the rest of the conversation goes on.
            Err(error) if error.kind() == LogErrorKind::Corrupt => Ok(false),
            Err(error) => Err(error),
        }
    }
}
