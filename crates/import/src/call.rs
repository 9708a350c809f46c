//! Finding the call that a result answers.

use std::collections::{BTreeMap, VecDeque};

use segue_event::{Block, CallSite, Message, Seq};

use crate::limits::{CALLS_REMEMBERED_MAX, ID_BYTES_MAX};

/// The calls met so far, by the provider's id; where an id comes again, the newest call has it.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    by_id: BTreeMap<String, Call>,
    /// In the order in which they came, so that the oldest can be forgotten.
    order: VecDeque<(String, CallSite)>,
}

/// A call: where it stands and which tool it asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    /// Where it stands.
    pub(crate) site: CallSite,
    /// The tool.
    pub(crate) tool: String,
}

impl Calls {
    /// Remembers the calls of a message.
    pub(crate) fn remember(&mut self, seq: Seq, message: &Message) {
        for (index, block) in (0..).zip(&message.blocks) {
            let Block::ToolCall(call) = block else { continue };
            // Empty or absurdly long ids and names cannot be told apart or are not worth the memory.
            let worth = !call.provider_id.is_empty()
                && call.provider_id.len() <= ID_BYTES_MAX
                && call.name.len() <= ID_BYTES_MAX;
            if worth {
                let site = CallSite { message: seq, block: index };
                self.insert(call.provider_id.clone(), Call { site, tool: call.name.clone() });
            }
        }
    }

    /// The call with this id.
    pub(crate) fn get(&self, id: &str) -> Option<&Call> {
        self.by_id.get(id)
    }

    fn insert(&mut self, id: String, call: Call) {
        self.order.push_back((id.clone(), call.site));
        self.by_id.insert(id, call);
        if self.order.len() > CALLS_REMEMBERED_MAX
            && let Some((oldest, site)) = self.order.pop_front()
            && self.by_id.get(&oldest).is_some_and(|call| call.site == site)
        {
            self.by_id.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use segue_event::{Author, Role, ToolCall};

    use super::*;

    fn message(id: &str) -> Message {
        let mut message = Message::text(Role::Assistant, Author::Agent, "");
        let (name, arguments) = ("t".to_owned(), String::new());
        message.blocks.push(Block::ToolCall(ToolCall { provider_id: id.to_owned(), name, arguments }));
        message
    }

    #[test]
    fn the_newest_call_has_a_repeated_id_and_the_oldest_is_forgotten() {
        let mut calls = Calls::default();
        let seq = |number| Seq::new(number).unwrap();
        calls.remember(seq(1), &message("a"));
        calls.remember(seq(2), &message("b"));
        calls.remember(seq(3), &message("a"));
        calls.remember(seq(3), &message(""));
        assert_eq!(calls.get("a").unwrap().site, CallSite { message: seq(3), block: 1 });
        assert_eq!(calls.get(""), None);
        for number in 0..CALLS_REMEMBERED_MAX as u64 - 1 {
            calls.remember(seq(number + 4), &message(&format!("c{number}")));
        }
        assert!(calls.get("a").is_some());
        assert!(calls.get("b").is_none());
    }
}
