//! The acceptance criteria: for a worker to answer, for a judge to check one by one.

use symphony_core::agent::AgentType;

use crate::fence::Fenced;
use crate::hidden::{one_line, strip_hidden};
use crate::input::{CriteriaInput, CriterionInput};
use crate::section::{Piece, SectionDraft, SectionName, title_line};
use crate::truncate::limit_head;

/// Characters of a note that a judge is shown; `get_issue` has the whole.
const NOTE_CHARS_MAX: u64 = 400;
/// Characters of a criterion that are shown: the most that a criterion can have.
const CRITERION_CHARS_MAX: u64 = 500;
/// Most criteria that are named although they no longer count.
const DROPPED_MAX: usize = 20;

const FOR_WORKER: &str = "The work is done when each of these is true. `create_pr` takes your answer to each in `checklist`: \
    `item`, `state` (`met`, `not_met` or `not_applicable`) and `note`, which says how it is met, or why not.\n";

const FOR_JUDGE: &str = "Check each of these against the diff and the files, whatever the worker says of it. For each one that you do \
    not find met add a point with `criterion`, its number: a `must` point when you reject; when it does not keep the change back, a \
    `should` point or a `note` that says why.\n";

/// The criteria, whole: they say when the work is done.
pub(crate) fn criteria<'a>(criteria: &CriteriaInput, agent: &AgentType) -> SectionDraft<'a> {
    if criteria.items.is_empty() {
        return SectionDraft::new(SectionName::Criteria, Vec::new());
    }
    let judges = *agent == AgentType::Judge;
    let lines: Vec<String> = criteria
        .items
        .iter()
        .map(|criterion| line(criterion, judges))
        .collect();
    let intro = if judges { FOR_JUDGE } else { FOR_WORKER };
    let mut pieces = vec![
        Piece::text(format!("## Acceptance Criteria\n\n{intro}")),
        Piece::Fenced(Fenced {
            origin: "acceptance criteria of the issue".into(),
            author: "the issue and its documents".into(),
            text: lines.join("\n").into(),
        }),
    ];
    if criteria.left_out > 0 {
        let more = match criteria.left_out {
            1 => "1 more criterion".to_owned(),
            count => format!("{count} more criteria"),
        };
        pieces.push(Piece::text(format!(
            "There is not enough room for {more}: read the issue and its documents."
        )));
    }
    if judges && !criteria.dropped.is_empty() {
        let dropped = criteria.dropped.iter().take(DROPPED_MAX);
        let dropped: Vec<String> = dropped.map(|text| format!("- {}", shown(text))).collect();
        pieces.push(Piece::Fenced(Fenced {
            origin: "criteria that the worker answered and that the issue no longer has".into(),
            author: "the issue and its documents".into(),
            text: dropped.join("\n").into(),
        }));
    }
    SectionDraft::new(SectionName::Criteria, pieces)
}

fn line(criterion: &CriterionInput, judges: bool) -> String {
    let source = criterion
        .source
        .as_ref()
        .map_or_else(String::new, |path| format!(" ({})", title_line(path)));
    let text = format!("{}. {}{source}", criterion.item, shown(&criterion.text));
    if !judges {
        return text;
    }
    let note = strip_hidden(&criterion.note);
    let note = limit_head(note.trim(), NOTE_CHARS_MAX);
    match criterion.state {
        None => format!(
            "{text}\n   not answered: it came or changed after the worker was given its criteria"
        ),
        Some(state) if note.is_empty() => format!("{text}\n   {state}, says the worker"),
        Some(state) => format!("{text}\n   {state}, says the worker: {}", one_line(&note)),
    }
}

fn shown(text: &str) -> String {
    limit_head(&one_line(&strip_hidden(text)), CRITERION_CHARS_MAX).into_owned()
}
