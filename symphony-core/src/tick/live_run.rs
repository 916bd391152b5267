//! A run that is not over, as a tick sees it.

use super::reason::Reason;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::exit_handling::PutOff;
use crate::id::{IssueId, PlanId, ProjectId, RunId};
use crate::placement::Whereabouts;

closed_set!(
    /// The state of a run's lock file.
    LockState, "lock state", {
        /// Somebody holds it: the run lives.
        Held = "held",
        /// The file exists, and no one holds it: its holder is dead.
        Free = "free",
        /// There is no such file.
        Missing = "missing",
    }
);

/// A run that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRun {
    /// The run.
    pub run: RunId,
    /// Its project.
    pub project: ProjectId,
    /// Its issue.
    pub issue: Option<IssueId>,
    /// Its plan, when it works on a phase of one or on its pull request.
    pub plan: Option<PlanId>,
    /// The type of agent.
    pub agent: AgentType,
    /// The provider.
    pub provider: String,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// The state of its lock.
    pub lock: LockState,
    /// Its exit handling, if that was postponed.
    pub put_off: Option<PutOff>,
    /// Whether a person works in its session, in a terminal.
    pub interactive: bool,
    /// Where it is: a lock is only of this host.
    pub whereabouts: Whereabouts,
    /// Whether someone asked for its end.
    pub cancelled: bool,
}

impl LiveRun {
    /// Returns whether its exit handling waits for its time, and no one should work on it before.
    pub fn waits(&self, now: Timestamp) -> bool {
        let put_off = self.put_off.as_ref();
        self.lock != LockState::Held && put_off.is_some_and(|put_off| !put_off.is_due(now))
    }

    /// Returns whether it takes a slot: if its exit handling was postponed, its agent has ended. A person's session may be
    /// open all day, and must not keep other issues waiting.
    pub fn takes_slot(&self) -> bool {
        self.put_off.is_none() && !self.interactive
    }

    /// Returns whether an agent is running in one of the slots for agents: gates have slots of their own, and workers on other hosts
    /// theirs.
    pub fn takes_agent_slot(&self) -> bool {
        self.agent != AgentType::Gates && self.takes_slot() && self.whereabouts.is_here()
    }

    /// Returns the run as a reason to leave its issue alone.
    pub(super) fn reason(&self) -> Reason {
        match &self.put_off {
            Some(put_off) => Reason::ExitPutOff {
                run: self.run.clone(),
                put_off: put_off.clone(),
            },
            None => Reason::Running {
                run: self.run.clone(),
                interactive: self.interactive,
                whereabouts: self.whereabouts.clone(),
            },
        }
    }
}
