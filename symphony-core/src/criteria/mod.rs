//! Acceptance criteria: read from the text of an issue and from its documents, numbered, answered by whoever hands in
//! the work, and checked one by one by whoever judges it (`docs/design/0027`).

mod answer;
mod compare;
mod heading;
mod model;
mod parse;
mod shown;

pub use answer::{
    CHECKLIST_ADVICE, ChecklistError, ChecklistProblem, CriterionAnswer, answer_criteria,
};
pub use compare::{ComparedCriteria, ComparedCriterion, compare_criteria};
pub use model::{
    CRITERIA_MAX, CRITERION_CHARS_MAX, ChecklistEntry, Criteria, Criterion, CriterionState,
    MissedCriteria, NOTE_CHARS_MAX,
};
pub use parse::{collect_criteria, missed_criteria, parse_criteria};
pub use shown::{SHOWN_CRITERIA, shown_criteria};
