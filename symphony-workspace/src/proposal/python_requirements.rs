//! Where a Python project names what its tests need.

use toml::{Table, Value};

use super::files::{PLAIN, REQUIREMENTS};
use super::folder::Folder;

/// Usual names of extras and groups for tests, tried if none of them lists pytest.
const USUAL: &[&str] = &["test", "tests", "testing", "dev"];
const PYTEST: &str = "pytest";

/// Extras and dependency groups that the tests need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Optional {
    pub(super) extras: Vec<String>,
    pub(super) groups: Vec<String>,
    /// Whether one of them names pytest.
    pub(super) have_pytest: bool,
}

impl Optional {
    /// Reads `pyproject.toml`, `setup.cfg` and `setup.py`.
    pub(super) fn of(folder: &Folder<'_>, manifest: &Table) -> Self {
        let extras = manifest
            .get("project")
            .and_then(|project| project.get("optional-dependencies"));
        let mut extras = lists(extras);
        extras.extend(extras_of_cfg(folder.text("setup.cfg")));
        extras.extend(extras_of_setup(folder.text("setup.py")));
        let groups = lists(manifest.get("dependency-groups"));
        let has_pytest = |list: &(String, String)| list.1.contains(PYTEST);
        let have_pytest = extras.iter().chain(&groups).any(has_pytest);
        // one list is enough: several may not even fit together
        let choose = |lists: &[(String, String)]| -> Vec<String> {
            let with_pytest = lists.iter().find(|list| has_pytest(list));
            let usual = || {
                USUAL
                    .iter()
                    .find_map(|name| lists.iter().find(|list| list.0 == *name))
            };
            let chosen = if have_pytest { with_pytest } else { usual() };
            chosen.map(|list| list.0.clone()).into_iter().collect()
        };
        let groups = choose(&groups);
        let extras = if groups.is_empty() || !have_pytest {
            choose(&extras)
        } else {
            Vec::new()
        };
        Self {
            extras,
            groups,
            have_pytest,
        }
    }
}

/// Returns the names of a table's lists, each with its items as one text.
fn lists(table: Option<&Value>) -> Vec<(String, String)> {
    let table = table.and_then(Value::as_table);
    table
        .into_iter()
        .flatten()
        .map(|(name, list)| (name.clone(), list.to_string()))
        .collect()
}

/// Returns the extras of `setup.cfg`: keys of one section, with the values on the same line and below.
fn extras_of_cfg(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let section = text
        .lines()
        .skip_while(|line| line.trim() != "[options.extras_require]")
        .skip(1)
        .take_while(|line| !line.starts_with('['));
    for line in section {
        match (line.starts_with([' ', '\t']), line.split_once('=')) {
            (false, Some((name, rest))) => found.push((name.trim().to_owned(), rest.to_owned())),
            _ => {
                if let Some((_, list)) = found.last_mut() {
                    list.push_str(line);
                }
            }
        }
    }
    found
}

/// Returns the extras of `setup.py` that have a usual name. It is a program: its text is searched, not run.
fn extras_of_setup(text: &str) -> Vec<(String, String)> {
    let Some((_, after)) = text.split_once("extras_require") else {
        return Vec::new();
    };
    let extras = USUAL.iter().filter_map(|name| {
        let keys = [format!("\"{name}\":"), format!("'{name}':")];
        let (_, list) = keys.iter().find_map(|key| after.split_once(key.as_str()))?;
        let list = list.split(']').next().unwrap_or_default();
        Some(((*name).to_owned(), list.to_owned()))
    });
    extras.collect()
}

/// Files of requirements to install, and what they have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Requirements {
    pub(super) files: Vec<&'static str>,
    pub(super) have_pytest: bool,
    /// Whether one of them installs the project itself (`-e .`).
    pub(super) have_project: bool,
}

impl Requirements {
    /// Chooses among the files that are there: those that name pytest, else the first of the others, and the plain one.
    pub(super) fn of(folder: &Folder<'_>) -> Self {
        let here: Vec<&'static str> = REQUIREMENTS
            .iter()
            .copied()
            .filter(|file| folder.has(file))
            .collect();
        let names_pytest = |file: &&&str| folder.text(file).contains(PYTEST);
        let is_plain = |file: &&&str| **file == PLAIN;
        let mut files: Vec<&'static str> = here.iter().filter(names_pytest).copied().collect();
        if files.is_empty() {
            files.extend(here.iter().find(|file| !is_plain(file)));
        }
        let includes_plain = |file: &&str| {
            let mut lines = folder.text(file).lines().map(str::trim);
            lines.any(|line| line.starts_with("-r") && line.ends_with(PLAIN))
        };
        let lacks_plain = !files.contains(&PLAIN) && !files.iter().any(includes_plain);
        if lacks_plain && here.contains(&PLAIN) {
            files.insert(0, PLAIN);
        }
        let is_project = |line: &str| {
            let line = line.trim();
            let line = line
                .strip_prefix("-e")
                .or_else(|| line.strip_prefix("--editable"));
            line.is_some_and(|rest| rest.trim_start_matches([' ', '=']).starts_with('.'))
        };
        Self {
            have_pytest: files.iter().any(|file| names_pytest(&file)),
            have_project: files
                .iter()
                .any(|file| folder.text(file).lines().any(is_project)),
            files,
        }
    }
}
