//! Milestones of an issue, as comments at its tracker.
//!
//! [`kind_of`] finds milestones among the entries of the log, the caller loads what they say, and [`plan`] writes the comment: one for
//! each milestone, none for one that repeats the last, and at most [`COMMENTS_PER_DAY_MAX`] a day.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::TrackerSettings;
use symphony_core::id::PrId;
use symphony_core::issue::{BlockedBy, IssueEvent, IssueStatus};
use symphony_core::log::LogEvent;
use symphony_core::wording::{counted, with_article};

use crate::change::Change;
use crate::linked::{Covers, Departing};
use crate::quote;

/// Most comments for an issue on one day (UTC): an issue that goes back and forth must not fill people's mailboxes.
pub const COMMENTS_PER_DAY_MAX: u32 = 10;
/// Most characters of one comment: trackers take 65,536.
pub const COMMENT_CHARS_MAX: usize = 20_000;
/// Most points of a rejection that a comment lists.
pub const POINTS_MAX: usize = 20;
/// Most characters of one point, or of one reason.
pub const POINT_CHARS_MAX: usize = 600;
/// Most gates that a comment lists.
pub const GATES_MAX: usize = 30;
/// Most characters of a name in a comment.
const NAME_CHARS_MAX: usize = 80;
/// How many digits of a commit a comment shows.
const COMMIT_DIGITS: usize = 12;
const DAY_SECONDS: i64 = 86_400;

/// A milestone, as an entry of the log shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MilestoneKind {
    /// A run was started.
    Started {
        /// The agent.
        agent: AgentType,
    },
    /// A pull request was opened, or its head moved.
    Opened {
        /// The pull request.
        pr: PrId,
        /// Its head.
        head: String,
    },
    /// The work was sent back.
    Rejected,
    /// The work was merged.
    Merged,
    /// The issue is blocked.
    Blocked,
    /// The issue is done without a merge.
    Done,
    /// The issue was cancelled.
    Cancelled,
}

/// Returns the milestone that an entry of the log is. Waiting for sub-tasks and a person's taking over are none: neither asks anything
/// of the tracker's people. The caller leaves out moves that came from the tracker itself.
pub fn kind_of(event: &LogEvent) -> Option<MilestoneKind> {
    match event {
        LogEvent::RunClaimed { agent, .. } => Some(MilestoneKind::Started {
            agent: agent.clone(),
        }),
        LogEvent::PullRequestOpened { pr, head } => Some(MilestoneKind::Opened {
            pr: *pr,
            head: head.clone(),
        }),
        LogEvent::IssueMoved { event, to, .. } => match (event, to) {
            (IssueEvent::ReviewRejected, _) => Some(MilestoneKind::Rejected),
            (IssueEvent::Merged | IssueEvent::MergedOutside, _) => Some(MilestoneKind::Merged),
            (IssueEvent::SubtasksOpened | IssueEvent::TakenOver { .. }, _) => None,
            (_, IssueStatus::Blocked) => Some(MilestoneKind::Blocked),
            (_, IssueStatus::Done) => Some(MilestoneKind::Done),
            (_, IssueStatus::Cancelled) => Some(MilestoneKind::Cancelled),
            _ => None,
        },
        _ => None,
    }
}

/// A milestone with what its comment says. Texts are as agents and people wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Milestone {
    /// The first run was started.
    Started {
        /// The agent.
        agent: AgentType,
    },
    /// A pull request was opened, or its head moved.
    Opened {
        /// Its title.
        title: String,
        /// Its head.
        head: String,
        /// Its gates.
        gates: Vec<GateLine>,
    },
    /// The work was sent back.
    Rejected {
        /// What should change, or why.
        points: Vec<String>,
    },
    /// The work was merged.
    Merged {
        /// The commit of the base branch, where it is known.
        commit: Option<String>,
    },
    /// The issue is blocked.
    Blocked {
        /// What it waits for.
        by: BlockedBy,
        /// The question, or the reason.
        question: String,
    },
    /// The issue is done without a merge.
    Done {
        /// The reason, if one was given.
        reason: Option<String>,
    },
    /// The issue was cancelled.
    Cancelled {
        /// The reason, if one was given.
        reason: Option<String>,
    },
}

/// A gate in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateLine {
    /// Its name.
    pub name: String,
    /// How it ended.
    pub result: GateResult,
}

/// How a gate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateResult {
    /// It passed.
    Passed,
    /// It failed, and stops the work.
    Failed,
    /// It failed, and may.
    FailedOptional,
    /// It has not run yet.
    Waiting,
}

impl GateResult {
    const fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::FailedOptional => "failed (not required)",
            Self::Waiting => "has not run yet",
        }
    }
}

/// What was written so far about an issue. It is stored with the link, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    /// Whether the start was written.
    pub has_started: bool,
    /// A digest of the last milestone, written or left out.
    pub last: Option<String>,
    /// The day of the last comment, in days since the beginning of 1970.
    pub day: i64,
    /// How many comments that day has.
    pub count: u32,
    /// How many were left out since the last comment.
    pub left_out: u64,
}

/// Decides whether a milestone is written at the tracker, and how. The result's first part replaces what was passed as `written`.
pub fn plan(
    settings: &TrackerSettings,
    written: &Written,
    milestone: &Milestone,
    at: Timestamp,
) -> (Written, Option<Departing>) {
    let mut after = written.clone();
    let is_start = matches!(milestone, Milestone::Started { .. });
    if !settings.comments || (is_start && written.has_started) {
        return (after, None);
    }
    after.has_started |= is_start;
    let text = comment(settings, milestone);
    let digest = digest(&text);
    if written.last.as_ref() == Some(&digest) {
        return (after, None);
    }
    after.last = Some(digest);
    let day = at.as_second().div_euclid(DAY_SECONDS);
    if day != written.day {
        after.day = day;
        after.count = 0;
    }
    if after.count >= COMMENTS_PER_DAY_MAX {
        after.left_out += 1;
        return (after, None);
    }
    after.count += 1;
    let left_out = std::mem::take(&mut after.left_out);
    let body = match left_out {
        0 => text,
        count => {
            let updates = counted(count, "earlier update");
            format!(
                "{text}\n\n_{updates} had no comment: Symphony writes at most {COMMENTS_PER_DAY_MAX} a day._"
            )
        }
    };
    let departing = Departing {
        change: Change::AddComment { body },
        covers: Covers::Comment,
    };
    (after, Some(departing))
}

/// Writes the comment of a milestone, in Markdown, without a marker.
pub fn comment(settings: &TrackerSettings, milestone: &Milestone) -> String {
    let text = match milestone {
        Milestone::Started { agent } => {
            let agent = with_article(&quote::agent_line(agent.name(), NAME_CHARS_MAX));
            format!("Symphony started {agent} on this issue.")
        }
        Milestone::Opened { title, head, gates } => opened(settings, title, head, gates),
        Milestone::Rejected { points } => rejected(points),
        Milestone::Merged { commit: None } => "The work was merged. This issue is done.".to_owned(),
        Milestone::Merged {
            commit: Some(commit),
        } => format!(
            "The work was merged as {}. This issue is done.",
            short(commit)
        ),
        Milestone::Blocked { by, question } => blocked(settings, *by, question),
        Milestone::Done { reason } => ended("This issue is done.", reason.as_deref()),
        Milestone::Cancelled { reason } => ended("This issue was cancelled.", reason.as_deref()),
    };
    quote::shortened(&text, COMMENT_CHARS_MAX)
}

fn opened(settings: &TrackerSettings, title: &str, head: &str, gates: &[GateLine]) -> String {
    let title = quote::quoted(title, POINT_CHARS_MAX);
    let commit = short(head);
    let mut text = format!("A pull request is ready at commit {commit}:\n\n{title}\n");
    if !gates.is_empty() {
        text.push_str("\nGates:\n\n");
        for gate in gates.iter().take(GATES_MAX) {
            let name = code(&gate.name);
            let result = gate.result.words();
            push(&mut text, format_args!("- {name}: {result}\n"));
        }
        push_rest(&mut text, gates.len(), GATES_MAX, "gate");
    }
    if !settings.commanders.is_empty() {
        let digits: String = head.chars().take(COMMIT_DIGITS).collect();
        push(
            &mut text,
            format_args!(
                "\nTo decide, write a comment that begins with one of these lines:\n\n```\n/symphony approve {digits}\n/symphony reject What should change\n```\n"
            ),
        );
    }
    text.trim_end().to_owned()
}

fn rejected(points: &[String]) -> String {
    let mut text = "The work was sent back.\n".to_owned();
    for point in points.iter().take(POINTS_MAX) {
        let point = quote::quoted(point, POINT_CHARS_MAX);
        // a line between two quotes keeps them apart
        push(&mut text, format_args!("\n{point}\n"));
        text.push_str("\n<!-- -->\n");
    }
    push_rest(&mut text, points.len(), POINTS_MAX, "point");
    text.trim_end()
        .trim_end_matches("<!-- -->")
        .trim_end()
        .to_owned()
}

fn blocked(settings: &TrackerSettings, by: BlockedBy, question: &str) -> String {
    let lead = match by {
        BlockedBy::Question | BlockedBy::Human => "Symphony needs an answer to continue:",
        BlockedBy::Agent => "The agent cannot continue:",
        BlockedBy::Gates => "The same gates fail again and again:",
        BlockedBy::Cap => "The spending cap is reached:",
        BlockedBy::Tampered => "A person has to check a change of settings that run programs:",
        BlockedBy::Subtasks => "This issue waits for its sub-tasks:",
        BlockedBy::TakenOver => "A person works on this issue:",
        BlockedBy::HostsLost => "The hosts of its runs were lost, one after the other:",
    };
    let mut text = format!("{lead}\n\n{}\n", quote::agent_text(question));
    let takes_answer = matches!(
        by,
        BlockedBy::Question | BlockedBy::Human | BlockedBy::Agent | BlockedBy::Gates
    );
    if takes_answer && !settings.commanders.is_empty() {
        text.push_str("\nTo answer, write a comment. The agent continues with it.");
    }
    text.trim_end().to_owned()
}

fn ended(lead: &str, reason: Option<&str>) -> String {
    let reason = reason.map(|reason| quote::quoted(reason, POINT_CHARS_MAX));
    match reason.filter(|reason| !reason.is_empty()) {
        None => lead.to_owned(),
        Some(reason) => format!("{lead}\n\n{reason}"),
    }
}

/// Says how many items of a list are left out.
fn push_rest(text: &mut String, count: usize, max: usize, noun: &str) {
    let rest = count.saturating_sub(max);
    if rest > 0 {
        let rest = counted(
            u64::try_from(rest).unwrap_or(u64::MAX),
            &format!("more {noun}"),
        );
        push(text, format_args!("\n_{rest} not shown._\n"));
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments)
        .expect("a String takes all that is written");
}

fn short(commit: &str) -> String {
    let digits: String = commit.chars().take(COMMIT_DIGITS).collect();
    code(&digits)
}

fn code(name: &str) -> String {
    let name = quote::agent_line(name, NAME_CHARS_MAX).replace('`', "'");
    format!("`{name}`")
}

/// Digests a text (FNV-1a): enough to tell two milestones in a row apart.
fn digest(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
