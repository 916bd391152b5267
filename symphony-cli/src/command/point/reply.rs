//! `symphony point reply`: a person's word on a point, and the answer to an agent's question.

use clap::Args;
use symphony_core::issue::IssueStatus;
use symphony_core::review_point::{AnswerKind, PointNumber};
use symphony_runner::session::Session;
use symphony_store::NewAnswer;
use symphony_view::PointView;

use crate::app::App;
use crate::command::source::find_source;
use crate::failure::Context as _;
use crate::value::SourceName;

/// What `point reply` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony point reply SYM-1 3 'At most ten, as in the importer'"
)]
pub(crate) struct ReplyArgs {
    /// The issue or the plan
    #[arg(value_name = "ISSUE|PLAN")]
    of: SourceName,
    /// The point, by its number
    #[arg(value_name = "NUMBER")]
    number: PointNumber,
    /// The reply, which the next agent reads; `-` reads it from standard input
    text: String,
}

impl ReplyArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let text = app.text(&self.text)?;
        let what = || format!("reply to review point {}", self.number);
        let mut session = app.session()?;
        let of = find_source(app, &session, &self.of).with_context(what)?;
        let new = NewAnswer {
            point: self.number,
            kind: AnswerKind::Remark,
            commit: None,
            text,
        };
        let status = |session: &Session| -> anyhow::Result<Option<IssueStatus>> {
            let issue = of.issue().map(|issue| session.store.issue(issue));
            Ok(issue.transpose()?.map(|issue| issue.state.status()))
        };
        let before = status(&session)?;
        let point = session
            .store
            .answer_point(&App::as_human(), &of, &new)
            .with_context(what)?;
        let then = if before == Some(IssueStatus::Blocked)
            && status(&session)? == Some(IssueStatus::Todo)
        {
            format!(" {of} continues at the next tick.")
        } else {
            String::new()
        };
        let sentence = format!("Replied to review point {} of {of}.{then}", self.number);
        app.out.done(&PointView::from(point), &sentence)
    }
}
