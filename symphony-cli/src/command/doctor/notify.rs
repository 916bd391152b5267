//! Whether notifications reach people.

use symphony_core::Timestamp;
use symphony_runner::RunnerError;
use symphony_runner::installation::Installation;
use symphony_store::Project;
use symphony_view::text::ago;

use super::check::CheckView;

/// Reports how the last notification ended; nothing if no command is configured, or if the configuration is broken, which is
/// reported elsewhere.
pub(super) fn check_notify(installation: &Installation, project: &Project) -> Option<CheckView> {
    const CHECK: &str = "notify";
    let line = installation.project_config(project).ok()?.notify?;
    let last = installation
        .require_store()
        .and_then(|store| Ok::<_, RunnerError>(store.notification_problem(&project.id)?));
    Some(match last {
        Ok(None) => CheckView::ok(CHECK, line.to_string()),
        Ok(Some((problem, at))) => CheckView::warning(
            CHECK,
            format!(
                "the last notification failed {}: {problem}",
                ago(at, Timestamp::now())
            ),
            "fix the command with `symphony config set notify COMMAND`; `symphony inbox` shows what it did not report",
        ),
        Err(error) => CheckView::failed(CHECK, &error, "`symphony db check` shows more"),
    })
}
