//! Plans whose review waits for a person, in words.

use super::InboxKind;
use super::item::InboxItem;
use super::open_review::{close_points, judges_ended, persons_points};
use crate::Timestamp;
use crate::id::{PlanId, PrId, ProjectId};
use crate::outside::MergeObstacle;
use crate::review_point::PointNumber;
use crate::tick::{PlanReviewDecision, Reason};

/// Most characters of a rejection that the inbox quotes; `pr show` has the rest.
const QUOTE_CHARS_MAX: usize = 300;

/// Why the review of a plan waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanWaitsFor {
    /// Its pull request is approved.
    Merge,
    /// Its pull request waits for a person, and no merge of it can succeed now.
    Unmergeable(MergeObstacle),
    /// Its pull request needs a person's verdict, for this reason.
    Verdict(String),
    /// These `must` points of people are open: nothing is approved before a person has closed them.
    PersonsPoints(Vec<PointNumber>),
    /// Required gates failed on it: which, as far as that was looked up.
    GatesRed(Option<String>),
    /// Its gates could not be run, several times in a row.
    GatesNotRun {
        /// The number of tries.
        tries: u32,
        /// Why not, the last time.
        problem: String,
    },
    /// It was not published when that was last tried.
    Publication {
        /// What the command printed last.
        problem: String,
    },
    /// It was not accepted: someone decides how the plan goes on.
    Decision {
        /// What the reviewer wrote; empty when a person closed it.
        comment: String,
    },
}

/// A plan whose review waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingPlan {
    /// The plan.
    pub plan: PlanId,
    /// Its project.
    pub project: ProjectId,
    /// Its file.
    pub path: String,
    /// Since when.
    pub since: Timestamp,
    /// Its pull request.
    pub pr: PrId,
    /// What it waits for.
    pub why: PlanWaitsFor,
}

impl PlanWaitsFor {
    /// Returns what a decision of dispatch about a plan's pull request leaves to a person, if anything.
    pub fn from_decision(decision: &PlanReviewDecision) -> Option<Self> {
        let mut reasons = decision.reasons.iter();
        if reasons.any(|reason| matches!(reason, Reason::Running { .. })) {
            return None;
        }
        // an approval does not make red gates green
        if decision.reasons.contains(&Reason::GatesRed) {
            return Some(Self::GatesRed(None));
        }
        decision.reasons.iter().find_map(|reason| match reason {
            Reason::Conflicts { base, files } => Some(Self::Unmergeable(MergeObstacle::Conflict {
                base: base.clone(),
                files: files.clone(),
            })),
            Reason::PersonsPoints { points } => Some(Self::PersonsPoints(points.clone())),
            Reason::Judged => Some(Self::Merge),
            Reason::JudgeOff => Some(Self::Verdict("judge_enabled is off".to_owned())),
            Reason::JudgesSpent { runs } => Some(Self::Verdict(judges_ended(*runs))),
            _ => None,
        })
    }

    const fn kind(&self) -> InboxKind {
        match self {
            Self::Merge | Self::Unmergeable(_) | Self::Verdict(_) | Self::PersonsPoints(_) => {
                InboxKind::Review
            }
            Self::GatesRed(_) | Self::GatesNotRun { .. } => InboxKind::Gates,
            Self::Publication { .. } => InboxKind::Publication,
            Self::Decision { .. } => InboxKind::Plan,
        }
    }
}

impl From<WaitingPlan> for InboxItem {
    fn from(waiting: WaitingPlan) -> Self {
        let WaitingPlan {
            plan,
            project,
            path,
            since,
            pr,
            why,
        } = waiting;
        let kind = why.kind();
        Self {
            project: Some(project),
            title: format!("plan {plan} ({path})"),
            text: text(&plan, pr, &why),
            answers: answers(&plan, pr, &why),
            ..InboxItem::new(
                kind,
                since,
                format!("plan:{plan}:{kind}:{}", since.as_millisecond()),
            )
        }
    }
}

fn text(plan: &PlanId, pr: PrId, why: &PlanWaitsFor) -> String {
    let of = format!("pull request {pr} of plan {plan}");
    match why {
        PlanWaitsFor::Merge => format!("{of} is approved and waits for you to merge it"),
        PlanWaitsFor::Unmergeable(obstacle) => {
            format!("{of} cannot be merged: {}", obstacle.text())
        }
        PlanWaitsFor::Verdict(reason) => format!("{of} waits for your verdict ({reason})"),
        PlanWaitsFor::PersonsPoints(points) => {
            format!("{of} waits for you: {}", persons_points(points))
        }
        PlanWaitsFor::GatesRed(None) => format!("required gates of {of} are red"),
        PlanWaitsFor::GatesRed(Some(red)) => format!("required gates of {of} are red: {red}"),
        PlanWaitsFor::GatesNotRun { tries, problem } => {
            format!("the gates of {of} could not be run {tries} times in a row: {problem}")
        }
        PlanWaitsFor::Publication { problem } => {
            format!("{of} was not published: {}", problem.trim())
        }
        PlanWaitsFor::Decision { comment } if comment.trim().is_empty() => {
            format!("{of} was closed: decide how the plan continues")
        }
        PlanWaitsFor::Decision { comment } => {
            let mut quote: String = comment.trim().chars().take(QUOTE_CHARS_MAX).collect();
            if quote.len() < comment.trim().len() {
                quote.push('…');
            }
            format!("{of} was rejected: {quote}")
        }
    }
}

fn answers(plan: &PlanId, pr: PrId, why: &PlanWaitsFor) -> Vec<String> {
    let show = format!("symphony pr show {pr}");
    let retry = format!("symphony plan retry PHASE --plan {plan}");
    let abort = format!("symphony plan abort --plan {plan}");
    match why {
        PlanWaitsFor::Merge => vec![
            show,
            format!("symphony pr merge {pr}"),
            format!("symphony pr reject {pr} --feedback TEXT"),
        ],
        // a phase that is sent back by `plan retry` alone would not hear of a conflict
        PlanWaitsFor::Unmergeable(obstacle) => obstacle.answers(&pr.to_string()),
        PlanWaitsFor::Verdict(_) => vec![
            show,
            format!("symphony pr merge {pr}"),
            format!("symphony pr approve {pr}"),
            format!("symphony pr reject {pr} --feedback TEXT"),
        ],
        PlanWaitsFor::PersonsPoints(points) => {
            let mut answers = Vec::from(close_points(plan.as_str(), points));
            answers.extend([show, format!("symphony pr reject {pr} --feedback TEXT")]);
            answers
        }
        PlanWaitsFor::GatesRed(_) => vec![
            show,
            retry,
            format!("symphony pr check {pr}"),
            format!("symphony pr merge {pr} --force"),
            abort,
        ],
        PlanWaitsFor::GatesNotRun { .. } => {
            vec![
                "symphony doctor".to_owned(),
                format!("symphony pr check {pr}"),
            ]
        }
        PlanWaitsFor::Publication { .. } => vec![format!("symphony pr publish {pr}"), show],
        PlanWaitsFor::Decision { .. } => vec![
            show,
            retry,
            format!("symphony pr approve {pr} --force --comment TEXT"),
            abort,
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(reasons: Vec<Reason>) -> PlanReviewDecision {
        PlanReviewDecision {
            plan: PlanId::parse("ship").unwrap(),
            pr: PrId::new(4),
            reasons,
        }
    }

    #[test]
    fn only_what_no_agent_goes_on_with_waits_for_a_person() {
        let running = Reason::Running {
            run: crate::id::RunId::parse("r1").unwrap(),
            interactive: false,
            whereabouts: crate::placement::Whereabouts::Here,
        };
        let spent = Reason::JudgesSpent { runs: 3 };
        for (reasons, waits) in [
            (vec![Reason::Judged], Some(PlanWaitsFor::Merge)),
            (vec![Reason::GatesRed], Some(PlanWaitsFor::GatesRed(None))),
            (
                vec![Reason::Judged, Reason::GatesRed],
                Some(PlanWaitsFor::GatesRed(None)),
            ),
            (vec![running, Reason::GatesRed], None),
            (vec![Reason::GatesPending], None),
            (
                vec![Reason::JudgeOff],
                Some(PlanWaitsFor::Verdict("judge_enabled is off".into())),
            ),
            (
                vec![
                    Reason::PersonsPoints {
                        points: vec![PointNumber::new(2)],
                    },
                    Reason::Judged,
                ],
                Some(PlanWaitsFor::PersonsPoints(vec![PointNumber::new(2)])),
            ),
            (
                vec![spent],
                Some(PlanWaitsFor::Verdict("3 judges ended without one".into())),
            ),
        ] {
            assert_eq!(PlanWaitsFor::from_decision(&decision(reasons)), waits);
        }
    }

    #[test]
    fn a_rejected_plan_names_its_review_and_what_goes_on() {
        let item = InboxItem::from(WaitingPlan {
            plan: PlanId::parse("ship").unwrap(),
            project: ProjectId::parse("p").unwrap(),
            path: "plan.md".into(),
            since: Timestamp::UNIX_EPOCH,
            pr: PrId::new(4),
            why: PlanWaitsFor::Decision {
                comment: "The empty name is not handled.\n".into(),
            },
        });
        assert_eq!(
            item.text,
            "pull request 4 of plan ship was rejected: The empty name is not handled."
        );
        assert_eq!(item.title, "plan ship (plan.md)");
        assert_eq!(
            item.answers,
            [
                "symphony pr show 4",
                "symphony plan retry PHASE --plan ship",
                "symphony pr approve 4 --force --comment TEXT",
                "symphony plan abort --plan ship",
            ]
        );
    }
}
