//! The user's own git configuration: which filters it trusts, and the user's identity.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::answer::fields;
use super::child;
use super::identity::Identity;
use super::program::GitProgram;

/// Settings of the user that name no program, but change the contents of a commit.
const HARMLESS: &[&str] = &["core.excludesfile", "core.autocrlf", "core.eol"];

/// The variables that lead git to the two files.
pub(super) const VARIABLES: [&str; 4] = [
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
];

/// How long the configuration is used without another look.
const FRESH_FOR: Duration = Duration::from_secs(2);

/// How much of a configuration is read.
const CONFIG_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The user's and the system's configuration, as names and values in the order in which they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UserConfig {
    settings: Vec<(String, String)>,
    /// Whether all of it is text. Settings that are not are left out.
    is_text: bool,
    ignore_file: Option<PathBuf>,
}

impl UserConfig {
    /// Returns both files as they were a moment ago: a process opens its repository several times in a row. One that cannot be
    /// read counts as empty, so nothing of it is trusted.
    pub(super) fn load(program: &GitProgram) -> Self {
        static LAST: Mutex<Option<Loaded>> = Mutex::new(None);
        let asked = Asked {
            program: program.path().to_owned(),
            variables: VARIABLES.map(env::var_os),
            files: user_files().map(|file| file.and_then(|file| stamp_of(&file))),
        };
        // A panic elsewhere leaves nothing half done here.
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && last.asked == asked
            && last.at.elapsed() < FRESH_FOR
        {
            return last.config.clone();
        }
        let (settings, is_text) = list_both(program);
        let config = Self {
            settings,
            is_text,
            ignore_file: default_ignore_file(),
        };
        *last = Some(Loaded {
            at: Instant::now(),
            asked,
            config: config.clone(),
        });
        config
    }

    /// Returns settings as `git config --list -z` prints them.
    #[cfg(test)]
    pub(super) fn of_list(list: &[u8]) -> Self {
        Self {
            settings: parse(list),
            is_text: true,
            ignore_file: None,
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

    /// Returns whether there is a setting of a section, or one that is no text and could be.
    pub(super) fn has_section(&self, section: &str) -> bool {
        let prefix = format!("{section}.");
        !self.is_text
            || self
                .settings
                .iter()
                .any(|(key, _)| key.starts_with(&prefix))
    }

    /// Returns the value that counts, if it is not empty.
    pub(super) fn last(&self, name: &str) -> Option<String> {
        let value = &self.settings.iter().rev().find(|(key, _)| key == name)?.1;
        (!value.is_empty()).then(|| value.clone())
    }
}

/// The configuration as it was read.
#[derive(Debug)]
struct Loaded {
    at: Instant,
    asked: Asked,
    config: UserConfig,
}

/// What the answer depends on, but for the files that others include.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    program: PathBuf,
    variables: [Option<OsString>; VARIABLES.len()],
    files: [Option<Stamp>; 2],
}

/// Which file it is, and when it was last changed.
type Stamp = (u64, u64, i64, i64);

fn stamp_of(file: &Path) -> Option<Stamp> {
    let meta = file.metadata().ok()?;
    Some((meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec()))
}

/// Returns where the user's own settings usually are.
fn user_files() -> [Option<PathBuf>; 2] {
    let home = env::var_os("HOME").map(PathBuf::from);
    let folder = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(home.as_ref()?.join(".config")));
    [
        home.map(|home| home.join(".gitconfig")),
        folder.map(|folder| folder.join("git/config")),
    ]
}

/// Lists the settings of the system, then those of the user; and whether all that git has is text.
fn list_both(program: &GitProgram) -> (Vec<(String, String)>, bool) {
    if let Some(both) = list(program, &["--show-scope"]) {
        return (parse_scoped(&both), str::from_utf8(&both).is_ok());
    }
    // One of them is broken: it must not hide the other.
    let scopes = ["--system", "--global"].into_iter();
    let settings = scopes.flat_map(|scope| parse(&list(program, &[scope]).unwrap_or_default()));
    (settings.collect(), false)
}

/// Lists settings; `None` when git refuses.
#[expect(
    clippy::disallowed_methods,
    reason = "this module owns the git program"
)]
fn list(program: &GitProgram, options: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new(program.path());
    command
        .arg("config")
        .args(options)
        .args(["--includes", "--list", "-z"])
        .current_dir("/")
        .env_clear()
        .env("LC_ALL", "C");
    // The user's home is used only here: reading a configuration runs no program.
    for variable in VARIABLES {
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
        Ok(ended) => ended
            .status
            .is_some_and(|status| status.success())
            .then_some(ended.stdout),
        Err(error) => {
            tracing::warn!(%error, "the user's git configuration could not be read");
            None
        }
    }
}

/// Parses `scope NUL name LF value NUL`, and leaves out what is neither the system's nor the user's: the root of the machine may be
/// a repository.
fn parse_scoped(list: &[u8]) -> Vec<(String, String)> {
    let mut fields = fields(list);
    let mut settings = Vec::new();
    while let (Some(scope), Some(field)) = (fields.next(), fields.next()) {
        if matches!(scope, b"system" | b"global") {
            settings.extend(parse(field));
        }
    }
    settings
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
        let config = UserConfig::of_list(
            b"user.name\nAda\0user.email\nada@example.org\0filter.lfs.process\ngit-lfs filter-process\0filter.lfs.required\0core.autocrlf\ninput\0core.pager\nless\0",
        );
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
