//! The sets of a trial of prompts in real work: loaded, compared, and checked before any agent is paid.

use std::path::Path;

use symphony_core::config::ProjectConfig;
use symphony_core::id::ProjectId;
use symphony_core::prompt_trial::{LiveTrial, PromptSet, dispatch_differences};
use symphony_prompt::lint::{Finding, LintRule, Severity};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::prompts::folder::place_of;
use crate::prompts::library::PromptLibrary;

/// What to do about sets that a tick would dispatch differently.
const SAME_DISPATCH: &str =
    "give both the phases, profiles and models of `prompts_dir`; a trial compares their texts";

impl Installation {
    /// Loads profiles and contracts as they hold for an issue that was given a set of a trial.
    ///
    /// # Errors
    /// When a prompt file of the set is wrong: all problems at once. When the folder of the set is not there: between
    /// the tick that looked and the run that reads, someone may have moved it, and the shipped prompts would silently
    /// take its place.
    pub fn library_of(
        &self,
        config: &ProjectConfig,
        set: Option<PromptSet>,
    ) -> Result<PromptLibrary, RunnerError> {
        let folder = config.prompts_of(set);
        let of_trial = set.zip(config.prompt_trial.as_ref());
        if let Some((set, trial)) = of_trial
            && trial.folder(set).is_some()
            && !folder.is_dir()
        {
            let (key, folder) = (LiveTrial::key(set), folder.display());
            return Err(RunnerError::PromptFiles {
                problems: vec![format!("`{key}`: there is no folder {folder}")],
            });
        }
        PromptLibrary::load(&self.shipped, folder)
    }
}

/// Finds what keeps the sets of the configured trial from being used. What is wrong inside a file is found where the
/// prompts of the folder are looked at, and is not repeated here.
///
/// # Errors
/// When the configuration cannot be read.
pub(crate) fn set_findings(
    installation: &Installation,
    config: &ProjectConfig,
    root: &Path,
    project: Option<&ProjectId>,
) -> Result<Vec<Finding>, RunnerError> {
    let Some(trial) = &config.prompt_trial else {
        return Ok(Vec::new());
    };
    let mut findings = Vec::new();
    let usual = installation.library(config).ok();
    for set in PromptSet::ALL {
        let Some(folder) = trial.folder(*set) else {
            continue;
        };
        let key = LiveTrial::key(*set);
        let shown = folder.strip_prefix(root).unwrap_or(folder).display();
        let wrong = |found: String, advice: String| -> Result<Finding, RunnerError> {
            let (file, line, column) = place_of(installation, root, project, key)?;
            Ok(Finding {
                file,
                line,
                column,
                severity: Severity::Error,
                rule: LintRule::Trial,
                found: format!("`{key}`: {found}"),
                advice,
            })
        };
        if !folder.is_dir() {
            let advice =
                format!("create the folder, or set `{key}` to the one that holds the set {set}");
            findings.push(wrong(format!("there is no folder {shown}"), advice)?);
            continue;
        }
        let library = installation.library_of(config, Some(*set)).ok();
        let Some((usual, library)) = usual.as_ref().zip(library) else {
            continue;
        };
        let differences = dispatch_differences(
            (&usual.profiles, &usual.pipeline),
            (&library.profiles, &library.pipeline),
        );
        for difference in differences {
            let found = format!("of {shown} and `prompts_dir`, {difference}");
            findings.push(wrong(found, SAME_DISPATCH.to_owned())?);
        }
    }
    Ok(findings)
}

/// Finds whether the sets of the configured trial are the same for an agent: such a trial shows chance alone, and
/// nothing is broken.
///
/// # Errors
/// When the configuration, or a file of a set, cannot be read.
pub(crate) fn equal_sets(
    installation: &Installation,
    config: &ProjectConfig,
    root: &Path,
    project: Option<&ProjectId>,
) -> Result<Option<Finding>, RunnerError> {
    if config.prompt_trial.is_none() {
        return Ok(None);
    }
    let library = |set| installation.library_of(config, Some(set)).ok();
    let Some((a, b)) = library(PromptSet::A).zip(library(PromptSet::B)) else {
        return Ok(None);
    };
    if !a.reads_like(&b)? {
        return Ok(None);
    }
    let key = LiveTrial::key(PromptSet::B);
    let (file, line, column) = place_of(installation, root, project, key)?;
    Ok(Some(Finding {
        file,
        line,
        column,
        severity: Severity::Warning,
        rule: LintRule::Trial,
        found: format!("`{key}`: agents read the same with both sets"),
        advice: "change the texts of one set; any difference that this trial finds is chance"
            .to_owned(),
    }))
}

/// Requires that both sets of the configured trial can be used: every run of a broken one would fail.
///
/// # Errors
/// All problems at once, each with its place and what to do.
pub(crate) fn require_sets(
    installation: &Installation,
    config: &ProjectConfig,
    root: &Path,
    project: &ProjectId,
) -> Result<(), RunnerError> {
    let Some(trial) = &config.prompt_trial else {
        return Ok(());
    };
    let findings = set_findings(installation, config, root, Some(project))?;
    let mut problems: Vec<String> = findings
        .iter()
        .map(|finding| format!("{finding}; {}", finding.advice))
        .collect();
    for set in PromptSet::ALL {
        // a folder that is not there is among the findings
        if trial.folder(*set).is_some_and(Path::is_dir)
            && let Err(error) = installation.library_of(config, Some(*set))
        {
            let key = LiveTrial::key(*set);
            match error {
                RunnerError::PromptFiles { problems: found } => {
                    problems.extend(found.iter().map(|found| format!("{found} (`{key}`)")));
                }
                error => return Err(error),
            }
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(RunnerError::PromptFiles { problems })
    }
}
