//! Arguments of calls: the closed sets of names in them, their schemas, and how they are read.

pub(crate) mod named;
pub(crate) mod schema;
pub(crate) mod typed;
