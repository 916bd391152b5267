//! A message to an agent, on its way.

use serde::Serialize;
use symphony_core::id::RunId;
use symphony_core::issue::IssueStatus;
use symphony_core::message::{Addressee, Reach};
use symphony_core::run::Run;
use symphony_runner::order::{Sent, Withdrawn};

use crate::notes::CommentView;

/// A message to an agent.
#[derive(Debug, Clone, Serialize)]
pub struct MessageView {
    /// The message.
    #[serde(flatten)]
    pub comment: CommentView,
    /// The live run whose agent it is for.
    pub run: Option<RunId>,
    /// The provider of that run.
    pub provider: Option<String>,
    /// When its reader gets it.
    pub reach: Reach,
    #[serde(skip)]
    addressee: Addressee,
    #[serde(skip)]
    waits: Waits,
}

/// A message that was withdrawn.
#[derive(Debug, Clone, Serialize)]
pub struct WithdrawnView {
    /// The message.
    #[serde(flatten)]
    pub comment: CommentView,
    /// The live run whose agent may have received it already.
    pub run: Option<RunId>,
}

impl From<Withdrawn> for WithdrawnView {
    fn from(withdrawn: Withdrawn) -> Self {
        Self {
            comment: withdrawn.comment.into(),
            run: withdrawn.run.map(|run| run.id),
        }
    }
}

impl WithdrawnView {
    /// Returns what happens to the message, as a sentence.
    pub fn sentence(&self) -> String {
        let id = self.comment.id;
        match &self.run {
            None => format!("Message {id} is withdrawn: no agent gets it."),
            Some(run) => format!(
                "Message {id} is withdrawn. The agent of run {run} may have received it already; no other agent gets it."
            ),
        }
    }
}

/// Why no agent reads a message now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// No agent is running.
    Agent,
    /// The work is in review: an agent works on it again only if it is sent back.
    Review,
    /// A person has the session open.
    Person,
}

impl From<Sent> for MessageView {
    fn from(sent: Sent) -> Self {
        let is_interactive = sent.run.as_ref().is_some_and(Run::is_interactive);
        let waits = match (is_interactive, sent.addressee, sent.status) {
            (true, ..) => Waits::Person,
            (false, Addressee::Author, IssueStatus::Review) => Waits::Review,
            _ => Waits::Agent,
        };
        let (run, provider) = sent.run.map(|run| (run.id, run.provider)).unzip();
        Self {
            comment: sent.comment.into(),
            run,
            provider,
            reach: sent.reach,
            addressee: sent.addressee,
            waits,
        }
    }
}

impl MessageView {
    /// Returns what happens to the message, as a sentence.
    pub fn sentence(&self) -> String {
        let issue = &self.comment.issue;
        let who = match self.addressee {
            Addressee::Author => "agent",
            Addressee::Judge => "judge",
        };
        if self.waits == Waits::Person {
            return format!(
                "Queued: a person has the session of {issue} open. The next run on the issue begins with the message."
            );
        }
        let (Some(run), Some(provider)) = (&self.run, &self.provider) else {
            if self.waits == Waits::Review {
                return format!(
                    "Queued: {issue} is in review, so an agent gets the message only if you send the work back: `symphony pr \
                     reject {issue} --feedback TEXT`."
                );
            }
            return format!(
                "Queued: no {who} is working on {issue} now. The next {who} gets the message with its prompt."
            );
        };
        match self.reach {
            Reach::AtWork => {
                format!(
                    "Sent: the {who} of run {run} ({provider}) gets the message while it works."
                )
            }
            Reach::AfterTurn => format!(
                "Queued: the {who} of run {run} ({provider}) gets the message when its turn ends."
            ),
            Reach::NextRun => format!(
                "Queued: the {who} of run {run} ({provider}) accepts no messages while it works. The next run on {issue} begins with this one."
            ),
        }
    }
}
