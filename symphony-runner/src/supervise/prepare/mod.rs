//! Everything before the agent starts: what the run works on, where, its prompts, and the command.
//!
//! [`prepare`] is the same for every run. What depends on the run's target is in three places, each a `match` with one
//! file per arm: `Subject` (what it works on, read from the store), `Site` (where: the worktree, ready) and `Briefing`
//! (its prompts and permissions). A new kind of target needs a variant of `Subject`, and a file for each of the three.

mod briefing;
mod identity;
mod invocation;
mod issue_briefing;
mod issue_site;
mod model;
mod network;
mod phase_briefing;
mod plan_briefing;
mod plan_review_briefing;
mod plan_site;
mod prepared;
mod project_briefing;
mod run;
mod sandbox;
mod session;
mod set_up;
mod site;
mod subject;
mod subject_briefing;
mod subject_site;
mod temporary_site;

pub(crate) use phase_briefing::{judged_artifact, override_text};
pub(crate) use plan_site::PHASE_BASE_FILE;
pub(crate) use prepared::Prepared;
pub(crate) use run::prepare;
pub(crate) use sandbox::protection;
pub(crate) use session::KeptSessions;
pub(crate) use site::{Site, change_mark};
