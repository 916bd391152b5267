//! Reading views: what the database, the repository and the configuration say of a thing now.

mod board;
mod commits;
mod explain_issue;
mod explain_plan;
mod explain_wait;
mod forge;
mod inbox;
mod issue;
mod lists;
mod plan;
mod pull_request;
mod spending;
mod status;
mod trackers;

pub use board::{BoardFilter, board};
pub use commits::commits;
pub use explain_issue::{explain_issue, explain_issue_of};
pub use explain_plan::explain_plan;
pub use forge::forge;
pub use inbox::{inbox, inbox_of};
pub use issue::issue;
pub use lists::{issue_stream, issues, learnings, plans, pull_requests, runs};
pub use plan::plan;
pub use pull_request::{pull_request, unread_messages, whole_pull_request};
pub use spending::spending;
pub use status::{status, status_of};
pub use trackers::trackers;
