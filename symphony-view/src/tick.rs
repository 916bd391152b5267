//! Ticks: what is done, and why everything else is not.

use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::listing::list_few;
use symphony_core::tick::{Action, LiveRun, Schedule};
use symphony_core::watchdog::{Step, Stuck};
use symphony_runner::tick::TickReport;

use super::action::ActionView;
use super::decision::DecisionView;
use super::inbox::InboxView;
use super::news::PrNewsView;
use super::run::RunView;
use super::step_event::StepEventView;
use super::today::TodayView;
use crate::text::{Page, View, plural};

/// Things that wait for a person that a tick names; the rest is counted.
const WAITING_MAX: usize = 10;
/// Issues and plans that a sentence names; the rest is counted.
const NAMED_MAX: usize = 5;

/// Counts issues and plans: `2 issues and 1 plan`.
pub fn issues_and_plans(issues: usize, plans: usize) -> String {
    match (issues, plans) {
        (issues, 0) => plural(issues, "issue"),
        (0, plans) => plural(plans, "plan"),
        (issues, plans) => format!("{} and {}", plural(issues, "issue"), plural(plans, "plan")),
    }
}

/// One tick.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TickView {
    /// Whether another tick was running, so that this one did nothing.
    pub busy: bool,
    /// That other tick, where it is past a time limit.
    pub stuck: Option<StuckTickView>,
    /// Whether nothing was done: the view says what a tick would do.
    pub dry_run: bool,
    /// What is done.
    pub actions: Vec<ActionView>,
    /// Why everything else is not started.
    pub decisions: Vec<DecisionView>,
    /// What could not be done; the next tick tries again.
    pub problems: Vec<String>,
    /// The runs that were started; with `--wait`, as they ended.
    pub runs: Vec<RunView>,
    /// What happened to pull requests, as `tick --wait` and `run` see it.
    pub pull_requests: Vec<PrNewsView>,
    /// What waits for a person; `run` has what began to wait.
    pub waiting: Vec<InboxView>,
    /// What was spent today and when something is due, as `tick --wait` and `run` print it at the end.
    #[serde(flatten)]
    pub today: Option<TodayView>,
    /// What is due next, for a tick that has nothing to start.
    #[serde(skip)]
    pub due: Option<TodayView>,
    /// What was running before the tick.
    #[serde(skip)]
    pub live: Vec<LiveView>,
    /// What is on hold, for a tick that has nothing to start.
    #[serde(skip)]
    pub on_hold: Option<String>,
    /// Why nothing can start, in a sentence that follows the view.
    #[serde(skip)]
    pub standstill: Option<String>,
    /// What was done, in this order.
    pub events: Vec<StepEventView>,
}

/// A live run.
#[derive(Debug, Clone)]
pub struct LiveView {
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
pub struct StuckTickView {
    /// The process of the other tick, if it is known.
    pub pid: Option<i32>,
    /// The step that the other tick is at.
    pub step: Option<Step>,
    /// How long it has been in that step.
    pub seconds: u64,
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
    pub fn text(&self) -> String {
        let Self { pid, step, seconds } = self;
        let pid = pid.unwrap_or_default();
        let step = step.map_or("anything", Step::words);
        format!(
            "the tick of process {pid} has been stuck at {step} for {seconds} s; a later tick ends it \
             (watchdog.tick_timeout_ms)"
        )
    }
}

impl TickView {
    /// Views a tick that found another one running.
    pub fn busy(late: Option<&Stuck>) -> Self {
        let stuck = late.map(StuckTickView::from);
        Self {
            busy: true,
            problems: stuck.iter().map(StuckTickView::text).collect(),
            stuck,
            ..Self::default()
        }
    }

    /// Views a plan that is not carried out.
    pub fn planned(schedule: &Schedule, live: &[LiveRun], problems: Vec<String>) -> Self {
        Self {
            dry_run: true,
            actions: schedule
                .actions
                .iter()
                // bookkeeping that concerns no issue
                .filter(|action| !matches!(action, Action::RememberBase(_)))
                .map(|action| ActionView::from(action).about_run(live))
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
    pub fn done(report: TickReport) -> Self {
        Self {
            dry_run: false,
            live: report.snapshot.live.iter().map(LiveView::from).collect(),
            runs: report.started.into_iter().map(RunView::from).collect(),
            events: report.events.iter().map(StepEventView::from).collect(),
            ..Self::planned(&report.schedule, &report.snapshot.live, report.problems)
        }
    }
}

impl TickView {
    /// Says what is running on the issues and plans that are not started; none if nothing is.
    fn at_work(&self) -> Option<String> {
        let (gates, agents): (Vec<&LiveView>, Vec<&LiveView>) =
            self.live.iter().partition(|live| live.of_gates);
        let names = |of: &[&LiveView]| {
            let names: Vec<&str> = of.iter().map(|live| live.subject.as_str()).collect();
            list_few(names.into_iter(), NAMED_MAX)
        };
        let gates =
            (!gates.is_empty()).then(|| format!("the gates of {} are running", names(&gates)));
        let agents =
            (!agents.is_empty()).then(|| format!("agents are working on {}", names(&agents)));
        let work: Vec<String> = gates.into_iter().chain(agents).collect();
        if work.is_empty() {
            return None;
        }
        let is_about_work = |of: &&DecisionView| of.issue.is_some() || of.plan.is_some();
        let others = self.decisions.iter().filter(is_about_work);
        let more = match others.filter(|of| !of.is_at_work()).count() {
            0 => String::new(),
            1 => "; 1 more is waiting (`symphony tick --dry-run` shows why)".to_owned(),
            n => format!("; {n} more are waiting (`symphony tick --dry-run` shows why)"),
        };
        Some(format!(
            "Nothing to start: {}{more}. `symphony status` shows them.",
            work.join(", ")
        ))
    }

    /// Says that there is nothing to do, or what is due later.
    fn write_nothing(&self, page: &mut Page) {
        let due = self.due.as_ref().and_then(|due| due.next(page.clock()));
        match due {
            _ if let Some(hold) = self.on_hold.as_ref().filter(|_| self.standstill.is_none()) => {
                let due = due.map(|due| format!("; {due}")).unwrap_or_default();
                page.line(&format!(
                    "Nothing to start: {hold}{due}. `symphony inbox` shows what to do."
                ));
            }
            Some(due) => page.line(&format!("Nothing to start now: {due}.")),
            // what a problem keeps from being seen may be something to do
            None if self.waiting.is_empty() && self.problems.is_empty() => {
                page.line("Nothing to do.");
            }
            None => page.line("Nothing to start now."),
        }
    }
}

impl View for TickView {
    fn write(&self, page: &mut Page) {
        if self.busy {
            page.line("Another tick is running.");
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
            page.line(&format!(
                "and {more} more: `symphony inbox` lists them all."
            ));
        }
        let of = |is_it: &dyn Fn(&DecisionView) -> bool| {
            let decisions = self.decisions.iter();
            decisions.filter(|decision| is_it(decision)).count()
        };
        let issues = of(&|decision| decision.issue.is_some());
        let plans = of(&|decision| decision.plan.is_some());
        match (self.actions.is_empty(), issues + plans) {
            (true, 0) if !self.events.is_empty() => {}
            (true, 0) if self.dry_run || self.live.is_empty() => self.write_nothing(page),
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
