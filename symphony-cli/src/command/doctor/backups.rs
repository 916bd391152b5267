//! The backups of the database, and what it does not know of its repositories.

use symphony_core::Timestamp;
use symphony_core::listing::list_few;
use symphony_core::retry::after;
use symphony_runner::audit::unknown_branches;
use symphony_runner::database::{is_marked, list_backups};
use symphony_runner::installation::Installation;
use symphony_runner::tick::last_tick;
use symphony_store::Store;
use symphony_view::text::{ago, plural};
use symphony_workspace::Repository;

use super::check::CheckView;

/// Age of the newest backup above which ticks seem not to make any.
const BACKUP_AGE_MAX_MS: u64 = 24 * 60 * 60 * 1000;
/// Branches that a line names.
const NAMES_MAX: usize = 3;

/// Says when the database was last backed up.
pub(super) fn check_backups(installation: &Installation, store: &Store) -> CheckView {
    const CHECK: &str = "backup";
    const FIX: &str = "`symphony tick` makes one each hour in which something happens";
    let backups = match list_backups(installation) {
        Ok(backups) => backups,
        Err(error) => {
            let fix = "set HOME or XDG_STATE_HOME to a folder that you can write to, or make copies with `symphony db \
                       backup FILE`";
            return CheckView::warning(CHECK, error.to_string(), fix);
        }
    };
    let position = store.log_position().unwrap_or(0);
    let Some(newest) = backups.first() else {
        return match last_tick(installation) {
            Ok(None) => CheckView::ok(CHECK, "the first tick creates one"),
            _ => CheckView::warning(CHECK, "there is no backup of the database", FIX),
        };
    };
    let now = Timestamp::now();
    let detail = format!(
        "{}, the newest made {}, in {}",
        plural(backups.len(), "backup"),
        ago(newest.name.at, now),
        newest.path.parent().unwrap_or(&newest.path).display()
    );
    let is_old = newest.name.position != position && after(newest.name.at, BACKUP_AGE_MAX_MS) < now;
    if is_old {
        CheckView::warning(CHECK, detail, FIX)
    } else {
        CheckView::ok(CHECK, detail)
    }
}

/// Warns where an older copy of the database would not be noticed: opening it has just tried to note how far it has come.
pub(super) fn check_mark(installation: &Installation, store: &Store) -> Option<CheckView> {
    let is_noted = is_marked(installation, store).unwrap_or(true);
    (!is_noted).then(|| {
        CheckView::warning(
            "database",
            "Symphony cannot record the database's progress next to it and in the git folder, so it would not notice if an older \
             copy replaced the database",
            "check both folders with `ls -la`: you must own them and be able to write there",
        )
    })
}

/// Names the branches that the database does not know.
pub(super) fn check_branches(store: &Store, repository: &Repository) -> Option<CheckView> {
    const CHECK: &str = "branches";
    match unknown_branches(store, repository) {
        Ok(unknown) if unknown.is_empty() => None,
        Ok(unknown) => Some(CheckView::warning(
            CHECK,
            format!(
                "the database does not know {}",
                list_few(unknown.iter().map(String::as_str), NAMES_MAX)
            ),
            "no run uses them, and a run that needs the name saves them first; rename or delete those that you do not \
             need",
        )),
        Err(error) => Some(CheckView::failed(
            CHECK,
            &error,
            "look at `git branch --list 'symphony/*'`",
        )),
    }
}
