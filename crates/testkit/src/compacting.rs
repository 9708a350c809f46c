//! Contexts that give way by somebody's word.

use segue::event::Seq;
use segue::{Freshened, Kept, StandIn};

use crate::Run;
use crate::runner::in_words;

impl Run {
    pub(crate) fn fresh(&mut self, session: &str, name: &str) -> Result<(), String> {
        let id = self.session(session)?;
        let freshened = self.workspace.fresh(id, name).map_err(in_words)?;
        self.answers.push(match freshened {
            Freshened::InPlace(why) => format!("{session}: goes on itself: {why}"),
            Freshened::Switched(continued) => {
                self.sessions.insert(name.to_owned(), continued.successor);
                let again = if continued.replayed { ", which was there already" } else { "" };
                format!("{session}: goes on afresh in {name} ({}){again}", continued.successor)
            }
        });
        Ok(())
    }

    pub(crate) fn compact(
        &mut self,
        session: &str,
        kept_from: Option<Seq>,
        summary: &str,
    ) -> Result<(), String> {
        let id = self.session(session)?;
        let stand_in = match summary {
            "" => StandIn::Pointer,
            text => StandIn::Summary { author: "fixture".to_owned(), text: text.to_owned() },
        };
        let kept = kept_from.map_or(Kept::Nothing, Kept::From);
        let compacted = self.workspace.compact(id, &stand_in, kept).map_err(in_words)?;
        self.answers.push(format!("{session}: compacted at [{}]", compacted.at));
        Ok(())
    }
}
