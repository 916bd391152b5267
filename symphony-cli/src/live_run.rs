//! What a command says before it waits for a run to end.

use symphony_core::id::IssueId;
use symphony_core::run::{Run, RunTarget};
use symphony_runner::cancel::{dead_run_of, live_run_of};
use symphony_runner::session::Session;

use crate::app::App;

/// Says that the work of a run whose supervisor is dead is saved first.
///
/// # Errors
/// When the database or the run's lock cannot be read.
pub(crate) fn note_dead(app: &App, session: &Session, issue: &IssueId) -> anyhow::Result<()> {
    if let Some(run) = dead_run_of(&session.store, issue)? {
        app.out.note(&format!(
            "The supervisor of run {} has died. Symphony ends the run's processes and saves its work first …",
            run.id
        ));
    }
    Ok(())
}

/// Says which run on an issue is ended first, and what happens to its work.
///
/// # Errors
/// When the database or the run's lock cannot be read.
pub(crate) fn note_ending(app: &App, session: &Session, issue: &IssueId) -> anyhow::Result<()> {
    note_dead(app, session, issue)?;
    if dead_run_of(&session.store, issue)?.is_none()
        && let Some(run) = live_run_of(&session.store, issue)?
    {
        app.out.note(&ending_words(&run, issue));
    }
    Ok(())
}

fn ending_words(run: &Run, issue: &IssueId) -> String {
    let id = &run.id;
    if run.is_interactive() {
        return format!(
            "A person works in the session of {issue} (run {id}). Symphony ends the session and commits its work first …"
        );
    }
    if matches!(run.target, RunTarget::Gates(..)) {
        return format!("The gates of {issue} are running (run {id}). Symphony ends them first …");
    }
    format!(
        "The {} is working on {issue} (run {id}). Symphony ends it and commits its work first …",
        run.agent
    )
}
