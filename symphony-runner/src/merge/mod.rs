//! Merging a pull request at a person's request (spec: orchestrator, "Human actions"; reliability, decision 8).
//!
//! Only the recorded head is merged. If the base has moved since the gates ran, they run on the merge result first. The
//! base moves by compare-and-swap, and the intent is recorded before: a merge that was interrupted after it moved the
//! base is only recorded later, not made again.

pub(crate) mod content;
pub(crate) mod gates;
pub(crate) mod incoming;
mod not_merged;
mod options;
pub(crate) mod place;
pub(crate) mod refusals;
pub(crate) mod settle;
pub(crate) mod turn;
pub(crate) mod unpublished;
pub(crate) mod watch;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::gates::{Brings, head_counts_for_merge};
use symphony_core::id::PrId;
use symphony_core::outside::{BaseNotice, MergeObstacle};
use symphony_core::pull_request::{PullRequest, PullRequestOf, VerifiedGates};
use symphony_store::{Actor, BaseMove, Context, Project, Store};
use symphony_workspace::{
    BranchName, CommitId, Failpoint, Identity, MergePlan, MergeStyle, MergedBy, Repository,
    WorkspaceError,
};

use crate::cancel::end_run_on;
use crate::error::RunnerError;
use crate::forge::ForgeMerge;
use crate::gates::History;
use crate::installation::Installation;
use crate::merge::content::refuse_unwanted;
use crate::merge::gates::MergeGates;
use crate::merge::place::place_here;
use crate::merge::refusals::{
    base_gone, refuse_gone, refuse_moved, refuse_red, refuse_secrets, refuse_stopped,
    refuse_unmergeable,
};
use crate::merge::settle::{Settled, Settling, record, settle_cut_off};
use crate::merge::turn::MergeTurn;
use crate::plan::clean_up_plan;
use crate::repository::open_repository;
use crate::upkeep::clean_up::clean_up;

pub use crate::merge::settle::{MergesUnderWay, settle_merges};
pub use not_merged::{MergeRefusal, NotMerged};
pub use options::{MergeOptions, Squash};

/// Returns how the pull request is merged, and the message of the commit that is made for it, if any.
fn style_of(pr: &PullRequest, squash: Option<&Squash>) -> (MergeStyle, String) {
    match squash {
        None => (
            MergeStyle::Readable,
            format!("Merge {}: {}", pr.of.in_subject(), pr.title),
        ),
        Some(Squash {
            message: Some(message),
        }) => (MergeStyle::Squash, message.clone()),
        Some(Squash { message: None }) => {
            let message = format!("{}: {}\n\n{}", pr.of.in_squash(), pr.title, pr.body.trim());
            (MergeStyle::Squash, message.trim_end().to_owned())
        }
    }
}

/// What a merge adds to the history of its base.
struct Brought {
    kind: Brings,
    history: History,
}

impl Brought {
    fn by(style: MergeStyle, head: &CommitId, message: &str, author: &Identity) -> Self {
        if style == MergeStyle::Squash {
            return Self {
                kind: Brings::OneCommit,
                history: History::Squash {
                    message: message.to_owned(),
                    author: author.clone(),
                },
            };
        }
        Self {
            kind: Brings::CommitsOfHead,
            history: History::Of(head.clone()),
        }
    }
}

/// A merge that is planned, and not made before its gates have passed.
struct PlannedMerge<'a> {
    plan: MergePlan,
    /// The commit that the base is at.
    base: &'a CommitId,
    /// The head of the pull request.
    head: &'a CommitId,
    brought: Brought,
}

/// The result of a merge.
#[derive(Debug)]
pub struct Merged {
    /// The pull request as it is recorded now.
    pub pr: PullRequest,
    /// The commit that the base is at now.
    pub commit: String,
    /// Gates that ran on the merge result, when the base had moved.
    pub gates: Option<VerifiedGates>,
    /// What was done with the worktree, as a message.
    pub clean_up: String,
}

/// Merges a pull request into its base and marks its issue as done, or its plan as completed.
///
/// # Errors
/// When it is not open, a required gate is red, files conflict, or the base's checkout is in the way. Then nothing was
/// moved.
pub fn merge_pr(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    id: PrId,
    options: &MergeOptions,
) -> Result<Merged, RunnerError> {
    merge_pr_until(installation, store, context, id, options, &|| false)
}

/// As [`merge_pr`], for a process that handles Ctrl-C itself: once `stop` returns true, nothing is merged any longer.
///
/// # Errors
/// As [`merge_pr`], and when it was stopped: running gates are ended, and nothing was moved.
pub fn merge_pr_until(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    id: PrId,
    options: &MergeOptions,
    stop: &dyn Fn() -> bool,
) -> Result<Merged, RunnerError> {
    let pr = store.pr(id)?;
    let project = store.project(&pr.project)?;
    let config = installation.project_config(&project)?;
    let repository = open_repository(&project, &config)?;
    // Held until the merge is recorded: an intent whose lock is free looks like that of a dead process, and would be
    // settled under this one.
    let Some(turn) = MergeTurn::take(&project, &pr.of)? else {
        return Err(NotMerged::new(&pr, MergeRefusal::UnderWay).into());
    };
    let settling = Settling {
        place: place_here(installation, &project)?,
        is_ordered: true,
    };
    let merge = Merge {
        installation,
        project: &project,
        config: &config,
        repository: &repository,
        turn: &turn,
        settling: &settling,
        context,
    };
    // An earlier merge may have moved the base and died before it recorded that. Merging again would add a second merge
    // commit of the same work.
    match settle_cut_off(store, &repository, &turn, &pr, &settling)? {
        Settled::Nothing | Settled::TakenBack => {}
        Settled::Theirs(place) => {
            let why = MergeRefusal::UnderWayAt { host: place.host };
            return Err(NotMerged::new(&pr, why).into());
        }
        Settled::Reached { commit, by } => {
            let ordered = by.map(|by| Context {
                actor: Actor::Human(by),
                now: context.now,
            });
            let merge = Merge {
                context: ordered.as_ref().unwrap_or(context),
                ..merge
            };
            return merge.conclude(store, id, &commit, None);
        }
    }
    if options.force {
        // The gates stopped this issue, and a person merges it anyway.
        store.resume_stopped_review(context, id)?;
    }
    refuse_unmergeable(store, &pr, options)?;
    end_run_on(installation, store, context, &pr.of)?;
    // A judge that was just ended may have given its verdict first, so everything is checked again.
    let pr = store.pr(id)?;
    refuse_unmergeable(store, &pr, options)?;
    if let Some(commit) = merge.make_there(store, &pr, options)? {
        return merge.conclude(store, id, &commit, None);
    }
    let (commit, gates) = merge.make(store, &pr, options, stop)?;
    merge.conclude(store, id, &commit, gates)
}

/// A merge of one pull request by the process that holds its turn.
struct Merge<'a> {
    installation: &'a Installation,
    project: &'a Project,
    config: &'a ProjectConfig,
    repository: &'a Repository,
    turn: &'a MergeTurn,
    settling: &'a Settling,
    /// Who merges.
    context: &'a Context,
}

impl Merge<'_> {
    /// Merges it through the forge, if that is where the project's pull requests are merged. Returns the commit that the base is at.
    fn make_there(
        &self,
        store: &mut Store,
        pr: &PullRequest,
        options: &MergeOptions,
    ) -> Result<Option<CommitId>, RunnerError> {
        let (_, message) = style_of(pr, options.squash.as_ref());
        let there = ForgeMerge {
            installation: self.installation,
            project: self.project,
            config: self.config,
            repository: self.repository,
            pr,
            options,
            context: self.context,
            message: &message,
        };
        there.merge(store)
    }

    /// Merges a pull request into its base. Returns the commit that the base is at, and the gates that ran on it.
    fn make(
        &self,
        store: &mut Store,
        pr: &PullRequest,
        options: &MergeOptions,
        stop: &dyn Fn() -> bool,
    ) -> Result<(CommitId, Option<VerifiedGates>), RunnerError> {
        let repository = self.repository;
        let identity = repository
            .human_identity()
            .unwrap_or_else(Identity::symphony);
        let base = BranchName::parse(&pr.base)?;
        let Some(expected) = repository.branch_head(&base)? else {
            return Err(base_gone(store, pr)?);
        };
        let head = RunnerError::commit(&pr.head_commit, "the recorded head")?;
        refuse_gone(repository, pr, &head)?;
        refuse_moved(repository, pr, &head)?;
        refuse_unwanted(store, repository, pr, &expected, &head, options)?;
        let (style, message) = style_of(pr, options.squash.as_ref());
        let plan = repository.plan_merge(&expected, &head, style, &message, &identity)?;
        Failpoint::MergePlanned.reach();
        let gates = MergeGates {
            installation: self.installation,
            project: self.project,
            config: self.config,
            repository,
            pr,
            force: options.force,
            network: &options.network,
            stop,
        };
        let logs = gates.logs();
        let planned = PlannedMerge {
            plan,
            base: &expected,
            head: &head,
            brought: Brought::by(style, &head, &message, &identity),
        };
        let (target, gates) = gated_result(store, pr, &gates, planned)?;
        if let Some(gates) = &gates {
            // Gates that ran on the head itself are the pull request's own: red ones of a plan save a judge, and
            // `pr show` has their output. For an issue they would count as its worker's failure, which a merge must not
            // decide.
            let is_told = gates.green() || pr.of.plan().is_some();
            if is_told && gates.commit == pr.head_commit {
                store.record_gates(&Context::system(Timestamp::now()), pr.id, gates)?;
            }
            refuse_red(pr, gates, options, Some(&logs))?;
        }
        // After the gates, since they run for minutes and the files with secrets may have changed meanwhile.
        refuse_secrets(repository, pr, &expected, &head)?;
        // The last chance to stop: from the intent on, a merge is either finished or taken back.
        refuse_stopped(pr, stop)?;
        let context = self.context.at(Timestamp::now());
        // The intent comes before the move. If this process dies between moving the base and recording it, the intent
        // is the only trace that the commits on the base are a merge by Symphony, and whoever settles it reads the base
        // to decide.
        let planned = BaseMove {
            from: expected.as_str(),
            to: target.as_str(),
            place: self.settling.place.as_ref(),
        };
        store.record_merge_intent(&context, pr, planned)?;
        Failpoint::MergeIntended.reach();
        // `expected` is the base that the gates ran on. A base that has moved since is refused, because that merge was
        // never tested.
        let by = MergedBy {
            identity: &identity,
            of: Some(&pr.of.in_subject()),
        };
        if let Err(error) = repository.move_base(&base, &expected, &target, by) {
            // Git may fail after it moved the ref, so the base decides, not the error.
            let settled = settle_cut_off(store, repository, self.turn, pr, self.settling);
            return match settled {
                Ok(Settled::Reached { commit, .. }) => Ok((commit, gates)),
                _ => Err(error.into()),
            };
        }
        Failpoint::MergeMoved.reach();
        Ok((target, gates))
    }

    /// Records that the base has the merge, and does what follows from it.
    fn conclude(
        &self,
        store: &mut Store,
        id: PrId,
        commit: &CommitId,
        gates: Option<VerifiedGates>,
    ) -> Result<Merged, RunnerError> {
        let context = self.context.at(Timestamp::now());
        let pr = record(store, &context, id, commit)?;
        // Best effort: the next tick tries again.
        let clean_up = match &pr.of {
            PullRequestOf::Issue(issue) => clean_up(store, self.project, self.config, issue),
            PullRequestOf::Plan(plan) => clean_up_plan(store, self.project, self.config, plan),
        }
        .unwrap_or_else(|error| format!("{}: its worktree was not removed: {error}", pr.of));
        Ok(Merged {
            pr,
            commit: commit.as_str().to_owned(),
            gates,
            clean_up,
        })
    }
}

/// Returns the commit for the base, and the results of its gates, which run if there are no results yet.
fn gated_result(
    store: &mut Store,
    pr: &PullRequest,
    gates: &MergeGates<'_>,
    planned: PlannedMerge<'_>,
) -> Result<(CommitId, Option<VerifiedGates>), RunnerError> {
    let PlannedMerge {
        plan,
        base,
        head,
        brought,
    } = planned;
    // Green results count only while the project's gates have not changed.
    let is_gated = match pr.gates_of_head() {
        Some(found) => gates.are_those(found)?,
        None => false,
    };
    // Results on a merge with an earlier base are not results of the head itself.
    let is_head_gated = is_gated && pr.gates_ran_on_head_itself();
    match plan {
        // Work that an agent put on the base itself was never gated there.
        MergePlan::AlreadyMerged if pr.of.plan().is_some() && !is_gated => {
            let gates = gates.run(store, head, &brought.history)?;
            Ok((base.clone(), gates))
        }
        MergePlan::AlreadyMerged => Ok((base.clone(), None)),
        MergePlan::FastForward(commit) => {
            // They may never have run, after a crash of the exit handling, or may have run on a merge with a base that
            // has since been moved back.
            let gates = if is_head_gated {
                None
            } else {
                gates.run(store, &commit, &brought.history)?
            };
            Ok((commit, gates))
        }
        MergePlan::Merge(commit) => {
            // Gates that see the same files and commits need no second run.
            let is_same = is_head_gated
                && head_counts_for_merge(brought.kind, &gates.config.gates)
                && gates.repository.have_same_tree(&commit, head)?;
            let gates = if is_same {
                gates.take_over(store, pr.gates_of_head(), &commit)?;
                None
            } else {
                gates.run(store, &commit, &brought.history)?
            };
            Ok((commit, gates))
        }
        MergePlan::Conflict(files) => {
            if let PullRequestOf::Plan(plan) = &pr.of {
                let told = BaseNotice::of_conflict(pr, plan, base.as_str(), &files);
                store.note_base(&Context::system(Timestamp::now()), &told)?;
                let base = pr.base.clone();
                return Err(NotMerged::found(pr, MergeObstacle::Conflict { base, files }).into());
            }
            Err(WorkspaceError::Conflict {
                base: pr.base.clone(),
                head: pr.branch.clone(),
                files,
            }
            .into())
        }
        MergePlan::Unrelated => Err(WorkspaceError::Unrelated {
            base: pr.base.clone(),
            head: pr.branch.clone(),
        }
        .into()),
    }
}
