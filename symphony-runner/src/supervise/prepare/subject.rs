//! What a run works on, as the store has it when the run starts.

use symphony_core::agent::AgentType;
use symphony_core::contract::Delivery;
use symphony_core::id::{PhaseName, PlanId, PlanPhaseId};
use symphony_core::issue::Issue;
use symphony_core::plan::Phase;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_core::review_point::ReviewPoint;
use symphony_core::run::RunTarget;
use symphony_core::wording::with_article;
use symphony_mcp::StoreThread;
use symphony_store::{PlanRecord, PrFilter, StoreError};
use symphony_workspace::BaseMerge;

use crate::error::RunnerError;
use crate::supervise::{Job, phase_of_plan};

/// What a run works on.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    /// An issue, and whether the latest base may be merged into its branch.
    Issue { issue: Issue, merge: BaseMerge },
    /// A phase of an issue, other than `ready`.
    Phase {
        issue: Issue,
        phase: PhaseName,
        merge: BaseMerge,
    },
    /// The review of an issue's open pull request.
    PullRequest { issue: Issue, pr: Box<PullRequest> },
    /// The review of a plan's open pull request.
    PlanReview {
        plan: Box<PlanRecord>,
        pr: Box<PullRequest>,
    },
    /// The review of a phase's delivery.
    Delivery {
        issue: Issue,
        delivery: Box<Delivery>,
    },
    /// The triage of an issue.
    Triage(Issue),
    /// The project itself.
    Project,
    /// A phase of a plan.
    PlanPhase(Box<PhaseSubject>),
}

/// A phase of a plan, with the current plan.
#[derive(Debug, Clone)]
pub(crate) struct PhaseSubject {
    /// The plan.
    pub(crate) plan: PlanRecord,
    /// The phase's id.
    pub(crate) id: PlanPhaseId,
    /// The phase, as it is in the plan file.
    pub(crate) phase: Phase,
    /// The last pull request of the plan, if it was not accepted.
    pub(crate) rejected: Option<PullRequest>,
    /// The open points of its reviews.
    pub(crate) points: Vec<ReviewPoint>,
}

impl Subject {
    /// Reads what the run was claimed for.
    ///
    /// # Errors
    /// When it no longer exists, or need not be worked on.
    pub(crate) async fn load(job: &Job<'_>, store: &StoreThread) -> Result<Self, RunnerError> {
        match &job.run.target {
            RunTarget::Issue(_) if job.run.agent == AgentType::Intake => {
                Ok(Self::Triage(own_issue(job)?))
            }
            RunTarget::Project => Ok(Self::Project),
            RunTarget::Issue(_) => {
                let issue = own_issue(job)?;
                let merge = base_merge(&issue, store).await?;
                let phase = job.run.phase.clone().filter(|phase| !phase.is_ready());
                Ok(match phase {
                    Some(phase) => Self::Phase {
                        issue,
                        phase,
                        merge,
                    },
                    None => Self::Issue { issue, merge },
                })
            }
            RunTarget::Gates(..) => Err(RunnerError::refused(
                "a run of gates has no agent to prepare for",
            )),
            RunTarget::PullRequest(of, id) => {
                // Read again: since the claim, a person may have merged or closed it.
                let source = of.clone();
                let open = store.call(move |store| store.open_pr_of(&source)).await??;
                let Some(pr) = open.filter(|pr| pr.id == *id).map(Box::new) else {
                    return Err(RunnerError::refused(format!(
                        "pull request {id} is no longer open"
                    )));
                };
                match of.plan().cloned() {
                    None => Ok(Self::PullRequest {
                        issue: own_issue(job)?,
                        pr,
                    }),
                    Some(plan) => {
                        let plan = store.call(move |store| store.plan(&plan)).await??;
                        Ok(Self::PlanReview {
                            plan: Box::new(plan),
                            pr,
                        })
                    }
                }
            }
            RunTarget::Delivery(_, id) => {
                let (issue, id) = (own_issue(job)?, *id);
                let delivery = store.call(move |store| store.delivery(id)).await??;
                if !delivery.awaits_judge() {
                    return Err(RunnerError::refused(format!(
                        "delivery {id} no longer awaits a judge"
                    )));
                }
                Ok(Self::Delivery {
                    issue,
                    delivery: Box::new(delivery),
                })
            }
            RunTarget::PlanPhase(plan, phase) => {
                let subject = phase_subject(plan.clone(), phase.clone(), store).await?;
                Ok(Self::PlanPhase(Box::new(subject)))
            }
        }
    }
}

async fn phase_subject(
    plan: PlanId,
    id: PlanPhaseId,
    store: &StoreThread,
) -> Result<PhaseSubject, RunnerError> {
    let filter = PrFilter {
        plan: Some(plan.clone()),
        ..PrFilter::default()
    };
    let (record, requests, mut points) = store
        .call(move |store| {
            let points = store.review_points(&plan.clone().into())?;
            Ok::<_, StoreError>((store.plan(&plan)?, store.prs(&filter)?, points))
        })
        .await??;
    points.retain(ReviewPoint::is_open);
    let newest = requests.into_iter().next();
    let Some(phase) = phase_of_plan(&record, &id).cloned() else {
        return Err(RunnerError::refused(format!(
            "plan {} no longer has a phase `{id}`",
            record.id
        )));
    };
    Ok(PhaseSubject {
        plan: record,
        id,
        phase,
        rejected: newest.filter(|pr| matches!(pr.state, PrState::Rejected | PrState::Closed)),
        points,
    })
}

fn own_issue(job: &Job<'_>) -> Result<Issue, RunnerError> {
    job.issue.clone().ok_or_else(|| {
        RunnerError::refused(format!(
            "a run of {} cannot be prepared without an issue",
            with_article(job.run.agent.name())
        ))
    })
}

/// Returns whether to merge the latest base: never while something is under review, which it would void.
async fn base_merge(issue: &Issue, store: &StoreThread) -> Result<BaseMerge, RunnerError> {
    let id = issue.id.clone();
    let open = store
        .call(move |store| store.has_open_review(&id))
        .await??;
    Ok(if open {
        BaseMerge::Leave
    } else {
        BaseMerge::Merge
    })
}
