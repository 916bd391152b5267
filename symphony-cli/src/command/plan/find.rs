//! `symphony plan find`.

use clap::Args;
use serde::Serialize;
use symphony_view::text::{Page, View};

use super::source::find_plan;
use crate::app::App;

/// What `plan find` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "It is the most recently changed .md file with a ```symphony-phases block below ~/.claude/plans, or \
                  else plan.md in this folder. The exit code is 3 if there is none.\n\n\
                  Example:\n  symphony plan check \"$(symphony plan find)\""
)]
pub(crate) struct FindArgs {}

/// In JSON `{"version", "path"}`.
#[derive(Debug, Serialize)]
struct FoundPlan {
    path: String,
}

impl View for FoundPlan {
    fn write(&self, page: &mut Page) {
        page.line(&self.path);
    }
}

impl FindArgs {
    #[expect(clippy::unused_self, reason = "every command is run in one form")]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let path = find_plan(app)?;
        app.out.answer_long(&FoundPlan {
            path: path.display().to_string(),
        })
    }
}
