//! Projects: their settings, their agents, and what is known about their code.

pub(crate) mod change;
pub(crate) mod coverage;
pub(crate) mod health;
pub(crate) mod profile_override;
pub(crate) mod record;
pub(crate) mod refusal;
pub(crate) mod run;
pub(crate) mod setup;
