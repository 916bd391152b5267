//! `symphony pr publish`.

use clap::Args;
use symphony_runner::outreach::publish::publish_pr;
use symphony_view::PrView;

use super::find::find_pr;
use crate::app::App;
use crate::failure::{Context as _, Exit};
use crate::value::PrReference;

/// What `pr publish` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Runs the `publish` command of the configuration with the pull request as JSON on its standard \
                  input, and records its output and the URL in it. Symphony runs the command once for each new pull request; use \
                  `pr publish` to run it again.\n\nExample:\n  symphony pr publish SYM-1"
)]
pub(crate) struct PublishArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
}

impl PublishArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        let what = "publish the pull request";
        let session = app.session()?;
        let pr = find_pr(app, &session, &self.pr).context(what)?;
        let outcome = publish_pr(&session.installation, pr.id).context(what)?;
        let view = PrView::from(session.store.pr(pr.id)?)
            .with_publication(session.store.publication(pr.id)?);
        if !outcome.published {
            if app.out.is_json() {
                app.out.json(&view)?;
            }
            // its last line of output comes before the line on how it ended
            let mut lines = outcome.output.lines().rev();
            let how = lines.next().unwrap_or_default();
            let said = lines.find(|line| !line.trim().is_empty()).unwrap_or(how);
            app.out.warn(&format!(
                "Pull request {} was not published: {said} {how}",
                pr.id
            ));
            return Ok(Exit::Failed);
        }
        let sentence = match &outcome.url {
            Some(url) => format!("Published pull request {}: {url}", pr.id),
            None => format!("Published pull request {}.", pr.id),
        };
        app.out.done(&view, &sentence)?;
        Ok(Exit::Done)
    }
}
