//! `symphony runs withdraw`.

use clap::Args;
use symphony_core::id::CommentId;
use symphony_runner::order::withdraw_message;
use symphony_view::WithdrawnView;

use crate::app::App;
use crate::failure::Context as _;

/// What `runs withdraw` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony runs withdraw 12\n\n`symphony issue show` names the messages that no agent has read."
)]
pub(crate) struct WithdrawArgs {
    /// The number of the message
    #[arg(value_name = "MESSAGE", value_parser = CommentId::parse)]
    message: CommentId,
}

impl WithdrawArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let withdrawn = withdraw_message(&mut session.store, &App::as_human(), self.message)
            .context("withdraw the message")?;
        let view = WithdrawnView::from(withdrawn);
        app.out.done(&view, &view.sentence())
    }
}
