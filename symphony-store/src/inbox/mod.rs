//! What waits for a person, and what people are told of.

pub(crate) mod notification;
pub(crate) mod open_items;
pub(crate) mod waiting;
