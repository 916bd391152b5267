//! The branch of a pull request, pushed.

use symphony_forge::branch::{Branch, Push, plan_push};
use symphony_forge::remote::RemoteState;
use symphony_workspace::{BranchName, CommitId, Failpoint, Pushed, Remote, Repository};

use super::fault::Stop;
use super::round::{Mirrored, Round};
use crate::error::RunnerError;
use crate::merge::refusals::refuse_secrets;

/// How many pushed commits of a branch are remembered: more than a pull request is ever sent back.
const PUSHED_MAX: usize = 50;

impl Round<'_> {
    /// Pushes the branch if the forge lacks the commit. Returns whether it has it then.
    pub(super) fn push(
        &mut self,
        repository: &Repository,
        both: &mut Mirrored,
    ) -> Result<bool, Stop> {
        let branch = BranchName::parse(&both.pr.branch)?;
        let head = RunnerError::commit(&both.pr.head_commit, "the head of the pull request")?;
        let environment = self.session.installation.environment.clone();
        let remote_name = self.settings.remote.clone();
        let remote = Remote::new(repository, &remote_name, &environment);
        let open = both.theirs.as_ref();
        let open = open.filter(|theirs| theirs.state == RemoteState::Open);
        let theirs = match open {
            // the forge's word on an open one is as good, and costs no connection of git's
            Some(theirs) => Some(RunnerError::commit(&theirs.head, "the forge's head")?),
            None => remote.head(&branch)?,
        };
        let plan = plan_push(Branch {
            ours: head.as_str(),
            theirs: theirs.as_ref().map(CommitId::as_str),
            pushed: &both.pull.pushed,
            contains_theirs: contains(repository, &head, theirs.as_ref())?,
        });
        let over = match plan {
            Push::Nothing => return Ok(true),
            Push::Foreign { found } => {
                both.pull.problem = Some(foreign(&both.pr.branch, &remote_name, &found));
                return Ok(false);
            }
            Push::Push { .. } => theirs,
        };
        let base = RunnerError::commit(&both.pr.base_commit, "the base of the pull request")?;
        if let Err(error) = refuse_secrets(repository, &both.pr, &base, &head) {
            both.pull.problem = Some(error.to_string());
            return Ok(false);
        }
        // The intent first: after a death, the forge's commit is known to be Symphony's.
        both.pull.pushed.push(head.to_string());
        let over_max = both.pull.pushed.len().saturating_sub(PUSHED_MAX);
        both.pull.pushed.drain(..over_max);
        self.save(both, &[])?;
        Failpoint::ForgePushing.reach();
        let pushed = remote.push(&head, &branch, over.as_ref())?;
        Failpoint::ForgePushed.reach();
        match pushed {
            Pushed::Done => {
                self.report.pushed += 1;
                Ok(true)
            }
            // someone was faster: the next look decides again
            Pushed::Moved => Ok(false),
            Pushed::Refused { detail } => {
                both.pull.problem = Some(format!("the forge refuses the push: {detail}"));
                Ok(false)
            }
        }
    }
}

fn contains(
    repository: &Repository,
    head: &CommitId,
    theirs: Option<&CommitId>,
) -> Result<bool, Stop> {
    let Some(theirs) = theirs else {
        return Ok(false);
    };
    Ok(repository.has_commit(theirs)? && repository.is_merged(theirs, head)?)
}

fn foreign(branch: &str, remote: &str, found: &str) -> String {
    let short = found.get(..10).unwrap_or(found);
    format!(
        "`{branch}` has commit {short} at `{remote}`, which Symphony did not push; it is not overwritten. Take it in with `git fetch {remote} {branch}` and a merge into the issue's worktree, or remove it there with `git push {remote} :{branch}`"
    )
}
