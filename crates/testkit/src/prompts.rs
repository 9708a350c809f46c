//! What must hold for the prompts of any run.

use std::collections::BTreeMap;

use segue::ReceiptVerdict;
use segue::event::{Kind, KindSet, RawEvent, Seq, SeqRange, SessionId};
use segue::log::Direction;
use segue::prompt::Prompt;

use crate::Run;
use crate::runner::in_words;

impl Run {
    /// The prompts that were given out, in order, each with its session's name.
    pub fn prompts(&self) -> impl Iterator<Item = (&str, &Prompt)> {
        self.prompts.iter().map(|(session, prompt)| (session.as_str(), prompt))
    }

    /// Whether the record gives every prompt again, to the byte, and each prompt is the beginning of the next one.
    pub(crate) fn check_prompts(&self) -> Result<(), String> {
        let mut of_session: BTreeMap<&str, Vec<&Prompt>> = BTreeMap::new();
        for (name, prompt) in &self.prompts {
            of_session.entry(name).or_default().push(prompt);
        }
        of_session.iter().try_for_each(|(name, prompts)| {
            self.check_receipts(name, prompts)?;
            self.check_beginnings(name, prompts)
        })
    }

    fn check_receipts(&self, name: &str, prompts: &[&Prompt]) -> Result<(), String> {
        let session = self.session(name)?;
        let receipts = self.workspace.receipts(session).map_err(in_words)?;
        if receipts.len() != prompts.len() {
            let (receipts, prompts) = (receipts.len(), prompts.len());
            return Err(format!("{name}: {receipts} receipts for {prompts} prompts"));
        }
        for (receipt, prompt) in receipts.iter().zip(prompts) {
            let rebuilt = self.workspace.rebuild_prompt(session, receipt.seq).map_err(in_words)?;
            if rebuilt.verdict != ReceiptVerdict::Same || rebuilt.prompt != **prompt {
                let difference = rebuilt.prompt.first_difference(prompt);
                let verdict = rebuilt.verdict;
                return Err(format!("{name} [{}]: {verdict:?}, {difference:?}", receipt.seq));
            }
        }
        Ok(())
    }

    /// Each prompt is the beginning of the next one. Only where something was put in place of the context between them,
    /// the next one begins with that.
    fn check_beginnings(&self, name: &str, prompts: &[&Prompt]) -> Result<(), String> {
        let session = self.session(name)?;
        let receipts = self.workspace.receipts(session).map_err(in_words)?;
        let through: Vec<_> = receipts.iter().map(|receipt| receipt.event.transcript.through).collect();
        let pairs = prompts.iter().zip(&through).zip(prompts.iter().zip(&through).skip(1));
        for (number, ((one, from), (next, to))) in (1..).zip(pairs) {
            let begins = match self.stand_in(session, *from, *to)? {
                Some(at) => next.transcript.first().is_some_and(|first| first.seq == at),
                None => next.transcript.starts_with(&one.transcript),
            };
            if !begins || next.system != one.system {
                return Err(format!("{name}: prompt {number} is not the beginning of the one after it"));
            }
        }
        Ok(())
    }

    /// The newest thing that was put in place of the context behind an event, up to another.
    fn stand_in(&self, session: SessionId, from: Seq, to: Seq) -> Result<Option<Seq>, String> {
        let Some(range) = SeqRange::new(from.next(), to) else { return Ok(None) };
        let kinds = KindSet::one(Kind::ContextCompacted);
        let found = self.workspace.log().read_kinds(session, range, Direction::Backward, kinds);
        let mut found = found.map_err(in_words)?;
        let is_meant = |raw: &RawEvent| raw.header.kind == Kind::ContextCompacted;
        let newest = found.find(|raw| raw.as_ref().map_or(true, is_meant));
        Ok(newest.transpose().map_err(in_words)?.map(|raw| raw.header.seq))
    }
}
