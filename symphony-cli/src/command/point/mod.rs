//! Review points: `symphony point`. What reviews ask for is listed, answered and closed.

mod add;
mod args;
mod list;
mod reply;
mod settle;
mod tree;

pub(crate) use args::{PointArgs, rejection};
pub(crate) use tree::PointCommand;
