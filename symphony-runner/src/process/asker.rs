//! The processes above a command, for the judgement who asks.

use std::ffi::OsStr;
use std::path::Path;

use symphony_core::asker::{Ancestor, Asker, judge_asker};
use symphony_core::id::RunId;

use super::error::ProcessError;
use super::system;
use crate::environment::RUN_MARKER;
use crate::paths::RunPaths;

/// Processes above a command that are looked at: a deep tree of shells has a dozen.
const DEPTH_MAX: usize = 200;

/// Judges who started this process, for a project and the folder of its worktrees.
///
/// # Errors
/// When the table of processes cannot be read.
pub fn asker(root: &Path, workspaces: &Path) -> Result<Asker, ProcessError> {
    let mut chain = Vec::new();
    let mut pid = system::own_pid();
    while pid > 1 && chain.len() < DEPTH_MAX {
        let Some(record) = system::read_record(pid)? else {
            break;
        };
        chain.push(Ancestor {
            marked: system::environment_value(pid, RUN_MARKER),
            supervises: supervised_run(root, pid),
            is_in_worktree: system::working_directory(pid)
                .is_some_and(|folder| folder.starts_with(workspaces)),
            has_terminal: record.terminal != 0,
        });
        pid = record.parent;
    }
    Ok(judge_asker(&chain))
}

/// Returns the run of this project that a process supervises: its command line names it, and the run has a folder here.
fn supervised_run(root: &Path, pid: i32) -> Option<RunId> {
    let arguments = system::command_line(pid);
    let mut arguments = arguments.iter();
    arguments.find(|argument| argument.as_os_str() == OsStr::new("supervise"))?;
    arguments.find(|argument| argument.as_os_str() == OsStr::new("--run"))?;
    let run = RunId::parse(arguments.next()?.to_str()?).ok()?;
    RunPaths::new(root, &run).dir.is_dir().then_some(run)
}
