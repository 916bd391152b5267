//! The pages. Each function reads its views and draws them; nothing is decided here.

mod board;
mod forge;
mod health;
mod inbox;
mod issue;
mod keys;
mod layout;
mod learnings;
mod parts;
mod plan;
mod problem;
mod prompt;
mod pull_request;
mod run;
mod spending;

pub(crate) use board::board;
pub(crate) use health::health;
pub(crate) use inbox::inbox;
pub(crate) use issue::{issue, new_issue};
pub(crate) use layout::bare;
pub(crate) use learnings::learnings;
pub(crate) use plan::{plan, plans};
pub(crate) use problem::problem;
pub(crate) use pull_request::{find as find_pull_request, pull_request, pull_requests};
pub(crate) use run::{run, run_lines, runs};
pub(crate) use spending::spending;
