//! The prompts folder that the configuration names: one that is missing is reported, since the shipped prompts would
//! silently take the place of the project's own.

use std::path::Path;

use symphony_core::config::{KeyPath, ProjectConfig, Source};
use symphony_core::id::ProjectId;
use symphony_prompt::lint::{Finding, LintRule, Severity};

use crate::error::RunnerError;
use crate::installation::Installation;

/// The key that names the folder.
const KEY: &str = "prompts_dir";
/// What to do about a folder that is missing.
const ADVICE: &str = "create the folder, set `prompts_dir` to the one that holds the project's prompts, or remove the \
                      key to use the shipped prompts";

/// Finds out whether the configuration names a prompts folder that is missing. A project without the key needs none.
///
/// # Errors
/// When the configuration cannot be read.
pub(crate) fn missing_folder(
    installation: &Installation,
    config: &ProjectConfig,
    root: &Path,
    project: Option<&ProjectId>,
) -> Result<Option<Finding>, RunnerError> {
    let folder = &config.prompts_dir;
    if folder.is_dir() || !is_set(installation, root, project)? {
        return Ok(None);
    }
    let shown = folder.strip_prefix(root).unwrap_or(folder).display();
    let problem = if folder.exists() {
        "is a file, not a folder"
    } else {
        "does not exist"
    };
    let (file, line, column) = place_of(installation, root, project, KEY)?;
    Ok(Some(Finding {
        file,
        line,
        column,
        severity: Severity::Error,
        rule: LintRule::Folder,
        found: format!("the folder {shown}, which `{KEY}` names, {problem}"),
        advice: ADVICE.to_owned(),
    }))
}

/// Requires that the folder is there where the configuration names one: every run would read the shipped prompts.
///
/// # Errors
/// With the place of the key, and what to do.
pub(crate) fn require_folder(
    installation: &Installation,
    config: &ProjectConfig,
    root: &Path,
    project: &ProjectId,
) -> Result<(), RunnerError> {
    match missing_folder(installation, config, root, Some(project))? {
        None => Ok(()),
        Some(finding) => Err(RunnerError::PromptFiles {
            problems: vec![format!("{finding}; {}", finding.advice)],
        }),
    }
}

/// Returns whether a file sets the key.
fn is_set(
    installation: &Installation,
    root: &Path,
    project: Option<&ProjectId>,
) -> Result<bool, RunnerError> {
    let (settings, _) = installation.loaded().inspect_project(project, root, None)?;
    let entry = settings.effective.get(&KeyPath::of(KEY));
    Ok(entry.is_some_and(|entry| entry.source != Source::Default))
}

/// Returns where a key is set: the file, as a person in the root would type it, and the place in it.
pub(crate) fn place_of(
    installation: &Installation,
    root: &Path,
    project: Option<&ProjectId>,
    key: &str,
) -> Result<(String, usize, Option<usize>), RunnerError> {
    let (settings, _) = installation.loaded().inspect_project(project, root, None)?;
    let entry = settings.effective.get(&KeyPath::of(key));
    let file = entry.and_then(|entry| match &entry.source {
        Source::File { path, .. } => Some(path.strip_prefix(root).unwrap_or(path)),
        Source::Default | Source::Database => None,
    });
    let file = file.map_or_else(
        || "the configuration".to_owned(),
        |path| path.display().to_string(),
    );
    let position = entry.and_then(|entry| entry.position);
    Ok((
        file,
        position.map_or(1, |position| position.line),
        position.map(|position| position.column),
    ))
}
