//! `symphony learnings edit`.

use clap::Args;
use symphony_store::LearningEdit;
use symphony_view::LearningView;

use super::add::refusal;
use crate::app::App;
use crate::failure::Context as _;

/// What `learnings edit` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Prompts have the new text from now on. `symphony events --json` still shows the old text.\n\n\
                  Example:\n  symphony learnings edit 5f0e19a2c7d4 'Tests run from the root, with `just test`'"
)]
pub(crate) struct EditArgs {
    /// The learning: the beginning or the end of its id
    id: String,
    /// The new text, at most 600 characters; `-` reads it from standard input
    text: String,
}

impl EditArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let what = "edit the learning";
        let text = app.text(&self.text)?;
        let mut session = app.session()?;
        let id = session
            .store
            .find_learning(&self.id)
            .context(what)?
            .learning
            .id;
        let edit = session.store.edit_learning(&App::as_human(), &id, &text);
        let (record, sentence) = match edit.context(what)? {
            LearningEdit::Changed(record) => (record, format!("Changed learning {id}.")),
            LearningEdit::Unchanged(record) => {
                (record, format!("Learning {id} has this text already."))
            }
            LearningEdit::Known(known) => return Err(refusal(&known).into()),
        };
        app.out.done(&LearningView::from(record), &sentence)
    }
}
