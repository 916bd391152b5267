//! An issue that a person gave back to agents.

use symphony_core::wording::counted;
use symphony_runner::take_over::{Released, ReleasedWork};

/// How many characters of a commit are shown.
const COMMIT_CHARS: usize = 7;

/// Says where a released issue is now, and what happened to what was uncommitted in its checkout.
pub fn released_sentence(released: &Released) -> String {
    let Released { issue, work } = released;
    let work = match work {
        ReleasedWork::Clean => "Nothing was uncommitted.".to_owned(),
        ReleasedWork::Committed(commit) => {
            let commit: String = commit.as_str().chars().take(COMMIT_CHARS).collect();
            format!("Its uncommitted changes are in commit {commit} of its branch.")
        }
        ReleasedWork::Kept(files) => {
            let files = counted(u64::try_from(*files).unwrap_or(u64::MAX), "file");
            format!("Uncommitted changes of {files} stay in its checkout.")
        }
    };
    format!(
        "{} is back in `{}` for agents. {work}",
        issue.id,
        issue.state.status()
    )
}
