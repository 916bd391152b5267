//! The user's own git configuration: which filters it trusts, and the user's identity.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::answer::fields;
use super::child;
use super::identity::Identity;
use super::program::GitProgram;

/// Settings of the user that name no program, but change the contents of a commit.
const HARMLESS: &[&str] = &["core.excludesfile", "core.autocrlf", "core.eol"];

/// How much of a configuration is read.
const CONFIG_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The user's and the system's configuration, as names and values in the order in which they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UserConfig {
    settings: Vec<(String, String)>,
    ignore_file: Option<PathBuf>,
}

impl UserConfig {
    /// Reads both files. One that cannot be read counts as empty, so nothing of it is trusted.
    pub(super) fn load(program: &GitProgram) -> Self {
        let mut settings = list(program, "--system");
        settings.extend(list(program, "--global"));
        Self {
            settings,
            ignore_file: default_ignore_file(),
        }
    }

    /// Returns the commands of a filter, if the user's configuration has it.
    pub(crate) fn filter_settings(&self, name: &str) -> Vec<(String, String)> {
        let prefix = format!("filter.{name}.");
        self.settings
            .iter()
            .filter(|(key, _)| key.starts_with(&prefix))
            .cloned()
            .collect()
    }

    /// Returns the filters that have a command.
    pub(crate) fn filters(&self) -> BTreeSet<String> {
        filters_in(self.settings.iter().map(|(key, _)| key.as_str()))
    }

    /// Returns the settings that every call that reads contents gets.
    pub(crate) fn harmless_settings(&self) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = self
            .settings
            .iter()
            .filter(|(key, _)| HARMLESS.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), expand_home(value)))
            .collect();
        let named = found.iter().any(|(key, _)| key == "core.excludesfile");
        if let Some(file) = self.ignore_file.as_ref().filter(|_| !named) {
            found.push((
                "core.excludesfile".to_owned(),
                file.to_string_lossy().into_owned(),
            ));
        }
        found
    }

    /// Returns the user's identity, if name and address are set.
    pub(crate) fn identity(&self) -> Option<Identity> {
        Some(Identity {
            name: self.last("user.name")?,
            email: self.last("user.email")?,
        })
    }

    fn last(&self, name: &str) -> Option<String> {
        let value = &self.settings.iter().rev().find(|(key, _)| key == name)?.1;
        (!value.is_empty()).then(|| value.clone())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this module owns the git program"
)]
fn list(program: &GitProgram, scope: &str) -> Vec<(String, String)> {
    let mut command = Command::new(program.path());
    command
        .args(["config", scope, "--includes", "--list", "-z"])
        .current_dir("/")
        .env_clear()
        .env("LC_ALL", "C");
    // The user's home is used only here: reading a configuration runs no program.
    for variable in [
        "HOME",
        "XDG_CONFIG_HOME",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
    ] {
        if let Some(value) = env::var_os(variable) {
            command.env(variable, value);
        }
    }
    match child::run(
        command,
        Vec::new(),
        CONFIG_BYTES_MAX,
        Duration::from_secs(20),
    ) {
        Ok(ended) => parse(&ended.stdout),
        Err(error) => {
            tracing::warn!(%error, scope, "the user's git configuration could not be read");
            Vec::new()
        }
    }
}

/// Parses `name LF value NUL`. A setting without a value is true.
fn parse(list: &[u8]) -> Vec<(String, String)> {
    fields(list)
        .filter_map(|field| str::from_utf8(field).ok())
        .map(|field| {
            let (name, value) = field.split_once('\n').unwrap_or((field, "true"));
            (name.to_owned(), value.to_owned())
        })
        .collect()
}

fn default_ignore_file() -> Option<PathBuf> {
    let folder = env::var_os("XDG_CONFIG_HOME")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".config")))?;
    let file = folder.join("git/ignore");
    file.is_file().then_some(file)
}

fn expand_home(value: &str) -> String {
    match (value.strip_prefix("~/"), env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest).to_string_lossy().into_owned(),
        _ => value.to_owned(),
    }
}

/// Returns the filters that have a command, from the names of settings (section and variable in lower case).
pub(super) fn filters_in<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    names
        .filter_map(|name| {
            let (name, variable) = name.strip_prefix("filter.")?.rsplit_once('.')?;
            matches!(variable, "clean" | "smudge" | "process").then(|| name.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_user_names_is_trusted() {
        let config = UserConfig {
            settings: parse(
                b"user.name\nAda\0user.email\nada@example.org\0filter.lfs.process\ngit-lfs filter-process\0filter.lfs.required\0core.autocrlf\ninput\0core.pager\nless\0",
            ),
            ignore_file: None,
        };
        assert_eq!(
            config.filter_settings("lfs"),
            vec![
                (
                    "filter.lfs.process".to_owned(),
                    "git-lfs filter-process".to_owned()
                ),
                ("filter.lfs.required".to_owned(), "true".to_owned()),
            ]
        );
        assert_eq!(config.filter_settings("crypt"), Vec::new());
        assert_eq!(
            config.harmless_settings(),
            vec![("core.autocrlf".to_owned(), "input".to_owned())]
        );
        assert_eq!(config.identity().unwrap().name, "Ada");
    }
}
