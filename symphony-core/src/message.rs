//! Messages of a person to the agent of an issue: comments that the agent is sure to get, while it runs or at its next start.

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::config::{NamedProvider, ProviderName};
use crate::id::{IssueId, RunId};
use crate::issue::TEXT_BYTES_MAX;
use crate::run::{Run, RunTarget};

closed_set!(
    /// Which agents of an issue a message is for.
    Addressee, "addressee", {
        /// Whoever works on the issue: planner, phase agents, worker.
        Author = "author",
        /// Whoever judges the work.
        Judge = "judge",
    }
);

closed_set!(
    /// When an agent gets a message.
    Reach, "way of delivery", {
        /// While it works.
        AtWork = "at_work",
        /// When its turn ends, in the same run.
        AfterTurn = "after_turn",
        /// With the prompt of the next run.
        NextRun = "next_run",
    }
);

/// What makes a comment a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageState {
    /// Who it is for.
    pub addressee: Addressee,
    /// The run whose agent got it, and when; `None` while it waits.
    pub read: Option<MessageRead>,
    /// When a person withdrew it. An agent that had been sent it by then may still have read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Timestamp>,
}

impl MessageState {
    /// Returns whether it waits for an agent.
    pub const fn is_unread(&self) -> bool {
        self.read.is_none() && self.withdrawn.is_none()
    }
}

/// Most bytes of unread messages that wait for one addressee of an issue. They are the first section of a prompt, which no
/// budget cuts. It is as much as a single message may have, so that one that nothing else waits beside always fits.
pub const UNREAD_BYTES_MAX: usize = TEXT_BYTES_MAX;

/// That an agent got a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRead {
    /// Its run.
    pub run: RunId,
    /// When.
    pub at: Timestamp,
}

/// Why a run takes no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAddressee {
    /// It runs gates: there is no agent.
    Gates,
    /// It belongs to a plan, whose agents have their instructions from the plan.
    Plan,
    /// It works for the project, not on an issue.
    Project,
}

impl Addressee {
    /// Returns what an agent on an issue is.
    pub fn of_agent(agent: &AgentType) -> Self {
        match agent {
            AgentType::Judge => Self::Judge,
            _ => Self::Author,
        }
    }

    /// Returns whom a message to a run is for, and the issue that keeps it.
    ///
    /// # Errors
    /// When the run has no agent on an issue.
    pub fn of(run: &Run) -> Result<(&IssueId, Self), NoAddressee> {
        let role = match &run.target {
            RunTarget::Gates(..) => return Err(NoAddressee::Gates),
            RunTarget::PlanPhase(..) => return Err(NoAddressee::Plan),
            RunTarget::Project => return Err(NoAddressee::Project),
            RunTarget::PullRequest(..) | RunTarget::Delivery(..) => Self::Judge,
            RunTarget::Issue(_) => Self::Author,
        };
        // A pull request without an issue is that of a plan.
        let issue = run.target.issue().ok_or(NoAddressee::Plan)?;
        Ok((issue, role))
    }
}

impl Reach {
    /// Returns when an agent of a run gets a message that is written now.
    pub fn of(run: Option<&Run>) -> Self {
        // In a session with a person, no one but them speaks to the agent.
        let live = run.filter(|run| run.status.is_live() && !run.is_interactive());
        let provider = live.and_then(|run| NamedProvider::parse(&run.provider).ok());
        provider.map_or(Self::NextRun, |named| Self::with(named.provider()))
    }

    /// Returns when a running agent gets a message, by its provider.
    pub const fn with(provider: ProviderName) -> Self {
        match provider {
            ProviderName::ClaudeCli
            | ProviderName::CodexAppServer
            | ProviderName::Opencode
            | ProviderName::Qwen => Self::AtWork,
            // A second prompt would cancel the first.
            ProviderName::Gemini | ProviderName::Copilot | ProviderName::Acp => Self::AfterTurn,
            ProviderName::CodexCli | ProviderName::Command | ProviderName::Scripted => {
                Self::NextRun
            }
        }
    }
}

/// The line before a message, so that an agent knows whose word it is, and no CLI takes it for one of its commands.
pub const MESSAGE_HEADING: &str =
    "A message from the person you work for. It counts as a part of your task:";

/// Returns a message as an agent reads it. `unverified` says why Symphony could not tell that a person wrote it.
pub fn message_text(content: &str, unverified: Option<&str>) -> String {
    match unverified {
        None => content.to_owned(),
        Some(why) => {
            format!("{content}\n\n(Symphony could not verify that a person wrote this: {why}.)")
        }
    }
}
