//! The processes above a command, for the judgement who asks.

use std::path::Path;

use symphony_core::asker::{Ancestor, Asker, judge_asker};
use symphony_core::id::RunId;

use super::error::ProcessError;
use super::stuck::supervised_run;
use super::system;
use crate::environment::RUN_MARKER;

/// Processes above a command that are looked at: a deep tree of shells has a dozen.
const DEPTH_MAX: usize = 200;

/// Judges who started this process, by the folder of a project's worktrees and what says whether a run is one of this
/// installation: the tests of a project that an agent works on may use Symphony themselves, with a database of their own.
///
/// # Errors
/// When the table of processes cannot be read.
pub fn asker(workspaces: &Path, is_known: impl Fn(&RunId) -> bool) -> Result<Asker, ProcessError> {
    let mut chain = Vec::new();
    let mut pid = system::own_pid();
    while pid > 1 && chain.len() < DEPTH_MAX {
        let Some(record) = system::read_record(pid)? else {
            break;
        };
        chain.push(Ancestor {
            marked: system::environment_value(pid, RUN_MARKER)
                .filter(|run| RunId::parse(run.as_str()).is_ok_and(|run| is_known(&run))),
            supervises: supervised_run(pid).filter(|run| is_known(run)),
            is_in_worktree: system::working_directory(pid)
                .is_some_and(|folder| folder.starts_with(workspaces)),
            has_terminal: record.terminal != 0,
        });
        pid = record.parent;
    }
    Ok(judge_asker(&chain))
}
