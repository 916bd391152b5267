//! Gates: when they are due, what they found, what became of their jobs.

pub(crate) mod deaths;
pub(crate) mod delay;
pub(crate) mod due;
pub(crate) mod failures;
pub(crate) mod findings;
pub(crate) mod found;
pub(crate) mod record;
pub(crate) mod repair;
pub(crate) mod tried;
