//! What Symphony knows about the CLI of an agent: plain data, one value a CLI, in the CLI's own file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use symphony_core::config::ProviderName;
use symphony_core::run::ShellTools;
use symphony_core::session::SessionForm;

use super::api::ModelApi;
use super::detect::find_program;
use super::invocation::{AgentCommand, AgentInvocation};
use super::own_settings::{OwnSettings, SettingsForm};
use crate::stream::StreamFormat;

/// The CLI of an agent.
#[derive(Debug)]
pub struct AgentCli {
    /// The provider that it is.
    pub name: ProviderName,
    /// What people call it.
    pub title: &'static str,
    /// Its program, unless the configuration names another.
    pub program: &'static str,
    /// The command that installs it.
    pub install: &'static str,
    /// The command that logs it in.
    pub login: &'static str,
    /// Where it finds its credentials.
    pub credentials: Credentials,
    /// Where it keeps its sessions; `None` if it cannot resume one.
    pub sessions: Option<Sessions>,
    /// How it reaches the API of its model.
    pub api: ModelApi,
    /// Its own settings, as far as a run in a sandbox needs them; `None` if it needs none.
    pub own_settings: Option<OwnSettings>,
    /// The environment variables that it reads.
    pub variables: Variables,
    /// Why it does not start for root; `None` if root is like any other user.
    pub root: Option<RootRefusal>,
    /// Whether it adds the project's CLAUDE.md to an author's prompt by itself.
    pub reads_claude_md: bool,
    /// Whether its judges have tools that run programs.
    pub judges_shell: ShellTools,
    /// The format of its output.
    pub format: StreamFormat,
    /// Returns the native binary behind the program that was found, or the program itself.
    pub(super) native: fn(PathBuf) -> PathBuf,
    /// Builds the command of an invocation for its program.
    pub(super) command: fn(&AgentInvocation, &Path) -> AgentCommand,
    /// How a person works with it in a terminal; `None` if Symphony cannot open that.
    pub interactive: Option<Interactive>,
}

/// A file in the home folder of a person who has answered the CLI's first questions: its path there, and its text.
pub type AnswersFile = (PathBuf, String);

/// The interactive mode of a CLI.
#[derive(Debug, Clone, Copy)]
pub struct Interactive {
    /// Whether a new session gets the id of its run.
    pub names_sessions: bool,
    /// Builds the command.
    pub(super) command: fn(&AgentInvocation, &Path) -> AgentCommand,
    /// Returns the files that an empty home needs. Without them the CLI asks what a person has long answered.
    pub(super) home_files: fn(&BTreeMap<OsString, OsString>) -> Vec<AnswersFile>,
}

/// Where a CLI finds its credentials.
#[derive(Debug)]
pub struct Credentials {
    /// Variables any of which logs it in.
    pub variables: &'static [&'static str],
    /// The variable that names its own folder.
    pub folder_variable: &'static str,
    /// That folder otherwise, in the home folder.
    pub folder: &'static str,
    /// The file of its login in that folder, a JSON document.
    pub file: &'static str,
    /// How a person logs in.
    pub fix: &'static str,
}

/// The sessions that a CLI can resume.
#[derive(Debug, Clone, Copy)]
pub struct Sessions {
    /// The form of their ids.
    pub form: SessionForm,
    /// The folder of their files, in the CLI's own folder. It holds nothing else; `None` if there is no such folder, so that
    /// a sandbox cannot keep it.
    pub folder: Option<&'static str>,
}

/// The environment variables that a CLI reads.
#[derive(Debug)]
pub struct Variables {
    /// Prefixes of the names of its settings and keys.
    pub prefixes: &'static [&'static str],
    /// Its settings that have none of these prefixes, by name. They hold no secrets.
    pub settings: &'static [&'static str],
    /// What it also reads when it uses the API of a cloud: the variable that switches to it, then prefixes of names.
    pub clouds: &'static [(&'static str, &'static [&'static str])],
    /// What Symphony sets unless the project or the provider's settings say otherwise.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Returns whether a variable marks a session of it that surrounds Symphony.
    pub is_session_marker: fn(&str) -> bool,
}

/// That a CLI refuses to run unattended as root.
#[derive(Debug)]
pub struct RootRefusal {
    /// The variable that lets it run nevertheless, when it is `1`.
    pub variable: &'static str,
    /// What it refuses, and what to do about it.
    pub hint: &'static str,
}

impl Interactive {
    /// Returns the files that an empty home needs.
    pub fn home_files(&self, environment: &BTreeMap<OsString, OsString>) -> Vec<AnswersFile> {
        (self.home_files)(environment)
    }
}

impl AgentCli {
    /// Finds its program, or the one that is configured; the native binary if it is a wrapper of one.
    pub fn find(&self, configured: Option<&Path>, search_path: &OsStr) -> Option<PathBuf> {
        let program = configured.unwrap_or(Path::new(self.program));
        find_program(program, search_path).map(self.native)
    }

    /// Returns whether the copy of its own settings in a sandbox has its login.
    pub fn has_login_in_settings(&self) -> bool {
        let own = self.own_settings.as_ref();
        own.is_some_and(|own| own.form == SettingsForm::Providers)
    }

    /// Returns why it will not start for a user, if so.
    pub fn root_hint(
        &self,
        effective_user_id: u32,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Option<&'static str> {
        let root = self.root.as_ref()?;
        let allowed = environment
            .get(OsStr::new(root.variable))
            .is_some_and(|value| value == "1");
        (effective_user_id == 0 && !allowed).then_some(root.hint)
    }
}

impl Credentials {
    /// Returns the file of the login, by the variables of the environment; `None` if there is no home folder.
    pub fn path(&self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let folder = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let own = folder(self.folder_variable);
        let folder = own.or_else(|| Some(folder("HOME")?.join(self.folder)))?;
        Some(folder.join(self.file))
    }
}

impl PartialEq for AgentCli {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for AgentCli {}

#[cfg(test)]
mod tests {
    use super::super::{claude, codex};
    use super::*;

    fn variables(set: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        set.iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    #[test]
    fn root_is_refused_outside_of_a_sandbox() {
        let sandbox = |value| variables(&[("IS_SANDBOX", value)]);
        for (cli, user, environment, refused) in [
            (&claude::CLI, 0, variables(&[]), true),
            (&claude::CLI, 0, sandbox("0"), true),
            (&claude::CLI, 0, sandbox("1"), false),
            (&claude::CLI, 1000, variables(&[]), false),
            (&codex::CLI, 0, variables(&[]), false),
        ] {
            let hint = cli.root_hint(user, &environment);
            assert_eq!(hint.is_some(), refused, "{} {user}", cli.title);
        }
    }

    #[test]
    fn the_login_is_in_a_folder_of_its_own_or_in_the_home_folder() {
        for (set, expected) in [
            (variables(&[]), None),
            (
                variables(&[("HOME", "/h"), ("CODEX_HOME", "")]),
                Some("/h/.codex/auth.json"),
            ),
            (
                variables(&[("HOME", "/h"), ("CODEX_HOME", "/c")]),
                Some("/c/auth.json"),
            ),
        ] {
            let path = codex::CLI
                .credentials
                .path(|name| set.get(OsStr::new(name)).cloned());
            assert_eq!(path.as_deref(), expected.map(Path::new));
        }
    }
}
