//! What happened to pull requests between two looks, in sentences: what a person reads who waits for a tick or watches
//! the loop. The looks are the caller's; here they are only compared.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::id::PrId;
use crate::issue::CommentAuthor;
use crate::listing::list_few;
use crate::pull_request::{PrState, PullRequestOf, VerdictKind, VerifiedGates, noun};

/// Most gates that a sentence lists; the rest is counted.
const NAMED_MAX: usize = 5;
/// Characters of a commit that a sentence shows.
const COMMIT_CHARS: usize = 7;
/// Most characters of a reviewer's words that a sentence quotes; `pr show` has the rest.
const QUOTE_CHARS_MAX: usize = 200;

/// The state of the gates on a pull request's head commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum GatesProgress {
    /// They have not run, and do not run now.
    Waiting {
        /// Why they could not be run the last time.
        problem: Option<String>,
    },
    /// They have not run, and wait until their project is no longer on hold.
    Held {
        /// What is on hold, and why.
        why: String,
    },
    /// They run now.
    Running,
    /// All required ones passed.
    Green,
    /// These required ones failed.
    Red {
        /// Their names.
        gates: Vec<String>,
    },
    /// No gate is required: nothing verifies the change.
    Unverified,
}

impl GatesProgress {
    /// Reads the result of gates that ran on the head commit.
    pub fn of(gates: &VerifiedGates) -> Self {
        let red: Vec<String> = gates.red().map(|gate| gate.name.clone()).collect();
        match (red.is_empty(), gates.verify_something()) {
            (false, _) => Self::Red { gates: red },
            (true, true) => Self::Green,
            (true, false) => Self::Unverified,
        }
    }

    /// Returns it in a word or two, with the names of red ones.
    pub fn word(&self) -> String {
        match self {
            Self::Waiting { .. } | Self::Held { .. } => "not run".to_owned(),
            Self::Running => "running".to_owned(),
            Self::Green => "green".to_owned(),
            Self::Red { gates } => format!("red: {}", gates.join(", ")),
            Self::Unverified => "unverified".to_owned(),
        }
    }
}

/// A verdict on the head commit of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictProgress {
    /// Approval or rejection.
    pub kind: VerdictKind,
    /// The author.
    pub by: CommentAuthor,
    /// What the reviewer wrote.
    pub comment: String,
}

/// How far a pull request has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrProgress {
    /// The pull request.
    pub pr: PrId,
    /// What it finishes.
    pub of: PullRequestOf,
    /// Its state.
    pub state: PrState,
    /// Its base branch.
    pub base: String,
    /// The commit that is judged and merged.
    pub head: String,
    /// Where its gates are.
    pub gates: GatesProgress,
    /// The verdict on the head commit.
    pub verdict: Option<VerdictProgress>,
    /// The commit that came of the merge.
    pub merged: Option<String>,
    /// Whether someone merged it without Symphony.
    pub is_merged_outside: bool,
    /// Whether it is not a change but the proposal that nothing is left to do.
    #[serde(skip_serializing_if = "is_false")]
    pub is_proposal: bool,
}

/// Pull requests at one look: those that are open, and those that were open at the look before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrLook {
    /// The newest pull request: later ones have a higher number.
    pub newest: Option<PrId>,
    /// How far each has come, oldest first.
    pub prs: Vec<PrProgress>,
}

/// One thing that happened to a pull request; its text is a sentence that begins with what the pull request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrNews<'a> {
    /// The pull request as it is now.
    pub now: &'a PrProgress,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Opened,
    NewCommit,
    GatesMoved,
    Approved,
    Rejected,
    Merged,
    Closed,
    Confirmed,
}

/// Returns what happened between two looks, one sentence for each pull request: the last thing that matters.
pub fn news<'a>(before: &PrLook, after: &'a PrLook) -> Vec<PrNews<'a>> {
    let known: BTreeMap<PrId, &PrProgress> = before.prs.iter().map(|pr| (pr.pr, pr)).collect();
    let happened = after.prs.iter().filter_map(|now| {
        let before = known.get(&now.pr).copied();
        let what = what(before, now)?;
        Some(PrNews { now, what })
    });
    happened.collect()
}

fn what(before: Option<&PrProgress>, now: &PrProgress) -> Option<What> {
    if before == Some(now) {
        return None;
    }
    let is_new_state = before.is_none_or(|before| before.state != now.state);
    let is_new_verdict = before.is_none_or(|before| before.verdict != now.verdict);
    match now.state {
        PrState::Merged => is_new_state.then_some(What::Merged),
        PrState::Closed => is_new_state.then_some(What::Closed),
        PrState::Confirmed => is_new_state.then_some(What::Confirmed),
        PrState::Rejected => (is_new_state || is_new_verdict).then_some(What::Rejected),
        PrState::Approved if is_new_state || is_new_verdict => Some(What::Approved),
        PrState::Open | PrState::Approved => match before {
            None => Some(What::Opened),
            Some(before) if before.head != now.head => Some(What::NewCommit),
            // The start of gates is shown by the run itself.
            Some(before) if before.gates != now.gates => {
                (now.gates != GatesProgress::Running).then_some(What::GatesMoved)
            }
            Some(_) => None,
        },
    }
}

impl fmt::Display for PrNews<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrProgress { pr, of, base, .. } = self.now;
        let noun = self.noun();
        write!(f, "{of}: ")?;
        match self.what {
            What::Opened if self.now.is_proposal => write!(
                f,
                "its worker says that nothing is left to do (proposal {pr}); {}",
                self.gates()
            ),
            What::Confirmed => f.write_str("done, nothing was left to do"),
            What::Opened => write!(f, "{noun} {pr} is open; {}", self.gates()),
            What::NewCommit => write!(f, "{noun} {pr} has a new commit; {}", self.gates()),
            What::GatesMoved => write!(f, "{noun} {pr}: {}", self.gates()),
            What::Approved => {
                write!(f, "{noun} {pr} is approved by {}", self.reviewer())?;
                match &self.now.gates {
                    GatesProgress::Green => Ok(()),
                    GatesProgress::Unverified => f.write_str(", and no gate verifies it"),
                    _ => write!(f, ", but {}", self.gates()),
                }
            }
            What::Rejected => self.write_rejection(f),
            What::Merged => {
                let outside = if self.now.is_merged_outside {
                    " outside Symphony"
                } else {
                    ""
                };
                write!(f, "done, merged into {base}{outside}")?;
                match &self.now.merged {
                    Some(commit) => write!(f, " as {}", short(commit)),
                    None => Ok(()),
                }
            }
            What::Closed => write!(f, "{noun} {pr} is closed"),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl PrNews<'_> {
    const fn noun(&self) -> &'static str {
        noun(self.now.is_proposal)
    }

    /// Describes the state of the gates, as a clause.
    fn gates(&self) -> String {
        match &self.now.gates {
            GatesProgress::Waiting {
                problem: Some(problem),
            } => {
                let problem = problem.lines().next().unwrap_or_default();
                format!("its gates could not be run and will be tried again: {problem}")
            }
            GatesProgress::Waiting { problem: None } => "its gates run next".to_owned(),
            GatesProgress::Held { why } => {
                let why = why.lines().next().unwrap_or_default();
                format!("its gates wait because {why}")
            }
            GatesProgress::Running => "its gates run".to_owned(),
            GatesProgress::Green => "its gates passed".to_owned(),
            GatesProgress::Red { gates } => format!("its gates are red: {}", named(gates)),
            GatesProgress::Unverified => "no gate is required, so nothing verifies it".to_owned(),
        }
    }

    fn write_rejection(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pr, noun) = (self.now.pr, self.noun());
        let verdict = self.now.verdict.as_ref();
        let is_by_gates = verdict.is_none_or(|verdict| verdict.by == CommentAuthor::System);
        match (&self.now.gates, verdict) {
            (GatesProgress::Red { gates }, _) if is_by_gates => {
                write!(f, "{noun} {pr} goes back to an agent: {}", red_gates(gates))
            }
            (_, Some(verdict)) if !verdict.comment.trim().is_empty() => {
                let words = quote(&verdict.comment);
                write!(f, "{noun} {pr} is rejected by {}: {words}", self.reviewer())
            }
            _ => write!(f, "{noun} {pr} is rejected by {}", self.reviewer()),
        }
    }

    fn reviewer(&self) -> String {
        match self.now.verdict.as_ref().map(|verdict| &verdict.by) {
            Some(CommentAuthor::Agent(agent)) => format!("the {agent}"),
            Some(CommentAuthor::Human) => "a person".to_owned(),
            Some(CommentAuthor::Tracker) => "a user of the tracker".to_owned(),
            Some(CommentAuthor::System) | None => "Symphony".to_owned(),
        }
    }
}

fn named(gates: &[String]) -> String {
    list_few(gates.iter().map(String::as_str), NAMED_MAX)
}

fn short(commit: &str) -> &str {
    commit.get(..COMMIT_CHARS).unwrap_or(commit)
}

/// Lists the red gates.
fn red_gates(gates: &[String]) -> String {
    let (gate, are) = if gates.len() == 1 {
        ("gate", "is")
    } else {
        ("gates", "are")
    };
    format!("{gate} {} {are} red", named(gates))
}

/// Returns the first line of a comment, cut to what a line can hold.
fn quote(comment: &str) -> String {
    let line = comment.trim().lines().next().unwrap_or_default();
    let mut words: String = line.chars().take(QUOTE_CHARS_MAX).collect();
    if words.len() < comment.trim().len() {
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentType;
    use crate::id::{IssueId, PlanId};

    fn open(gates: GatesProgress) -> PrProgress {
        PrProgress {
            pr: PrId::new(1),
            of: PullRequestOf::Issue(IssueId::parse("SYM-1").unwrap()),
            state: PrState::Open,
            base: "main".into(),
            head: "4f1d0dd90d29".into(),
            gates,
            verdict: None,
            merged: None,
            is_merged_outside: false,
            is_proposal: false,
        }
    }

    fn judged(state: PrState, kind: VerdictKind, by: CommentAuthor, comment: &str) -> PrProgress {
        PrProgress {
            state,
            verdict: Some(VerdictProgress {
                kind,
                by,
                comment: comment.into(),
            }),
            ..open(GatesProgress::Green)
        }
    }

    fn lines(before: Option<PrProgress>, now: &PrProgress) -> Vec<String> {
        let look = |pr: Option<PrProgress>| PrLook {
            newest: Some(PrId::new(1)),
            prs: pr.into_iter().collect(),
        };
        let after = look(Some(now.clone()));
        let news = news(&look(before), &after);
        news.iter().map(ToString::to_string).collect()
    }

    fn waiting() -> GatesProgress {
        GatesProgress::Waiting { problem: None }
    }

    fn red() -> GatesProgress {
        GatesProgress::Red {
            gates: vec!["check".into()],
        }
    }

    #[test]
    fn a_new_pull_request_says_where_its_gates_are() {
        let broken = GatesProgress::Waiting {
            problem: Some("no space left\non /tmp".into()),
        };
        let held = GatesProgress::Held {
            why: "project p is on hold until its gates pass on the base: red\nsince".into(),
        };
        for (gates, expected) in [
            (waiting(), "its gates run next"),
            (
                held,
                "its gates wait because project p is on hold until its gates pass on the base: red",
            ),
            (GatesProgress::Running, "its gates run"),
            (GatesProgress::Green, "its gates passed"),
            (red(), "its gates are red: check"),
            (
                GatesProgress::Unverified,
                "no gate is required, so nothing verifies it",
            ),
            (
                broken,
                "its gates could not be run and will be tried again: no space left",
            ),
        ] {
            let expected = format!("SYM-1: pull request 1 is open; {expected}");
            assert_eq!(lines(None, &open(gates)), [expected]);
        }
    }

    #[test]
    fn what_did_not_change_is_no_news() {
        for now in [open(waiting()), open(GatesProgress::Green), open(red())] {
            assert!(lines(Some(now.clone()), &now).is_empty());
        }
        // While they run, they have a line of their own.
        let running = open(GatesProgress::Running);
        assert!(lines(Some(open(waiting())), &running).is_empty());
    }

    #[test]
    fn the_end_of_gates_is_news_of_its_own() {
        let before = || Some(open(GatesProgress::Running));
        let green = open(GatesProgress::Green);
        assert_eq!(
            lines(before(), &green),
            ["SYM-1: pull request 1: its gates passed"]
        );
        assert_eq!(
            lines(before(), &open(red())),
            ["SYM-1: pull request 1: its gates are red: check"]
        );
        let mut newer = open(GatesProgress::Running);
        newer.head = "abc".into();
        assert_eq!(
            lines(before(), &newer),
            ["SYM-1: pull request 1 has a new commit; its gates run"]
        );
    }

    #[test]
    fn a_verdict_names_the_reviewer_and_quotes_a_rejection() {
        let judge = || CommentAuthor::Agent(AgentType::Judge);
        let before = || Some(open(GatesProgress::Green));
        let approved = judged(PrState::Approved, VerdictKind::Approved, judge(), "Good.");
        assert_eq!(
            lines(before(), &approved),
            ["SYM-1: pull request 1 is approved by the judge"]
        );
        let forced = PrProgress {
            gates: red(),
            ..judged(
                PrState::Approved,
                VerdictKind::Approved,
                CommentAuthor::Human,
                "",
            )
        };
        assert_eq!(
            lines(before(), &forced),
            ["SYM-1: pull request 1 is approved by a person, but its gates are red: check"]
        );
        let rejected = judged(
            PrState::Rejected,
            VerdictKind::Rejected,
            judge(),
            "The name is wrong.\n\nSee line 3.",
        );
        assert_eq!(
            lines(before(), &rejected),
            ["SYM-1: pull request 1 is rejected by the judge: The name is wrong.…"]
        );
    }

    #[test]
    fn red_gates_that_reject_are_named() {
        let rejected = PrProgress {
            gates: red(),
            ..judged(
                PrState::Rejected,
                VerdictKind::Rejected,
                CommentAuthor::System,
                "required gates failed: check",
            )
        };
        let expected = ["SYM-1: pull request 1 goes back to an agent: gate check is red"];
        // opened and rejected between two looks, too
        assert_eq!(lines(None, &rejected), expected);
        assert_eq!(
            lines(Some(open(GatesProgress::Running)), &rejected),
            expected
        );
    }

    #[test]
    fn the_end_of_a_pull_request_is_told_once() {
        let merged = PrProgress {
            state: PrState::Merged,
            merged: Some("abc1234567".into()),
            ..open(GatesProgress::Green)
        };
        let outside = PrProgress {
            of: PullRequestOf::Plan(PlanId::parse("ship").unwrap()),
            is_merged_outside: true,
            ..merged.clone()
        };
        let closed = PrProgress {
            state: PrState::Closed,
            ..open(GatesProgress::Green)
        };
        let before = || Some(open(GatesProgress::Green));
        for (now, expected) in [
            (merged, "SYM-1: done, merged into main as abc1234"),
            (
                outside,
                "plan ship: done, merged into main outside Symphony as abc1234",
            ),
            (closed, "SYM-1: pull request 1 is closed"),
        ] {
            assert_eq!(lines(before(), &now), [expected]);
            assert!(lines(Some(now.clone()), &now).is_empty());
        }
    }
}
