//! Review points, which no budget cuts, and the commits that answer them.

use std::borrow::Cow;

use symphony_core::agent::AgentType;
use symphony_core::review_point::list_numbers;
use symphony_core::unit::Tokens;

use crate::fence::Fenced;
use crate::hidden::{escape_hidden, one_line, strip_hidden};
use crate::input::{AnswerPatch, PointAnswerInput, PointInput};
use crate::report::ItemsKept;
use crate::section::fit::Fitter;
use crate::section::{Fit, Piece, SectionDraft, SectionName};

/// Characters of a commit that a heading shows.
const COMMIT_CHARS: usize = 12;

/// Who reads the points, which decides what the prompt asks the reader to do with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointsReader {
    /// Whoever hands the work in with a pull request.
    Worker,
    /// Whoever claims the phase.
    PhaseAgent,
    /// Whoever carries out a phase of a plan.
    PlanPhase,
    /// Whoever reviews the work.
    Judge,
    /// Anyone else.
    Other,
}

impl PointsReader {
    /// Who an agent is that works on an issue.
    pub(crate) fn of(agent: &AgentType) -> Self {
        match agent {
            AgentType::Worker => Self::Worker,
            AgentType::Judge => Self::Judge,
            _ => Self::Other,
        }
    }

    const fn task(self) -> &'static str {
        match self {
            Self::Worker => {
                "These points from reviews of this work are still open. Deal with them first. Do what each one asks and commit it, \
                 then call `answer_review_point` for each: `fixed` with the commit; `declined` with the reason, if the point is \
                 wrong or outside the issue (the next reviewer decides); or `question`, only if a person has to say what is meant, \
                 because the issue then waits for the reply. `create_pr` is refused while a `must` point has no answer."
            }
            Self::PhaseAgent => {
                "These points from reviews of this work are still open. Deal with them first. Do what each one asks in the document, \
                 then call `answer_review_point` for each: `fixed`; `declined` with the reason, if the point is wrong or outside \
                 the issue (the next reviewer decides); or `question`, only if a person has to say what is meant, because the \
                 issue then waits for the reply. `complete_phase` is refused while a `must` point has no answer."
            }
            Self::PlanPhase => {
                "These points from reviews of the whole plan's work are still open. Do what each one asks, as far as it concerns \
                 your phase, then call `answer_review_point` for each: `fixed`, or `declined` with the reason, if the point is wrong or \
                 outside the plan (the next reviewer decides). Leave a point to another phase only while that phase is still at \
                 work: `complete_phase` is refused to the last phase while a `must` point has no answer."
            }
            Self::Judge => {
                "These points from earlier reviews are still open. Decide on each one by the work itself, not by what its answer \
                 promises. In the `points` of your verdict, close what is met (`{\"id\": 3, \"state\": \"closed\"}`) and reopen what is \
                 not (`\"state\": \"reopened\"`, with a `text` that says what is missing). Close a `declined` point if its reason is \
                 sound. You can approve only if every `must` point of an agent gets closed. Only a person can close a point raised \
                 by `human`. If the work meets it, approve all the same: your approval takes effect when the person has closed the \
                 point."
            }
            Self::Other => "These points from reviews of this work are still open.",
        }
    }
}

/// Every open point, whole, with what was said to it.
pub(crate) fn review_points(points: &[PointInput], reader: PointsReader) -> SectionDraft<'_> {
    if points.is_empty() {
        return SectionDraft::new(SectionName::ReviewPoints, Vec::new());
    }
    let mut pieces = vec![Piece::text(format!(
        "## Review Points\n\n{}\n",
        reader.task()
    ))];
    if reader == PointsReader::PlanPhase {
        // nothing else is fenced there; everywhere else the header explains fences
        pieces.push(Piece::FenceNote);
    }
    for point in points {
        pieces.push(Piece::text(heading(point)));
        pieces.push(Piece::Fenced(text(point)));
        pieces.extend(
            point
                .answers
                .iter()
                .map(|said| Piece::Fenced(answer(point, said))),
        );
    }
    let kept = points.len();
    let fit = Fit {
        items: Some(ItemsKept::counted(kept, kept)),
        ..Fit::default()
    };
    SectionDraft {
        note: Some("protected: never cut".to_owned()),
        ..SectionDraft::fitted(SectionName::ReviewPoints, pieces, fit)
    }
}

fn heading(point: &PointInput) -> String {
    let answered = if point.answered {
        "answered"
    } else {
        "not answered"
    };
    format!(
        "\n### Point {} ({}), {answered}\n",
        point.number, point.severity
    )
}

fn text(point: &PointInput) -> Fenced<'_> {
    let stripped = strip_hidden(&point.text);
    let text = match &point.place {
        Some(place) => Cow::Owned(format!("At: {}\n{stripped}", one_line(place))),
        None => stripped,
    };
    let of = point.review.as_ref().map_or_else(String::new, |review| {
        format!(" of the review of {}", one_line(review))
    });
    Fenced {
        origin: format!("point {}{of}", point.number).into(),
        author: point.author.name().into(),
        text,
    }
}

fn answer<'a>(point: &PointInput, said: &'a PointAnswerInput) -> Fenced<'a> {
    let commit = said
        .commit
        .as_ref()
        .map_or_else(String::new, |commit| format!(", commit {}", short(commit)));
    Fenced {
        origin: format!("answer to point {} ({}{commit})", point.number, said.kind).into(),
        author: said.author.name().into(),
        text: strip_hidden(&said.text),
    }
}

fn short(commit: &str) -> String {
    one_line(commit).chars().take(COMMIT_CHARS).collect()
}

/// What the commits change that answer points: each whole, as long as they fit into `cap`; the others are named. Also returns what
/// they took of the cap.
pub(crate) fn answer_diff<'a>(
    patches: &'a [AnswerPatch],
    cap: Tokens,
    fitter: Fitter<'_>,
) -> (SectionDraft<'a>, Tokens) {
    if patches.is_empty() {
        return (
            SectionDraft::new(SectionName::AnswerDiff, Vec::new()),
            Tokens::ZERO,
        );
    }
    let mut pieces = vec![Piece::text("## Changes That Answer Points\n")];
    let mut named = Vec::new();
    let (mut used, mut from) = (Tokens::ZERO, Tokens::ZERO);
    for patch in patches {
        let what = format!(
            "commit {}, which answers {}",
            short(&patch.commit),
            list_numbers(&patch.points)
        );
        let text = patch.patch.as_deref().map(escape_hidden);
        let tokens = text
            .as_ref()
            .map_or(Tokens::ZERO, |text| fitter.counter.count(text));
        from = from + tokens;
        match text {
            Some(text) if used + tokens <= cap => {
                used = used + tokens;
                pieces.push(Piece::Fenced(Fenced {
                    origin: format!("diff of {what}").into(),
                    author: "the branch's author".into(),
                    text,
                }));
            }
            _ => named.push(format!("- {what}")),
        }
    }
    if !named.is_empty() {
        pieces.push(Piece::text(format!(
            "Left out here for lack of room; the diff of the branch has their changes:\n{}",
            named.join("\n")
        )));
    }
    let fit = Fit {
        cap: Some(cap),
        used,
        cut: (used < from).then_some((from, used)),
        items: Some(ItemsKept::counted(
            patches.len(),
            patches.len() - named.len(),
        )),
    };
    let draft = SectionDraft::fitted(SectionName::AnswerDiff, pieces, fit);
    (draft, used)
}
