//! `symphony pr check`: the gates of a pull request, once more.

use clap::Args;
use symphony_core::failure::ErrorClass;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_runner::gates::check_pr;
use symphony_runner::tick::wait_for;
use symphony_view::PrView;

use super::find::find_pr;
use crate::app::App;
use crate::failure::{Context as _, Exit};
use crate::value::PrReference;

/// What `pr check` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The gates run in a fresh checkout of the pull request's head. The exit code is 1 if a required \
                  gate is red.\n\n\
                  Example:\n  symphony pr check SYM-1"
)]
pub(crate) struct CheckArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
    /// Start the gates without waiting for them
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
        wait_for(
            &session.installation,
            std::slice::from_ref(&run),
            |_store| Ok(()),
        )?;
        let ended = session.store.run(&run)?.error.map(|error| error.class);
        Ok((session.store.pr(pr.id)?, Waited::ToTheEnd(ended)))
    }
}

/// How far the gates were waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waited {
    /// With the error of their run, if it had one.
    ToTheEnd(Option<ErrorClass>),
    NoLonger,
    ForASlot,
}

fn say(pr: &PullRequest, waited: Waited) -> (String, Exit) {
    let id = pr.id;
    let found = pr
        .verified_gates
        .as_ref()
        .filter(|_| matches!(waited, Waited::ToTheEnd(_)));
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
            format!("The gates of pull request {id} will run as soon as a slot is free."),
            Exit::Done,
        ),
        (None, Waited::NoLonger) => (
            format!(
                "The gates of pull request {id} are running; {} follows them.",
                pr.of.issue().map_or_else(
                    || "`symphony status --watch`".to_owned(),
                    |issue| format!("`symphony runs logs -f {issue}`")
                )
            ),
            Exit::Done,
        ),
        (None, Waited::ToTheEnd(ended)) => {
            let problem = pr.gates_wait.problem.as_deref();
            (no_result(pr, ended, problem), Exit::Failed)
        }
    }
}

/// Says why gates that were waited for have no result.
fn no_result(pr: &PullRequest, ended: Option<ErrorClass>, problem: Option<&str>) -> String {
    let id = pr.id;
    let begin = format!("The gates of pull request {id} have no result");
    if !pr.state.is_open() {
        let state = match pr.state {
            PrState::Merged => "was merged",
            PrState::Confirmed => "was confirmed",
            PrState::Rejected => "was rejected",
            PrState::Open | PrState::Approved | PrState::Closed => "was closed",
        };
        return format!("{begin}: it {state} meanwhile. `symphony pr show {id}` shows its state.");
    }
    let why = match (problem, ended) {
        (Some(problem), _) => problem,
        (None, Some(ErrorClass::BaseGatesFailed)) => "they fail on the base, too",
        (None, Some(ErrorClass::Cancelled)) => "a person or `symphony pr merge` stopped them",
        (None, _) => "their run ended early",
    };
    let next = pr.of.issue().map_or_else(
        || "`symphony inbox`".to_owned(),
        |issue| format!("`symphony explain {issue}`"),
    );
    format!("{begin}: {why}. {next} shows what they are waiting for.")
}
