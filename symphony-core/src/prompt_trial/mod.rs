//! Trials of prompts: two sets of prompt texts, issues that get one or the other, and the results of each.
//!
//! This has nothing to do with [`crate::trial`], which is about gates. What the cases say together, with intervals, is
//! computed by `symphony-learning`.

mod assignment;
mod case;
mod document;
mod live;
mod live_case;

pub use assignment::{
    Assignment, Pairing, PlannedCase, PromptSet, Share, ShareError, TRIAL_NAME_CHARS_MAX,
    TrialName, TrialNameError, assign, plan_cases,
};
pub use case::{Attempt, CaseEnd, CaseFacts, CaseOutcome, HandIn, case_outcome};
pub use document::{
    RECORDED_COMMENTS_MAX, RECORDED_ISSUES_MAX, RECORDED_VERSION, RecordedComment, RecordedIssue,
    RecordedIssues, recorded_text,
};
pub use live::{LiveTrial, dispatch_differences};
pub use live_case::{LiveCase, LiveIssue, LiveRun, live_case};
