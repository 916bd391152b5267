//! The branch of a pull request, pushed.

use symphony_forge::branch::{Branch, Push, plan_push};
use symphony_forge::remote::RemoteState;
use symphony_workspace::{BranchName, CommitId, Failpoint, Pushed, Remote, Repository};

use super::round::{Mirrored, Round};
use crate::error::RunnerError;
use crate::merge::refusals::refuse_secrets;
use crate::outreach::stop::Stop;

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
                // Both ways out need these commits here: the agent merges them, or a person has seen what is replaced.
                let is_here = match &theirs {
                    Some(theirs) => repository.has_commit(theirs)?,
                    None => true,
                };
                if !is_here {
                    remote.fetch(&branch)?;
                }
                both.pull.problem = Some(foreign(&Foreign {
                    branch: &both.pr.branch,
                    remote: &remote_name,
                    found: &found,
                    ours: head.as_str(),
                    reference: &both.pr.reference(),
                }));
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
    Ok(repository.has_merged(theirs, head)?)
}

/// Commits of others on a branch.
#[derive(Debug)]
struct Foreign<'a> {
    branch: &'a str,
    remote: &'a str,
    /// The commit that the remote has.
    found: &'a str,
    /// The commit that would replace it.
    ours: &'a str,
    /// How a person names the pull request in a command.
    reference: &'a str,
}

/// Describes them, with a command for each way out. None of them removes the branch there, which would close its pull request, and
/// the first one ends in a hand-in: a merge by hand in the worktree would be reviewed by no one.
fn foreign(foreign: &Foreign<'_>) -> String {
    let Foreign {
        branch,
        remote,
        found,
        ours,
        reference,
    } = foreign;
    let short = found.get(..10).unwrap_or(found);
    format!(
        "`{branch}` has commit {short} at `{remote}`, which Symphony did not push and does not overwrite. To have the agent merge it, run \
         `symphony pr reject {reference} --feedback \"Run git merge {found}, which someone pushed to your branch, and hand in again.\"`; to replace it, run \
         `git push --force-with-lease={branch}:{found} {remote} {ours}:refs/heads/{branch}`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_out_is_a_command_and_none_removes_the_branch() {
        let said = foreign(&Foreign {
            branch: "symphony/SYM-1",
            remote: "origin",
            found: "0123456789abcdef",
            ours: "fedcba9876543210",
            reference: "SYM-1",
        });
        assert_eq!(
            said,
            "`symphony/SYM-1` has commit 0123456789 at `origin`, which Symphony did not push and does not overwrite. To have the agent merge it, run \
             `symphony pr reject SYM-1 --feedback \"Run git merge 0123456789abcdef, which someone pushed to your branch, and hand in again.\"`; to replace it, run \
             `git push --force-with-lease=symphony/SYM-1:0123456789abcdef origin fedcba9876543210:refs/heads/symphony/SYM-1`"
        );
    }
}
