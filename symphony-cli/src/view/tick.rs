//! Ticks: what is done, and why everything else is not.

use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, PhaseName, PlanId, PrId, ProjectId, RunId};
use symphony_core::listing::list_few;
use symphony_core::run::RunTarget;
use symphony_core::tick::{Action, LiveRun, Schedule, StartRun};
use symphony_core::watchdog::{Step, Stuck};
use symphony_core::wording::with_article;
use symphony_runner::tick::TickReport;

use super::decision::DecisionView;
use super::inbox::InboxView;
use super::news::PrNewsView;
use super::run::RunView;
use super::step_event::StepEventView;
use super::today::TodayView;
use crate::output::{Page, View, plural};

/// Things that wait for a person that a tick names; the rest is counted.
const WAITING_MAX: usize = 10;
/// Issues and plans that a sentence names; the rest is counted.
const NAMED_MAX: usize = 5;

/// Counts issues and plans: `2 issues and 1 plan`.
pub(crate) fn issues_and_plans(issues: usize, plans: usize) -> String {
    match (issues, plans) {
        (issues, 0) => plural(issues, "issue"),
        (0, plans) => plural(plans, "plan"),
        (issues, plans) => format!("{} and {}", plural(issues, "issue"), plural(plans, "plan")),
    }
}

/// One tick.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct TickView {
    /// Another tick was at work: nothing was done.
    pub(crate) busy: bool,
    /// That other tick, where it is past a time limit.
    pub(crate) stuck: Option<StuckTickView>,
    pub(crate) dry_run: bool,
    pub(crate) actions: Vec<ActionView>,
    pub(crate) decisions: Vec<DecisionView>,
    /// What could not be done; the next tick tries again.
    pub(crate) problems: Vec<String>,
    /// The runs that were started; with `--wait`, as they ended.
    pub(crate) runs: Vec<RunView>,
    /// What happened to pull requests, as `tick --wait` and `run` see it.
    pub(crate) pull_requests: Vec<PrNewsView>,
    /// What waits for a person; `run` has what began to wait.
    pub(crate) waiting: Vec<InboxView>,
    /// What was spent today and when something is due, as `tick --wait` and `run` say it in the end.
    #[serde(flatten)]
    pub(crate) today: Option<TodayView>,
    /// What is due next, for a tick that has nothing to start.
    #[serde(skip)]
    pub(crate) due: Option<TodayView>,
    /// What was at work before the tick.
    #[serde(skip)]
    pub(crate) live: Vec<LiveView>,
    /// What is on hold, for a tick that has nothing to start.
    #[serde(skip)]
    pub(crate) on_hold: Option<String>,
    /// Why nothing can start, in a sentence that follows the view.
    #[serde(skip)]
    pub(crate) standstill: Option<String>,
    /// What was done, in this order.
    pub(crate) events: Vec<StepEventView>,
}

/// A run at work.
#[derive(Debug, Clone)]
pub(crate) struct LiveView {
    /// The issue, the plan or the project that it is about.
    subject: String,
    of_gates: bool,
}

impl From<&LiveRun> for LiveView {
    fn from(run: &LiveRun) -> Self {
        let plan = run.plan.as_ref().map(|plan| format!("plan {plan}"));
        let issue = run.issue.as_ref().map(ToString::to_string);
        Self {
            subject: issue.or(plan).unwrap_or_else(|| run.project.to_string()),
            of_gates: run.agent == AgentType::Gates,
        }
    }
}

/// A tick that makes no progress.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StuckTickView {
    pub(crate) pid: Option<i32>,
    pub(crate) step: Option<Step>,
    /// How long it has been in that step.
    pub(crate) seconds: u64,
}

impl From<&Stuck> for StuckTickView {
    fn from(stuck: &Stuck) -> Self {
        Self {
            pid: stuck.pid,
            step: stuck.step,
            seconds: stuck.for_ms / 1000,
        }
    }
}

impl StuckTickView {
    /// Says what is wrong, and what happens next.
    pub(crate) fn text(&self) -> String {
        let Self { pid, step, seconds } = self;
        let pid = pid.unwrap_or_default();
        let step = step.map_or("anything", Step::words);
        format!(
            "the tick of process {pid} has not got past {step} for {seconds} s; a later tick ends it (watchdog.tick_timeout_ms)"
        )
    }
}

/// One action; what does not belong to it is null.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ActionView {
    pub(crate) action: &'static str,
    pub(crate) project: Option<ProjectId>,
    pub(crate) issue: Option<IssueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<PlanId>,
    pub(crate) pull_request: Option<PrId>,
    pub(crate) run: Option<RunId>,
    pub(crate) profile: Option<AgentType>,
    pub(crate) phase: Option<PhaseName>,
    pub(crate) attempt: Option<u32>,
    pub(crate) provider: Option<String>,
}

impl From<&Action> for ActionView {
    fn from(action: &Action) -> Self {
        let none = |action| Self {
            action,
            project: None,
            issue: None,
            plan: None,
            pull_request: None,
            run: None,
            profile: None,
            phase: None,
            attempt: None,
            provider: None,
        };
        match action {
            Action::FinishCrashed { run, issue } => Self {
                run: Some(run.clone()),
                issue: issue.clone(),
                ..none("finish_crashed")
            },
            Action::Suspect { run, issue, .. } => Self {
                run: Some(run.clone()),
                issue: issue.clone(),
                ..none("suspect")
            },
            Action::EndStuck { run, issue, .. } => Self {
                run: Some(run.clone()),
                issue: issue.clone(),
                ..none("end_stuck")
            },
            Action::AdvancePhase { issue } => Self {
                issue: Some(issue.clone()),
                ..none("advance_phase")
            },
            Action::Unblock { issue } => Self {
                issue: Some(issue.clone()),
                ..none("unblock")
            },
            Action::OpenBreaker { issue } => Self {
                issue: Some(issue.clone()),
                ..none("open_breaker")
            },
            Action::RecordMerge(merge) => Self {
                project: Some(merge.project.clone()),
                issue: merge.of.issue().cloned(),
                plan: merge.of.plan().cloned(),
                pull_request: Some(merge.pr),
                ..none("record_merge")
            },
            Action::ConfirmDone {
                issue, project, pr, ..
            } => Self {
                project: Some(project.clone()),
                issue: Some(issue.clone()),
                pull_request: Some(*pr),
                ..none("confirm_done")
            },
            Action::RefreshProposal(stale) => Self {
                project: Some(stale.project.clone()),
                issue: Some(stale.issue.clone()),
                pull_request: Some(stale.pr),
                ..none("refresh_proposal")
            },
            Action::ReturnProposal(moved) => Self {
                project: Some(moved.project.clone()),
                issue: Some(moved.issue.clone()),
                pull_request: Some(moved.pr),
                ..none("return_proposal")
            },
            Action::NoteBase(notice) => Self {
                project: Some(notice.project.clone()),
                issue: notice.issue().cloned(),
                plan: notice.plan().cloned(),
                pull_request: notice.pr,
                ..none("note_base")
            },
            Action::RememberBase(look) => Self {
                project: Some(look.project.clone()),
                ..none("remember_base")
            },
            Action::TidyRun { run, project, .. } => Self {
                run: Some(run.clone()),
                project: Some(project.clone()),
                ..none("tidy_run")
            },
            Action::CleanUp { issue, project } => Self {
                issue: Some(issue.clone()),
                project: Some(project.clone()),
                ..none("clean_up")
            },
            Action::StartRun(start) => Self {
                project: Some(start.project.clone()),
                issue: start.target.issue().cloned(),
                plan: start.target.plan().cloned(),
                pull_request: pull_request(start),
                profile: Some(start.agent.clone()),
                phase: start.phase.clone(),
                attempt: Some(start.attempt),
                provider: Some(start.provider.clone()),
                ..none("start_run")
            },
        }
    }
}

const fn pull_request(start: &StartRun) -> Option<PrId> {
    match start.target {
        RunTarget::PullRequest(_, pr) => Some(pr),
        _ => None,
    }
}

impl ActionView {
    /// Says whether it starts gates.
    pub(crate) fn runs_gates(&self) -> bool {
        self.profile == Some(AgentType::Gates)
    }

    /// Returns the action in words.
    pub(crate) fn text(&self) -> String {
        let issue = self.issue.as_ref().map(ToString::to_string);
        let plan = self.plan.as_ref().map(|plan| format!("plan {plan}"));
        let subject = issue
            .or(plan)
            .or_else(|| self.project.as_ref().map(ToString::to_string))
            .unwrap_or_default();
        match (&self.profile, &self.run) {
            (Some(AgentType::Gates), _) => format!("{subject}: run its gates"),
            (Some(profile), _) => {
                let attempt = self.attempt.unwrap_or(1);
                let provider = self.provider.as_deref().unwrap_or_default();
                // an issue's runs are counted, whoever works in them
                let number = if attempt > 1 {
                    format!(" (run {attempt})")
                } else {
                    String::new()
                };
                format!(
                    "{subject}: start {} with {provider}{number}",
                    with_article(profile.name())
                )
            }
            (None, Some(run)) if self.action == "tidy_run" => {
                format!("{subject}: put what is left of run {run} in order")
            }
            (None, Some(run)) if self.action == "suspect" => {
                format!(
                    "{subject}: keep an eye on run {run}, whose supervisor is past a time limit"
                )
            }
            (None, Some(run)) if self.action == "end_stuck" => {
                format!("{subject}: end the supervisor of run {run}, which makes no progress")
            }
            (None, Some(run)) => {
                format!("{subject}: do the exit handling of the crashed run {run}")
            }
            (None, None) => format!("{subject}: {}", self.without_run()),
        }
    }

    /// Returns what is done where no run is concerned.
    fn without_run(&self) -> &'static str {
        match self.action {
            "record_merge" => "record that it was merged outside Symphony",
            "confirm_done" => "confirm that nothing is left to do",
            "return_proposal" => "have a worker check again that nothing is left to do",
            "refresh_proposal" => "have its proposal looked at again before it is confirmed",
            "note_base" => "put its commits on the base branch into the inbox",
            "clean_up" => "remove its worktree",
            "unblock" => "go on, its sub-tasks have ended",
            "advance_phase" => "go on to its next phase",
            _ => "open the circuit breaker",
        }
    }
}

impl TickView {
    /// Views a tick that found another one at work.
    pub(crate) fn busy(late: Option<&Stuck>) -> Self {
        let stuck = late.map(StuckTickView::from);
        Self {
            busy: true,
            problems: stuck.iter().map(StuckTickView::text).collect(),
            stuck,
            ..Self::default()
        }
    }

    /// Views a plan that is not carried out.
    pub(crate) fn planned(schedule: &Schedule, problems: Vec<String>) -> Self {
        Self {
            dry_run: true,
            actions: schedule
                .actions
                .iter()
                // bookkeeping, of which no issue takes notice
                .filter(|action| !matches!(action, Action::RememberBase(_)))
                .map(ActionView::from)
                .collect(),
            decisions: schedule
                .decisions
                .iter()
                .map(DecisionView::from)
                .chain(schedule.plan_decisions.iter().map(DecisionView::from))
                .chain(schedule.project_decisions.iter().map(DecisionView::from))
                .collect(),
            problems,
            ..Self::default()
        }
    }

    /// Views what a tick did.
    pub(crate) fn done(report: TickReport) -> Self {
        Self {
            dry_run: false,
            live: report.snapshot.live.iter().map(LiveView::from).collect(),
            runs: report.started.into_iter().map(RunView::from).collect(),
            events: report.events.iter().map(StepEventView::from).collect(),
            ..Self::planned(&report.schedule, report.problems)
        }
    }
}

impl TickView {
    /// Says what is at work on the issues and plans that are not started; none where nothing is.
    fn at_work(&self) -> Option<String> {
        let (gates, agents): (Vec<&LiveView>, Vec<&LiveView>) =
            self.live.iter().partition(|live| live.of_gates);
        let names = |of: &[&LiveView]| {
            let names: Vec<&str> = of.iter().map(|live| live.subject.as_str()).collect();
            list_few(names.into_iter(), NAMED_MAX)
        };
        let gates = (!gates.is_empty()).then(|| format!("the gates of {} run", names(&gates)));
        let agents =
            (!agents.is_empty()).then(|| format!("agents are at work on {}", names(&agents)));
        let work: Vec<String> = gates.into_iter().chain(agents).collect();
        if work.is_empty() {
            return None;
        }
        let is_about_work = |of: &&DecisionView| of.issue.is_some() || of.plan.is_some();
        let others = self.decisions.iter().filter(is_about_work);
        let more = match others.filter(|of| !of.is_at_work()).count() {
            0 => String::new(),
            1 => "; 1 more waits (`symphony tick --dry-run` says why)".to_owned(),
            n => format!("; {n} more wait (`symphony tick --dry-run` says why)"),
        };
        Some(format!(
            "Nothing to start: {}{more}. `symphony status` shows them.",
            work.join(", ")
        ))
    }

    /// Says that nothing is to be done, or what is due later.
    fn write_nothing(&self, page: &mut Page) {
        let due = self.due.as_ref().and_then(|due| due.next(page.clock()));
        match due {
            _ if let Some(hold) = self.on_hold.as_ref().filter(|_| self.standstill.is_none()) => {
                let due = due.map(|due| format!("; {due}")).unwrap_or_default();
                page.line(&format!(
                    "Nothing to start: {hold}{due}. `symphony inbox` says what to do."
                ));
            }
            Some(due) => page.line(&format!("Nothing to start now: {due}.")),
            None if self.waiting.is_empty() => page.line("Nothing to do."),
            None => page.line("Nothing to start now."),
        }
    }
}

impl View for TickView {
    fn write(&self, page: &mut Page) {
        if self.busy {
            page.line("Another tick is at work.");
            return;
        }
        if self.dry_run {
            self.actions
                .iter()
                .for_each(|action| page.line(&action.text()));
            for decision in &self.decisions {
                page.line(&format!(
                    "{}: not started: {}",
                    decision.subject(),
                    decision.text(page.clock())
                ));
            }
        } else {
            self.events.iter().for_each(|event| page.line(&event.text));
        }
        for run in self.runs.iter().filter(|run| !run.status.is_live()) {
            page.line(&run.outcome());
        }
        for news in &self.pull_requests {
            page.line(news.line());
        }
        for item in self.waiting.iter().take(WAITING_MAX) {
            page.line(&item.announcement(page.clock()));
        }
        let more = self.waiting.len().saturating_sub(WAITING_MAX);
        if more > 0 {
            page.line(&format!("and {more} more: `symphony inbox` lists all."));
        }
        let of = |is_it: &dyn Fn(&DecisionView) -> bool| {
            let decisions = self.decisions.iter();
            decisions.filter(|decision| is_it(decision)).count()
        };
        let issues = of(&|decision| decision.issue.is_some());
        let plans = of(&|decision| decision.plan.is_some());
        match (self.actions.is_empty(), issues + plans) {
            (true, 0) if self.events.is_empty() => self.write_nothing(page),
            (true, 0) => {}
            (true, _) if !self.dry_run && self.events.is_empty() && !self.live.is_empty() => {
                self.at_work().iter().for_each(|line| page.line(line));
            }
            (true, waiting) if !self.dry_run => {
                let are = if waiting == 1 { "is" } else { "are" };
                let why = match self.standstill {
                    Some(_) => "",
                    None => " Run `symphony tick --dry-run` to see why.",
                };
                page.line(&format!(
                    "Nothing to start: {} {are} waiting.{why}",
                    issues_and_plans(issues, plans)
                ));
            }
            _ => {}
        }
        if let Some(today) = &self.today {
            today.write(page);
        }
    }
}
