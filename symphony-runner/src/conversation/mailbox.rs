//! Messages of a person on their way to an agent.

use symphony_core::id::CommentId;
use symphony_core::message::MESSAGE_HEADING;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Letter {
    /// The comment that it is.
    pub(crate) id: CommentId,
    /// Its text.
    pub(crate) text: String,
}

/// What is to be said to an agent, and what it has got. A message that the agent never confirms stays unread, so that
/// the next run begins with it.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    waiting: Vec<Letter>,
    sent: Vec<Letter>,
    read: Vec<CommentId>,
}

impl Mailbox {
    /// Takes in a message.
    pub(crate) fn put(&mut self, letter: Letter) {
        self.waiting.push(letter);
    }

    /// Drops a message that its writer has withdrawn, if it was not sent yet.
    pub(crate) fn withdraw(&mut self, id: CommentId) {
        self.waiting.retain(|letter| letter.id != id);
    }

    /// Returns the messages that were sent and that the agent has not confirmed.
    pub(crate) fn unconfirmed(&self) -> impl Iterator<Item = CommentId> {
        self.sent.iter().map(|letter| letter.id)
    }

    /// Sends all that waits: returns it as one text; `None` if nothing waits.
    pub(crate) fn send(&mut self) -> Option<String> {
        if self.waiting.is_empty() {
            return None;
        }
        let letters = std::mem::take(&mut self.waiting);
        let text = join(letters.iter().map(|letter| letter.text.as_str()));
        self.sent.extend(letters);
        Some(text)
    }

    /// Sends each that waits by itself.
    pub(crate) fn send_each(&mut self) -> Vec<Letter> {
        let letters = std::mem::take(&mut self.waiting);
        self.sent.extend(letters.iter().cloned());
        let worded = |letter: Letter| Letter {
            text: join([letter.text.as_str()]),
            ..letter
        };
        letters.into_iter().map(worded).collect()
    }

    /// The agent has all that was sent.
    pub(crate) fn confirm(&mut self) {
        self.read
            .extend(self.sent.drain(..).map(|letter| letter.id));
    }

    /// The agent has one that was sent.
    pub(crate) fn confirm_one(&mut self, id: CommentId) {
        if let Some(place) = self.sent.iter().position(|letter| letter.id == id) {
            self.sent.remove(place);
            self.read.push(id);
        }
    }

    /// The agent has not taken what was sent: it waits again.
    pub(crate) fn take_back(&mut self) {
        let later = std::mem::take(&mut self.waiting);
        self.waiting = std::mem::take(&mut self.sent);
        self.waiting.extend(later);
    }

    /// Returns what the agent got since the last call.
    pub(crate) fn take_read(&mut self) -> Vec<CommentId> {
        std::mem::take(&mut self.read)
    }
}

/// Words messages for an agent.
fn join<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.into_iter().collect();
    format!("{MESSAGE_HEADING}\n\n{}", texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(id: i64, text: &str) -> Letter {
        Letter {
            id: CommentId::new(id),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_message_waits_is_sent_and_is_read_once() {
        let mut mailbox = Mailbox::default();
        assert_eq!(mailbox.send(), None);
        mailbox.put(letter(1, "Use tabs."));
        mailbox.put(letter(9, "Never mind."));
        mailbox.withdraw(CommentId::new(9));
        mailbox.put(letter(2, "/clear"));
        let sent = mailbox.send().unwrap();
        assert_eq!(sent, format!("{MESSAGE_HEADING}\n\nUse tabs.\n\n/clear"));
        mailbox.withdraw(CommentId::new(1));
        assert!(mailbox.send().is_none() && mailbox.unconfirmed().count() == 2);
        mailbox.put(letter(3, "Later."));
        mailbox.take_back();
        let order: Vec<i64> = mailbox.send_each().iter().map(|l| l.id.get()).collect();
        assert_eq!(order, [1, 2, 3], "in the order in which they were written");
        mailbox.confirm_one(CommentId::new(2));
        mailbox.confirm_one(CommentId::new(2));
        assert_eq!(mailbox.take_read(), [CommentId::new(2)]);
        mailbox.confirm();
        assert_eq!(mailbox.take_read(), [CommentId::new(1), CommentId::new(3)]);
        assert!(mailbox.take_read().is_empty());
    }
}
