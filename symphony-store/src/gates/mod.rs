//! Gates: when they are due, what they found, what became of their jobs.

pub(crate) mod deaths;
pub(crate) mod due;
pub(crate) mod repair;
pub(crate) mod tried;
