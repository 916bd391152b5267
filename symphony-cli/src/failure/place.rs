//! What to type when a database, its backups or the folder of a project are not as they have to be.

use symphony_core::command_line::shell_quoted;
use symphony_runner::database::DatabaseRefusal;
use symphony_store::ProjectRefusal;

/// Hints about databases that cannot be used, restored or moved.
pub(super) fn database_hint(error: &DatabaseRefusal) -> Option<String> {
    let hint = match error {
        DatabaseRefusal::Missing { root, .. } => {
            let root = shell_quoted(&root.display().to_string());
            return Some(format!("`symphony -C {root} init` creates it"));
        }
        DatabaseRefusal::OnNetwork { .. } => {
            "`symphony config set database PATH` names one on a local disk"
        }
        DatabaseRefusal::TickAtWork => "wait until it has ended",
        DatabaseRefusal::IsOpen(_) => "end them first",
        DatabaseRefusal::HasSessions(_) => {
            "end `symphony run` and `symphony serve` on each host first, and wait for running agents"
        }
        DatabaseRefusal::OtherHost(_) => {
            "run `symphony tick` there; when none of its runs is active any more, a tick of this host takes over"
        }
        DatabaseRefusal::SameDatabase(_) | DatabaseRefusal::AlreadyThere(_) => {
            "name another target with `--to`"
        }
        DatabaseRefusal::RunsAreActive { .. } => "wait until they have ended, or end them",
        DatabaseRefusal::NoSuchBackup(_) => "`symphony db restore --list` lists the backups",
        DatabaseRefusal::NoBackup => {
            "name one with `symphony db restore FILE`, or start with an empty database with `symphony db restore --empty`"
        }
        DatabaseRefusal::OnServer(_) => {
            "`pg_dump` and `pg_restore` back it up and restore it, and `symphony db restore --keep` continues with an older state (docs/scale-out.md)"
        }
        DatabaseRefusal::StillThere { .. } => "move the folder first, then run this command again",
        _ => return None,
    };
    Some(hint.to_owned())
}

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
