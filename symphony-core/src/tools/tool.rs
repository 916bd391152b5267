//! The tools of the MCP service, by name.

use crate::closed_set::closed_set;

closed_set!(
    /// A tool of the MCP service.
    Tool, "tool", {
        /// The issue with everything that belongs to it.
        GetIssue = "get_issue",
        /// Query by status, label and text.
        ListIssues = "list_issues",
        /// Moves the run's issue; for intake also sets its fields.
        UpdateIssueStatus = "update_issue_status",
        /// Files a new issue in the backlog.
        CreateIssue = "create_issue",
        /// Creates a child of the run's issue.
        CreateSubtask = "create_subtask",
        /// Records a structured finding.
        AddFinding = "add_finding",
        /// Records a pattern that helps with other issues.
        AddLearning = "add_learning",
        /// Comments on an issue.
        AddComment = "add_comment",
        /// Searches the learnings, best first.
        SearchLearnings = "search_learnings",
        /// Records a pull request; the issue goes to review.
        CreatePr = "create_pr",
        /// Proposes that nothing is left to do; the issue goes to review.
        ProposeDone = "propose_done",
        /// Answers a point of a review.
        AnswerReviewPoint = "answer_review_point",
        /// Verdict on the open pull request.
        ApprovePr = "approve_pr",
        /// Verdict on the open pull request, with the points to deal with.
        RejectPr = "reject_pr",
        /// Verdict on the proposal that nothing is left to do.
        ApproveDone = "approve_done",
        /// Verdict on that proposal, with the points to deal with.
        RejectDone = "reject_done",
        /// Claims that the phase is delivered.
        CompletePhase = "complete_phase",
        /// Verdict on the phase's delivery.
        ApprovePhase = "approve_phase",
        /// Verdict on the phase's delivery, with the points to deal with.
        RejectPhase = "reject_phase",
        /// Notes which file was researched for which concept.
        RecordCoverage = "record_coverage",
        /// Notes size and duration of the test suite.
        RecordTestHealth = "record_test_health",
        /// Sets the project up; the wizard's only tool.
        ConfigureProject = "configure_project",
    }
);

impl Tool {
    /// Returns the older tool that a profile's list of tools may name in its place: such a list was written before
    /// there was this one.
    pub const fn named_by(self) -> Option<Self> {
        match self {
            Self::ProposeDone => Some(Self::CreatePr),
            Self::ApproveDone => Some(Self::ApprovePr),
            Self::RejectDone => Some(Self::RejectPr),
            _ => None,
        }
    }
}
