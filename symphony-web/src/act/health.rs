//! The setup is checked.

use symphony_runner::session::Session;
use symphony_view::text::plural;

use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

/// Runs `doctor` and its audit, and keeps what they find.
pub(crate) fn check_health(
    _session: &mut Session,
    turn: &Turn,
    _id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let kept = turn.site.checkups.run()?;
    let (checks, findings) = (kept.found.checks.len(), kept.found.findings.len());
    Ok(Done {
        to: "/health".to_owned(),
        said: format!(
            "Ran {}; the audit has {}.",
            plural(checks, "check"),
            plural(findings, "finding")
        ),
    })
}
