//! What a run is told, and what it judges.

use symphony_core::criteria::Criteria;
use symphony_mcp::ReviewTarget;

use crate::supervise::prompts::Prompts;

/// What a run is told, and what it judges.
#[derive(Debug)]
pub(crate) struct Briefing {
    /// Its prompts.
    pub(crate) prompts: Prompts,
    /// What its verdict is on; none for a run that gives none.
    pub(crate) review: Option<ReviewTarget>,
    /// The acceptance criteria that the prompts have; none where they are to have none.
    pub(crate) criteria: Option<Criteria>,
}
