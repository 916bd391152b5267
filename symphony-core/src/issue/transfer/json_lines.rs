//! Issues as JSON Lines: one object a line.

use super::line::{IssueLine, TransferProblem};

/// Writes issues, an object a line.
pub fn write_json_lines(issues: &[IssueLine]) -> String {
    let mut text = String::new();
    for issue in issues {
        let line = serde_json::to_string(issue).expect("an issue has string keys only");
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Reads issues, each with its line; empty lines are left out.
///
/// # Errors
/// Every line that is no issue, with the field that is wrong.
pub fn read_json_lines(text: &str) -> Result<Vec<(usize, IssueLine)>, Vec<TransferProblem>> {
    let (mut issues, mut problems) = (Vec::new(), Vec::new());
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<IssueLine>(line) {
            Ok(issue) => issues.push((i + 1, issue)),
            Err(error) => problems.push(TransferProblem {
                line: i + 1,
                problem: plain(&error),
            }),
        }
    }
    if problems.is_empty() {
        Ok(issues)
    } else {
        Err(problems)
    }
}

/// Returns serde's message without its line number, which is always 1.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = match text.rsplit_once(" at line 1 column ") {
        Some((what, column)) => format!("{what} (column {column})"),
        None => text,
    };
    if error.is_data() {
        text
    } else {
        format!("it is not JSON: {text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_issue_is_told_with_what_is_wrong_in_it() {
        let said = |line: &str| {
            let problems = read_json_lines(line).unwrap_err();
            let [problem] = problems.as_slice() else {
                panic!("one problem was expected: {problems:?}")
            };
            problem.problem.clone()
        };
        for (line, expected) in [
            ("nonsense", "it is not JSON: expected ident (column 2)"),
            (
                "{\"title\": ",
                "it is not JSON: EOF while parsing a value (column 10)",
            ),
            ("{}", "missing field `title` (column 2)"),
        ] {
            assert_eq!(said(line), expected);
        }
    }
}
