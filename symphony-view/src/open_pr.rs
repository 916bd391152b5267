//! Open pull requests as `status` shows them: where their gates and their verdict are.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::gates::{ConfiguredGate, GatesAge};
use symphony_core::id::{IssueId, PlanId, PrId, RunId};
use symphony_core::news::GatesProgress;
use symphony_core::pull_request::{PrState, PullRequest, VerdictKind};
use symphony_core::tick::{HoldScope, NEXT_TRY, Reason};
use symphony_core::user::Attribution;

use super::decision::ReasonView;
use super::pull_request::subject;
use super::run::RunView;
use crate::text::{Page, Table, ago, in_future};

/// A pull request that is not merged or closed.
#[derive(Debug, Clone, Serialize)]
pub struct OpenPrView {
    /// Its number.
    pub id: PrId,
    /// The issue that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueId>,
    /// The plan that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// Its title.
    pub title: String,
    /// Its state.
    pub state: PrState,
    gates: GatesView,
    /// The verdict on the head commit.
    verdict: Option<OpenVerdictView>,
    /// The judge's run, while it is live.
    pub judge: Option<RunId>,
    /// Lines that are added.
    pub insertions: u64,
    /// Lines that are removed.
    pub deletions: u64,
    /// When it was opened.
    pub created_at: Timestamp,
}

/// A verdict, and who gave it.
#[derive(Debug, Clone, Serialize)]
struct OpenVerdictView {
    kind: VerdictKind,
    by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<String>,
    #[serde(flatten)]
    attribution: Attribution,
}

/// Where the gates of a pull request are.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum GatesView {
    /// They run now.
    Running {
        run: RunId,
        since: Timestamp,
        /// Which, in words; empty before the first has begun.
        what: String,
    },
    /// They have not run on the head commit.
    Waiting {
        due_at: Timestamp,
        /// Why they could not be run the last time.
        problem: Option<String>,
        /// What they wait for, apart from their time.
        #[serde(skip_serializing_if = "Option::is_none")]
        held: Option<ReasonView>,
    },
    /// They ran on the head commit.
    #[serde(untagged)]
    Ran {
        #[serde(flatten)]
        came_to: GatesProgress,
        /// Whether they are the gates that the project has now.
        age: GatesAge,
    },
}

/// What else decides when its gates run, and whether their results still count.
#[derive(Debug)]
pub struct GatesNow<'a> {
    /// The gates that the project has now.
    pub configured: &'a [ConfiguredGate],
    /// What those wait for that have not run, apart from their time.
    pub held: Option<Reason>,
}

impl GatesView {
    fn of(pr: &PullRequest, live: Option<(&RunView, &str)>, now: &GatesNow<'_>) -> Self {
        if let Some((run, what)) = live {
            return Self::Running {
                run: run.id.clone(),
                since: run.started_at,
                what: what.to_owned(),
            };
        }
        match pr.gates_of_head() {
            Some(found) => Self::Ran {
                came_to: GatesProgress::of(found),
                age: GatesAge::of(found, now.configured),
            },
            None => Self::Waiting {
                due_at: pr.gates_wait.due_at,
                problem: pr.gates_wait.problem.clone(),
                held: now.held.as_ref().map(ReasonView::from),
            },
        }
    }

    fn text(&self, now: Timestamp) -> String {
        match self {
            Self::Running { since, what, .. } => {
                let names = what.strip_prefix("running ").unwrap_or(what);
                let separator = if names.is_empty() { "" } else { ": " };
                format!("running{separator}{names} (started {})", ago(*since, now))
            }
            Self::Ran { came_to, age } => format!("{}{}", came_to.word(), age.note()),
            // the line of the hold itself says why
            Self::Waiting {
                held: Some(reason), ..
            } => match &reason.reason {
                Reason::Held {
                    scope: HoldScope::Gates(_),
                    ..
                } => "on hold until the gates pass on the base".to_owned(),
                _ => format!("waiting: {}", reason.text),
            },
            Self::Waiting {
                problem: Some(problem),
                due_at,
                ..
            } => format!("waiting, {NEXT_TRY} {}: {problem}", in_future(*due_at, now)),
            Self::Waiting { due_at, .. } if *due_at > now => {
                format!("due {}", in_future(*due_at, now))
            }
            Self::Waiting { .. } => "waiting for the next tick".to_owned(),
        }
    }
}

impl OpenPrView {
    /// Views a pull request with the live runs that are about it, each with what it did last.
    pub fn of<'a>(
        pr: &PullRequest,
        live: impl Iterator<Item = (&'a RunView, &'a str)>,
        now: &GatesNow<'_>,
    ) -> Self {
        let mine: Vec<(&RunView, &str)> = live
            .filter(|(run, _)| run.pull_request == Some(pr.id))
            .collect();
        let (gates, others): (Vec<_>, Vec<_>) =
            mine.into_iter().partition(|(run, _)| run.is_of_gates());
        let (insertions, deletions) = pr.totals();
        Self {
            id: pr.id,
            issue: pr.of.issue().cloned(),
            plan: pr.of.plan().cloned(),
            title: pr.title.clone(),
            state: pr.state,
            gates: GatesView::of(pr, gates.first().copied(), now),
            verdict: pr.verdict_on_head().map(|verdict| OpenVerdictView {
                kind: verdict.kind,
                by: verdict.author.to_string(),
                unverified: verdict.unverified.clone(),
                attribution: verdict.attribution.clone(),
            }),
            judge: others.first().map(|(run, _)| run.id.clone()),
            insertions,
            deletions,
            created_at: pr.created_at,
        }
    }

    /// Returns where its gates are, in words.
    pub fn gates_text(&self, now: Timestamp) -> String {
        self.gates.text(now)
    }

    /// Returns where its verdict is, in words.
    pub fn verdict_text(&self) -> String {
        match (&self.verdict, &self.judge) {
            (_, Some(_)) => "running: a judge".to_owned(),
            (Some(verdict), None) => {
                let by = match verdict.by.as_str() {
                    // `pr show` has the reason.
                    "human" if verdict.unverified.is_some() => "a person (not verified)",
                    "human" => "a person",
                    agent => agent,
                };
                let by = verdict.attribution.name_or(by);
                format!("{} by {by}", verdict.kind)
            }
            (None, None) => "none yet".to_owned(),
        }
    }
}

/// Writes a table of them.
pub(crate) fn write_open_prs(prs: &[OpenPrView], page: &mut Page) {
    if prs.is_empty() {
        return;
    }
    page.heading("Pull requests");
    let mut table = Table::new(["PR", "FOR", "GATES", "VERDICT", "CHANGE", "OPENED", "TITLE"]);
    for pr in prs {
        table.row([
            pr.id.to_string(),
            subject(pr.issue.as_ref(), pr.plan.as_ref()),
            pr.gates.text(page.now()),
            pr.verdict_text(),
            format!("+{} -{}", pr.insertions, pr.deletions),
            ago(pr.created_at, page.now()),
            pr.title.clone(),
        ]);
    }
    page.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use symphony_core::id::ProjectId;

    #[test]
    fn gates_are_shown_as_where_they_are() {
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        let now = at(100_000);
        let run = RunId::parse("r-1").unwrap();
        let running = |what: &str| GatesView::Running {
            run: run.clone(),
            since: at(88_000),
            what: what.to_owned(),
        };
        let ran = |came_to, age| GatesView::Ran { came_to, age };
        let red_base = Reason::Held {
            scope: HoldScope::Gates(ProjectId::parse("p").unwrap()),
            until: at(200_000),
            why: "red".into(),
        };
        for (gates, expected) in [
            (
                running("running test, lint"),
                "running: test, lint (started 12s ago)",
            ),
            (running(""), "running (started 12s ago)"),
            (ran(GatesProgress::Green, GatesAge::Current), "green"),
            (
                ran(GatesProgress::Green, GatesAge::Outdated),
                "green (the gates or their environment have changed since: they run again before a merge)",
            ),
            (
                ran(GatesProgress::Unverified, GatesAge::Current),
                "unverified",
            ),
            (
                ran(
                    GatesProgress::Red {
                        gates: vec!["test".into(), "lint".into()],
                    },
                    GatesAge::Current,
                ),
                "red: test, lint",
            ),
            (
                GatesView::Waiting {
                    due_at: at(1),
                    problem: None,
                    held: Some((&red_base).into()),
                },
                "on hold until the gates pass on the base",
            ),
            (
                GatesView::Waiting {
                    due_at: at(1),
                    problem: None,
                    held: Some((&Reason::Paused).into()),
                },
                "waiting: Symphony is paused (`symphony resume` ends the pause)",
            ),
            (
                GatesView::Waiting {
                    due_at: at(1),
                    problem: None,
                    held: None,
                },
                "waiting for the next tick",
            ),
            (
                GatesView::Waiting {
                    due_at: at(120_000),
                    problem: None,
                    held: None,
                },
                "due in 20s",
            ),
            (
                GatesView::Waiting {
                    due_at: at(120_000),
                    problem: Some("no space left".into()),
                    held: None,
                },
                "waiting, next try in 20s: no space left",
            ),
        ] {
            assert_eq!(gates.text(now), expected);
        }
    }
}
