//! A model of both sides and of the process between them, for [`crate::prop_sync`].

mod edits;
mod sync;
mod tracker;

pub(crate) use edits::{Edit, Value};
pub(crate) use sync::{Answer, Local, Model};
pub(crate) use tracker::Tracker;
