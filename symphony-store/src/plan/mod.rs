//! Plans: their phases, their runs, their review.

pub(crate) mod base;
pub(crate) mod change;
pub(crate) mod log;
pub(crate) mod record;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod stopped;
