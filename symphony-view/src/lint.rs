//! What prompt lint found.

use serde::Serialize;
use symphony_prompt::lint::{Finding, Severity};

use crate::text::{Listed, Page, plural};

/// A finding as it is shown.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct FindingView(Finding);

impl From<Finding> for FindingView {
    fn from(finding: Finding) -> Self {
        Self(finding)
    }
}

impl Listed for FindingView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("Found no problems in the prompts.");
        }
        for FindingView(finding) in items {
            page.hanging(9, &format!("{:<8} {finding}", finding.severity));
            page.line(&format!("         fix: {}", finding.advice));
        }
    }
}

/// Says how many findings are errors, and how many warnings: `1 error and 2 warnings`.
pub fn counted(findings: &[Finding]) -> String {
    let errors = errors(findings).count();
    let warnings = findings.len() - errors;
    match (errors, warnings) {
        (0, _) => plural(warnings, "warning"),
        (_, 0) => plural(errors, "error"),
        _ => format!(
            "{} and {}",
            plural(errors, "error"),
            plural(warnings, "warning")
        ),
    }
}

/// Returns the findings that are errors.
pub fn errors(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
}
