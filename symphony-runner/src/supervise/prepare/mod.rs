//! Everything before the agent: what the run works on, where, what it is told, and the command.
//!
//! [`prepare`] is the same for every run. What differs by the run's target stands in three places, each a `match` with one
//! file an arm: `Subject` (what it works on, read from the store), `Site` (where: the worktree, ready), `Briefing`
//! (what it is told and may do). A new kind of target is a variant of `Subject` and a file for each of the three.

mod briefing;
mod identity;
mod invocation;
mod issue_briefing;
mod issue_site;
mod model;
mod phase_briefing;
mod plan_briefing;
mod plan_review_briefing;
mod plan_site;
mod project_briefing;
mod run;
mod set_up;
mod site;
mod subject;
mod subject_briefing;
mod subject_site;
mod temporary_site;

pub(crate) use phase_briefing::{judged_artifact, override_text};
pub(crate) use plan_site::PHASE_BASE_FILE;
pub(crate) use run::{Prepared, prepare};
