//! Whether the trackers of a project can be used: their tokens, and what these may do.

use symphony_core::config::TrackerSettings;
use symphony_runner::installation::Installation;
use symphony_runner::tracker::{check_tracker, filter_risk};
use symphony_store::{Project, TrackerRecord};
use symphony_view::text::plural;

use super::check::CheckView;

const CHECK: &str = "tracker";

/// Asks each tracker who the token is and what it may do. Nothing where the configuration is broken, which another check
/// reports.
pub(super) fn check_trackers(installation: &Installation, project: &Project) -> Vec<CheckView> {
    let Ok(config) = installation.project_config(project) else {
        return Vec::new();
    };
    let check = |settings: &TrackerSettings| {
        let name = &settings.name;
        let fix = format!(
            "correct the token or the settings as docs/trackers.md describes, then run `symphony tracker check {name}`"
        );
        match check_tracker(installation, settings) {
            Ok(Ok(access)) if access.problems.is_empty() => {
                if let Some(risk) = filter_risk(settings) {
                    return CheckView::warning(CHECK, format!("{name}: {risk}"), fix);
                }
                let user = access.user.map(|user| format!(" as {}", user.login));
                let who = user.unwrap_or_default();
                CheckView::ok(CHECK, format!("{name}: {}{who}", access.place))
            }
            Ok(Ok(access)) => CheckView::warning(
                CHECK,
                format!("{name}: {}", access.problem_texts().join("; ")),
                fix,
            ),
            Ok(Err(fault)) => CheckView::warning(CHECK, format!("{name}: {fault}"), fix),
            Err(error) => CheckView::failed(CHECK, &error, fix),
        }
    };
    let mut checks: Vec<CheckView> = config.trackers.iter().map(check).collect();
    checks.extend(left_out(installation, project, &config.trackers));
    checks
}

/// Finds trackers that were taken out of the configuration while changes waited for them. A database that cannot be read is
/// another check's.
fn left_out(
    installation: &Installation,
    project: &Project,
    configured: &[TrackerSettings],
) -> Vec<CheckView> {
    let Ok(store) = installation.require_store() else {
        return Vec::new();
    };
    let records = store.trackers(&project.id).unwrap_or_default().into_iter();
    let left = records.filter(|record| !configured.iter().any(|known| known.name == record.name));
    let check = |record: TrackerRecord| {
        let waiting = store.waiting_count(record.id).unwrap_or(0);
        (waiting > 0).then(|| {
            let waiting = plural(usize::try_from(waiting).unwrap_or(usize::MAX), "change");
            let fix =
                "add it to `trackers` again to send them; `symphony tracker status` shows them";
            CheckView::warning(
                CHECK,
                format!(
                    "{}: not in the configuration, and {waiting} cannot be sent",
                    record.name
                ),
                fix,
            )
        })
    };
    left.filter_map(check).collect()
}
