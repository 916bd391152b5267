//! `.claude/settings.json`: Claude Code's settings of a project, of which one is Symphony's to set.

use std::fs;
use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstInputValue, CstRootNode};

use crate::config_file::{json_options, parse_text};
use crate::error::WorkspaceError;
use crate::plan_file::read_text_file;
use crate::whole_file::write_whole;

/// The file, in the project's folder.
pub const CLAUDE_SETTINGS: &str = ".claude/settings.json";
/// Largest file: far above any real one.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;
const KEY: &str = "statusLine";

/// What [`install_statusline`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatuslineInstall {
    /// The file has the command now.
    Written,
    /// It had it already.
    AlreadyThere,
}

/// Sets Claude Code's status line in a project to a command; everything else in the file stays, even comments and
/// layout. Returns the file.
///
/// # Errors
/// [`WorkspaceError::Settings`] when the file is not what Claude Code reads, [`WorkspaceError::StatuslineTaken`] when
/// it has another status line; the file is then as before.
pub fn install_statusline(
    root: &Path,
    command: &str,
) -> Result<(PathBuf, StatuslineInstall), WorkspaceError> {
    let path = root.join(CLAUDE_SETTINGS);
    // a link is followed, so that a file kept elsewhere is edited and not replaced
    let path = fs::canonicalize(&path).unwrap_or(path);
    let before = match read_text_file(&path, SETTINGS_BYTES_MAX) {
        Ok(text) => text,
        Err(WorkspaceError::FileMissing { .. }) => String::new(),
        Err(error) => return Err(error),
    };
    if has_command(&path, &before, command)? {
        return Ok((path, StatuslineInstall::AlreadyThere));
    }
    let after = edited(&path, &before, command)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|source| WorkspaceError::io("make the folder", folder, source))?;
    }
    write_whole(&path, &after).map_err(|source| WorkspaceError::io("write", &path, source))?;
    Ok((path, StatuslineInstall::Written))
}

/// Returns whether the command is set; another one is an error.
fn has_command(path: &Path, text: &str, command: &str) -> Result<bool, WorkspaceError> {
    let parsed = parse_text(&path.display().to_string(), text);
    if let Some(problem) = parsed.problems.first()
        && !text.trim().is_empty()
    {
        return Err(WorkspaceError::Settings {
            path: path.to_owned(),
            reason: problem.to_string(),
        });
    }
    let Some(found) = parsed.value.get(KEY) else {
        return Ok(false);
    };
    if found.get("command").and_then(|value| value.as_str()) == Some(command) {
        return Ok(true);
    }
    Err(WorkspaceError::StatuslineTaken {
        path: path.to_owned(),
        found: found.to_string(),
    })
}

fn edited(path: &Path, before: &str, command: &str) -> Result<String, WorkspaceError> {
    let (mark, body) = before
        .strip_prefix('\u{feff}')
        .map_or(("", before), |body| ("\u{feff}", body));
    let body = if body.trim().is_empty() {
        "{\n}\n"
    } else {
        body
    };
    let wrong = |reason: String| WorkspaceError::Settings {
        path: path.to_owned(),
        reason,
    };
    let root =
        CstRootNode::parse(body, &json_options()).map_err(|error| wrong(error.to_string()))?;
    let settings = root
        .object_value()
        .ok_or_else(|| wrong("expected an object".to_owned()))?;
    let value = CstInputValue::Object(vec![
        ("type".to_owned(), CstInputValue::from("command")),
        ("command".to_owned(), CstInputValue::from(command)),
    ]);
    settings.insert(settings.properties().len(), KEY, value);
    Ok(format!("{mark}{root}"))
}
