//! Gates: when they are due, what they found, and how their runs ended.

pub(crate) mod deaths;
pub(crate) mod delay;
pub(crate) mod due;
pub(crate) mod failures;
pub(crate) mod findings;
pub(crate) mod found;
pub(crate) mod record;
pub(crate) mod repair;
pub(crate) mod tried;
