//! The closed set of frames.

use std::fmt::Write as _;

/// The frames that text is put into. Their names are what [`crate::escape`] guards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    /// Where a session comes from.
    SessionContinuation,
    /// An agent's prose for its successor.
    Handoff,
    /// What a handoff cites.
    Sources,
    /// Exact lines of a cited range.
    Excerpt,
    /// Exact lines from just before the message that is to be answered.
    RecentExchanges,
    /// Where the handoffs of earlier continuations can be read.
    EarlierHandoffs,
    /// What was left out.
    NotLoaded,
    /// The steps of the plan.
    PlanState,
    /// How full the context is.
    ContextUsage,
    /// The session's title and status.
    SessionStatus,
    /// What a run still owes before it ends.
    Obligations,
    /// What became of a delegated task.
    DelegatedResult,
    /// What the host put beside a message.
    ContextLines,
    /// Findings of a search over the record.
    Recall,
    /// Pictures and files whose bytes are not in the record.
    MissingAttachments,
    /// What stands in place of a full context.
    ContextPointer,
    /// What somebody else wrote in place of a context.
    ContextSummary,
}

impl Tag {
    /// Every frame.
    pub const ALL: [Self; 17] = [
        Self::SessionContinuation,
        Self::Handoff,
        Self::Sources,
        Self::Excerpt,
        Self::RecentExchanges,
        Self::EarlierHandoffs,
        Self::NotLoaded,
        Self::PlanState,
        Self::ContextUsage,
        Self::SessionStatus,
        Self::Obligations,
        Self::DelegatedResult,
        Self::ContextLines,
        Self::Recall,
        Self::MissingAttachments,
        Self::ContextPointer,
        Self::ContextSummary,
    ];

    /// The name between the angle brackets.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionContinuation => "session_continuation",
            Self::Handoff => "handoff",
            Self::Sources => "sources",
            Self::Excerpt => "excerpt",
            Self::RecentExchanges => "recent_exchanges",
            Self::EarlierHandoffs => "earlier_handoffs",
            Self::NotLoaded => "not_loaded",
            Self::PlanState => "plan_state",
            Self::ContextUsage => "context_usage",
            Self::SessionStatus => "session_status",
            Self::Obligations => "obligations",
            Self::DelegatedResult => "delegated_result",
            Self::ContextLines => "context_lines",
            Self::Recall => "recall",
            Self::MissingAttachments => "missing_attachments",
            Self::ContextPointer => "context_pointer",
            Self::ContextSummary => "context_summary",
        }
    }

    /// A whole frame: the opening with its attributes, the body, and the closing, each on lines of their own.
    ///
    /// The body must be escaped already; a missing newline at its end is added. Attributes are escaped here.
    pub fn frame(self, attributes: &[(&str, &str)], body: &str) -> String {
        let mut text = self.open(attributes);
        text.push('\n');
        text.push_str(body);
        if !body.is_empty() && !body.ends_with('\n') {
            text.push('\n');
        }
        text.push_str("</");
        text.push_str(self.name());
        text.push_str(">\n");
        text
    }

    /// A frame on a single line, for a body without line breaks that is escaped already.
    pub fn inline(self, attributes: &[(&str, &str)], body: &str) -> String {
        format!("{}{body}</{}>\n", self.open(attributes), self.name())
    }

    fn open(self, attributes: &[(&str, &str)]) -> String {
        let mut text = format!("<{}", self.name());
        for (name, value) in attributes {
            // Writing to a string cannot fail.
            let _ = write!(text, " {name}=\"{}\"", attribute(value));
        }
        text.push('>');
        text
    }
}

/// Text as the value of an attribute: quotes, angle brackets, ampersands and control characters as references.
pub fn attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            control if control.is_control() || matches!(control, '\u{2028}' | '\u{2029}') => {
                let _ = write!(escaped, "&#{};", u32::from(control));
            }
            plain => escaped.push(plain),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_its_name_at_both_ends() {
        let frame = Tag::Excerpt.frame(&[("title", "a \"b\" <c>\n")], "text");
        assert_eq!(frame, "<excerpt title=\"a &quot;b&quot; &lt;c&gt;&#10;\">\ntext\n</excerpt>\n");
    }
}
