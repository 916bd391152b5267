//! Pure ranking of learnings: normalise, deduplicate, score, split (the specification's `learnings.md`).
//!
//! # Entry points
//! - [`rank`]: ranks everything, with what covers what. [`rank_best`]: only what a dispatch needs: the same learnings in a fraction
//!   of the time. [`search`]: one list for a query. All take [`Learning`](symphony_core::learning::Learning)s.
//! - [`Ranker`]: the same for callers who stream learnings from a store, as [`Prepared`] bytes that were kept when the
//!   learning was recorded; only id, type, age and those bytes are read, no pattern. Results are indexes into what was pushed.
//! - [`rank_document`]: JSON types in and out, for callers in other languages.
//!
//! # What is exact, and why it is fast
//! Whether a learning is covered depends on the normal forms alone, not on scores; so checking only a few
//! candidates is enough to find the best ones, and both ways give the same learnings in the same order. Nothing depends
//! on the order of the input as long as ids are unique. Texts are always compared byte by byte; hashes only say where
//! to look, and every search by hashes counts its steps and switches to an automaton of linear cost when there are too
//! many.
//! Words and labels are compared by 64-bit hashes.
//!
//! # Where the specification is silent
//! - Lower case is that of Unicode for whole texts (final sigma included). A removed character joins its neighbours.
//! - A dropped learning is `covered_by` the longest one that contains it, of equally long ones the most recent, then the
//!   smallest id. That one is never dropped itself. An empty one is dropped, too, and nothing covers it.
//! - Labels are compared as they are; empty paths do not count; a path listed twice counts twice.
//! - A score is the sum of weight × part; it is not divided by the sum of the weights.
//! - "Newer" compares whole timestamps, ids are compared as bytes; recency alone is to the second.
//! - Characters are Unicode scalar values. A convention that does not fit under the cap is skipped and the next one tried; none is cut.
//! - Learnings of other projects are not split by type; `max_results` may lower their number, not raise it.

mod automaton;
mod dedup;
mod document;
mod entry;
mod error;
mod front;
mod hash;
mod options;
mod prepared;
mod prompt_report;
mod rank;
mod score;
mod stop_words;
mod subject;
mod text;
mod texts;
mod usefulness;

pub use dedup::Work;
pub use document::{DroppedItem, RankInput, RankIssue, RankItem, RankOutput, rank_document};
pub use entry::{rank, rank_best, search};
pub use error::{OptionsError, PreparedError, RankError};
pub use options::{CONVENTION_CHAR_CAP, CROSS_PROJECT_MAX, DEFAULT_MAX_RESULTS, Options, Weights};
pub use prepared::{ALGORITHM_VERSION, Prepared, PreparedRef};
pub use prompt_report::{
    DECISION_CASES_MIN, DECISION_PAIRS_MIN, Measure, MeasureReport, PromptTrialReport,
    SetDifference, SetReport,
};
pub use rank::selection::{Best, Dropped, Ranked, Relevance};
pub use rank::{Head, Hit, Ranker};
pub use score::{Parts, RECENCY_SECONDS_MAX, recency};
pub use stop_words::STOP_WORDS;
pub use subject::Subject;
pub use text::{likeness, normalise};
pub use usefulness::{
    CASES_MIN, CASES_NEEDED_MAX, Case, Comparison, Difference, Group, Pairs, Proportion, Sample,
    difference_of_means, difference_of_pairs, difference_of_proportions, estimate_of_mean,
    more_cases_for_means, more_cases_for_proportions, more_pairs_for_means,
    more_pairs_for_proportions,
};
