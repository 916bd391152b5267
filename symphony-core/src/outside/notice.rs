//! What a person has to look at beside the issues: commits of agents that reached the base branch without Symphony, and
//! settings that changed while agents or gates were running.

use serde::Serialize;

use super::branch_commits::BranchCommits;
use super::found::{FoundMerge, Missing};
use super::reject_for_conflict;
use crate::closed_set::closed_set;
use crate::config_change::{AtWork, SharedChanges, config_change_text, setting_text};
use crate::id::{IssueId, PlanId, PrId, ProjectId, RunId};
use crate::listing::list_few;
use crate::plan::LostBase;
use crate::plan::state::PlanStatus;
use crate::pull_request::{PullRequest, PullRequestOf};
use crate::shared_refs::{commands_in, lost_refs_text};
use crate::wording::counted;

/// Characters of a commit that a text shows, as git abbreviates it.
const COMMIT_CHARS: usize = 8;
/// Files that a conflict names.
const FILES_NAMED_MAX: usize = 5;

closed_set!(
    /// Why there is a notice.
    NoticeKind, "notice", {
        /// A pull request was merged without green gates or without an approval.
        Unreviewed = "unreviewed",
        /// The base got the change of a pull request while its own agent was running.
        AgentAtWork = "agent_at_work",
        /// The base has a part of an open pull request.
        Part = "part",
        /// The base has more of a branch than its merged pull request had.
        Beyond = "beyond",
        /// The pull request was rejected or closed.
        TurnedDown = "turned_down",
        /// There never was a pull request.
        NoPullRequest = "no_pull_request",
        /// The issue is cancelled.
        Cancelled = "cancelled",
        /// The base had the work of a plan before its pull request was opened.
        Landed = "landed",
        /// The branch that the phases of a plan are merged into lost work of complete phases.
        BaseLost = "base_lost",
        /// A pull request of a plan cannot be merged: it conflicts with its base.
        Conflict = "conflict",
        /// The git configuration that all checkouts share changed while an agent or gates were running.
        Settings = "settings",
        /// Symphony's configuration changed meanwhile.
        Configuration = "configuration",
        /// The base has lost commits.
        Rewound = "rewound",
        /// Branches, tags or stash entries were deleted or rewritten meanwhile.
        Refs = "refs",
        /// Commits of submodules were saved when the worktree was removed that had the only copy.
        Submodules = "submodules",
        /// Gates passed only with kept build output.
        Warm = "warm",
    }
);

/// Commits of a submodule that were saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedCommits {
    /// The name of the submodule.
    pub name: String,
    /// The rescue ref.
    pub rescue: String,
}

/// A notice for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BaseNotice {
    /// The project.
    pub project: ProjectId,
    /// What the branch was created for, or what was running meanwhile; `None` if that was the project's own.
    pub of: Option<PullRequestOf>,
    /// The pull request.
    pub pr: Option<PrId>,
    /// The kind of notice.
    pub kind: NoticeKind,
    /// The newest commit that it is about; the run, if it is about changes during one.
    pub commit: String,
    /// What happened, in a sentence without a full stop.
    pub text: String,
}

impl BaseNotice {
    /// Returns the issue that it is about.
    pub fn issue(&self) -> Option<&IssueId> {
        self.of.as_ref().and_then(PullRequestOf::issue)
    }

    /// Returns the plan that it is about.
    pub fn plan(&self) -> Option<&PlanId> {
        self.of.as_ref().and_then(PullRequestOf::plan)
    }

    /// Names what it is about.
    pub fn subject(&self) -> String {
        let of = self.of.as_ref().map(ToString::to_string);
        of.unwrap_or_else(|| self.project.to_string())
    }

    /// Creates the notice that a pull request was merged although something was missing; `None` if nothing was.
    pub fn of_merge(merge: &FoundMerge) -> Option<Self> {
        if merge.missing.is_empty() {
            return None;
        }
        let missing: Vec<&str> = merge.missing.iter().copied().map(Missing::name).collect();
        let by = by(merge);
        let text = format!(
            "pull request {} was merged into {} outside Symphony{by}, without {}",
            merge.pr,
            merge.base,
            missing.join(" and without ")
        );
        Some(Self::new(merge, NoticeKind::Unreviewed, text))
    }

    /// Creates the notice that the base got a change while its agent was running: it may have moved the base itself.
    pub fn of_live_agent(merge: &FoundMerge) -> Self {
        let text = format!(
            "{} got the commits of pull request {} ({}) while its own agent was running, so it does not count as \
             merged",
            merge.base,
            merge.pr,
            short(&merge.merge.commit)
        );
        Self::new(merge, NoticeKind::AgentAtWork, text)
    }

    /// Creates the notice of unexplained commits of a branch on the base.
    pub fn of_commits(found: &BranchCommits, kind: NoticeKind) -> Self {
        let commit = found.commits.first().cloned().unwrap_or_default();
        let what = counted(found.commits.len() as u64, "commit");
        let review = found.review.map(|review| (review.pr, review.state));
        let why = match (kind, review) {
            (NoticeKind::Part, Some((pr, _))) => {
                format!("a part of pull request {pr}, which is still open")
            }
            (NoticeKind::Beyond, Some((pr, _))) => {
                format!("not part of merged pull request {pr}")
            }
            (NoticeKind::TurnedDown, Some((pr, state))) => format!("pull request {pr} is {state}"),
            (NoticeKind::Cancelled, _) => "the issue is cancelled".to_owned(),
            _ => "there is no pull request".to_owned(),
        };
        Self {
            project: found.project.clone(),
            of: Some(found.of.clone()),
            pr: review.map(|(pr, _)| pr),
            kind,
            text: format!(
                "{what} of its branch reached {} without a merge by Symphony (the newest is {}): {why}",
                found.base,
                short(&commit)
            ),
            commit,
        }
    }

    /// Creates the notice of changes in what Symphony and the person share with a run, or with gates that a person's
    /// command ran.
    pub fn of_changes(
        project: &ProjectId,
        of: Option<&PullRequestOf>,
        run: &RunId,
        at_work: AtWork,
        changes: &SharedChanges,
    ) -> Vec<Self> {
        let notice = |kind, text| Self {
            project: project.clone(),
            of: of.cloned(),
            pr: None,
            kind,
            commit: run.to_string(),
            text,
        };
        let SharedChanges {
            settings,
            configuration,
            refs,
        } = changes;
        let settings = (!settings.is_empty())
            .then(|| notice(NoticeKind::Settings, setting_text(settings, at_work)));
        let configuration = (!configuration.is_empty()).then(|| {
            notice(
                NoticeKind::Configuration,
                config_change_text(configuration, at_work),
            )
        });
        let refs =
            (!refs.is_empty()).then(|| notice(NoticeKind::Refs, lost_refs_text(refs, at_work)));
        let all = settings.into_iter().chain(configuration).chain(refs);
        all.collect()
    }

    /// Creates the notice of where the commits of submodules are that only a removed worktree had; `None` if there were
    /// none.
    pub fn of_saved_submodules(
        project: &ProjectId,
        of: &PullRequestOf,
        saved: &[SavedCommits],
    ) -> Option<Self> {
        let first = saved.first()?;
        let names: Vec<String> = saved
            .iter()
            .map(|saved| format!("{} in {}", saved.name, saved.rescue))
            .collect();
        Some(Self {
            project: project.clone(),
            of: Some(of.clone()),
            pr: None,
            kind: NoticeKind::Submodules,
            commit: first.rescue.clone(),
            text: format!(
                "the worktree that was removed had the only copy of commits of submodules; they are saved in this repository: {}. \
                 `git push URL REF:refs/heads/NAME` publishes them",
                list_few(names.iter().map(String::as_str), FILES_NAMED_MAX)
            ),
        })
    }

    /// Creates the notice that gates passed with kept build output only, and that none is used any more.
    pub fn of_warm(project: &ProjectId, commit: &str, why: &str) -> Self {
        Self {
            project: project.clone(),
            of: None,
            pr: None,
            kind: NoticeKind::Warm,
            commit: commit.to_owned(),
            text: format!("{why}; remove the folder `.symphony/warm` to allow it again"),
        }
    }

    /// Creates the notice that the base had the work of a plan before its review.
    pub fn of_landed(plan: &PlanId, project: &ProjectId, pr: PrId, base: &str, head: &str) -> Self {
        Self {
            project: project.clone(),
            of: Some(plan.clone().into()),
            pr: Some(pr),
            kind: NoticeKind::Landed,
            text: format!(
                "{base} had the work of pull request {pr} ({}) before it was opened, and Symphony did not merge it: \
                 it does not count as merged, and its gates and judge run as if {base} did not have it",
                short(head)
            ),
            commit: head.to_owned(),
        }
    }

    /// Creates the notice that the base of a plan lost work of complete phases.
    pub fn of_lost_base(plan: &PlanId, project: &ProjectId, lost: &LostBase) -> Self {
        Self {
            project: project.clone(),
            of: Some(plan.clone().into()),
            pr: None,
            kind: NoticeKind::BaseLost,
            commit: lost.marker().to_owned(),
            text: lost.to_string(),
        }
    }

    /// Creates the notice that a pull request of a plan conflicts with its base.
    pub fn of_conflict(pr: &PullRequest, plan: &PlanId, base_head: &str, files: &[String]) -> Self {
        Self {
            project: pr.project.clone(),
            of: Some(plan.clone().into()),
            pr: Some(pr.id),
            kind: NoticeKind::Conflict,
            commit: base_head.to_owned(),
            text: format!(
                "pull request {} cannot be merged: it conflicts with {} in {}; `{}` asks a phase to resolve that",
                pr.id,
                pr.base,
                list_few(files.iter().map(String::as_str), FILES_NAMED_MAX),
                reject_for_conflict(&pr.id.to_string(), &pr.base)
            ),
        }
    }

    fn new(merge: &FoundMerge, kind: NoticeKind, text: String) -> Self {
        Self {
            project: merge.project.clone(),
            of: Some(merge.of.clone()),
            pr: Some(merge.pr),
            kind,
            commit: merge.merge.commit.clone(),
            text,
        }
    }
}

fn by(merge: &FoundMerge) -> String {
    merge
        .merge
        .by
        .as_ref()
        .map_or_else(String::new, |name| format!(" by {name}"))
}

/// Returns a commit as git abbreviates it.
fn short(commit: &str) -> &str {
    commit.get(..COMMIT_CHARS).unwrap_or(commit)
}

/// Returns the commands that answer a notice, the usual one first; `status` is that of the plan that it is about.
pub fn notice_answers(notice: &BaseNotice, key: &str, status: Option<PlanStatus>) -> Vec<String> {
    let dismiss = format!("symphony inbox --dismiss {key}");
    let commit = short(&notice.commit);
    let show = format!("git show {commit}");
    let issue = notice.issue();
    // an issue names its pull request, a plan's has its number
    let reference = issue.map(ToString::to_string);
    let reference = reference.or_else(|| notice.pr.map(|pr| pr.to_string()));
    let reference = reference.unwrap_or_default();
    let plan = notice.plan().map(ToString::to_string);
    let plan = plan.unwrap_or_default();
    match notice.kind {
        NoticeKind::Unreviewed => vec![
            format!("symphony pr show {reference}"),
            dismiss,
            format!("git revert {commit}"),
        ],
        NoticeKind::AgentAtWork | NoticeKind::Landed => vec![
            format!("symphony pr show {reference}"),
            format!("symphony pr merge {reference}"),
            dismiss,
        ],
        NoticeKind::Part | NoticeKind::TurnedDown | NoticeKind::NoPullRequest => {
            let close =
                issue.map(|issue| format!("symphony issue close {issue} --done --reason TEXT"));
            [Some(show), close, Some(dismiss)]
                .into_iter()
                .flatten()
                .collect()
        }
        NoticeKind::Beyond | NoticeKind::Cancelled | NoticeKind::Warm => vec![show, dismiss],
        NoticeKind::Settings => vec!["git config --local --list".to_owned(), dismiss],
        NoticeKind::Configuration => vec!["symphony config show".to_owned(), dismiss],
        NoticeKind::Refs | NoticeKind::Rewound | NoticeKind::Conflict => {
            let mut answers = commands_in(&notice.text);
            answers.push(dismiss);
            answers
        }
        NoticeKind::Submodules => vec![format!("git log {}", notice.commit), dismiss],
        NoticeKind::BaseLost => vec![
            format!("symphony plan status --plan {plan}"),
            if status.is_some_and(PlanStatus::is_ended) {
                format!("symphony plan run --plan {plan} --retry-failed")
            } else {
                format!("symphony plan resume --plan {plan}")
            },
            dismiss,
        ],
    }
}
