//! Answering criteria when the work is handed in.

use std::collections::BTreeSet;
use std::fmt;

use super::model::{ChecklistEntry, Criterion, CriterionState, NOTE_CHARS_MAX};

/// Most characters of a criterion that a refusal quotes.
const QUOTE_CHARS: usize = 80;
/// Most problems that a refusal lists; the rest is counted.
const NAMED_MAX: usize = 5;

/// Where the advice to the agent begins in the text of a refused checklist.
pub const CHECKLIST_ADVICE: &str = ". The issue has";

/// The answer to one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionAnswer {
    /// Its number.
    pub item: u32,
    /// Whether it is met.
    pub state: CriterionState,
    /// How it is met, or why not.
    pub note: String,
}

/// What is wrong with a checklist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChecklistProblem {
    /// A criterion has no answer.
    #[error("no answer to {item} (“{text}”)")]
    Missing {
        /// Its number.
        item: u32,
        /// Its beginning.
        text: String,
    },
    /// There is no such criterion.
    #[error("there is no criterion {item}")]
    Unknown {
        /// The number that was given.
        item: u32,
    },
    /// A criterion is answered twice.
    #[error("{item} is answered twice")]
    Twice {
        /// Its number.
        item: u32,
    },
    /// An answer other than `met` has no reason.
    #[error("{item} is `{state}` without a note: say why")]
    NoReason {
        /// Its number.
        item: u32,
        /// The state.
        state: CriterionState,
    },
    /// A note is too long.
    #[error("the note of {item} has {found} characters; the limit is {NOTE_CHARS_MAX}")]
    LongNote {
        /// The criterion's number.
        item: u32,
        /// Its length.
        found: usize,
    },
}

/// Everything that is wrong with a checklist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecklistError {
    /// How many criteria there are.
    pub criteria: usize,
    /// The problems, those of missing answers last.
    pub problems: Vec<ChecklistProblem>,
}

impl fmt::Display for ChecklistError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.criteria == 0 {
            return f.write_str(
                "checklist: the issue has no acceptance criteria; leave `checklist` out",
            );
        }
        let named = self.problems.iter().take(NAMED_MAX);
        let mut problems: Vec<String> = named.map(ToString::to_string).collect();
        // The tick, the inbox and the breaker show this, too.
        if let Some(more @ 1..) = self.problems.len().checked_sub(NAMED_MAX) {
            problems.push(format!("and {more} more of the kind"));
        }
        let noun = match self.criteria {
            1 => "criterion",
            _ => "criteria",
        };
        write!(
            f,
            "checklist: {}{CHECKLIST_ADVICE} {} acceptance {noun}: answer each once, as {{\"item\": 1, \"state\": \"met\", \"note\": \
             \"how\"}}, with `met`, `not_met` or `not_applicable`, then hand in again",
            problems.join("; "),
            self.criteria
        )
    }
}

impl std::error::Error for ChecklistError {}

/// Combines criteria and answers, in the order of the criteria.
///
/// # Errors
/// When a criterion has no answer or two, an answer has no criterion, or lacks its reason: all problems at once.
pub fn answer_criteria(
    criteria: &[Criterion],
    answers: &[CriterionAnswer],
) -> Result<Vec<ChecklistEntry>, ChecklistError> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for answer in answers {
        let item = answer.item;
        let is_first = seen.insert(item);
        let found = answer.note.chars().count();
        if !criteria.iter().any(|criterion| criterion.item == item) {
            problems.push(ChecklistProblem::Unknown { item });
        } else if !is_first {
            problems.push(ChecklistProblem::Twice { item });
        } else if answer.state != CriterionState::Met && answer.note.trim().is_empty() {
            let state = answer.state;
            problems.push(ChecklistProblem::NoReason { item, state });
        } else if found > NOTE_CHARS_MAX {
            problems.push(ChecklistProblem::LongNote { item, found });
        }
    }
    let mut entries = Vec::new();
    for criterion in criteria {
        match answers.iter().find(|answer| answer.item == criterion.item) {
            Some(answer) => entries.push(ChecklistEntry {
                criterion: criterion.clone(),
                state: answer.state,
                note: answer.note.trim().to_owned(),
            }),
            None => problems.push(ChecklistProblem::Missing {
                item: criterion.item,
                text: quote(&criterion.text),
            }),
        }
    }
    if problems.is_empty() {
        return Ok(entries);
    }
    Err(ChecklistError {
        criteria: criteria.len(),
        problems,
    })
}

fn quote(text: &str) -> String {
    let quoted: String = text.chars().take(QUOTE_CHARS).collect();
    if quoted.len() < text.len() {
        format!("{} …", quoted.trim_end())
    } else {
        quoted
    }
}

#[cfg(test)]
mod tests {
    use super::CriterionState::{Met, NotApplicable, NotMet};
    use super::*;
    use crate::criteria::collect_criteria;

    fn said(item: u32, state: CriterionState, note: &str) -> CriterionAnswer {
        CriterionAnswer {
            item,
            state,
            note: note.to_owned(),
        }
    }

    fn refused(text: &str, answers: &[CriterionAnswer]) -> String {
        let criteria = collect_criteria(text, &[]).items;
        match answer_criteria(&criteria, answers) {
            Ok(entries) => format!("{} answers", entries.len()),
            Err(error) => {
                let problems: Vec<String> =
                    error.problems.iter().map(ToString::to_string).collect();
                problems.join("; ")
            }
        }
    }

    #[test]
    fn every_criterion_has_one_answer_with_its_reason() {
        let two = "## Acceptance criteria\n- It greets.\n- It ends.";
        for (text, answers, expected) in [
            ("no criteria", vec![], "0 answers"),
            (
                "no criteria",
                vec![said(1, Met, "")],
                "there is no criterion 1",
            ),
            (
                two,
                vec![said(1, Met, ""), said(2, NotMet, "too slow")],
                "2 answers",
            ),
            (
                two,
                vec![said(2, NotApplicable, "no end"), said(1, Met, "")],
                "2 answers",
            ),
            (
                two,
                vec![],
                "no answer to 1 (“It greets.”); no answer to 2 (“It ends.”)",
            ),
            (two, vec![said(2, Met, "")], "no answer to 1 (“It greets.”)"),
            (
                two,
                vec![said(1, NotMet, " "), said(1, Met, ""), said(3, Met, "")],
                "1 is `not_met` without a note: say why; 1 is answered twice; there is no criterion 3; no answer to 2 (“It ends.”)",
            ),
            (
                two,
                vec![said(1, Met, &"x".repeat(1_001)), said(2, Met, "")],
                "the note of 1 has 1001 characters; the limit is 1000",
            ),
        ] {
            assert_eq!(refused(text, &answers), expected, "{answers:?}");
        }
    }

    #[test]
    fn the_refusal_says_how_criteria_are_answered() {
        let criteria = collect_criteria("# Acceptance criteria\n- It greets.", &[]).items;
        insta::assert_snapshot!(answer_criteria(&criteria, &[]).unwrap_err(), @r#"checklist: no answer to 1 (“It greets.”). The issue has 1 acceptance criterion: answer each once, as {"item": 1, "state": "met", "note": "how"}, with `met`, `not_met` or `not_applicable`, then hand in again"#);
        insta::assert_snapshot!(answer_criteria(&[], &[said(1, Met, "")]).unwrap_err(), @"checklist: the issue has no acceptance criteria; leave `checklist` out");
    }

    #[test]
    fn a_refusal_of_many_answers_is_short_and_counts_the_rest() {
        let items: Vec<String> = (1..=50)
            .map(|item| format!("- [ ] Part {item} never loses data, {}", "x".repeat(200)))
            .collect();
        let text = format!("## Acceptance criteria\n{}", items.join("\n"));
        let criteria = collect_criteria(&text, &[]).items;
        let told = answer_criteria(&criteria, &[]).unwrap_err().to_string();
        assert!(told.contains("no answer to 5") && !told.contains("no answer to 6"));
        assert!(told.contains("and 45 more of the kind"), "{told}");
        assert!(told.chars().count() < 900, "{}", told.chars().count());
    }
}
