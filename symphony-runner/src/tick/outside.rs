//! Checks base branches for merges that were made outside Symphony.
//!
//! A base branch that has not moved since the last check costs the reading of one ref. One that has moved is checked at
//! once for each open pull request into it.

use std::collections::BTreeSet;

use symphony_core::config::ProjectConfig;
use symphony_core::exit_handling::ExitFault;
use symphony_core::id::{IssueId, PlanId, ProjectId};
use symphony_core::outside::{
    BaseLook, BaseNotice, BaseView, BranchCommits, BranchReview, FoundMerge, GoneBase, HeadFound,
    LostHead, NoticeKind, OpenInto, OutsideMerge, Standing, missing_of,
};
use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_store::{PrFilter, Project, Store};
use symphony_workspace::{
    BranchName, ChangeQuery, CommitId, Identity, MergePlan, MergeStyle, Repository, WorkspaceError,
};

use super::observed::Observed;
use crate::error::RunnerError;
use crate::merge::content::LookedAtBase;
use crate::repository::{PullRequestPlace, gone_head, open_repository, options, way_back};
use crate::upkeep::rewound::rewound_base;

/// Adds what base branches show that have moved. If a project's base cannot be read, the next tick checks it.
pub(super) fn look_at_bases(store: &Store, observed: &mut Observed) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, (project, config)) in &observed.projects {
        let broken = observed.snapshot.projects.get(id);
        let broken = broken.is_none_or(|view| view.broken.is_some() || view.no_base.is_some());
        let Some(config) = config.as_ref().filter(|_| !broken) else {
            continue;
        };
        // The first check happens before any branch is made: its result is what later commits are compared with.
        if !observed.snapshot.needs_base(id) && !may_have_moved(store, project) {
            continue;
        }
        let mut seen = BaseView::default();
        match look_at_project(store, project, config, &mut seen) {
            Ok(()) => {
                let view = &mut observed.snapshot.base;
                view.merges.extend(seen.merges);
                view.commits.extend(seen.commits);
                view.conflicts.extend(seen.conflicts);
                view.rewound.extend(seen.rewound);
                view.looks.extend(seen.looks);
            }
            // Git was interrupted, or the machine is full. The next tick checks again, and no one has to act.
            Err(error) if error.exit_fault() == ExitFault::Machine => {
                tracing::warn!(project = %id, %error, "the base branch was not looked at");
            }
            Err(error) => problems.push(format!(
                "project {id}: its base branch was not checked for merges made outside Symphony: {error}"
            )),
        }
    }
    problems
}

/// Adds what keeps open pull requests from being merged: base branches that no longer exist, and conflicts of those
/// that wait for a person. If git cannot tell now, the next tick tries again.
pub(super) fn look_for_obstacles(
    store: &Store,
    observed: &mut Observed,
) -> Result<(), RunnerError> {
    for (id, (project, config)) in &observed.projects {
        let Some(config) = config else {
            continue;
        };
        let open = store.open_into(id)?;
        if open.is_empty() {
            continue;
        }
        let names: BTreeSet<&str> = open.iter().map(|open| open.base.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let branches: Result<Vec<BranchName>, WorkspaceError> =
            names.iter().map(|name| BranchName::parse(name)).collect();
        let heads = branches
            .and_then(|branches| Repository::heads_of(&project.root, options(config), &branches));
        let heads = match heads {
            Ok(heads) => heads,
            Err(error) => {
                tracing::warn!(project = %id, %error, "the base branches were not looked for");
                continue;
            }
        };
        // What is at the hub only cannot be compared with anything here. The tick that brings it in goes on with it.
        let here: Vec<&OpenInto> = open.iter().filter(|open| !open.is_at_hub).collect();
        match lost_heads(project, config, &here) {
            Ok(lost) => observed.snapshot.base.lost.extend(lost),
            Err(error) => {
                tracing::warn!(project = %id, %error, "the heads of pull requests were not looked for");
            }
        }
        let mut repository = None;
        for (name, head) in names.iter().zip(heads) {
            let Some(head) = head else {
                let seen = store.base_look(id, name)?;
                let gone = GoneBase::of(id, name, seen, &open);
                observed.snapshot.base.gone.extend(gone);
                continue;
            };
            let judge_enabled = observed.snapshot.projects.get(id);
            let judge_enabled = judge_enabled.is_some_and(|view| view.judge_enabled);
            // For a plan, it also decides whether a judge is paid, since a plan starts from a base that may be old.
            let waits_for_person =
                |open: &&&OpenInto| open.is_approved || !judge_enabled || open.of.plan().is_some();
            let into = here.iter().filter(|open| open.base == **name);
            let into: Vec<&OpenInto> = into.filter(waits_for_person).copied().collect();
            if into.is_empty() {
                continue;
            }
            let view = &mut observed.snapshot.base;
            let looked = opened(&mut repository, project, config)
                .map_err(RunnerError::from)
                .and_then(|repository| {
                    LookedAtBase::look(store, project, repository, (name, &head), &into)?
                        .compare(&into, view)
                });
            if let Err(error) = looked {
                tracing::warn!(project = %id, base = %name, %error, "the pull requests into a base were not looked at");
            }
        }
    }
    Ok(())
}

/// Returns the repository of a project, which is opened once.
fn opened<'a>(
    repository: &'a mut Option<Repository>,
    project: &Project,
    config: &ProjectConfig,
) -> Result<&'a Repository, WorkspaceError> {
    match repository {
        Some(repository) => Ok(repository),
        empty => Ok(empty.insert(open_repository(project, config)?)),
    }
}

/// Returns those of the pull requests whose branch is not at the reviewed commit, if that keeps them from being merged. For all
/// others this costs the reading of one ref.
fn lost_heads(
    project: &Project,
    config: &ProjectConfig,
    open: &[&OpenInto],
) -> Result<Vec<LostHead>, RunnerError> {
    let places: Vec<PullRequestPlace> = open
        .iter()
        .map(|open| PullRequestPlace::of(&open.of))
        .collect();
    let branches: Vec<BranchName> = places.iter().map(|place| place.branch.clone()).collect();
    let heads = Repository::heads_of(&project.root, options(config), &branches)?;
    let mut lost = Vec::new();
    for ((open, place), now) in open.iter().zip(&places).zip(heads) {
        let reviewed = RunnerError::commit(
            &open.head_commit,
            format_args!("the head of pull request {}", open.pr),
        )?;
        if now.as_ref() == Some(&reviewed) {
            continue;
        }
        let repository = open_repository(project, config)?;
        if !repository.has_commit(&reviewed)? {
            lost.push(gone_head(
                &repository,
                open.pr,
                &open.of,
                reviewed.as_str(),
            )?);
        } else if let (Some(now), PullRequestOf::Issue(_)) = (now, &open.of) {
            // The next round of a plan gives its pull request the new head.
            lost.push(LostHead {
                pr: open.pr,
                of: open.of.clone(),
                found: HeadFound::Moved {
                    branch: place.branch.to_string(),
                    now: now.to_string(),
                    back: way_back(&repository, place, reviewed.as_str()),
                },
            });
        }
    }
    Ok(lost)
}

/// Returns whether any work of a project could be on its base, because one of its issues was in work; true if unknown.
fn may_have_moved(store: &Store, project: &Project) -> bool {
    store.has_branches(&project.id).unwrap_or(true)
}

fn look_at_project(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
    seen: &mut BaseView,
) -> Result<(), RunnerError> {
    let bases = store.open_bases(&project.id)?;
    if is_where_it_was(store, project, config, &bases)? {
        return Ok(());
    }
    let repository = open_repository(project, config)?;
    let own = repository.base()?.branch;
    let mut branches = vec![own.clone()];
    for base in bases {
        let base = BranchName::parse(&base)?;
        if base != own {
            branches.push(base);
        }
    }
    for branch in branches {
        let Some(head) = repository.branch_head(&branch)? else {
            continue;
        };
        let look = Look {
            store,
            project,
            repository: &repository,
            branch,
            head,
        };
        look.take(seen)?;
    }
    Ok(())
}

/// Returns whether no base branch has moved since the last check, and every pull request was searched there: the usual
/// case, which needs no git process.
fn is_where_it_was(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
    bases: &[String],
) -> Result<bool, RunnerError> {
    let looks = store.base_looks(&project.id)?;
    let is_looked_at = |name: &String| looks.iter().any(|(branch, _)| branch == name);
    let own = config.base_branch.as_ref();
    if looks.is_empty() || !own.into_iter().chain(bases).all(is_looked_at) {
        return Ok(false);
    }
    let branches = looks
        .iter()
        .map(|(branch, _)| BranchName::parse(branch))
        .collect::<Result<Vec<_>, _>>()?;
    let heads = Repository::heads_of(&project.root, options(config), &branches)?;
    for ((branch, seen), head) in looks.iter().zip(heads) {
        let Some(head) = head else {
            continue;
        };
        if head.as_str() != seen || store.has_prs_to_look_for(&project.id, branch, seen)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One check of one base branch.
struct Look<'a> {
    store: &'a Store,
    project: &'a Project,
    repository: &'a Repository,
    branch: BranchName,
    head: CommitId,
}

impl Look<'_> {
    fn take(&self, seen: &mut BaseView) -> Result<(), RunnerError> {
        let id = &self.project.id;
        let since = self.store.base_look(id, self.branch.as_str())?;
        let prs = self
            .store
            .prs_to_look_for(id, self.branch.as_str(), self.head.as_str())?;
        let has_moved = since.as_deref() != Some(self.head.as_str());
        if !has_moved && prs.is_empty() {
            return Ok(());
        }
        for (pr, looked_at) in &prs {
            match self.find(pr, looked_at.as_deref())? {
                Some(merge) => seen.merges.push(merge),
                None => seen.conflicts.extend(self.conflict(pr)?),
            }
        }
        if has_moved && let Some(since) = since.as_deref().and_then(|since| self.known(since)) {
            let rewound = rewound_base(self.repository, &self.branch, &since, &self.head)?;
            seen.rewound.extend(rewound.map(|base| base.notice(id)));
            let found = self.repository.branch_commits_on(&self.head, &since)?;
            for (branch, commits) in found {
                seen.commits.extend(self.of_branch(&branch, &commits)?);
            }
        }
        seen.looks.push(BaseLook {
            project: id.clone(),
            branch: self.branch.to_string(),
            head: self.head.to_string(),
            since,
            prs: prs.iter().map(|(pr, _)| pr.id).collect(),
        });
        Ok(())
    }

    /// Returns a recorded commit if the repository still has it, since history may have been rewritten.
    fn known(&self, commit: &str) -> Option<CommitId> {
        let commit = CommitId::parse(commit).ok()?;
        self.repository.is_merged(&commit, &commit).ok()?;
        self.repository.commits_ahead(&commit, &self.head).ok()?;
        Some(commit)
    }

    /// Searches for the change of a pull request, from where the last search ended, or from where its branch left the
    /// base.
    fn find(
        &self,
        pr: &PullRequest,
        looked_at: Option<&str>,
    ) -> Result<Option<FoundMerge>, RunnerError> {
        let known = |commit: &str| self.known(commit);
        let Some(head) = known(&pr.head_commit) else {
            return Ok(None);
        };
        let since = looked_at.and_then(known).or_else(|| known(&pr.base_commit));
        let Some(since) = since else {
            return Ok(None);
        };
        let files: Vec<&str> = pr.files.iter().map(|file| file.path.as_str()).collect();
        let found = self.repository.find_change(&ChangeQuery {
            branch: &self.branch,
            base: &self.head,
            since: &since,
            head: &head,
            files: &files,
        })?;
        let Some(found) = found else {
            return Ok(None);
        };
        Ok(Some(FoundMerge {
            project: pr.project.clone(),
            of: pr.of.clone(),
            pr: pr.id,
            base: self.branch.to_string(),
            head: pr.head_commit.clone(),
            merge: OutsideMerge {
                commit: found.commit.to_string(),
                evidence: found.evidence,
                by: found.by,
            },
            missing: missing_of(pr),
        }))
    }

    /// Returns what keeps a plan's pull request from being merged, because no worker merges the base into it, as for an
    /// issue's branch.
    fn conflict(&self, pr: &PullRequest) -> Result<Option<BaseNotice>, RunnerError> {
        let (Some(plan), Some(head)) = (pr.of.plan(), self.known(&pr.head_commit)) else {
            return Ok(None);
        };
        let (style, identity) = (MergeStyle::Readable, Identity::symphony());
        let merge = self
            .repository
            .plan_merge(&self.head, &head, style, &pr.title, &identity)?;
        Ok(match merge {
            MergePlan::Conflict(files) => Some(BaseNotice::of_conflict(
                pr,
                plan,
                self.head.as_str(),
                &files,
            )),
            _ => None,
        })
    }

    /// Returns the owner of a branch's commits; `None` if it belongs to no known issue or plan.
    fn of_branch(
        &self,
        branch: &BranchName,
        commits: &[CommitId],
    ) -> Result<Option<BranchCommits>, RunnerError> {
        let name = branch.as_str();
        let id = name.strip_prefix("symphony/").unwrap_or(name);
        if let Some(plan) = plan_of_branch(id) {
            return self.of_plan_branch(&plan, commits);
        }
        let Ok(id) = IssueId::parse(id) else {
            return Ok(None);
        };
        if !self.store.knows_branch_of(&id)? {
            return Ok(None);
        }
        let issue = self.store.issue(&id)?;
        let review = self.store.newest_pr(&id)?;
        let standing = issue.state.status().into();
        let review = review.as_ref();
        self.branch_commits(issue.project, id.into(), standing, review, commits)
            .map(Some)
    }

    /// The same for the branches of a plan: its base and those of its phases.
    fn of_plan_branch(
        &self,
        plan: &PlanId,
        commits: &[CommitId],
    ) -> Result<Option<BranchCommits>, RunnerError> {
        if !self.store.has_plan(plan)? {
            return Ok(None);
        }
        let filter = PrFilter {
            plan: Some(plan.clone()),
            ..PrFilter::default()
        };
        let review = self.store.prs(&filter)?.into_iter().next();
        let told = self.store.plan_notices(plan)?;
        let is_told = |pr: &PullRequest| {
            let mut told = told.iter();
            pr.state.is_open()
                && told.any(|notice| notice.kind == NoticeKind::Landed && notice.pr == Some(pr.id))
        };
        if review.as_ref().is_some_and(is_told) {
            return Ok(None);
        }
        let standing = self.store.plan_status(plan)?.into();
        let (project, of) = (self.project.id.clone(), plan.clone().into());
        self.branch_commits(project, of, standing, review.as_ref(), commits)
            .map(Some)
    }

    fn branch_commits(
        &self,
        project: ProjectId,
        of: PullRequestOf,
        standing: Standing,
        review: Option<&PullRequest>,
        commits: &[CommitId],
    ) -> Result<BranchCommits, RunnerError> {
        Ok(BranchCommits {
            project,
            of,
            standing,
            base: self.branch.to_string(),
            commits: commits.iter().map(ToString::to_string).collect(),
            review: review.map(|pr| self.review(pr, commits)).transpose()?,
        })
    }

    fn review(&self, pr: &PullRequest, commits: &[CommitId]) -> Result<BranchReview, RunnerError> {
        let mut holds_all = true;
        if let Some(head) = self.known(&pr.head_commit) {
            for commit in commits {
                holds_all = holds_all && self.repository.is_merged(commit, &head)?;
            }
        }
        Ok(BranchReview {
            pr: pr.id,
            state: pr.state,
            holds_all,
        })
    }
}

/// Returns the plan that a branch belongs to, given its name without the prefix `symphony/`.
fn plan_of_branch(name: &str) -> Option<PlanId> {
    let (plan, _) = name.strip_prefix("plan-")?.split_once('/')?;
    PlanId::parse(plan).ok()
}
