//! The backup that the first tick of a large installation starts.

use std::time::{Duration, Instant};

use super::project::Project;

/// How long a backup may take.
const BACKUP_MAX: Duration = Duration::from_mins(5);

/// Waits for it: it would run beside what is measured, and only beside the large installation.
pub(crate) fn wait_for_backup(project: &Project) {
    let began = Instant::now();
    loop {
        let listed = project.ok(&["db", "restore", "--list", "--json"]);
        let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
        if !listed["items"].as_array().unwrap().is_empty() {
            return;
        }
        assert!(began.elapsed() < BACKUP_MAX, "no backup was made");
        std::thread::sleep(Duration::from_millis(100));
    }
}
