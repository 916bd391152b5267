//! Issues as markdown: a heading of the second level each, fields as a list below it, then the description.
//!
//! ```text
//! ## Parse dates with time zones
//!
//! - id: SYM-3
//! - priority: high
//! - depends on: SYM-1
//!
//! What is asked for, as markdown.
//! ```
//!
//! A line of a description that would be read as a heading has a backslash before it.

use super::line::{IssueLine, TransferProblem};
use crate::issue::{IssueStatus, Priority, Size};
use crate::profile::ModelName;

const HEADING: &str = "## ";

/// Writes issues.
pub fn write_markdown(issues: &[IssueLine]) -> String {
    let mut text = String::new();
    for issue in issues {
        if !text.is_empty() {
            text.push('\n');
        }
        write_one(&mut text, issue);
    }
    text
}

fn write_one(text: &mut String, issue: &IssueLine) {
    text.push_str(HEADING);
    text.push_str(&issue.title);
    text.push_str("\n\n");
    let mut field = |name: &str, value: &str| {
        for part in ["- ", name, ": ", value, "\n"] {
            text.push_str(part);
        }
    };
    if let Some(id) = &issue.identifier {
        field("id", id);
    }
    field("status", issue.status.name());
    field("priority", issue.priority.name());
    if let Some(size) = issue.size {
        field("size", size.name());
    }
    for label in &issue.labels {
        field("label", label);
    }
    if let Some(parent) = &issue.parent {
        field("parent", parent);
    }
    for dependency in &issue.depends_on {
        field("depends on", dependency);
    }
    if let Some(id) = &issue.external_id {
        field("external id", id);
    }
    if let Some(agent) = &issue.agent {
        field("agent", agent);
    }
    if let Some(model) = &issue.model {
        field("model", model.as_str());
    }
    if issue.description.is_empty() {
        return;
    }
    text.push('\n');
    for line in issue.description.split('\n') {
        if looks_like_heading(line) {
            text.push('\\');
        }
        text.push_str(line);
        text.push('\n');
    }
}

/// Returns whether a line is a heading, or an escaped one, however often.
fn looks_like_heading(line: &str) -> bool {
    line.trim_start_matches('\\').starts_with(HEADING)
}

/// Reads issues, each with the line of its heading. What is before the first heading is left out.
///
/// # Errors
/// Every field that is wrong, with its line.
pub fn read_markdown(text: &str) -> Result<Vec<(usize, IssueLine)>, Vec<TransferProblem>> {
    let (mut issues, mut problems) = (Vec::new(), Vec::new());
    let mut section: Option<Section> = None;
    let text = text.strip_suffix('\n').unwrap_or(text);
    for (i, line) in text.split('\n').enumerate() {
        if let Some(title) = line.strip_prefix(HEADING) {
            issues.extend(section.take().map(Section::end));
            section = Some(Section::begin(i + 1, title));
        } else if let Some(section) = &mut section {
            section.take(i + 1, line, &mut problems);
        }
    }
    issues.extend(section.map(Section::end));
    if problems.is_empty() {
        Ok(issues)
    } else {
        Err(problems)
    }
}

/// One issue while it is read.
#[derive(Debug)]
struct Section {
    line: usize,
    issue: IssueLine,
    in_fields: bool,
    has_field: bool,
    body: Vec<String>,
}

impl Section {
    fn begin(line: usize, title: &str) -> Self {
        Self {
            line,
            issue: IssueLine::titled(title.trim()),
            in_fields: true,
            has_field: false,
            body: Vec::new(),
        }
    }

    fn take(&mut self, number: usize, line: &str, problems: &mut Vec<TransferProblem>) {
        if self.in_fields {
            if line.trim().is_empty() {
                // The one before the list of fields, or the one after it.
                self.in_fields = !self.has_field;
                return;
            }
            let field = line
                .strip_prefix("- ")
                .and_then(|field| field.split_once(':'));
            if let Some((name, value)) = field
                && let Some(set) = self.set(name.trim(), value.trim())
            {
                self.has_field = true;
                if let Err(problem) = set {
                    problems.push(TransferProblem {
                        line: number,
                        problem,
                    });
                }
                return;
            }
            self.in_fields = false;
        }
        let line = match line.strip_prefix('\\') {
            Some(rest) if looks_like_heading(rest) => rest,
            _ => line,
        };
        self.body.push(line.to_owned());
    }

    /// Sets a field; `None` if there is no such field: the description begins.
    fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        let issue = &mut self.issue;
        let text = value.to_owned();
        let problem = |error: crate::closed_set::UnknownName| error.to_string();
        Some(match name {
            "id" => {
                issue.identifier = Some(text);
                Ok(())
            }
            "status" => IssueStatus::parse(value)
                .map(|status| issue.status = status)
                .map_err(problem),
            "priority" => Priority::parse(value)
                .map(|priority| issue.priority = priority)
                .map_err(problem),
            "size" => Size::parse(value)
                .map(|size| issue.size = Some(size))
                .map_err(problem),
            "label" => {
                issue.labels.push(text);
                Ok(())
            }
            "parent" => {
                issue.parent = Some(text);
                Ok(())
            }
            "depends on" => {
                issue.depends_on.push(text);
                Ok(())
            }
            "external id" => {
                issue.external_id = Some(text);
                Ok(())
            }
            "agent" => {
                issue.agent = Some(text);
                Ok(())
            }
            "model" => ModelName::parse(value)
                .map(|model| issue.model = Some(model))
                .map_err(|error| error.to_string()),
            _ => return None,
        })
    }

    fn end(mut self) -> (usize, IssueLine) {
        // the empty line before the next heading
        while self.body.last().is_some_and(String::is_empty) {
            self.body.pop();
        }
        let start = self.body.iter().position(|line| !line.is_empty());
        self.issue.description = self
            .body
            .get(start.unwrap_or(0)..)
            .unwrap_or_default()
            .join("\n");
        (self.line, self.issue)
    }
}
