//! Plans: their phases, their runs, their review.

pub(crate) mod base;
pub(crate) mod change;
pub(crate) mod log;
pub(crate) mod phase_end;
pub(crate) mod plans;
pub(crate) mod record;
pub(crate) mod refusal;
pub(crate) mod review;
pub(crate) mod review_end;
pub(crate) mod run;
pub(crate) mod stopped;
pub(crate) mod update;
