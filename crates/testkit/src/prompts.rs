//! What must hold for the prompts of any run.

use std::collections::BTreeMap;

use segue::ReceiptVerdict;
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
            check_beginnings(name, prompts)
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
}

fn check_beginnings(name: &str, prompts: &[&Prompt]) -> Result<(), String> {
    let pairs = prompts.iter().zip(prompts.iter().skip(1));
    for (number, (one, next)) in (1..).zip(pairs) {
        let is_beginning = next.transcript.starts_with(&one.transcript) && next.system == one.system;
        if !is_beginning {
            return Err(format!("{name}: prompt {number} is not the beginning of the one after it"));
        }
    }
    Ok(())
}
