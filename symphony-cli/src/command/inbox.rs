//! `symphony inbox`.

use clap::Args;
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PlanId};
use symphony_runner::session::Session;
use symphony_view::text::List;
use symphony_view::{Elsewhere, InboxView, read};

use crate::app::App;
use crate::failure::Context as _;

/// What `inbox` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Lists the items of all projects, each with the commands that answer it.\n\n\
                  Example:\n  symphony inbox"
)]
pub(crate) struct InboxArgs {
    /// Dismiss a notice that you have seen (`notice:3`).
    #[arg(long, value_name = "KEY")]
    dismiss: Option<String>,
}

/// A notice that was dismissed.
#[derive(Debug, Serialize)]
struct DismissedView {
    dismissed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue: Option<IssueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanId>,
}

impl InboxArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        if let Some(key) = &self.dismiss {
            return dismiss(app, key).context("dismiss a notice");
        }
        let mut session = app.session()?;
        let view = load(app, &mut session).context("show the inbox")?;
        app.out.answer_long(&view)
    }
}

/// Takes a notice off the list. Everything else leaves it by itself when it is answered.
fn dismiss(app: &App, key: &str) -> anyhow::Result<()> {
    let Some(id) = key.strip_prefix("notice:").and_then(|id| id.parse().ok()) else {
        anyhow::bail!(
            "only a notice (`notice:NUMBER`) can be dismissed, not `{key}`: everything else leaves the inbox once you act on it"
        );
    };
    app.admit("inbox --dismiss")?;
    let mut session = app.session()?;
    let notice = session.store.dismiss_base_notice(&App::as_human(), id)?;
    let sentence = format!("The notice about {} is dismissed.", notice.subject());
    let view = DismissedView {
        dismissed: key.to_owned(),
        issue: notice.issue().cloned(),
        plan: notice.plan().cloned(),
    };
    app.out.done(&view, &sentence)
}

fn load(app: &App, session: &mut Session) -> anyhow::Result<List<InboxView>> {
    let here = app.surroundings.typed_in();
    let elsewhere = Elsewhere::load(here.as_deref(), &session.store)?;
    let items = read::inbox(session, &elsewhere, Timestamp::now())?;
    Ok(List { items })
}
