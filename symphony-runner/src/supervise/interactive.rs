//! A person's session with the agent, in their terminal (`docs/design/0044`).
//!
//! The agent's terminal is a pseudo-terminal, whose other end `symphony runs open` copies to the person's own. So the
//! agent has a session of its own, like every agent, and is ended in the same way. No limit of an agent that works alone
//! applies: the person sees what it does.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use serde_json::{Map, json};
use symphony_core::failure::ErrorClass;
use symphony_core::run::{INTERACTIVE, RunError, RunStatus, Usage};
use symphony_core::run_memory::RUN_MEMORY;
use symphony_core::run_network::RUN_NETWORK;
use symphony_core::session::{SESSION, SessionRecord};
use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_store::RunProgress;
use symphony_workspace::Failpoint;

use super::Job;
use super::agent::{launch, not_run};
use super::outcome::AgentOutcome;
use super::prepare::Prepared;
use super::served::while_served;
use super::until_cancelled::is_cancelled;
use crate::error::RunnerError;
use crate::process::{AgentEnd, AgentExit, AgentInput, GRACE, Supervision};

/// How often the terminal and the person's wishes are looked at.
const PULSE: Duration = Duration::from_millis(500);
/// Pulses between two records of the step.
const PULSES_A_RECORD: u32 = 120;
/// How long a record of the step counts: several times what lies between two.
const RECORD_COUNTS: Duration = Duration::from_mins(10);
/// The exit code of a program that could not be started.
const NOT_STARTED: i32 = 127;

/// Why Symphony ends a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// A person asked for the end of the run.
    Cancelled,
    /// The window was closed, or the connection to it was lost.
    TerminalGone,
}

/// Runs the session until the person leaves it, and leaves no process of the agent alive.
pub(super) async fn run_session(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    prepared: &Prepared,
    terminal: &Path,
) -> Result<AgentOutcome, RunnerError> {
    let work = attend(job, store, supervision, prepared, terminal);
    let (ended, _was_asked) = while_served(job, store, prepared, work).await?;
    ended.or_else(not_run)
}

async fn attend(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    prepared: &Prepared,
    path: &Path,
) -> Result<AgentOutcome, RunnerError> {
    job.steps.enter_for(Step::Agent, RECORD_COUNTS);
    let Ok(mut terminal) = open_terminal(path) else {
        // It was closed while the run was prepared.
        return Ok(outcome(Some(Stop::TerminalGone), None, prepared));
    };
    let shared = terminal
        .try_clone()
        .map_err(|error| RunnerError::io("copy the terminal", path, error))?;
    // Nothing may fail between this line and `end_tree` without ending the processes.
    let (launch, mut start) = launch(job, prepared, AgentInput::Terminal(shared))?;
    // The first output tells the other end that the agent takes over. A terminal that is gone is noticed below.
    let _unwritten = write!(terminal, "{}\r\n", greeting(job, prepared));
    let mut agent = supervision.spawn(launch)?;
    Failpoint::AgentSpawned.reach();
    note_person(job, store).await;
    let mut pulse = tokio::time::interval(PULSE);
    pulse.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let mut pulses = 0_u32;
    let stop = loop {
        tokio::select! {
            biased;
            exit = agent.wait() => match exit {
                // Programs end in their own ways when their terminal is closed.
                Ok(_) => break Ok(is_hung_up(&terminal).then_some(Stop::TerminalGone)),
                Err(error) => break Err(error.into()),
            },
            _ = pulse.tick() => {
                pulses = pulses.wrapping_add(1);
                if pulses.is_multiple_of(PULSES_A_RECORD) {
                    job.steps.enter_for(Step::Agent, RECORD_COUNTS);
                }
                if let Some(start) = &mut start {
                    start.keep_login();
                }
                match on_pulse(job, store, supervision, &terminal).await {
                    Ok(None) => {}
                    stop => break stop,
                }
            }
        }
    };
    job.steps.enter_ending(Step::EndAgent);
    let end = supervision.end_tree(&mut agent, GRACE).await?;
    Failpoint::AgentEnded.reach();
    let stop = stop?;
    if end.end == AgentEnd::ByItself
        && let Some(start) = &start
        && let Some(fault) = start.fault(end.exit, "", true)
    {
        return Err(fault.into());
    }
    let mut outcome = outcome(stop, Some(end.exit), prepared);
    if let Some(memory) = agent.memory() {
        outcome
            .metadata
            .insert(RUN_MEMORY.to_owned(), json!(memory));
    }
    Ok(outcome)
}

/// Records what lists of live runs show. The session does not depend on it.
async fn note_person(job: &Job<'_>, store: &StoreThread) {
    let progress = RunProgress {
        last_event: "a person works in its session".to_owned(),
        usage: Usage::default(),
    };
    let (context, run) = (job.as_run(), job.run.id.clone());
    let recorded = store
        .call(move |store| store.record_progress(&context, &run, &progress))
        .await;
    if let Ok(Err(error)) = recorded {
        tracing::warn!(%error, "cannot record that a person works in the session");
    }
}

/// Opens the agent's end of the terminal, without taking it for this process.
fn open_terminal(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

async fn on_pulse(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    terminal: &File,
) -> Result<Option<Stop>, RunnerError> {
    supervision.reap_orphans()?;
    if is_hung_up(terminal) {
        return Ok(Some(Stop::TerminalGone));
    }
    Ok(is_cancelled(job, store).await?.then_some(Stop::Cancelled))
}

/// Returns whether the other end of the terminal is closed.
fn is_hung_up(terminal: &File) -> bool {
    let mut ready = [PollFd::new(terminal, PollFlags::empty())];
    let looked = poll(&mut ready, Some(&Timespec::default()));
    looked.is_ok()
        && ready
            .iter()
            .any(|end| end.revents().contains(PollFlags::HUP))
}

/// What the person reads first.
fn greeting(job: &Job<'_>, prepared: &Prepared) -> String {
    let issue = job.run.target.issue();
    let issue = issue.map_or_else(String::new, |issue| format!("{issue}: "));
    let session = match &prepared.session.record {
        SessionRecord::Resumed { run } => format!("the session of run {run}"),
        SessionRecord::New { why } => format!(
            "a new session, which has the agent's instructions but not the task, because {}",
            why.words()
        ),
        SessionRecord::Refused { .. } => "a new session".to_owned(),
    };
    format!("{issue}{session}, in {}", prepared.site.path().display())
}

/// Puts together how the session ended. What it cost is unknown.
fn outcome(stop: Option<Stop>, exit: Option<AgentExit>, prepared: &Prepared) -> AgentOutcome {
    let (status, error) = ending(stop, exit);
    let mut metadata = Map::new();
    metadata.insert(INTERACTIVE.to_owned(), json!(true));
    if let Some(session) = &prepared.opened {
        metadata.insert(SESSION.to_owned(), json!(session));
    }
    if let Some(network) = &prepared.network {
        metadata.insert(RUN_NETWORK.to_owned(), json!(network.used()));
    }
    AgentOutcome {
        status,
        error,
        exit_code: exit.and_then(|exit| exit.code),
        usage: None,
        output_tail: String::new(),
        metadata,
        hold_until: None,
    }
}

fn ending(stop: Option<Stop>, exit: Option<AgentExit>) -> (RunStatus, Option<RunError>) {
    let failed = |status, class, message: String| (status, Some(RunError { class, message }));
    let cancelled = |message: &str| {
        failed(
            RunStatus::Cancelled,
            ErrorClass::Cancelled,
            message.to_owned(),
        )
    };
    let exit = exit.map(|exit| (exit.code, exit.signal));
    match (stop, exit) {
        (Some(Stop::Cancelled), _) => cancelled("ended by a person"),
        (Some(Stop::TerminalGone), _) => cancelled("its terminal was closed"),
        (None, None | Some((Some(0), _))) => (RunStatus::Succeeded, None),
        // The end of the terminal reaches the agent itself first.
        (None, Some((None, Some(signal)))) if signal == rustix::process::Signal::HUP.as_raw() => {
            cancelled("its terminal was closed")
        }
        (None, Some((Some(NOT_STARTED), _))) => failed(
            RunStatus::Failed,
            ErrorClass::SpawnFailed,
            "the agent's program did not start; its terminal showed why".to_owned(),
        ),
        (None, Some((Some(code), _))) => failed(
            RunStatus::Failed,
            ErrorClass::AgentFailed,
            format!("the agent's program ended with exit code {code}"),
        ),
        (None, Some((None, signal))) => failed(
            RunStatus::Failed,
            ErrorClass::AgentFailed,
            format!(
                "the agent's program was ended by signal {}",
                signal.unwrap_or_default()
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_a_person_leaves_has_succeeded() {
        let exit = |code, signal| Some(AgentExit { code, signal });
        let by_itself = exit(Some(0), None);
        for (stop, exit, status, message) in [
            (None, by_itself, RunStatus::Succeeded, ""),
            (
                Some(Stop::Cancelled),
                exit(None, Some(15)),
                RunStatus::Cancelled,
                "ended by a person",
            ),
            (
                Some(Stop::TerminalGone),
                None,
                RunStatus::Cancelled,
                "its terminal was closed",
            ),
            (
                None,
                exit(None, Some(1)),
                RunStatus::Cancelled,
                "its terminal was closed",
            ),
            (
                None,
                exit(Some(3), None),
                RunStatus::Failed,
                "the agent's program ended with exit code 3",
            ),
            (
                None,
                exit(Some(127), None),
                RunStatus::Failed,
                "the agent's program did not start; its terminal showed why",
            ),
            (
                None,
                exit(None, Some(9)),
                RunStatus::Failed,
                "the agent's program was ended by signal 9",
            ),
        ] {
            let (found, error) = ending(stop, exit);
            let text = error.map_or_else(String::new, |error| error.message);
            assert_eq!(
                (found, text.as_str()),
                (status, message),
                "{stop:?} {exit:?}"
            );
        }
    }
}
