//! Who may read what Symphony writes: the database and the files of runs are this user's alone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use symphony_runner::installation::Installation;
use symphony_runner::paths::STATE_DIR;
use symphony_workspace::file_system::network_file_system_of;

use super::check::CheckView;

const CHECK: &str = "permissions";
/// The bits of everybody else.
const OTHERS: u32 = 0o077;
/// Files that are named; a longer list would not help.
const NAMED_MAX: usize = 3;

pub(super) fn check_permissions(installation: &Installation) -> Vec<CheckView> {
    let database = installation.config.database.file();
    let mut open: Vec<PathBuf> = database.map(Path::to_owned).into_iter().collect();
    let runs = installation.root.join(STATE_DIR).join("runs");
    if let Ok(entries) = std::fs::read_dir(&runs) {
        open.extend(entries.flatten().map(|entry| entry.path()));
    }
    open.retain(|path| is_open_to_others(path));
    open.sort();
    let mut checks = vec![if open.is_empty() {
        CheckView::ok(
            CHECK,
            match database {
                Some(_) => "only you can read the database and the files of runs",
                None => "only you can read the files of runs",
            },
        )
    } else {
        let named: Vec<String> = open
            .iter()
            .take(NAMED_MAX)
            .map(|path| path.display().to_string())
            .collect();
        let more = open.len().saturating_sub(NAMED_MAX);
        let more = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more")
        };
        let first = named.first().cloned().unwrap_or_default();
        CheckView::warning(
            CHECK,
            format!("others on this machine may read {}{more}", named.join(", ")),
            format!("`chmod -R go-rwx {first}`"),
        )
    }];
    checks.extend(check_file_system(&installation.config.state_dir));
    checks
}

fn is_open_to_others(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|meta| meta.permissions().mode() & OTHERS != 0)
}

fn check_file_system(folder: &Path) -> Option<CheckView> {
    match network_file_system_of(folder) {
        Ok(None) => None,
        Ok(Some(name)) => Some(CheckView::failed(
            "file system",
            &format!(
                "{} is on a network file system ({name}), where file locks are unreliable",
                folder.display()
            ),
            "`symphony config set database PATH` with a path on a local disk",
        )),
        Err(error) => Some(CheckView::failed(
            "file system",
            &error,
            format!("`ls -ld {}` shows what it is", folder.display()),
        )),
    }
}
