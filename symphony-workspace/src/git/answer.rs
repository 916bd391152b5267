//! Reading what git printed.

use std::str;

use crate::error::WorkspaceError;

/// Splits a `-z` answer at its NULs; the last, empty field is dropped.
pub(crate) fn fields(stdout: &[u8]) -> impl Iterator<Item = &[u8]> {
    stdout
        .split(|byte| *byte == 0)
        .filter(|field| !field.is_empty())
}

/// Reads an answer of one line.
pub(super) fn line(command: &str, stdout: &[u8]) -> Result<String, WorkspaceError> {
    let text = text(command, stdout)?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Reads an answer, or a part of one, as UTF-8.
fn text<'a>(command: &str, bytes: &'a [u8]) -> Result<&'a str, WorkspaceError> {
    str::from_utf8(bytes).map_err(|error| WorkspaceError::GitAnswer {
        command: command.to_owned(),
        expected: "UTF-8",
        found: format!(
            "{} ({error})",
            String::from_utf8_lossy(bytes)
                .chars()
                .take(80)
                .collect::<String>()
        ),
    })
}
