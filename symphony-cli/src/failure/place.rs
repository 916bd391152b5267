//! What to type when a project is not as it has to be.

use symphony_store::ProjectRefusal;

/// Says how a project that was not changed can be.
pub(super) fn project_hint(error: &ProjectRefusal) -> Option<String> {
    let hint = match error {
        ProjectRefusal::NotUtf8(_) => "move the project".to_owned(),
        ProjectRefusal::RunIsLive { run, .. } => {
            format!("wait until it has ended, or end it with `symphony runs cancel {run}`")
        }
        ProjectRefusal::PlanUnderWay { plan, .. } => {
            format!("finish it, or abort it with `symphony plan abort --plan {plan}`")
        }
        ProjectRefusal::WizardRuns(_) => "`symphony runs list` shows it".to_owned(),
        _ => return None,
    };
    Some(hint)
}
