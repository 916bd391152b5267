//! Folders of packages that hold something made of the project's own source: a copy, or what a script made of it. That is as old
//! as the folder, so such a folder is never kept.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

/// Scripts that an installation runs, in a package or in the project.
const HOOKS: &[&str] = &[
    "preinstall",
    "install",
    "postinstall",
    "prepublish",
    "preprepare",
    "prepare",
    "postprepare",
];
/// Hooks of a project whose effect on the folder is decided by files that [`super::KeptFolder::is_decided_by`] knows.
const HARMLESS_HOOKS: &[&str] = &[
    "",
    "husky",
    "husky install",
    "husky || true",
    "patch-package",
];
/// Packages whose installation looks at nothing but the machine and themselves.
const BUILT_ALONE: &[&str] = &[
    "@parcel/watcher",
    "@swc/core",
    "bcrypt",
    "better-sqlite3",
    "bufferutil",
    "core-js",
    "core-js-pure",
    "es5-ext",
    "esbuild",
    "fsevents",
    "sharp",
    "unrs-resolver",
    "utf-8-validate",
];
/// Tables of a `package.json` whose texts are where packages come from.
const SOURCES: &[&str] = &["overrides", "resolutions", "pnpm"];

/// What is known of how a package of Python was installed (PEP 610, `direct_url.json`).
#[derive(Debug, Deserialize)]
struct DirectUrl {
    url: String,
    dir_info: Option<DirInfo>,
}

#[derive(Debug, Deserialize)]
struct DirInfo {
    #[serde(default)]
    editable: bool,
}

/// How a package of Python came into its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonOrigin {
    /// From an archive or another repository.
    Elsewhere,
    /// It leads to a folder. Its own files have to be looked at: [`is_only_a_link`].
    Linked,
    /// It was copied from a folder, or that is not known.
    Copied,
}

/// Returns how a package of Python was installed, by the text of its `direct_url.json`.
pub fn origin_of_python(direct_url: &str) -> PythonOrigin {
    match serde_json::from_str(direct_url) {
        Ok(DirectUrl { url, dir_info }) => match dir_info {
            Some(info) if info.editable => PythonOrigin::Linked,
            Some(_) if url.starts_with("file:") => PythonOrigin::Copied,
            _ => PythonOrigin::Elsewhere,
        },
        Err(_) => PythonOrigin::Copied,
    }
}

/// Returns whether a package that leads to a folder has nothing of that folder itself, such as a compiled module or a script.
/// `record` is the text of its `RECORD`, `entry_points` that of its `entry_points.txt`, from which starters are made.
pub fn is_only_a_link(record: &str, entry_points: &str) -> bool {
    let starters: BTreeSet<&str> = entry_points
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim())
        .collect();
    let is_harmless = |path: &str| {
        let mut parts = path.rsplit('/');
        let name = parts.next().unwrap_or(path);
        let folder = parts.next();
        match folder {
            // `../../../bin/name`
            Some("bin" | "Scripts") if path.starts_with("../") => starters.contains(name),
            Some(folder) if folder.strip_suffix(".dist-info").is_some() => true,
            Some("licenses") => path.contains(".dist-info/"),
            None | Some("__pycache__") => {
                name.starts_with("__editable__") || name.strip_suffix(".pth").is_some()
            }
            Some(_) => false,
        }
    };
    let mut paths = record
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.split(',').next().unwrap_or(line).trim_matches('"'));
    paths.clone().next().is_some() && paths.all(is_harmless)
}

/// Returns whether a `pyproject.toml` names a build backend that is part of the project itself.
pub fn has_own_backend(pyproject: &str) -> bool {
    pyproject.contains("backend-path")
}

/// Returns whether a `package.json` of the project makes something of its source that ends in the folder of packages: it names a
/// package that may be copied from a folder, or a script that each installation runs. `is_tracked` answers for archives, by paths
/// relative to the file: a commit that changes one of its archives has other packages anyway. A text that cannot be read counts as
/// one that does.
pub fn is_copied_by_node(package_json: &str, is_tracked: impl Fn(&str) -> bool) -> bool {
    let Ok(Value::Object(table)) = serde_json::from_str(package_json) else {
        return true;
    };
    let has_hook = hooks_of(&table).any(|hook| !HARMLESS_HOOKS.contains(&hook.trim()));
    let names_folder = table.iter().any(|(key, value)| {
        let is_source = SOURCES.contains(&key.as_str()) || key.ends_with("ependencies");
        is_source && texts_in(value).any(|text| leads_to_folder(text, &is_tracked))
    });
    has_hook || names_folder
}

/// Returns whether a package that was installed, by the text of its `package.json`, ran a script that may have read the project's
/// source. A text that cannot be read counts as one that did.
pub fn is_made_by_script(package_json: &str) -> bool {
    let Ok(Value::Object(table)) = serde_json::from_str(package_json) else {
        return true;
    };
    let name = table.get("name").and_then(Value::as_str).unwrap_or("");
    let ran = ["preinstall", "install", "postinstall"];
    let scripts = table.get("scripts");
    let has_hook = ran
        .iter()
        .any(|hook| scripts.is_some_and(|scripts| scripts.get(hook).is_some()));
    has_hook && !BUILT_ALONE.contains(&name)
}

fn hooks_of(table: &serde_json::Map<String, Value>) -> impl Iterator<Item = &str> {
    let scripts = table.get("scripts");
    HOOKS
        .iter()
        .filter_map(move |hook| scripts?.get(hook))
        .map(|hook| hook.as_str().unwrap_or("?"))
}

fn texts_in(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(values) => Box::new(values.iter().flat_map(texts_in)),
        Value::Object(table) => Box::new(table.values().flat_map(texts_in)),
        _ => Box::new(std::iter::empty()),
    }
}

fn leads_to_folder(source: &str, is_tracked: impl Fn(&str) -> bool) -> bool {
    if source.starts_with("portal:") {
        return true;
    }
    let path = match source.strip_prefix("file:") {
        Some(path) => path,
        None if source.starts_with(['.', '/', '~']) => source,
        None => return false,
    };
    // `KeptFolder::is_decided_by` knows archives with this ending.
    !(path.strip_suffix(".tgz").is_some() && is_tracked(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_package_of_python_came_from_is_known() {
        use PythonOrigin::{Copied, Elsewhere, Linked};
        for (text, expected) in [
            (r#"{"url":"file:///symphony/api","dir_info":{}}"#, Copied),
            (
                r#"{"url":"file:///symphony/api","dir_info":{"editable":false}}"#,
                Copied,
            ),
            (
                r#"{"url":"file:///symphony/api","dir_info":{"editable":true}}"#,
                Linked,
            ),
            (
                r#"{"url":"file:///a/b.whl","archive_info":{"hash":"x"}}"#,
                Elsewhere,
            ),
            (
                r#"{"url":"https://example.org/a.git","vcs_info":{"vcs":"git"}}"#,
                Elsewhere,
            ),
            ("{", Copied),
            ("", Copied),
        ] {
            assert_eq!(origin_of_python(text), expected, "{text}");
        }
        assert!(has_own_backend("[build-system]\nbackend-path = [\".\"]\n"));
        assert!(!has_own_backend("[build-system]\nrequires = []\n"));
    }

    #[test]
    fn an_editable_package_may_have_links_and_starters_only() {
        let starters = "[console_scripts]\napp = app:main\n";
        for (record, expected) in [
            ("", false),
            (
                "__editable__.app-1.pth,sha256=x,9\napp-1.dist-info/RECORD,,\n",
                true,
            ),
            ("_app.pth,,\napp-1.dist-info/licenses/LICENSE,,\n", true),
            (
                "__editable___app_finder.py,,\n__pycache__/__editable___app_finder.pyc,,\n",
                true,
            ),
            ("app.pth,,\n../../../bin/app,,\n", true),
            // a script that was copied, data, and what a compiler made
            ("app.pth,,\n../../../bin/copied,,\n", false),
            ("app.pth,,\n../../../share/app/data.json,,\n", false),
            ("app.pth,,\napp/native.abi3.so,,\n", false),
            ("app.pth,,\nnative.abi3.so,,\n", false),
            ("_app_editable_loader.py,,\n", false),
        ] {
            assert_eq!(is_only_a_link(record, starters), expected, "{record}");
        }
    }

    #[test]
    fn what_node_takes_from_the_project_is_known() {
        for (text, expected) in [
            (r#"{"dependencies":{"a":"file:../a"}}"#, true),
            (r#"{"dependencies":{"a":"portal:./a"}}"#, true),
            (r#"{"devDependencies":{"a":"./a"}}"#, true),
            (r#"{"dependencies":{"a":"\u0066ile:a"}}"#, true),
            (r#"{"overrides":{"b":{"a":"file:a"}}}"#, true),
            (r#"{"dependencies":{"a":"file:vendor/a.tgz"}}"#, false),
            (r#"{"dependencies":{"a":"file:made/a.tgz"}}"#, true),
            (
                r#"{"main":"./index.js","dependencies":{"a":"^1.0.0"},"description":"a file: of"}"#,
                false,
            ),
            (r#"{"scripts":{"postinstall":"prisma generate"}}"#, true),
            (r#"{"scripts":{"prepare":"husky"}}"#, false),
            (r#"{"scripts":{"test":"node --test"}}"#, false),
            ("{", true),
            ("[]", true),
        ] {
            let tracked = |path: &str| path == "vendor/a.tgz";
            assert_eq!(is_copied_by_node(text, tracked), expected, "{text}");
        }
    }

    #[test]
    fn an_installed_package_with_a_script_may_have_read_the_project() {
        for (text, expected) in [
            (r#"{"name":"a"}"#, false),
            (
                r#"{"name":"a","scripts":{"prepare":"tsc","test":"x"}}"#,
                false,
            ),
            (
                r#"{"name":"@prisma/client","scripts":{"postinstall":"node generate.js"}}"#,
                true,
            ),
            (
                r#"{"name":"esbuild","scripts":{"postinstall":"node install.js"}}"#,
                false,
            ),
            ("", true),
        ] {
            assert_eq!(is_made_by_script(text), expected, "{text}");
        }
    }
}
