//! What a demo left behind, which should be nothing.

use serde::Serialize;
use symphony_runner::process::sweep_marked;
use symphony_runner::session::Session;
use symphony_store::RunFilter;

/// What was left.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Leftovers {
    /// Processes of its runs; they were ended when they were found.
    pub(super) processes: usize,
    /// Worktrees of its issues.
    pub(super) worktrees: usize,
}

/// Looks for processes and worktrees of the demo's runs.
pub(super) fn look(session: &Session) -> anyhow::Result<Leftovers> {
    let filter = RunFilter {
        project: Some(session.project.id.clone()),
        ..RunFilter::default()
    };
    let mut processes = 0;
    for run in session.store.runs(&filter)? {
        processes += sweep_marked(&run.id)?.count();
    }
    let folder = session.project.root.join(session.config()?.workspaces_dir);
    let worktrees = match std::fs::read_dir(&folder) {
        Ok(entries) => entries.count(),
        Err(_) => 0,
    };
    Ok(Leftovers {
        processes,
        worktrees,
    })
}
