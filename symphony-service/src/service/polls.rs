//! From the settings to a tracker that can be asked.

use symphony_sync::linear_polls::LinearPolls;
use symphony_sync::{Options, Token};
use symphony_workflow::Config;
use symphony_workflow::config::Secret;

use super::error::ServiceError;

/// Prepares questions to the tracker of the settings; sends none.
///
/// # Errors
/// When the token or the address cannot be used.
pub(crate) fn polls_of(config: &Config) -> Result<LinearPolls, ServiceError> {
    let tracker = &config.tracker;
    let key = tracker.api_key.as_ref();
    let token = Token::first_line(key.map(Secret::expose).unwrap_or_default())?;
    let slug = tracker.project_slug.as_deref().unwrap_or_default();
    Ok(LinearPolls::connect(
        &tracker.endpoint,
        token,
        slug,
        &Options::default(),
    )?)
}
