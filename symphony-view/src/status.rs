//! The state of a project.

use std::collections::BTreeMap;

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::inbox::InboxKind;
use symphony_core::issue::{BlockedBy, Priority};
use symphony_core::placement::Whereabouts;
use symphony_core::retry::{Retry, RetryKind};
use symphony_core::tick::Reason;

use super::decision::ReasonView;
use super::hold::HoldView;
use super::inbox::{InboxView, SHOWN_MAX as WAITING_SHOWN_MAX, write_waiting};
use super::issue::IssueView;
use super::live_trial::LiveTrialLine;
use super::open_plan::OpenPlanView;
use super::open_pr::{OpenPrView, write_open_prs};
use super::pull_request::PrView;
use super::run::RunView;
use super::tick::StuckTickView;
use super::today::TodayView;
use super::worker::{WorkerView, write_workers};
use crate::text::{List, Page, Table, View, ago};

/// The state of a project.
#[derive(Debug, Clone, Serialize)]
pub struct StatusView {
    /// The project that the command was typed in.
    pub project: ProjectId,
    /// What is wrong with its configuration: no agent of the project starts then.
    pub problem: Option<String>,
    /// Whether no agents are started.
    pub paused: bool,
    /// The trial of prompts in real work; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_trial: Option<LiveTrialLine>,
    /// When the last tick ended.
    pub last_tick_at: Option<Timestamp>,
    /// A tick that is running and makes no progress.
    pub stuck_tick: Option<StuckTickView>,
    /// The limit on running agents in the installation, across all projects.
    pub slots: u32,
    /// How many running agents count against the limit.
    pub slots_taken: usize,
    /// How many issues there are in each status.
    pub issues: BTreeMap<&'static str, u64>,
    /// How much waits for a person, by kind: of this project, and of the whole installation where it is of no project.
    pub inbox: BTreeMap<&'static str, u64>,
    /// What waits for a person, the oldest first.
    pub waiting: Vec<InboxView>,
    /// The runs that are live.
    pub running: Vec<RunningView>,
    /// The workers of all pools; absent if no worker was ever seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerView>,
    /// Those that are not merged or closed, oldest first.
    pub pull_requests: Vec<OpenPrView>,
    /// Plans that have not ended, oldest first.
    pub plans: Vec<OpenPlanView>,
    /// The issues that wait to be worked on.
    pub queue: Vec<QueueView>,
    /// Issues in `todo` that the queue does not show.
    pub queue_more: u64,
    /// What its runs spent today, and when something is due.
    #[serde(flatten)]
    pub today: TodayView,
    /// What is tried again later.
    pub retries: Vec<RetryView>,
    /// What is on hold.
    pub holds: Vec<HoldView>,
    /// Pull requests that wait for a person.
    pub reviews: Vec<PrView>,
    /// The issues that wait for somebody.
    pub blocked: Vec<BlockedView>,
}

/// A live run.
#[derive(Debug, Clone, Serialize)]
pub struct RunningView {
    /// The run.
    #[serde(flatten)]
    pub run: RunView,
    /// What the agent did last.
    pub last_event: Option<String>,
    /// When it did so.
    pub last_event_at: Option<Timestamp>,
    /// Where it is; absent where it is on the host of the tick.
    #[serde(skip_serializing_if = "Whereabouts::is_here")]
    pub whereabouts: Whereabouts,
}

/// An issue in `todo`.
#[derive(Debug, Clone, Serialize)]
pub struct QueueView {
    /// The issue, such as `SYM-12`.
    pub identifier: IssueId,
    /// Its title.
    pub title: String,
    /// How much it matters.
    pub priority: Priority,
    /// Whether the next tick starts it.
    pub next: bool,
    /// What it waits for; empty: it is next.
    pub reasons: Vec<ReasonView>,
}

/// An appointment.
#[derive(Debug, Clone, Serialize)]
pub struct RetryView {
    /// The issue that is tried again.
    pub issue: IssueId,
    /// The kind of agent.
    pub profile: AgentType,
    /// Why it is tried again.
    pub kind: RetryKind,
    /// When it is due.
    pub due_at: Timestamp,
    /// Which attempt it is, from 1.
    pub attempt: u32,
    /// Why, in words.
    pub reason: String,
}

impl From<Retry> for RetryView {
    fn from(retry: Retry) -> Self {
        let Retry {
            issue,
            agent: profile,
            kind,
            due_at,
            attempt,
            reason,
        } = retry;
        Self {
            issue,
            profile,
            kind,
            due_at,
            attempt,
            reason,
        }
    }
}

/// An issue that waits for something named.
#[derive(Debug, Clone, Serialize)]
pub struct BlockedView {
    /// The issue, such as `SYM-12`.
    pub identifier: IssueId,
    /// Its title.
    pub title: String,
    /// Who or what it waits for.
    pub blocked_by: BlockedBy,
    /// Why, in words.
    pub blocked_reason: String,
}

impl BlockedView {
    /// Views an issue; none when it is not blocked.
    pub fn of(issue: IssueView) -> Option<Self> {
        Some(Self {
            identifier: issue.identifier,
            title: issue.title,
            blocked_by: issue.blocked_by?,
            blocked_reason: issue.blocked_reason.unwrap_or_default(),
        })
    }
}

impl View for StatusView {
    fn write(&self, page: &mut Page) {
        self.write_head(page);
        write_waiting(&self.waiting, page);
        self.write_running(page);
        write_workers(&self.workers, page);
        write_open_prs(&self.pull_requests, page);
        if !self.plans.is_empty() {
            page.heading("Plans: `symphony plan status`, `symphony plan decide PHASE CHOICE`");
            List {
                items: self.plans.clone(),
            }
            .write(page);
        }
        self.write_queue(page);
        if !self.retries.is_empty() {
            page.heading("Retries");
            let mut table = Table::new(["ISSUE", "DUE", "KIND", "AFTER ATTEMPT", "REASON"]);
            for retry in &self.retries {
                table.row([
                    retry.issue.to_string(),
                    page.clock().until(retry.due_at),
                    retry.kind.to_string(),
                    retry.attempt.to_string(),
                    retry.reason.clone(),
                ]);
            }
            page.table(&table);
        }
        if !self.blocked.is_empty() {
            page.heading("Blocked");
            let mut table = Table::new(["ISSUE", "BY", "REASON", "TITLE"]);
            for issue in &self.blocked {
                table.row([
                    issue.identifier.to_string(),
                    issue.blocked_by.to_string(),
                    issue.blocked_reason.clone(),
                    issue.title.clone(),
                ]);
            }
            page.table(&table);
        }
    }
}

impl StatusView {
    fn write_head(&self, page: &mut Page) {
        let counts: Vec<String> = self
            .issues
            .iter()
            .filter(|(_, n)| **n > 0)
            .map(|(status, n)| format!("{n} {status}"))
            .collect();
        page.heading(&format!("Project {}", self.project));
        let counts = if counts.is_empty() {
            "none".to_owned()
        } else {
            counts.join(", ")
        };
        page.field("issues", &counts);
        page.field(
            "slots",
            &format!("{} of {} taken", self.slots_taken, self.slots),
        );
        let last = self
            .last_tick_at
            .map_or_else(|| "never".to_owned(), |at| ago(at, page.now()));
        page.field("last tick", &last);
        if let Some(stuck) = &self.stuck_tick {
            page.field("stuck", &stuck.text());
        }
        if let Some(trial) = &self.prompt_trial {
            page.field("prompts", &trial.text());
        }
        self.today.write(page);
        if !self.inbox.is_empty() {
            let waits: Vec<String> = self
                .inbox
                .iter()
                .map(|(kind, n)| {
                    let words = InboxKind::parse(kind).map_or(*kind, InboxKind::words);
                    format!("{words}: {n}")
                })
                .collect();
            page.field(
                "needs you",
                &format!("{} (`symphony inbox`)", waits.join(", ")),
            );
        }
        if self.paused {
            page.line("Symphony is paused: `symphony resume` starts agents again.");
        }
        if let Some(problem) = &self.problem {
            page.hanging(2, &format!("Nothing starts: {problem}"));
        }
        // what waits for a person is shown below, with its answer
        let is_below = |hold: &HoldView| {
            let mut shown = self.waiting.iter().take(WAITING_SHOWN_MAX);
            shown.any(|waiting| waiting.is_hold(&hold.what))
        };
        for hold in self.holds.iter().filter(|hold| !is_below(hold)) {
            page.hanging(2, &hold.text(page.clock()));
        }
    }

    fn write_running(&self, page: &mut Page) {
        page.heading("Running");
        if self.running.is_empty() {
            page.line("No agent is running.");
            return;
        }
        let mut table = Table::new([
            "FOR",
            "PROFILE",
            "STATUS",
            "ELAPSED",
            "TOKENS",
            "COST",
            "LAST EVENT",
        ])
        .right(4)
        .right(5);
        for RunningView {
            run,
            last_event,
            last_event_at,
            whereabouts,
        } in &self.running
        {
            let last = match (last_event, last_event_at) {
                (Some(text), Some(at)) => Some(format!("{} ({})", text, ago(*at, page.now()))),
                _ => None,
            };
            let last: Vec<String> = whereabouts.words().into_iter().chain(last).collect();
            table.row([
                run.subject(),
                run.profile.to_string(),
                run.status.to_string(),
                run.elapsed(page.now()),
                run.usage.tokens().to_string(),
                run.usage.cost(),
                last.join("; "),
            ]);
        }
        page.table(&table);
    }

    fn write_queue(&self, page: &mut Page) {
        if self.queue.is_empty() {
            return;
        }
        page.heading("Queue");
        let mut table = Table::new(["ISSUE", "PRIORITY", "WHEN", "TITLE"]);
        for waiting in &self.queue {
            let reasons: Vec<String> = waiting
                .reasons
                .iter()
                .map(|reason| match reason.reason {
                    // already shown above
                    Reason::ProjectBroken { .. } | Reason::NoBase { .. } => {
                        "its project is on hold".to_owned()
                    }
                    Reason::NoProvider { .. } => "its agent cannot start".to_owned(),
                    Reason::Held { .. } => match reason.due(page.clock()) {
                        Some(due) => format!("on hold; {due}"),
                        None => "on hold".to_owned(),
                    },
                    _ => reason.shown(page.clock()),
                })
                .collect();
            let when = if waiting.next {
                "next tick".to_owned()
            } else {
                reasons.join("; ")
            };
            table.row([
                waiting.identifier.to_string(),
                waiting.priority.to_string(),
                when,
                waiting.title.clone(),
            ]);
        }
        page.table(&table);
        if self.queue_more > 0 {
            page.line(&format!(
                "and {} more: `symphony issue list --status todo` lists them all.",
                self.queue_more
            ));
        }
    }
}
