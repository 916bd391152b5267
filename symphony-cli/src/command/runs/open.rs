//! `symphony runs open`.

use std::io::{IsTerminal as _, stdin, stdout};

use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::issue::BlockedBy;
use symphony_core::run::{Run, RunStatus};
use symphony_runner::session::Session;
use symphony_runner::take_over::{OpenedSession, open_session};
use symphony_view::RunView;

use super::find::find_run;
use super::relay::{AgentTerminal, RelayEnd};
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::interrupt::Interrupts;
use crate::live_run::note_dead;
use crate::value::RunReference;

/// What `runs open` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony runs open SYM-1\n\nThe issue stays yours when you leave: \
                  `symphony issue release SYM-1` gives it back to agents."
)]
pub(crate) struct OpenArgs {
    /// The run's id, or the beginning or end of that id; or an issue, to select its last session
    #[arg(value_name = "RUN|ISSUE")]
    run: RunReference,
}

impl OpenArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let (issue, run) = self
            .open(app, &mut session)
            .context("open the agent's session")?;
        let sentence = sentence(&session, &issue, &run)?;
        if run.status == RunStatus::Failed {
            let message = run.error.map(|error| error.message).unwrap_or_default();
            app.out.note(&sentence);
            return Err(
                Stop::new(Exit::Failed, format!("run {} failed: {message}", run.id)).into(),
            );
        }
        app.out.done(&RunView::from(run), &sentence)
    }

    fn open(&self, app: &App, session: &mut Session) -> anyhow::Result<(IssueId, Run)> {
        if !stdin().is_terminal() || !stdout().is_terminal() {
            let stop = Stop::new(Exit::Usage, "standard input and output must be a terminal");
            return Err(stop
                .hint("`symphony runs say` writes to the agent without one")
                .into());
        }
        let (issue, of) = self.subject(session)?;
        let interrupts = Interrupts::listen().context("listen to signals")?;
        let terminal = AgentTerminal::make().context("create a terminal for the agent")?;
        note_dead(app, session, &issue)?;
        let context = App::as_human();
        let opened = open_session(session, &context, &issue, of.as_ref(), terminal.path())?;
        let OpenedSession {
            run,
            mut supervisor,
        } = opened;
        app.out
            .note(&format!("Preparing the checkout of {issue} …"));
        let end = terminal.relay(|| {
            if interrupts.count() > 0 {
                return Some(RelayEnd::Left);
            }
            // A supervisor that cannot be asked is noticed by the end of the terminal.
            let ended = supervisor.try_wait().ok().flatten();
            ended.map(|_status| RelayEnd::AgentEnded)
        });
        if end == RelayEnd::Left {
            app.out.note("Ending the session …");
        }
        supervisor.wait().context("wait for the end of the run")?;
        let run = session.store.run(&run.id)?;
        if run.status.is_live() {
            let message = format!("the work of run {} is not saved yet", run.id);
            let hint = format!(
                "`symphony issue release {issue}` saves it and gives the issue back to agents, `symphony runs open {issue}` \
                 saves it and continues the session; otherwise the next `symphony tick` saves it"
            );
            return Err(Stop::new(Exit::Failed, message).hint(hint).into());
        }
        Ok((issue, run))
    }

    /// Returns the issue, and the run that was named.
    fn subject(&self, session: &Session) -> anyhow::Result<(IssueId, Option<Run>)> {
        if let RunReference::Issue(issue) = &self.run {
            return Ok((issue.clone(), None));
        }
        let run = find_run(&session.store, &self.run)?;
        if let Some(issue) = run.target.issue().cloned() {
            return Ok((issue, Some(run)));
        }
        let message = format!("run {} works on no issue", run.id);
        Err(Stop::new(Exit::Refused, message)
            .hint("only the session of an issue's agent can be opened")
            .into())
    }
}

/// Says how it ended, and whose the issue is.
fn sentence(session: &Session, issue: &IssueId, run: &Run) -> anyhow::Result<String> {
    let found = session.store.issue(issue)?;
    let is_taken_over = found
        .state
        .block()
        .is_some_and(|block| block.by == BlockedBy::TakenOver);
    let end = format!("Run {} ended: {}.", run.id, run.status);
    // Whoever closes an issue ends its session first, and closes it an instant later.
    let unless = if run.status == RunStatus::Cancelled {
        " unless it was closed"
    } else {
        ""
    };
    Ok(if is_taken_over {
        format!(
            "{end} {issue} stays yours{unless}: `symphony issue release {issue}` gives it back to agents, `symphony runs open \
             {issue}` continues the session."
        )
    } else {
        format!("{end} {issue} is `{}`.", found.state.status())
    })
}
