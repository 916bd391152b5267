//! `symphony explain`.

use clap::Args;
use symphony_core::Timestamp;
use symphony_core::pull_request::PullRequestOf;
use symphony_view::{Elsewhere, read};

use super::source::find_source;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::SourceName;

/// What `explain` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony explain SYM-1\n  symphony explain plan.md")]
pub(crate) struct ExplainArgs {
    /// The issue, or the plan by its id or its file
    #[arg(value_name = "ISSUE|PLAN")]
    of: SourceName,
}

impl ExplainArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let of = find_source(app, &session, &self.of);
        let of = of.with_context(|| format!("explain {}", self.of.0))?;
        let what = || format!("explain {of}");
        let here = app.surroundings.typed_in();
        let elsewhere = Elsewhere::load(here.as_deref(), &session.store).with_context(what)?;
        let (session, now) = (&mut session, Timestamp::now());
        match &of {
            PullRequestOf::Issue(issue) => {
                let view = read::explain_issue(session, issue, &elsewhere, now);
                app.out.answer_long(&view.with_context(what)?)
            }
            PullRequestOf::Plan(plan) => {
                let view = read::explain_plan(session, plan, &elsewhere, now);
                app.out.answer_long(&view.with_context(what)?)
            }
        }
    }
}
