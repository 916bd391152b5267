//! `symphony pr check`: the gates of a pull request, once more.

use anyhow::Context as _;
use clap::Args;
use symphony_core::pull_request::PullRequest;
use symphony_runner::gates::check_pr;
use symphony_runner::tick::wait_for;

use super::find::find_pr;
use crate::app::App;
use crate::failure::Exit;
use crate::value::PrReference;
use crate::view::PrView;

/// What `pr check` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The gates run in a pristine checkout of the pull request's head. Exit code 1 means that a required gate is red.\n\n\
                  Example:\n  symphony pr check SYM-1"
)]
pub(crate) struct CheckArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
    /// Start the gates and do not wait for them
    #[arg(long)]
    no_wait: bool,
}

impl CheckArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        let (pr, waited) = self.carry_out(app).context("check the pull request")?;
        let (sentence, exit) = say(&pr, waited);
        app.out.done(&PrView::from(pr), &sentence)?;
        Ok(exit)
    }

    fn carry_out(&self, app: &App) -> anyhow::Result<(PullRequest, Waited)> {
        let mut session = app.session()?;
        let pr = find_pr(app, &session, &self.pr)?;
        let started = check_pr(
            &session.installation,
            &mut session.store,
            &App::as_human(),
            pr.id,
        )?;
        let Some(run) = started else {
            return Ok((session.store.pr(pr.id)?, Waited::ForASlot));
        };
        if self.no_wait {
            return Ok((session.store.pr(pr.id)?, Waited::NoLonger));
        }
        wait_for(&session.installation, &[run], |_store| Ok(()))?;
        Ok((session.store.pr(pr.id)?, Waited::ToTheEnd))
    }
}

/// How far the gates were waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waited {
    ToTheEnd,
    NoLonger,
    ForASlot,
}

fn say(pr: &PullRequest, waited: Waited) -> (String, Exit) {
    let id = pr.id;
    let problem = pr.gates_wait.problem.as_deref();
    let found = pr
        .verified_gates
        .as_ref()
        .filter(|_| waited == Waited::ToTheEnd);
    match (found, waited) {
        (Some(gates), _) if gates.green() => {
            (format!("The gates of pull request {id} pass."), Exit::Done)
        }
        (Some(gates), _) => {
            let red: Vec<&str> = gates.red().map(|gate| gate.name.as_str()).collect();
            let names = red.join(", ");
            let text = format!(
                "Required gates of pull request {id} are red: {names}. `symphony pr show {id}` has their output."
            );
            (text, Exit::Failed)
        }
        (None, Waited::ForASlot) => (
            format!("The gates of pull request {id} run as soon as a slot is free."),
            Exit::Done,
        ),
        (None, Waited::NoLonger) => (
            format!(
                "The gates of pull request {id} run; {} follows them.",
                pr.of.issue().map_or_else(
                    || "`symphony status --watch`".to_owned(),
                    |issue| format!("`symphony runs logs -f {issue}`")
                )
            ),
            Exit::Done,
        ),
        (None, Waited::ToTheEnd) => (
            format!(
                "The gates of pull request {id} have no result: {}. {} says what they wait for.",
                problem.unwrap_or("they fail on the base, too"),
                pr.of.issue().map_or_else(
                    || "`symphony inbox`".to_owned(),
                    |issue| format!("`symphony explain {issue}`")
                )
            ),
            Exit::Failed,
        ),
    }
}
