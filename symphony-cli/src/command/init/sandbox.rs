//! How the agents of a new project are confined: as strongly as this machine can, and never silently not at all.
//!
//! The level is what one machine has, so it is kept in the database. A file that names one wins, as for every setting.

use std::collections::BTreeMap;

use serde_json::json;
use symphony_core::config::{KeyPath, SandboxLevel, SandboxSetting, SandboxSettings, Source};
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::sandbox::{Protection, SandboxFault};
use symphony_store::{Project, Store};

use crate::app::App;
use crate::failure::{Exit, Stop};

/// The section.
pub(super) const SANDBOX: &str = "sandbox";
/// The key of the level.
pub(crate) const LEVEL_KEY: &str = "sandbox.level";

/// What is known of the level before it is chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelAsked {
    /// The level that was typed.
    pub(super) wanted: Option<SandboxSetting>,
    /// Whether the project was registered now.
    pub(super) is_new: bool,
    /// Whether the repository is a partial clone, which no sandbox shows to agents.
    pub(super) is_partial: bool,
}

/// Where the level of a project comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LevelChoice {
    /// It was there, or was typed.
    Configured,
    /// The strongest that this machine has.
    Strongest,
    /// None, because this machine cannot confine agents.
    Unavailable(String),
    /// None, because the repository is a partial clone.
    PartialClone,
}

impl LevelChoice {
    /// Says how agents are confined, and why so.
    pub(crate) fn sentence(&self, level: SandboxSetting) -> String {
        let how = match level {
            SandboxSetting::Off => "Agents run with your permissions, without a sandbox",
            SandboxSetting::Auto => "Agents run in the strongest sandbox that this machine has",
            SandboxSetting::Namespace => "Agents run in a sandbox",
            SandboxSetting::Landlock => "Agents run in a sandbox with an open network",
        };
        match self {
            Self::Configured => format!("{how} (`{LEVEL_KEY}` is `{level}`)."),
            Self::Strongest => {
                format!("{how}: `{LEVEL_KEY}` is `{level}`, the strongest level of this machine.")
            }
            Self::Unavailable(reason) => format!(
                "{how}: `{LEVEL_KEY}` is `{level}`, because this machine cannot confine them ({reason}). `symphony doctor` shows \
                 what is missing; then run `symphony config set {LEVEL_KEY} auto`."
            ),
            Self::PartialClone => format!(
                "{how}: `{LEVEL_KEY}` is `{level}`, because the repository is a partial clone. A sandbox needs all objects: run \
                 `git fetch --refetch --no-filter`, then `symphony config set {LEVEL_KEY} auto`."
            ),
        }
    }
}

/// Writes the level of a project to its row: the one that was typed, or for a new project without one the strongest that
/// this machine has.
///
/// # Errors
/// When a file names another level than the one that was typed, or the database cannot be written.
pub(super) fn choose_level(
    asked: LevelAsked,
    installation: &Installation,
    store: &mut Store,
    project: Project,
) -> anyhow::Result<(Project, LevelChoice)> {
    let (settings, _) = installation.loaded().inspect_project(
        Some(&project.id),
        &project.root,
        Some(&project.settings),
    )?;
    let entry = settings.effective.get(&KeyPath::of(LEVEL_KEY));
    let source = entry.map_or(Source::Default, |entry| entry.source.clone());
    let (level, choice) = match (asked.wanted, source) {
        (Some(wanted), Source::File { path, .. }) if settings.config.sandbox.level != wanted => {
            let named = settings.config.sandbox.level;
            let message = format!("{} sets `{LEVEL_KEY}` to `{named}`", path.display());
            return Err(Stop::new(Exit::Refused, message)
                .hint("leave out --sandbox, or change the level there")
                .into());
        }
        (Some(wanted), Source::Default | Source::Database) => (wanted, LevelChoice::Configured),
        (None, Source::Default) if asked.is_new && asked.is_partial => {
            (SandboxSetting::Off, LevelChoice::PartialClone)
        }
        (None, Source::Default) if asked.is_new => {
            match strongest(installation, &settings.config.sandbox, &settings.config.env) {
                Ok(level) => (level, LevelChoice::Strongest),
                Err(fault) => (
                    SandboxSetting::Off,
                    LevelChoice::Unavailable(reason(&fault)),
                ),
            }
        }
        _ => return Ok((project, LevelChoice::Configured)),
    };
    let settings = json!({ SANDBOX: { "level": level } });
    let project = store.add_project_settings(&App::as_human(), &project.id, &settings)?;
    Ok((project, choice))
}

/// Returns the strongest level that this machine has.
fn strongest(
    installation: &Installation,
    settings: &SandboxSettings,
    env: &BTreeMap<String, String>,
) -> Result<SandboxSetting, SandboxFault> {
    let search_path = agent_search_path(&installation.environment, env);
    let any = SandboxSettings {
        level: SandboxSetting::Auto,
        ..settings.clone()
    };
    let protection = Protection::choose(
        &any,
        &installation.executable,
        Some(&search_path),
        &installation.state_dir(),
    )?;
    Ok(match protection.record().level {
        SandboxLevel::Namespace => SandboxSetting::Namespace,
        SandboxLevel::Landlock => SandboxSetting::Landlock,
        SandboxLevel::Off => SandboxSetting::Off,
    })
}

/// Returns what is missing, in few words.
fn reason(fault: &SandboxFault) -> String {
    match fault {
        SandboxFault::Unavailable { reason, .. } => reason.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_one_line_with_its_reason() {
        use SandboxSetting::{Namespace, Off};
        for (choice, level, words) in [
            (
                LevelChoice::Strongest,
                Namespace,
                "in a sandbox: `sandbox.level` is `namespace`, the strongest level of this machine.",
            ),
            (
                LevelChoice::Unavailable("bubblewrap is not installed".to_owned()),
                Off,
                "without a sandbox: `sandbox.level` is `off`, because this machine cannot confine them (bubblewrap is not installed).",
            ),
            (
                LevelChoice::Configured,
                Off,
                "without a sandbox (`sandbox.level` is `off`).",
            ),
        ] {
            let said = choice.sentence(level);
            assert!(said.contains(words), "{said}");
            assert!(!said.contains('\n'), "{said}");
        }
    }
}
