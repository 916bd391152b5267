//! Which limit keeps a run from starting, and how it is named.

use std::fmt;

use serde::Serialize;

use super::running::waiting_runs;
use crate::agent::AgentType;
use crate::placement::Pool;

/// Which limit of runs at once is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotLimit {
    /// The installation's.
    Total(u32),
    /// The installation's, less the slot kept for judges.
    KeptForJudge(u32),
    /// The project's.
    Project(u32),
    /// The agent type's.
    Agent(AgentType, u32),
    /// The limit on gates that run at once.
    Gates(u32),
    /// The limit on runs that wait in a pool.
    Pool(Pool, u32),
}

/// Names the limit as a reason for which something waits.
impl fmt::Display for SlotLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Total(n) => write!(f, "{} taken (max_concurrent_agents)", slots_are(*n, "")),
            Self::KeptForJudge(n) => write!(
                f,
                "the last of {n} slots is kept for a judge, because a review is ready for one"
            ),
            Self::Project(n) => write!(
                f,
                "{} taken (max_concurrency)",
                slots_are(*n, " of the project")
            ),
            Self::Agent(agent, n) => {
                write!(f, "{} taken", slots_are(*n, &format!(" for {agent}")))
            }
            Self::Gates(n) => write!(
                f,
                "{} taken (max_concurrent_gates)",
                slots_are(*n, " for gates")
            ),
            Self::Pool(pool, n) => {
                write!(
                    f,
                    "{} already for a worker of pool {pool}",
                    waiting_runs(*n)
                )
            }
        }
    }
}

fn slots_are(n: u32, whose: &str) -> String {
    match n {
        1 => format!("the only slot{whose} is"),
        n => format!("all {n} slots{whose} are"),
    }
}
