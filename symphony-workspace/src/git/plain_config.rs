//! The settings in a configuration of git, read without a process where the file is as plain as git writes it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::answer::fields;
use super::place::Git;
use crate::error::WorkspaceError;
use crate::own_file::read_file;

/// The largest file that is read here; real ones have a few hundred bytes.
const PLAIN_BYTES_MAX: usize = 64 * 1024;

impl Git {
    /// Returns the names of the settings in the repository's own configuration, as `git config --list --name-only -z` prints them:
    /// section and variable in lower case.
    ///
    /// Most calls need them, and asking git would double the number of processes. Whatever is not plain is left to git: what it
    /// makes of quotes, escapes and included files is its own to say.
    pub(super) fn own_names(&self) -> Result<Vec<u8>, WorkspaceError> {
        if let Some(settings) = plain_file(&self.place().common_dir.join("config")) {
            let names = settings.into_iter().map(|setting| setting.name + "\0");
            return Ok(names.collect::<String>().into_bytes());
        }
        self.command("config")
            .args(["--list", "--name-only", "-z"])
            .run()
    }

    /// Returns the name of the first setting of the repository's own configuration for which this holds.
    pub(crate) fn own_setting(
        &self,
        holds: impl Fn(&str) -> bool,
    ) -> Result<Option<String>, WorkspaceError> {
        let list = self.own_names()?;
        let mut names = fields(&list).filter_map(|name| str::from_utf8(name).ok());
        Ok(names.find(|name| holds(name)).map(str::to_owned))
    }

    /// Returns the settings in a file that is named by an absolute path, as `git config --no-includes --list -z --file` prints them;
    /// `None` if git cannot read it.
    ///
    /// # Errors
    /// When git cannot be run, or its folder leads elsewhere.
    pub(crate) fn settings_in(&self, file: &Path) -> Result<Option<Vec<u8>>, WorkspaceError> {
        self.place().refuse_redirected()?;
        if let Some(settings) = plain_file(file) {
            return Ok(Some(as_list(settings)));
        }
        let answer = self
            .command("config")
            .args(["--no-includes", "--list", "-z", "--file"])
            .arg(file)
            .answer(&[0, 1, 3, 128])?;
        Ok((answer.code == 0).then_some(answer.stdout))
    }

    /// Returns `user.name` and `user.email` of the repository's own configuration, without those that are empty.
    pub(crate) fn own_identity(&self) -> BTreeMap<String, String> {
        let list = if let Some(settings) = plain_file(&self.place().common_dir.join("config")) {
            as_list(settings)
        } else {
            let command = self.command("config");
            let list = command.args(["-z", "--get-regexp", r"^user\.(name|email)$"]);
            list.run().unwrap_or_default()
        };
        let settings =
            fields(&list).filter_map(|field| str::from_utf8(field).ok()?.split_once('\n'));
        let settings = settings.filter(|(name, _)| matches!(*name, "user.name" | "user.email"));
        // the last one counts
        let mut found: BTreeMap<String, String> = settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        found.retain(|_, value| !value.is_empty() && !value.contains('\n'));
        found
    }
}

fn as_list(settings: Vec<Setting>) -> Vec<u8> {
    let setting = |Setting { name, value }| match value {
        Some(value) => format!("{name}\n{value}\0"),
        None => name + "\0",
    };
    let list: String = settings.into_iter().map(setting).collect();
    list.into_bytes()
}

/// Reads the settings in a file that is named by an absolute path; `None` unless all of it is plain. A pipe or an unreadable file is git's to complain about.
pub(super) fn plain_file(file: &Path) -> Option<Vec<Setting>> {
    let read: io::Result<Vec<u8>> = read_file(file);
    plain_settings(&read.ok()?)
}

/// A setting in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// Section and variable in lower case, as git prints them.
    pub(super) name: String,
    /// `None` without an equals sign.
    pub(super) value: Option<String>,
}

/// Returns the settings in a configuration; `None` unless all of it is plain.
fn plain_settings(bytes: &[u8]) -> Option<Vec<Setting>> {
    let is_plain = |byte: &u8| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
    if bytes.len() > PLAIN_BYTES_MAX || !bytes.iter().all(is_plain) {
        return None;
    }
    let mut section: Option<String> = None;
    let mut settings = Vec::new();
    for line in str::from_utf8(bytes).ok()?.lines() {
        let line = line.trim_matches([' ', '\t']);
        // A comment ends with its line, whatever it ends with.
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            section = Some(plain_section(header.strip_suffix(']')?)?);
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, Some(value.trim_start_matches([' ', '\t']))),
            None => (line, None),
        };
        // A quote could hide a comment, an escape could continue the line, and a tab is a space to some versions of git.
        if value.is_some_and(|value| value.contains(['"', '\\', '#', ';', '\t'])) {
            return None;
        }
        let name = plain_name(name.trim_end_matches([' ', '\t']))?;
        let name = format!("{}.{name}", section.as_ref()?);
        // It leads to another file.
        if name == "extensions.worktreeconfig" {
            return None;
        }
        let value = value.map(str::to_owned);
        settings.push(Setting { name, value });
    }
    Some(settings)
}

/// Returns the name of a section whose header is `[section]` or `[section "name"]`.
fn plain_section(header: &str) -> Option<String> {
    let (section, name) = match header.split_once(" \"") {
        None => (header, None),
        Some((section, name)) => (section, Some(name.strip_suffix('"')?)),
    };
    let is_word = !section.is_empty()
        && section
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let section = section.to_ascii_lowercase();
    // What these include is git's to read.
    if !is_word || matches!(section.as_str(), "include" | "includeif") {
        return None;
    }
    match name {
        None => Some(section),
        Some(name) if name.contains(['"', '\\', '\t']) => None,
        Some(name) => Some(format!("{section}.{name}")),
    }
}

/// Returns the name of a variable in lower case.
fn plain_name(name: &str) -> Option<String> {
    let mut bytes = name.bytes();
    let is_name = bytes.next()?.is_ascii_alphabetic()
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name.then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    const OF_GIT: &str = "[core]\n\trepositoryformatversion = 0\n\tfileMode = true\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/a b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";

    fn list(text: &str) -> Option<String> {
        let list = as_list(plain_settings(text.as_bytes())?);
        Some(String::from_utf8(list).unwrap())
    }

    /// Asks git; `None` when it refuses the file.
    #[expect(clippy::disallowed_methods, reason = "git is the reference")]
    fn list_of_git(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, text).unwrap();
        let output = Command::new("git")
            .args(["config", "--no-includes", "--list", "-z", "--file"])
            .arg(&file)
            .current_dir("/")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then_some(text)
    }

    #[test]
    fn a_configuration_as_git_writes_it_is_read_here() {
        let expected = "core.repositoryformatversion\n0\0core.filemode\ntrue\0core.bare\nfalse\0\
            remote.origin.url\nhttps://example.org/a b.git\0remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*\0\
            branch.main.remote\norigin\0";
        assert_eq!(list(OF_GIT).unwrap(), expected);
        assert_eq!(list(OF_GIT), list_of_git(OF_GIT));
        let drivers =
            "[filter \"a.b c\"]\n clean =  cat  x \n  Process=x\n[diff]\nexternal\n a =\n";
        assert_eq!(
            list(drivers).unwrap(),
            "filter.a.b c.clean\ncat  x\0filter.a.b c.process\nx\0diff.external\0diff.a\n\0"
        );
        assert_eq!(list(drivers), list_of_git(drivers));
        assert_eq!(list(""), Some(String::new()));
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        for text in [
            "[include]\n path = x\n",
            "[Include]\npath=x\n",
            "[includeIf \"gitdir:/a\"]\n path = x\n",
            "[extensions]\n worktreeConfig = true\n",
            "[core] bare = true\n",
            "[core]\n a = b \\\n[filter \"x\"]\n",
            "[core]\n a = \"b\n",
            "[core]\n a = b # c\n",
            "[core]\n a = b\tc\n",
            "[core.sub]\n a = b\n",
            "[core  \"sub\"]\n a = b\n",
            "[a \"b\\\"c\"]\n d = e\n",
            "[core]\r\n a = b\r\n",
            "\u{feff}[core]\n a = b\n",
            "a = b\n",
            "[core]\n 1a = b\n",
            "[core]\n a.b = c\n",
            "[core\n a = b\n",
            "[]\n a = b\n",
        ] {
            assert_eq!(list(text), None, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn whatever_is_read_here_git_reads_in_the_same_way(
            lines in proptest::collection::vec(
                "\\[[a-zA-Z.\\-]{1,6}( {1,2}\"[ a-z.=\\]#;\\\\\"]{0,5}\")?\\]( x = y)?|[ \t]{0,2}[a-zA-Z][a-z0-9\\-]{0,4}[ \t]{0,2}(=[ -~\t]{0,6})?|[#;][ -~]{0,5}|",
                0..8,
            )
        ) {
            let text = lines.join("\n");
            if let Some(found) = list(&text) {
                prop_assert_eq!(Some(found), list_of_git(&text), "{:?}", text);
            }
        }
    }
}
