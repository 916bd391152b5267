//! The prompts of a run, and what it judges.

use symphony_core::config::ProviderName;
use symphony_core::criteria::Criteria;
use symphony_mcp::{ReviewTarget, StoreThread};

use super::site::Site;
use crate::prompts::library::PromptLibrary;
use crate::resume::News;
use crate::supervise::Job;
use crate::supervise::prompts::Prompts;

/// What every briefing is written from, whatever its subject.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BriefingSources<'a> {
    /// The run.
    pub(crate) job: &'a Job<'a>,
    /// The database.
    pub(crate) store: &'a StoreThread,
    /// The profiles and contracts of the run's project.
    pub(crate) library: &'a PromptLibrary,
    /// The provider that starts the agent.
    pub(crate) provider: ProviderName,
    /// Where the agent works.
    pub(crate) site: &'a Site,
    /// What is new for the session that it resumes; `None` for a new one.
    pub(crate) news: Option<&'a News>,
}

/// The prompts of a run, and what it judges.
#[derive(Debug)]
pub(crate) struct Briefing {
    /// Its prompts.
    pub(crate) prompts: Prompts,
    /// What its verdict is on; `None` for a run that gives no verdict.
    pub(crate) review: Option<ReviewTarget>,
    /// The acceptance criteria in the prompts; `None` where they have none.
    pub(crate) criteria: Option<Criteria>,
}
