//! The file of recorded issues: an error names the file, the line, the field, what was found and what to do.

use serde::Deserialize;
use symphony_core::prompt_trial::{RECORDED_VERSION, RecordedIssues};

use crate::failure::{Exit, Stop};
use crate::json::from_json;

/// A later version may have fields that this one does not know: its number is read first.
#[derive(Deserialize)]
#[serde(expecting = "an object with `version` and `issues`")]
struct Head {
    version: u32,
}

/// Reads recorded issues; `name` is the file as a person knows it.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub(super) fn read_issues(name: &str, text: &str) -> Result<RecordedIssues, Stop> {
    let refused = |problem: &str, hint: &str| {
        let message = format!("the issues in {name} cannot be read: {problem}");
        Stop::new(Exit::Failed, message).hint(hint)
    };
    let wrong = |problem: &str| {
        let hint = "correct the file, or write it again with `symphony prompt record FILE`; nothing was started";
        refused(problem, hint)
    };
    let head: Head = from_json(text.as_bytes()).map_err(|problem| wrong(&problem.to_string()))?;
    if head.version != RECORDED_VERSION {
        let found = head.version;
        return Err(refused(
            &format!("version: {found} is unknown here; expected {RECORDED_VERSION}"),
            "use the Symphony that wrote the file, or write it again with `symphony prompt record FILE`",
        ));
    }
    from_json(text.as_bytes()).map_err(|problem| wrong(&problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_has_file_field_line_and_what_was_found() {
        for (text, expected) in [
            ("", "it is empty"),
            (
                "[]",
                "invalid length 0, expected an object with `version` and `issues` at line 1",
            ),
            (
                r#"{"version": "1", "issues": []}"#,
                "version: expected a whole number from 0 to 4294967295, found the text \"1\" at line 1",
            ),
            (
                r#"{"version": 2, "isues": []}"#,
                "version: 2 is unknown here; expected 1",
            ),
            (
                "{\"version\": 1,\n \"isues\": []}",
                "isues: unknown field `isues`; did you mean `issues`? at line 2",
            ),
            (
                "{\"version\": 1, \"issues\": [\n {\"id\": \"SYM-1\"}]}",
                "issues[0]: missing field `title` at line 2",
            ),
            (
                "{\"version\": 1, \"issues\": [\n {\"id\": \"SYM-1\", \"title\": \"\"}]}",
                "issues[0].title: title must not be empty at line 2",
            ),
            (
                "{\"version\": 1, \"issues\": [\n {\"id\": \"SYM-1\", \"comments\": [\"Hi\"]}]}",
                "issues[0].comments[0]: expected an object with `text`, found the text \"Hi\" at line 2",
            ),
        ] {
            let found = read_issues("issues.json", text).unwrap_err().to_string();
            let expected = format!("the issues in issues.json cannot be read: {expected}");
            assert!(found.starts_with(&expected), "{text}: {found}");
        }
    }
}
