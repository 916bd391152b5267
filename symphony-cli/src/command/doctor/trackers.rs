//! Whether the trackers of a project can be used: their tokens, and what these may do.

use symphony_runner::installation::Installation;
use symphony_runner::tracker::check_tracker;
use symphony_store::Project;

use super::check::CheckView;

/// Asks each tracker who the token is and what it may do. Nothing where the configuration is broken, which another check
/// reports.
pub(super) fn check_trackers(installation: &Installation, project: &Project) -> Vec<CheckView> {
    const CHECK: &str = "tracker";
    let Ok(config) = installation.project_config(project) else {
        return Vec::new();
    };
    let check = |settings: &symphony_core::config::TrackerSettings| {
        let name = &settings.name;
        let fix = format!(
            "`symphony tracker check {name}` after a change; docs/trackers.md says which token it needs"
        );
        match check_tracker(installation, settings) {
            Ok(Ok(access)) if access.problems.is_empty() => {
                let user = access.user.map(|user| format!(" as {}", user.login));
                let who = user.unwrap_or_default();
                CheckView::ok(CHECK, format!("{name}: {}{who}", access.place))
            }
            Ok(Ok(access)) => CheckView::warning(
                CHECK,
                format!("{name}: {}", access.problems.join("; ")),
                fix,
            ),
            Ok(Err(fault)) => CheckView::warning(CHECK, format!("{name}: {fault}"), fix),
            Err(error) => CheckView::failed(CHECK, &error, fix),
        }
    };
    config.trackers.iter().map(check).collect()
}
