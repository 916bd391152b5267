//! Whether git knows who commits, in a folder and an environment other than Symphony's own.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Uid, geteuid};
use symphony_core::git_identity::{Answer, Committers};

use super::child;
use super::plain_config::{Setting, plain_file};
use super::program::GitProgram;
use super::user_config::{UserConfig, VARIABLES};
use crate::own_file::{read_file, read_own_file};

/// How much of an answer is read: a name, an address and a time.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Time limit of an answer.
const LIMIT: Duration = Duration::from_secs(20);

/// What settings say of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Git knows author and committer.
    Known,
    /// Git's answer is the same for both.
    Same,
    /// Git has to be asked for each.
    Nothing,
}

/// Returns what can be known without git from the settings of the user and the system, and from those that a repository adds.
/// Author and committer differ only by settings and variables of their own.
fn says_of_both(
    settings: &UserConfig,
    added: &[Setting],
    environment: &BTreeMap<OsString, OsString>,
) -> Says {
    let is_same = |name: &&str| env::var_os(name) == environment.get(OsStr::new(name)).cloned();
    if !VARIABLES.iter().all(is_same) || environment.iter().any(decides) {
        return Says::Nothing;
    }
    // What is included may depend on the repository.
    let sections = ["author", "committer", "includeif"];
    let adds = |section: &str| {
        let of_section = |setting: &Setting| setting.name.starts_with(&format!("{section}."));
        added.iter().any(of_section)
    };
    if sections
        .iter()
        .any(|section| settings.has_section(section) || adds(section))
    {
        return Says::Nothing;
    }
    // What git may refuse to read is git's to say.
    let only = settings.last("user.useconfigonly");
    let is_answer = |value: &str| matches!(value, "true" | "false");
    let is_odd = |Setting { name, value }: &Setting| match (name.as_str(), value.as_deref()) {
        ("user.useconfigonly", value) => !value.is_some_and(is_answer),
        ("core.repositoryformatversion", value) => !matches!(value, Some("0" | "1")),
        (name, value) => name.starts_with("user.") && value.is_none(),
    };
    if added.iter().any(is_odd) || only.is_some_and(|only| !is_answer(&only)) {
        return Says::Nothing;
    }
    let last = |name: &str| {
        let own = added.iter().rev().find(|setting| setting.name == name);
        own.map_or_else(|| settings.last(name), |setting| setting.value.clone())
    };
    // A letter or digit is never left out of a name, and a name with one is never refused.
    let is_clear = |text: &str| text.bytes().any(|byte| byte.is_ascii_alphanumeric());
    match (last("user.name"), last("user.email")) {
        (Some(name), Some(email)) if is_clear(&name) && is_clear(&email) => Says::Known,
        _ => Says::Same,
    }
}

/// Returns the settings that a commit in a folder has from its repository; `None` unless the folder is a checkout of the user, and
/// its git folder as plain as git writes it.
fn added_in(folder: &Path, user: Uid) -> Option<Vec<Setting>> {
    if folder == Path::new("/")
        && !["/.git", "/HEAD"]
            .iter()
            .any(|path| Path::new(path).exists())
    {
        return Some(Vec::new());
    }
    // Git ignores the repository of another user.
    let is_own = |path: &Path| {
        let meta = path.symlink_metadata();
        meta.is_ok_and(|meta| meta.uid() == user.as_raw())
    };
    let dot_git = folder.join(".git");
    let git_dir = if dot_git.symlink_metadata().ok()?.is_dir() {
        dot_git
    } else {
        let bytes = read_own_file(&dot_git).ok()?;
        let target = bytes.strip_prefix(b"gitdir: ")?.strip_suffix(b"\n")?;
        Some(PathBuf::from(OsStr::from_bytes(target))).filter(|target| target.is_absolute())?
    };
    let is_whole = git_dir.join("HEAD").exists()
        && [folder, &folder.join(".git"), &git_dir]
            .into_iter()
            .all(is_own);
    if !is_whole {
        return None;
    }
    let common_dir = match read_file(&git_dir.join("commondir")) {
        Ok(bytes) => git_dir.join(OsStr::from_bytes(bytes.strip_suffix(b"\n")?)),
        Err(error) if error.kind() == ErrorKind::NotFound => git_dir,
        Err(_) => return None,
    };
    plain_file(&common_dir.join("config"))
}

/// Returns whether a variable may decide about a name. Those that set other settings do not.
fn decides((name, value): (&OsString, &OsString)) -> bool {
    let (name, value) = (name.as_bytes(), value.as_bytes());
    if name.starts_with(b"GIT_CONFIG_KEY_") {
        return !matches!(value, b"gc.auto" | b"maintenance.auto");
    }
    let is_other = name.starts_with(b"GIT_CONFIG_VALUE_")
        || matches!(
            name,
            b"GIT_CONFIG_COUNT" | b"GIT_SSL_CAINFO" | b"GIT_SSL_CAPATH"
        )
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
        let says = match added_in(folder, geteuid()) {
            Some(added) => says_of_both(&UserConfig::load(self), &added, environment),
            None => Says::Nothing,
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
            (user.to_owned(), "", "", Says::Known),
            (user.to_owned(), "", "GIT_CONFIG_KEY_0=gc.auto", Says::Known),
            (
                user.to_owned(),
                "",
                "GIT_CONFIG_KEY_0=author.name",
                Says::Nothing,
            ),
            (user.to_owned(), "", "GIT_AUTHOR_NAME=B", Says::Nothing),
            (user.to_owned(), "", "GIT_COMMITTER_DATE=x", Says::Nothing),
            (user.to_owned(), "", "HOME=/elsewhere", Says::Nothing),
            (format!("{user}author.name\n\0"), "", "", Says::Nothing),
            (format!("committer.email\nc\0{user}"), "", "", Says::Nothing),
            (
                format!("{user}includeif.gitdir:~/a/.path\nx\0"),
                "",
                "",
                Says::Nothing,
            ),
            (format!("{user}user.name\n.;\0"), "", "", Says::Same),
            ("user.name\nAda\0".to_owned(), "", "", Says::Same),
            ("user.useconfigonly\ntrue\0".to_owned(), "", "", Says::Same),
            (String::new(), "", "", Says::Same),
            (user.to_owned(), "[core]\nbare = false\n", "", Says::Known),
            (user.to_owned(), "[user]\nname = .\n", "", Says::Same),
            (user.to_owned(), "[user]\nname\n", "", Says::Nothing),
            (
                user.to_owned(),
                "[user]\nuseConfigOnly = perhaps\n",
                "",
                Says::Nothing,
            ),
            (
                format!("{user}user.useconfigonly\nperhaps\0"),
                "",
                "",
                Says::Nothing,
            ),
            (
                user.to_owned(),
                "[core]\nrepositoryFormatVersion = 9\n",
                "",
                Says::Nothing,
            ),
            (user.to_owned(), "[author]\nname = B\n", "", Says::Nothing),
            (user.to_owned(), "[include]\npath = x\n", "", Says::Nothing),
            (
                String::new(),
                "[user]\nname = B\nemail = b@localhost\n",
                "",
                Says::Known,
            ),
            (
                "user.name\nAda\0".to_owned(),
                "[user]\nemail = b@localhost\n",
                "",
                Says::Known,
            ),
        ];
        for (list, added, set, expected) in table {
            let own = VARIABLES
                .iter()
                .filter_map(|name| Some((name.into(), env::var_os(name)?)));
            let mut environment: BTreeMap<OsString, OsString> = own.collect();
            if let Some((name, value)) = set.split_once('=') {
                environment.insert(name.into(), value.into());
            }
            let settings = UserConfig::of_list(list.as_bytes());
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join(".git")).unwrap();
            std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            std::fs::write(folder.path().join(".git/config"), added).unwrap();
            let found = match added_in(folder.path(), geteuid()) {
                Some(added) => says_of_both(&settings, &added, &environment),
                None => Says::Nothing,
            };
            assert_eq!(found, expected, "{list:?} {added:?} {set}");
        }
    }

    #[test]
    fn the_settings_of_a_checkout_are_those_of_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let names = |folder: &str| -> Option<Vec<String>> {
            let added = added_in(&root.join(folder), geteuid())?;
            Some(added.into_iter().map(|setting| setting.name).collect())
        };
        write("main/.git/config", "[user]\nname = B\n");
        assert_eq!(names("main"), None, "it has no head");
        write("main/.git/HEAD", "ref: refs/heads/main\n");
        write("main/.git/worktrees/a/HEAD", "ref: refs/heads/a\n");
        write("main/.git/worktrees/a/commondir", "../..\n");
        let linked = format!("gitdir: {}\n", root.join("main/.git/worktrees/a").display());
        write("a/.git", &linked);
        write("a/below/file", "");
        write("relative/.git", "gitdir: ../main/.git\n");
        assert_eq!(names("main"), Some(vec!["user.name".to_owned()]));
        assert_eq!(names("a"), names("main"));
        // git looks further up, which is not followed here
        assert_eq!(names("a/below"), None);
        assert_eq!(names("relative"), None);
        std::os::unix::fs::symlink("main", root.join("link")).unwrap();
        assert_eq!(names("link"), names("main"));
        let other = Uid::from_raw(geteuid().as_raw() + 1);
        assert_eq!(added_in(&root.join("main"), other), None, "git ignores it");
        write("main/.git/config", "[extensions]\nworktreeConfig = true\n");
        assert_eq!(names("a"), None);
    }
}
