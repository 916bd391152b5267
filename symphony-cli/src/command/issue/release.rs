//! `symphony issue release`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::wording::counted;
use symphony_runner::take_over::{Released, ReleasedWork, Uncommitted, release_issue};
use symphony_view::IssueView;

use crate::app::App;
use crate::failure::Context as _;
use crate::live_run::note_dead;
use crate::value::issue_id;

/// What `issue release` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony issue release SYM-1")]
pub(crate) struct ReleaseArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// Leave uncommitted changes as they are in the checkout, instead of committing them to the issue's branch
    #[arg(long)]
    keep: bool,
}

impl ReleaseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let uncommitted = if self.keep {
            Uncommitted::Keep
        } else {
            Uncommitted::Commit
        };
        note_dead(app, &session, &self.issue)?;
        let released = release_issue(&mut session, &App::as_human(), &self.issue, uncommitted)
            .with_context(|| format!("release {}", self.issue))?;
        let Released { issue, work } = released;
        let work = match work {
            ReleasedWork::Clean => "Nothing was uncommitted.".to_owned(),
            ReleasedWork::Committed(commit) => {
                let commit: String = commit.as_str().chars().take(COMMIT_CHARS).collect();
                format!("Its uncommitted changes are in commit {commit} of its branch.")
            }
            ReleasedWork::Kept(files) => {
                let files = counted(u64::try_from(files).unwrap_or(u64::MAX), "file");
                format!("Uncommitted changes of {files} stay in its checkout.")
            }
        };
        let sentence = format!(
            "{} is back in `{}` for agents. {work}",
            issue.id,
            issue.state.status()
        );
        app.out.done(&IssueView::from(issue), &sentence)
    }
}

/// How many characters of a commit are shown.
const COMMIT_CHARS: usize = 7;
