//! The names of the settings in a repository's configuration, read without a process where the file is as plain as git writes it.

use std::collections::BTreeMap;
use std::io;

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
        // Named by an absolute path, as git gets it. A pipe or an unreadable file is git's to complain about.
        let read: io::Result<Vec<u8>> = read_file(&self.place().common_dir.join("config"));
        if let Some(names) = read.ok().and_then(|bytes| plain_names(&bytes)) {
            return Ok(names);
        }
        self.command("config")
            .args(["--list", "--name-only", "-z"])
            .run()
    }

    /// Returns `user.name` and `user.email` of the repository's own configuration, without those that are empty. Git is asked, once,
    /// only where there are any.
    pub(crate) fn own_identity(&self) -> BTreeMap<String, String> {
        let names = self.own_names().unwrap_or_default();
        if !fields(&names).any(|name| matches!(name, b"user.name" | b"user.email")) {
            return BTreeMap::new();
        }
        let command = self.command("config");
        let list = command.args(["-z", "--get-regexp", r"^user\.(name|email)$"]);
        let list = list.run().unwrap_or_default();
        let settings =
            fields(&list).filter_map(|field| str::from_utf8(field).ok()?.split_once('\n'));
        // the last one counts
        let mut found: BTreeMap<String, String> = settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        found.retain(|_, value| !value.is_empty() && !value.contains('\n'));
        found
    }
}

/// Returns the names in a configuration, each with a NUL after it; `None` unless all of it is plain.
pub(super) fn plain_names(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_plain = |byte: &u8| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
    if bytes.len() > PLAIN_BYTES_MAX || !bytes.iter().all(is_plain) {
        return None;
    }
    let mut section: Option<String> = None;
    let mut names = Vec::new();
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
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        // A quote could hide a comment, an escape could continue the line.
        if value.contains(['"', '\\', '#', ';']) {
            return None;
        }
        let name = plain_name(name.trim_end_matches([' ', '\t']))?;
        let full = format!("{}.{name}", section.as_ref()?);
        // It leads to another file.
        if full == "extensions.worktreeconfig" {
            return None;
        }
        names.extend_from_slice(full.as_bytes());
        names.push(0);
    }
    Some(names)
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

    fn names(text: &str) -> Option<Vec<String>> {
        let names = plain_names(text.as_bytes())?;
        let names = names
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty());
        Some(
            names
                .map(|name| String::from_utf8(name.to_vec()).unwrap())
                .collect(),
        )
    }

    /// Asks git; `None` when it refuses the file.
    #[expect(clippy::disallowed_methods, reason = "git is the reference")]
    fn names_of_git(text: &str) -> Option<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, text).unwrap();
        let output = Command::new("git")
            .args(["config", "--list", "--name-only", "-z", "--file"])
            .arg(&file)
            .current_dir("/")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let names = text.split('\0').filter(|name| !name.is_empty());
        output
            .status
            .success()
            .then(|| names.map(str::to_owned).collect())
    }

    #[test]
    fn a_configuration_as_git_writes_it_is_read_here() {
        let expected = [
            "core.repositoryformatversion",
            "core.filemode",
            "core.bare",
            "remote.origin.url",
            "remote.origin.fetch",
            "branch.main.remote",
        ];
        assert_eq!(names(OF_GIT).unwrap(), expected);
        assert_eq!(names(OF_GIT), names_of_git(OF_GIT));
        let drivers = "[filter \"a.b c\"]\n clean = cat\n  Process=x\n[diff]\nexternal\n";
        assert_eq!(
            names(drivers).unwrap(),
            [
                "filter.a.b c.clean",
                "filter.a.b c.process",
                "diff.external"
            ]
        );
        assert_eq!(names(""), Some(Vec::new()));
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
            assert_eq!(names(text), None, "{text:?}");
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
            if let Some(found) = names(&text) {
                prop_assert_eq!(Some(found), names_of_git(&text), "{:?}", text);
            }
        }
    }
}
