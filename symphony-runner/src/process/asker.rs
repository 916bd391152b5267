//! The processes above a command, to decide whether an agent or a person started it.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::asker::{Ancestor, Ancestry, Asker, judge_asker};
use symphony_core::id::RunId;

use super::cgroup::run_of_process;
use super::error::ProcessError;
use super::record::ProcessRecord;
use super::system;
use crate::environment::RUN_MARKER;

/// How many processes above a command are read. A deep tree of shells has a dozen.
const DEPTH_MAX: usize = 200;

/// What the decision needs to know from an installation.
#[derive(Debug, Clone, Copy)]
pub struct AskerQuestions<'a, Known, Working> {
    /// The folder of the project's worktrees; `None` outside of a project.
    pub workspaces: Option<&'a Path>,
    /// Returns whether a run belongs to this installation. The tests of a project may use Symphony themselves, with
    /// their own database.
    pub is_known: Known,
    /// Returns a run that was live at a moment.
    pub at_work: Working,
}

/// Decides who started this process.
///
/// # Errors
/// When the table of processes cannot be read.
pub fn asker<Known, Working>(
    questions: &AskerQuestions<'_, Known, Working>,
) -> Result<Asker, ProcessError>
where
    Known: Fn(&RunId) -> bool,
    Working: Fn(Timestamp) -> Option<RunId>,
{
    let mut chain = Vec::new();
    let own = system::own_pid();
    let mut pid = own;
    let mut is_whole = true;
    // Init is not part of the chain, unless it is the shell of a container.
    while pid > 1 || pid == own {
        let record = system::read_record(pid)?;
        let Some(record) = record.filter(|_| chain.len() < DEPTH_MAX) else {
            is_whole = false;
            break;
        };
        chain.push(ancestor(&record, questions));
        pid = record.parent;
        if pid == own {
            break;
        }
    }
    let init = if pid == 1 && own != 1 {
        system::read_record(1)?
    } else {
        None
    };
    // A container's first process may be the person's shell. Without a terminal, it is the machine's init.
    chain.extend(
        init.filter(|init| init.terminal != 0)
            .map(|init| ancestor(&init, questions)),
    );
    Ok(judge_asker(&Ancestry { chain, is_whole }))
}

fn ancestor<Known, Working>(
    record: &ProcessRecord,
    questions: &AskerQuestions<'_, Known, Working>,
) -> Ancestor
where
    Known: Fn(&RunId) -> bool,
    Working: Fn(Timestamp) -> Option<RunId>,
{
    let pid = record.pid;
    let is_known = &questions.is_known;
    Ancestor {
        marked: system::environment_value(pid, RUN_MARKER)
            .and_then(|run| RunId::parse(run).ok())
            .into_iter()
            .chain(run_of_process(pid))
            .find(|run| is_known(run))
            .map(|run| run.to_string()),
        supervises: supervised_run(pid).filter(|run| is_known(run)),
        is_in_worktree: questions.workspaces.is_some_and(|workspaces| {
            system::working_directory(pid).is_some_and(|folder| folder.starts_with(workspaces))
        }),
        terminal: (record.terminal != 0).then_some(record.terminal),
        leads_session: record.session == pid,
        is_login: pid == 1 || record.parent == 0 || is_above_users(pid),
        began_during: started_at(record).and_then(&questions.at_work),
    }
}

/// Returns whether a process belongs to root and this one does not, so that no agent of the user can have started it.
fn is_above_users(pid: i32) -> bool {
    !rustix::process::getuid().is_root() && system::real_user(pid) == Some(0)
}

/// Returns when a process started, in wall-clock time.
fn started_at(record: &ProcessRecord) -> Option<Timestamp> {
    let age = system::age(record)?;
    let started = Timestamp::now()
        .as_millisecond()
        .saturating_sub(i64::try_from(age.min(Duration::from_hours(1 << 20)).as_millis()).ok()?);
    Timestamp::from_millisecond(started).ok()
}

/// Returns the run that a process supervises, according to its command line.
fn supervised_run(pid: i32) -> Option<RunId> {
    let arguments = system::command_line(pid);
    let mut arguments = arguments.iter();
    arguments.find(|argument| argument.as_os_str() == OsStr::new("supervise"))?;
    arguments.find(|argument| argument.as_os_str() == OsStr::new("--run"))?;
    RunId::parse(arguments.next()?.to_str()?).ok()
}
