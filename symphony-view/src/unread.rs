//! Messages to the agents of a pull request's issue that none of them has read.

use symphony_core::issue::Comment;

use crate::notes::CommentView;
use crate::pull_request::PrView;
use crate::text::{Page, View as _};

impl PrView {
    /// Adds the messages that no agent has read.
    #[must_use]
    pub fn with_unread(self, unread: Vec<Comment>) -> Self {
        Self {
            unread_messages: unread.into_iter().map(CommentView::from).collect(),
            ..self
        }
    }

    pub(super) fn write_unread(&self, page: &mut Page) {
        let (Some(first), issue) = (self.unread_messages.first(), self.subject()) else {
            return;
        };
        page.heading("Unread messages");
        for message in &self.unread_messages {
            message.write(page);
        }
        page.line(&format!(
            "No agent has read these messages. `symphony pr reject {issue} --feedback TEXT` sends the work back together with \
             them, `symphony runs withdraw {}` withdraws a message.",
            first.id
        ));
    }
}
