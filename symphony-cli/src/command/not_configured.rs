//! What commands on forges and trackers answer in a project that has none.

use crate::failure::{Exit, Stop};

/// Refuses a command on something that the configuration does not have.
///
/// `what` is what is missing, `key` is its key in the configuration, and `page` is the page that shows how to set it up.
pub(crate) fn not_configured(what: &str, key: &str, page: &str) -> Stop {
    Stop::new(Exit::NotFound, format!("the project has no {what}")).hint(format!(
        "add `{key}` to symphony.config.json as {page} shows"
    ))
}
