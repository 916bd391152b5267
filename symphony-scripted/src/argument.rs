//! Arguments of a call of a tool.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::answer::Answer;

/// Returns a text argument, or the answer that it is missing.
pub(crate) fn text_argument<'a>(
    tool: &str,
    input: &'a Value,
    name: &str,
) -> Result<&'a str, Answer> {
    input.get(name).and_then(Value::as_str).ok_or_else(|| {
        Answer::error(format!(
            "<tool_use_error>InputValidationError: {tool} failed: the required parameter `{name}` is missing or no \
             text</tool_use_error>"
        ))
    })
}

/// Returns the path that an argument means.
pub(crate) fn resolve(cwd: &Path, path: &str) -> PathBuf {
    cwd.join(path)
}
