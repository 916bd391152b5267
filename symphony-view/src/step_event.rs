//! What a tick, or a round of a plan, did, in words and as JSON.

use std::fmt;

use serde::Serialize;
use symphony_core::done::StaleLook;
use symphony_core::id::{IssueId, PlanId, PlanPhaseId, PrId, ProjectId, RunId};
use symphony_core::tick::{LeftoverOwner, Unwanted};
use symphony_core::wording::counted;
use symphony_runner::step_event::{
    IssueStepEvent, MergeStepEvent, PhaseEnd, PlanStepEvent, RunStepEvent, StartEnd, StartSubject,
    StepEvent,
};

/// One thing that was done; fields that do not apply are left out.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StepEventView {
    /// What was done, as a word that programs match.
    pub event: &'static str,
    /// The project it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The issue it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueId>,
    /// The plan it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The phase of the plan it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PlanPhaseId>,
    /// The pull request it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr: Option<PrId>,
    /// The run it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// As a person reads it.
    pub text: String,
}

impl StepEventView {
    fn new(event: &'static str, text: String) -> Self {
        Self {
            event,
            text,
            ..Self::default()
        }
    }

    fn about(self, subject: &dyn fmt::Display) -> Self {
        Self {
            text: format!("{subject}: {}", self.text),
            ..self
        }
    }

    fn pr(self, pr: PrId) -> Self {
        Self {
            pr: Some(pr),
            ..self
        }
    }

    /// Views something that a round of a plan did, as the plan's own face shows it: without the plan's name.
    pub fn of_plan(event: &PlanStepEvent) -> Self {
        let new = Self::new;
        match event {
            PlanStepEvent::PhaseEnded { phase, end } => {
                let (event, text) = match end {
                    PhaseEnd::Skipped => ("phase_skipped", "skipped".to_owned()),
                    PhaseEnd::GivenUp => ("phase_failed", "failed for good".to_owned()),
                    PhaseEnd::Aborted => ("phase_aborted", "aborted".to_owned()),
                    PhaseEnd::Blocked { by } => ("phase_blocked", format!("blocked by {by}")),
                };
                Self {
                    phase: Some(phase.clone()),
                    ..new(event, text).about(phase)
                }
            }
            PlanStepEvent::RunEnding { phase, run } => {
                let text = format!("ending run {run}");
                Self {
                    phase: Some(phase.clone()),
                    run: Some(run.clone()),
                    ..new("run_ending", text).about(phase)
                }
            }
            PlanStepEvent::Step(event) => Self::from(&**event),
            PlanStepEvent::Ended(status) => new("plan_ended", status.words().to_owned()),
            PlanStepEvent::ReviewRenewed { pr } => {
                let text = format!(
                    "its branch has moved, so the gates and the judge check pull request {pr} again"
                );
                new("review_renewed", text).pr(*pr)
            }
            PlanStepEvent::ReviewOpened { pr, branch } => {
                let text = format!("opened pull request {pr} into {branch}");
                new("review_opened", text).pr(*pr)
            }
            PlanStepEvent::Merged { branch, commit } => {
                new("plan_merged", format!("its work is on {branch} ({commit})"))
            }
            PlanStepEvent::Unchanged { branch } => {
                let text = format!("completed; {branch} already has everything");
                new("plan_unchanged", text)
            }
        }
    }

    fn of_run(event: &RunStepEvent) -> Self {
        let (event, text) = match event {
            RunStepEvent::ExitHandlingResumed => (
                "exit_handling_resumed",
                ": its exit handling continues".to_owned(),
            ),
            RunStepEvent::ExitHandlingBegun { processes } => {
                let left = counted(*processes, "process");
                let text = format!(
                    " crashed: ended {left} that it left running, and started its exit handling"
                );
                ("exit_handling_begun", text)
            }
            RunStepEvent::SupervisorLate { step, limit_ms } => {
                let (step, seconds) = (step.words(), limit_ms / 1000);
                let text = format!(
                    ": its supervisor is past the time limit of {step} ({seconds} s); a later tick ends it if it stays there"
                );
                ("supervisor_late", text)
            }
            RunStepEvent::SupervisorWentOn => (
                "supervisor_went_on",
                ": its supervisor made progress after this tick checked it, so it is left alone"
                    .to_owned(),
            ),
            RunStepEvent::SupervisorEnded { stuck, processes } => {
                let (stuck, left) = (stuck.words(), counted(*processes, "process"));
                let text = format!(
                    ": its supervisor {stuck} and was ended with {left} that it left running; started its exit handling"
                );
                ("supervisor_ended", text)
            }
            RunStepEvent::HostLost(host) => (
                "host_lost",
                format!(": host {host} did not come back, so the run was ended without it"),
            ),
            RunStepEvent::Withdrawn(pool, why) => (
                "run_withdrawn",
                format!(
                    " was taken out of pool {pool} before a worker started it{}",
                    Unwanted::clause(*why)
                ),
            ),
            RunStepEvent::Tidied(owner) => {
                let text = match owner {
                    LeftoverOwner::Ended => ": removed the prompts that its dead supervisor left",
                    LeftoverOwner::Kept => {
                        ": the files that its dead supervisor left are kept (keep_run_files)"
                    }
                    LeftoverOwner::Unclaimed => " was never claimed: removed its folder",
                };
                ("run_tidied", text.to_owned())
            }
        };
        Self::new(event, text)
    }

    fn of_start(on: &StartSubject, end: &StartEnd) -> Self {
        let (event, run, text) = match end {
            StartEnd::Started(run) => ("run_started", Some(run), format!("started run {run}")),
            StartEnd::Queued(run, pool) => (
                "run_queued",
                Some(run),
                format!("run {run} waits for a worker of pool {pool}"),
            ),
            StartEnd::Refused(refusal) => ("run_refused", None, format!("not started: {refusal}")),
        };
        Self {
            project: Some(on.project.clone()),
            issue: on.target.issue().cloned(),
            plan: on.target.plan().cloned(),
            pr: on.target.pull_request(),
            run: run.cloned(),
            ..Self::new(event, format!("{on}: {text}"))
        }
    }

    fn of_issue(event: &IssueStepEvent) -> Self {
        let new = Self::new;
        match event {
            IssueStepEvent::PhaseAccepted { phase, next } => {
                let text = match next {
                    Some(next) => format!("the phase {phase} is accepted; next is {next}"),
                    None => format!(
                        "the phase {phase} is accepted; it was the last one, so a person has to decide what happens next"
                    ),
                };
                new("phase_accepted", text)
            }
            IssueStepEvent::PhaseAcceptedBefore => new(
                "phase_accepted_before",
                "it has already moved to its next phase".to_owned(),
            ),
            IssueStepEvent::SubtasksEnded => new(
                "subtasks_ended",
                "its sub-tasks have ended, so it continues".to_owned(),
            ),
            IssueStepEvent::BreakerOpened => {
                new("breaker_opened", "the circuit breaker opened".to_owned())
            }
            IssueStepEvent::DoneConfirmed { pr } => {
                let text =
                    format!("done, nothing was left to do (proposal {pr}, confirmed by auto_done)");
                new("done_confirmed", text).pr(*pr)
            }
            IssueStepEvent::ProposalReturned { why } => {
                let text = format!("a worker checks again whether anything is left to do: {why}");
                new("proposal_returned", text)
            }
            IssueStepEvent::ProposalRefreshed { pr, look } => {
                let text = match look {
                    StaleLook::Gates => format!(
                        "the gates of proposal {pr} run again, because the gates or the base have changed"
                    ),
                    StaleLook::Verdict => format!(
                        "a judge reviews proposal {pr} again, because a person edited the issue or commented on it"
                    ),
                };
                new("proposal_refreshed", text).pr(*pr)
            }
            IssueStepEvent::ResultBroughtIn { run, rescues } => {
                let saved = match rescues.as_slice() {
                    [] => String::new(),
                    refs => format!(
                        "; what an earlier run had left there is saved in {}",
                        refs.join(", ")
                    ),
                };
                let text = format!("its branch now has the result of run {run}{saved}");
                Self {
                    run: Some(run.clone()),
                    ..new("result_brought_in", text)
                }
            }
            IssueStepEvent::WorktreeRemoved { done } => new("worktree_removed", done.clone()),
        }
    }

    fn of_merge(pr: PrId, base: &str, event: &MergeStepEvent) -> Self {
        let cut_off = format!("pull request {pr}: its interrupted merge");
        let (event, text) = match event {
            MergeStepEvent::Recorded => ("merge_recorded", format!("{cut_off} is recorded")),
            MergeStepEvent::TakenBack => {
                let text = format!("{cut_off} did not reach {base}: it is still open");
                ("merge_taken_back", text)
            }
            MergeStepEvent::Outside { by, worktree } => {
                let by = by.as_ref().map(|by| format!(" by {by}"));
                let worktree = worktree.as_ref().map(|done| format!("; {done}"));
                let text = format!(
                    "pull request {pr} was merged into {base} outside Symphony{}: it is done{}",
                    by.unwrap_or_default(),
                    worktree.unwrap_or_default()
                );
                ("merged_outside", text)
            }
        };
        Self::new(event, text).pr(pr)
    }
}

impl From<&StepEvent> for StepEventView {
    fn from(event: &StepEvent) -> Self {
        match event {
            StepEvent::TickEnded(stuck) => {
                let (pid, stuck) = (stuck.pid.unwrap_or_default(), stuck.words());
                let text = format!("the tick of process {pid} {stuck} and was ended");
                Self::new("tick_ended", text)
            }
            StepEvent::Start(on, end) => Self::of_start(on, end),
            StepEvent::Run(run, event) => {
                let view = Self::of_run(event);
                Self {
                    text: format!("run {run}{}", view.text),
                    run: Some(run.clone()),
                    ..view
                }
            }
            // it names the issue itself
            StepEvent::Issue(issue, event @ IssueStepEvent::WorktreeRemoved { .. }) => Self {
                issue: Some(issue.clone()),
                ..Self::of_issue(event)
            },
            StepEvent::Issue(issue, event) => Self {
                issue: Some(issue.clone()),
                ..Self::of_issue(event).about(issue)
            },
            StepEvent::Plan(plan, event) => Self {
                plan: Some(plan.clone()),
                ..Self::of_plan(event).about(&format_args!("plan {plan}"))
            },
            StepEvent::Merge {
                of,
                pr,
                base,
                event,
            } => Self {
                issue: of.issue().cloned(),
                plan: of.plan().cloned(),
                ..Self::of_merge(*pr, base, event).about(of)
            },
            StepEvent::BaseNoticed { subject, text } => {
                Self::new("base_noticed", format!("{text}: see `symphony inbox`")).about(subject)
            }
            StepEvent::LogsRemoved {
                project,
                runs,
                days,
            } => {
                let (runs, days) = (counted(*runs, "run"), counted(*days, "day"));
                let text = format!("removed the logs of {runs} that ended more than {days} ago");
                Self {
                    project: Some(project.clone()),
                    ..Self::new("logs_removed", text).about(project)
                }
            }
        }
    }
}

/// Returns the lines that a person reads, of the events of a tick.
pub fn lines_of(events: &[StepEvent]) -> impl Iterator<Item = String> + '_ {
    events.iter().map(|event| StepEventView::from(event).text)
}
