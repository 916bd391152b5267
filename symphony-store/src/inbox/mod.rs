//! What needs a person, and which notifications people get.

pub(crate) mod notification;
pub(crate) mod open_items;
pub(crate) mod waiting;

#[cfg(test)]
mod awaited;
