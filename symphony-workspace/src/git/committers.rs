//! Whether git knows who commits, in a folder and an environment other than Symphony's own.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use symphony_core::git_identity::{Answer, Committers};

use super::child;
use super::identity::Identity;
use super::program::GitProgram;
use super::user_config::{UserConfig, VARIABLES};

/// How much of an answer is read: a name, an address and a time.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Time limit of an answer.
const LIMIT: Duration = Duration::from_secs(20);

/// What the settings of the user and the system say of a commit outside of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Git knows author and committer.
    Known,
    /// Git's answer is the same for both.
    Same,
    /// Git has to be asked for each.
    Nothing,
}

/// Returns what can be known without git where no repository has a say. Author and committer differ only by settings and
/// variables of their own.
fn says_of_both(settings: &UserConfig, environment: &BTreeMap<OsString, OsString>) -> Says {
    let is_same = |name: &&str| env::var_os(name) == environment.get(OsStr::new(name)).cloned();
    if !VARIABLES.iter().all(is_same) || environment.iter().any(decides) {
        return Says::Nothing;
    }
    if settings.has_section("author") || settings.has_section("committer") {
        return Says::Nothing;
    }
    // A letter or digit is never left out of a name, and a name with one is never refused.
    let is_clear = |text: &String| text.bytes().any(|byte| byte.is_ascii_alphanumeric());
    match settings.identity() {
        Some(Identity { name, email }) if is_clear(&name) && is_clear(&email) => Says::Known,
        _ => Says::Same,
    }
}

/// Returns whether a variable may decide about a name. Those that set other settings do not.
fn decides((name, value): (&OsString, &OsString)) -> bool {
    let (name, value) = (name.as_bytes(), value.as_bytes());
    if name.starts_with(b"GIT_CONFIG_KEY_") {
        return !matches!(value, b"gc.auto" | b"maintenance.auto");
    }
    let is_other = name.starts_with(b"GIT_CONFIG_VALUE_")
        || matches!(name, b"GIT_CONFIG_COUNT" | b"GIT_SSL_CAINFO")
        || VARIABLES.iter().any(|other| other.as_bytes() == name);
    name.starts_with(b"GIT_") && !is_other
}

impl GitProgram {
    /// Asks git whose name a commit would have that is made in a folder by a command with this environment. The answer
    /// is git's own, so it follows all of git's rules (variables, `includeIf`, `user.useConfigOnly`, the machine's
    /// name). Git reads its configuration for it, and runs no program.
    pub fn committers(
        &self,
        folder: &Path,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Committers {
        let is_outside = folder == Path::new("/")
            && ["/.git", "/HEAD"]
                .iter()
                .all(|path| !Path::new(path).exists());
        let says = if is_outside {
            says_of_both(&UserConfig::load(self), environment)
        } else {
            Says::Nothing
        };
        if says == Says::Known {
            return Committers {
                author: Answer::Known,
                committer: Answer::Known,
            };
        }
        let committer = self.ask(folder, environment, "GIT_COMMITTER_IDENT");
        let author = match says {
            Says::Same => committer,
            Says::Known | Says::Nothing => self.ask(folder, environment, "GIT_AUTHOR_IDENT"),
        };
        Committers { author, committer }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this module owns the git program"
    )]
    fn ask(
        &self,
        folder: &Path,
        environment: &BTreeMap<OsString, OsString>,
        variable: &str,
    ) -> Answer {
        let mut command = Command::new(self.path());
        command
            .args(["--no-pager", "var", variable])
            .current_dir(folder)
            .env_clear()
            .envs(environment);
        match child::run(command, Vec::new(), ANSWER_BYTES_MAX, LIMIT) {
            Ok(ended) => match ended.status {
                Some(status) if !status.success() => Answer::Refused,
                Some(_) | None => Answer::Known,
            },
            // Unknown: the agent that commits sees git's own complaint.
            Err(error) => {
                tracing::warn!(%error, variable, "git could not be asked who commits");
                Answer::Known
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_asked_only_for_what_the_settings_leave_open() {
        let user = "user.name\nAda\0user.email\nada@localhost\0";
        let table = [
            (user.to_owned(), "", Says::Known),
            (user.to_owned(), "GIT_CONFIG_KEY_0=gc.auto", Says::Known),
            (
                user.to_owned(),
                "GIT_CONFIG_KEY_0=author.name",
                Says::Nothing,
            ),
            (user.to_owned(), "GIT_AUTHOR_NAME=B", Says::Nothing),
            (user.to_owned(), "GIT_COMMITTER_DATE=x", Says::Nothing),
            (user.to_owned(), "HOME=/elsewhere", Says::Nothing),
            (format!("{user}author.name\n\0"), "", Says::Nothing),
            (format!("committer.email\nc\0{user}"), "", Says::Nothing),
            (format!("{user}user.name\n.;\0"), "", Says::Same),
            ("user.name\nAda\0".to_owned(), "", Says::Same),
            ("user.useconfigonly\ntrue\0".to_owned(), "", Says::Same),
            (String::new(), "", Says::Same),
        ];
        for (list, set, expected) in table {
            let own = VARIABLES
                .iter()
                .filter_map(|name| Some((name.into(), env::var_os(name)?)));
            let mut environment: BTreeMap<OsString, OsString> = own.collect();
            if let Some((name, value)) = set.split_once('=') {
                environment.insert(name.into(), value.into());
            }
            let settings = UserConfig::of_list(list.as_bytes());
            assert_eq!(
                says_of_both(&settings, &environment),
                expected,
                "{list:?} {set}"
            );
        }
    }
}
