//! The current criteria, compared with those that were answered when the work was handed in.

use super::model::{ChecklistEntry, Criteria, Criterion};

/// Criteria with their answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedCriteria {
    /// The current criteria, with their current numbers.
    pub items: Vec<ComparedCriterion>,
    /// Answers to criteria that no longer exist.
    pub dropped: Vec<ChecklistEntry>,
    /// Criteria beyond the limit.
    pub left_out: usize,
}

/// A criterion with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedCriterion {
    /// The criterion.
    pub criterion: Criterion,
    /// The worker's answer; `None` if the criterion was added or changed after the worker got its criteria.
    pub answer: Option<ChecklistEntry>,
}

impl ComparedCriteria {
    /// Returns whether the criteria differ from those that were answered.
    pub fn have_changed(&self) -> bool {
        !self.dropped.is_empty() || self.items.iter().any(|item| item.answer.is_none())
    }
}

/// Finds the answer to each criterion by its text: an answer holds for the words that were answered, whatever their
/// number is now.
pub fn compare_criteria(now: &Criteria, answered: &[ChecklistEntry]) -> ComparedCriteria {
    let answer_to = |criterion: &Criterion| {
        let is_same = |entry: &&ChecklistEntry| entry.criterion.text == criterion.text;
        answered.iter().find(is_same).cloned()
    };
    let still_counts = |entry: &&ChecklistEntry| {
        let text = &entry.criterion.text;
        now.items.iter().any(|criterion| criterion.text == *text)
    };
    ComparedCriteria {
        items: now
            .items
            .iter()
            .map(|criterion| ComparedCriterion {
                criterion: criterion.clone(),
                answer: answer_to(criterion),
            })
            .collect(),
        dropped: answered
            .iter()
            .filter(|entry| !still_counts(entry))
            .cloned()
            .collect(),
        left_out: now.left_out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criteria::{CriterionAnswer, CriterionState, answer_criteria, collect_criteria};

    fn criteria(items: &[&str]) -> Criteria {
        let list: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
        collect_criteria(&format!("# Acceptance criteria\n{}", list.join("\n")), &[])
    }

    #[test]
    fn an_answer_follows_its_criterion_and_no_other() {
        let before = criteria(&["a", "b"]);
        let said: Vec<CriterionAnswer> = before
            .items
            .iter()
            .map(|criterion| CriterionAnswer {
                item: criterion.item,
                state: CriterionState::Met,
                note: format!("how {}", criterion.text),
            })
            .collect();
        let answered = answer_criteria(&before.items, &said).unwrap();
        for (now, expected, dropped, changed) in [
            (
                vec!["a", "b"],
                vec!["1 a: how a", "2 b: how b"],
                vec![],
                false,
            ),
            (
                vec!["new", "b", "a"],
                vec!["1 new: -", "2 b: how b", "3 a: how a"],
                vec![],
                true,
            ),
            (vec!["b"], vec!["1 b: how b"], vec!["a"], true),
            (
                vec!["a!", "b"],
                vec!["1 a!: -", "2 b: how b"],
                vec!["a"],
                true,
            ),
        ] {
            let compared = compare_criteria(&criteria(&now), &answered);
            let items: Vec<String> = compared
                .items
                .iter()
                .map(|item| {
                    let note = item.answer.as_ref().map_or("-", |answer| &answer.note);
                    format!("{} {}: {note}", item.criterion.item, item.criterion.text)
                })
                .collect();
            let gone: Vec<&str> = compared
                .dropped
                .iter()
                .map(|entry| entry.criterion.text.as_str())
                .collect();
            assert_eq!(
                (items, gone, compared.have_changed()),
                (
                    expected.into_iter().map(str::to_owned).collect(),
                    dropped,
                    changed
                )
            );
        }
    }
}
