//! The table of who has which tool, as the specification of the MCP server has it.

use symphony_core::tools::ToolSet;

/// A worker's row.
pub(crate) const WORKER_TOOLS: &str = "get_issue list_issues update_issue_status create_issue add_finding add_learning \
     add_comment search_learnings create_pr propose_done answer_review_point record_test_health";
/// The row of a judge of a pull request.
pub(crate) const JUDGE_TOOLS: &str = "get_issue list_issues update_issue_status add_finding add_learning add_comment \
     search_learnings approve_pr reject_pr";

/// Returns the names of a row in order of the alphabet.
pub(crate) fn row(names: &str) -> Vec<String> {
    let mut names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
    names.sort();
    names
}

/// Returns the names of all tools there are, in order of the alphabet.
pub(crate) fn every_tool() -> Vec<String> {
    row(&ToolSet::ALL.names().join(" "))
}
