//! The configuration of a private clone: what decides which bytes git writes, and nothing else.

use std::path::Path;

use crate::error::WorkspaceError;
use crate::git::{Git, fields};

/// Settings of the repository that are taken over, with the values that are understood.
const TAKEN: &[(&str, &[&str])] = &[
    ("core.autocrlf", &["true", "false", "input"]),
    ("core.eol", &["lf", "crlf", "native"]),
    ("core.filemode", &["true", "false"]),
    ("core.ignorecase", &["true", "false"]),
    ("core.precomposeunicode", &["true", "false"]),
    ("core.symlinks", &["true", "false"]),
];

/// Returns the configuration file of a clone of the repository that `git` is pinned to.
pub(super) fn config_text(git: &Git, common_dir: &Path) -> Result<String, WorkspaceError> {
    let list = git.command("config").args(["--list", "-z"]).run()?;
    Ok(text_of(&list, &common_dir.join("lfs")))
}

fn text_of(list: &[u8], lfs: &Path) -> String {
    let settings: Vec<(&str, &str)> = fields(list)
        .filter_map(|field| str::from_utf8(field).ok())
        .map(|field| field.split_once('\n').unwrap_or((field, "true")))
        .collect();
    let value_of = |name: &str| {
        let found = settings.iter().rev().find(|(key, _)| *key == name);
        found.map(|(_, value)| *value)
    };
    let is_sha256 = value_of("extensions.objectformat") == Some("sha256");
    let version = u8::from(is_sha256);
    let mut lines = vec![
        "[core]".to_owned(),
        format!("\trepositoryformatversion = {version}"),
        "\tbare = false".to_owned(),
    ];
    for (name, understood) in TAKEN {
        let value = value_of(name).filter(|value| understood.contains(value));
        if let (Some(value), Some(key)) = (value, name.strip_prefix("core.")) {
            lines.push(format!("\t{key} = {value}"));
        }
    }
    if is_sha256 {
        lines.extend(["[extensions]", "\tobjectformat = sha256"].map(str::to_owned));
    }
    // Files of Git LFS are looked for where the repository has them.
    if let Some(lfs) = lfs.to_str().filter(|_| lfs.is_dir()) {
        lines.push("[lfs]".to_owned());
        lines.push(format!("\tstorage = \"{}\"", escaped(lfs)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_decides_about_bytes_is_taken_over() {
        let none = Path::new("/no/such/folder");
        let list = b"core.bare\nfalse\0core.autocrlf\ninput\0core.hookspath\n/tmp/evil\0core.eol\n$(x)\0filter.x.smudge\nevil\0include.path\n/tmp/evil\0user.name\nAda\0";
        assert_eq!(
            text_of(list, none),
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tautocrlf = input\n"
        );
        assert_eq!(
            text_of(
                b"extensions.objectformat\nsha256\0core.symlinks\nfalse\0",
                none
            ),
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tsymlinks = false\n[extensions]\n\tobjectformat = sha256\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a \"b\\c");
        std::fs::create_dir(&odd).unwrap();
        assert!(text_of(b"", &odd).ends_with("a \\\"b\\\\c\"\n"));
    }
}
