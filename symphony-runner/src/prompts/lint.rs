//! Prompt lint of a project: its texts are gathered here and looked at by `symphony_prompt::lint`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use symphony_core::agent::AgentType;
use symphony_core::config::ProjectConfig;
use symphony_core::prompt_trial::PromptSet;
use symphony_prompt::lint::{Finding, LintInput, PromptText as LintText, Switch, TextKind, lint};
use symphony_store::{Project, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::prompts::folder::missing_folder;
use crate::prompts::library::OwnText;
use crate::prompts::live_trial::{equal_sets, set_findings};
use crate::prompts::preview::provider_of;
use crate::provider::reads_claude_md;
use crate::supervise::{budgets, read_own};

/// Most files of a prompts folder that are looked at: far more than agents, phases and overrides there can be.
const FILES_MAX: usize = 1_000;

/// Folders below a prompts folder, into each other.
const DEPTH_MAX: usize = 4;

/// Checks all instructions of a project's agents: its prompts folder, the sets of its trial, WORKFLOW.md and CLAUDE.md
/// of its root, and, if there are any, the instructions in the database.
///
/// # Errors
/// When one of the files, or the database, cannot be read.
pub fn lint_project(
    installation: &Installation,
    config: &ProjectConfig,
    root: &Path,
    recorded: Option<(&Store, &Project)>,
) -> Result<Vec<Finding>, RunnerError> {
    let project = recorded.map(|(_, project)| &project.id);
    let mut findings = set_findings(installation, config, root, project)?;
    let missing = missing_folder(installation, config, root, project)?;
    // Nothing can be read below a file in its place.
    let own = Some(config.prompts_dir.as_path());
    let own = own.filter(|folder| missing.is_none() || !folder.exists());
    findings.extend(missing);
    findings.extend(equal_sets(installation, config, root, project)?);
    let trial = config.prompt_trial.as_ref();
    let sets = PromptSet::ALL.iter();
    let sets = sets.filter_map(|set| trial?.folder(*set));
    for folder in own.into_iter().chain(sets) {
        for finding in lint_folder(installation, config, folder, root, recorded)? {
            // CLAUDE.md is the same with every set
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    Ok(findings)
}

/// Checks all instructions of agents that use the prompts of a folder.
fn lint_folder(
    installation: &Installation,
    config: &ProjectConfig,
    folder: &Path,
    root: &Path,
    recorded: Option<(&Store, &Project)>,
) -> Result<Vec<Finding>, RunnerError> {
    let mut own = own_texts(folder, root)?;
    if let Some((store, project)) = recorded {
        own.extend(instructions(&own, store, project)?);
    }
    let own: Vec<LintText<'_>> = own.iter().map(OwnText::borrowed).collect();
    let provider = provider_of(installation, config, None);
    Ok(lint(&LintInput {
        shipped: &installation.shipped.layer(),
        own: &own,
        off: switched_off(config),
        budgets: budgets(config)?,
        provider_reads_claude_md: reads_claude_md(provider.provider()),
    }))
}

/// Reads what the project itself has: by the paths that a person would type in its root.
fn own_texts(folder: &Path, root: &Path) -> Result<Vec<OwnText>, RunnerError> {
    let mut texts = Vec::new();
    // these two are read as a dispatch reads them: what cannot be read stops it
    for mut text in OwnText::read_all(folder)? {
        text.file = shown(Path::new(&text.file), root);
        texts.push(text);
    }
    for path in files_below(folder)? {
        let below = path.strip_prefix(folder).unwrap_or(&path);
        let kind = TextKind::of_path(&below.to_string_lossy());
        if matches!(kind, TextKind::Profile | TextKind::Contract) {
            continue;
        }
        // no one reads links and what is too large
        let text = match kind {
            TextKind::Unread => String::new(),
            _ => read_own(&path)?.unwrap_or_default(),
        };
        texts.push(OwnText {
            file: shown(&path, root),
            kind,
            text,
        });
    }
    for (name, kind) in [
        ("WORKFLOW.md", TextKind::WorkflowMd),
        ("CLAUDE.md", TextKind::ClaudeMd),
    ] {
        texts.extend(read_own(&root.join(name))?.map(|text| OwnText {
            file: name.to_owned(),
            kind,
            text,
        }));
    }
    Ok(texts)
}

/// Reads the instructions of the types that have a profile, shipped or of the project's own.
fn instructions(
    own: &[OwnText],
    store: &Store,
    project: &Project,
) -> Result<Vec<OwnText>, RunnerError> {
    let named = own.iter().filter(|text| text.kind == TextKind::Profile);
    let named = named.filter_map(|text| {
        let stem = Path::new(&text.file).file_stem()?.to_str()?;
        AgentType::parse(stem).ok()
    });
    let agents: BTreeSet<AgentType> = AgentType::SHIPPED.into_iter().chain(named).collect();
    let mut texts = Vec::new();
    for agent in agents {
        let held = store.overrides(&agent, &project.id)?.effective();
        texts.extend(held.custom_instructions.map(|text| OwnText {
            file: format!("instructions of {agent}"),
            kind: TextKind::Instructions(agent),
            text,
        }));
    }
    Ok(texts)
}

/// Lists the files below a folder, which need not exist; hidden ones, copies that editors keep and READMEs are left
/// out.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, RunnerError> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let failed = |error| RunnerError::io("read the folder", &folder, error);
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error)),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(['.', '#']) || name.ends_with('~') || name.starts_with("README") {
                continue;
            }
            if entry.file_type().map_err(failed)?.is_dir() {
                if depth < DEPTH_MAX {
                    folders.push((entry.path(), depth + 1));
                }
            } else if files.len() < FILES_MAX {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

fn switched_off(config: &ProjectConfig) -> BTreeSet<Switch> {
    let switches = [
        (config.judge_enabled, Switch::Judge),
        (config.planner_enabled, Switch::Planner),
        (config.intake_enabled, Switch::Intake),
        (config.scanner_enabled, Switch::Scanner),
        (config.background_research, Switch::BackgroundResearch),
        (config.researcher_enabled, Switch::Researcher),
    ];
    let off = switches.into_iter().filter(|(is_on, _)| !is_on);
    off.map(|(_, switch)| switch).collect()
}
