//! What a watched process records about itself.

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;

closed_set!(
    /// A step of a supervisor or of a tick. Each has a time limit of its own.
    Step, "step", {
        /// A supervisor was started, and has recorded nothing yet.
        Start = "start",
        /// The worktree, the prompts and the command are made.
        Prepare = "prepare",
        /// The set-up command of a worktree or of a gate's checkout runs.
        SetUp = "set_up",
        /// The agent is running.
        Agent = "agent",
        /// The agent's processes are being ended.
        EndAgent = "end_agent",
        /// A commit is checked out for its gates.
        Checkout = "checkout",
        /// Gates, or the checks of a plan's phase, run.
        Gates = "gates",
        /// The work of the run is committed, merged or put aside.
        Settle = "settle",
        /// The end of the run is recorded, and what follows from it.
        Record = "record",
        /// The run waits for the database: its disk is full, or its server does not answer or has too much to do. The name is that of older
        /// versions, whose supervisors may be at work during an update.
        Database = "full_disk",
        /// The tick looks at projects, runs and locks.
        Observe = "observe",
        /// The tick carries its plan out.
        Act = "act",
        /// The tick moves plans on.
        Plans = "plans",
        /// The tick tidies up, notifies and backs up.
        Upkeep = "upkeep",
    }
);

impl Step {
    /// Names the step in the middle of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Start => "its start",
            Self::Prepare => "the preparation of the run",
            Self::SetUp => "the set-up command",
            Self::Agent => "the agent's work",
            Self::EndAgent => "the end of the agent's processes",
            Self::Checkout => "the checkout for the gates",
            Self::Gates => "the gates",
            Self::Settle => "the exit handling",
            Self::Record => "recording the end of the run",
            Self::Database => "the wait for the database",
            Self::Observe => "reading the state of the projects",
            Self::Act => "carrying out its plan",
            Self::Plans => "moving plans on",
            Self::Upkeep => "its upkeep",
        }
    }
}

/// A moment of a clock that stops while the machine is suspended. Moments of two boots cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Names the boot of the machine.
    pub boot: String,
    /// Milliseconds on the clock.
    pub at_ms: u64,
}

/// The current step of a process, as it recorded it itself.
///
/// An agent runs as the same user and can write whatever it likes here. What it gains by that is bounded: see
/// [`watch`].
///
/// [`watch`]: super::watch
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The process number.
    pub pid: i32,
    /// When the process started, in clock ticks since boot: two processes with one number differ in it.
    pub start_time: u64,
    /// Counts the steps of the process, so that a repeated step counts as another one.
    pub number: u32,
    /// The step.
    pub step: Step,
    /// When it began.
    pub begun: Moment,
    /// How long it may take.
    pub limit_ms: u64,
}
