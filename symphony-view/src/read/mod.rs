//! Reading views: what the database, the repository and the configuration say of a thing now.

mod board;
mod explain_issue;
mod explain_plan;
mod explain_wait;
mod inbox;
mod issue;
mod pull_request;
mod status;

pub use board::{BoardFilter, board};
pub use explain_issue::explain_issue;
pub use explain_plan::explain_plan;
pub use inbox::inbox;
pub use issue::issue;
pub use pull_request::{pull_request, whole_pull_request};
pub use status::status;
