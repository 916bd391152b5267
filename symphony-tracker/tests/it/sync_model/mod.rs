//! A model of both sides and of the process between them, for `prop_sync`.

mod case;
mod edits;
mod steps;
mod sync;
mod tracker;
mod words;

pub(crate) use case::{Case, LABELS, Op};
pub(crate) use edits::{Edit, Value};
pub(crate) use sync::{Answer, Local, Model};
pub(crate) use tracker::Tracker;
pub(crate) use words::is_equal;
