//! `symphony issue comment`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_view::CommentView;

use crate::app::App;
use crate::failure::Context as _;
use crate::value::issue_id;

/// What `issue comment` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony issue comment SYM-1 'Use the existing parser'")]
pub(crate) struct CommentArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// The comment; `-` reads it from standard input
    text: String,
}

impl CommentArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let text = app.text(&self.text)?;
        let mut session = app.session()?;
        let comment = session
            .store
            .add_comment(&App::as_human(), &self.issue, &text)
            .with_context(|| format!("comment on {}", self.issue))?;
        app.out.done(
            &CommentView::from(comment),
            &format!("Commented on {}.", self.issue),
        )
    }
}
