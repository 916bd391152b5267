//! Which of the project's git settings an agent's folder gets: those that decide about bytes and names in the checkout.
//! Remotes, credentials, hooks and aliases are not among them.

use std::fmt::Write as _;

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
    let fields: Vec<&str> = list.split('\0').collect();
    let mut text = String::new();
    for pair in fields.chunks_exact(2) {
        let [scope, setting] = pair else { continue };
        // What the call itself set has the scope `command`.
        if !matches!(*scope, "local" | "worktree") {
            continue;
        }
        let (key, value) = match setting.split_once('\n') {
            Some((key, value)) => (key, Some(value)),
            None => (*setting, None),
        };
        if let Some(key) = Key::parse(key).filter(Key::is_kept) {
            key.write(value, &mut text);
        }
    }
    text
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
            // Its value may be a folder of the project, which the clone's own settings name.
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
