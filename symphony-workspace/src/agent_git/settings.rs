//! Which of the project's git settings an agent's folder gets: those that decide about bytes and names in the checkout.
//! Remotes, credentials, hooks and aliases are not among them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use crate::git::UserConfig;

/// Settings of the section `core` that decide how files are read and written.
const CORE: &[&str] = &[
    "autocrlf",
    "checkroundtripencoding",
    "eol",
    "filemode",
    "ignorecase",
    "precomposeunicode",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "safecrlf",
    "sparsecheckout",
    "sparsecheckoutcone",
    "symlinks",
    "whitespace",
];

/// Sections that are taken over as a whole.
const SECTIONS: &[&str] = &["filter", "i18n", "index", "lfs", "merge", "submodule"];

/// Who commits, if the project itself says so.
const USER: &[&str] = &["email", "name", "useconfigonly"];

/// Writes the settings that an agent's folder gets, from the output of `git config --list --show-scope -z`.
pub(super) fn kept(list: &[u8]) -> String {
    let list = String::from_utf8_lossy(list);
    let mut text = String::new();
    for (key, value) in own_settings(&list) {
        if let Some(key) = Key::parse(key).filter(Key::is_kept) {
            key.write(value, &mut text);
        }
    }
    text
}

/// Lists names and values of the project's and the worktree's settings. What the call itself set has the scope `command`.
fn own_settings(list: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut fields = list.split('\0');
    let pairs = std::iter::from_fn(move || Some((fields.next()?, fields.next()?)));
    let own = pairs.filter(|(scope, _)| matches!(*scope, "local" | "worktree"));
    own.map(|(_, setting)| match setting.split_once('\n') {
        Some((key, value)) => (key, Some(value)),
        None => (setting, None),
    })
}

/// Writes the user's own settings that decide about bytes: a sandbox does not show the files that have them.
pub(super) fn user_settings(user: &UserConfig) -> String {
    let mut settings = user.harmless_settings();
    settings.extend(
        user.filters()
            .iter()
            .flat_map(|name| user.filter_settings(name)),
    );
    let mut text = String::new();
    for (key, value) in &settings {
        if let Some(key) = Key::parse(key).filter(Key::is_kept) {
            key.write(Some(value), &mut text);
        }
    }
    text
}

/// Returns what git does not show as new in a worktree, besides what its own files name: the project's exclude file, and the one that
/// a setting of the project or of the user leads to, whose path a sandbox does not show.
pub(super) fn excludes_for_agent(
    common_dir: &Path,
    list: &[u8],
    user: &UserConfig,
) -> io::Result<Vec<u8>> {
    const EXCLUDES: &str = "core.excludesfile";
    let list = String::from_utf8_lossy(list);
    let own = own_settings(&list).filter(|(key, _)| *key == EXCLUDES);
    let local = own.filter_map(|(_, value)| value).last().map(str::to_owned);
    let users = user.harmless_settings();
    let users = users.into_iter().rev().find(|(key, _)| key == EXCLUDES);
    let mut text = Vec::new();
    // The first has the least weight.
    if let Some(file) = local.or_else(|| users.map(|(_, file)| file)) {
        text.extend(read_in_part(Path::new(&file))?);
        text.push(b'\n');
    }
    text.extend(read_in_part(&common_dir.join("info/exclude"))?);
    Ok(text)
}

/// Reads a file as far as it is of a usual size; nothing if it is not there.
fn read_in_part(path: &Path) -> io::Result<Vec<u8>> {
    const BYTES_MAX: u64 = 1024 * 1024;
    if !path.is_absolute() || !path.is_file() {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(BYTES_MAX).read_to_end(&mut bytes).map(|_| bytes),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// A setting's name: `section.name` or `section.anything.name`.
#[derive(Debug, PartialEq, Eq)]
struct Key<'a> {
    section: &'a str,
    subsection: Option<&'a str>,
    name: &'a str,
}

impl<'a> Key<'a> {
    fn parse(key: &'a str) -> Option<Self> {
        let (section, rest) = key.split_once('.')?;
        let (subsection, name) = match rest.rsplit_once('.') {
            Some((subsection, name)) => (Some(subsection), name),
            None => (None, rest),
        };
        Some(Self {
            section,
            subsection,
            name,
        })
    }

    fn is_kept(&self) -> bool {
        match self.section {
            "core" => CORE.contains(&self.name),
            "user" => USER.contains(&self.name),
            // The folder's own is taken over (`import::large`), and Git LFS reads the project's beside its borrowed objects.
            "lfs" => self.name != "storage",
            section => SECTIONS.contains(&section),
        }
    }

    fn write(&self, value: Option<&str>, text: &mut String) {
        let heading = match self.subsection {
            Some(subsection) => format!("[{} \"{}\"]", self.section, quoted(subsection)),
            None => format!("[{}]", self.section),
        };
        let assigned = value.map(|value| format!(" = \"{}\"", escaped(value)));
        let written = writeln!(
            text,
            "{heading}\n\t{}{}",
            self.name,
            assigned.unwrap_or_default()
        );
        debug_assert!(written.is_ok(), "a string takes any text");
    }
}

/// In a heading only these two are escaped (git-config(1), Syntax).
fn quoted(subsection: &str) -> String {
    subsection.replace('\\', "\\\\").replace('"', "\\\"")
}

fn escaped(value: &str) -> String {
    quoted(value).replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_about_bytes_is_kept_and_nothing_that_leads_elsewhere() {
        let list = [
            "local\0core.autocrlf\ninput",
            "local\0core.bare\nfalse",
            "local\0core.hookspath\n/evil",
            "local\0core.fsmonitor\n/evil",
            "local\0core.sshcommand\n/evil",
            "worktree\0core.sparsecheckout\ntrue",
            "command\0core.symlinks\nfalse",
            "global\0user.name\nUser",
            "local\0user.name\nAda \"A\" \\ L",
            "local\0user.signingkey\nkey",
            "local\0remote.origin.url\nhttps://token@host/x",
            "local\0http.https://host/.extraheader\nsecret",
            "local\0credential.helper\nstore",
            "local\0alias.st\n!evil",
            "local\0include.path\n../x",
            "local\0filter.a \"b.c.clean\ngit-lfs clean -- %f",
            "local\0filter.lfs.required",
            "local\0submodule.sub.active\ntrue",
            "local\0merge.conflictstyle\ndiff3",
            "local\0lfs.storage\n/project/lfs",
            "local\0nonsense",
        ]
        .join("\0")
            + "\0";
        assert_eq!(
            kept(list.as_bytes()),
            "[core]\n\tautocrlf = \"input\"\n[core]\n\tsparsecheckout = \"true\"\n[user]\n\tname = \"Ada \\\"A\\\" \\\\ L\"\n\
             [filter \"a \\\"b.c\"]\n\tclean = \"git-lfs clean -- %f\"\n[filter \"lfs\"]\n\trequired\n\
             [submodule \"sub\"]\n\tactive = \"true\"\n[merge]\n\tconflictstyle = \"diff3\"\n"
        );
    }
}
