//! The files of a commit, as far as a proposal needs them.

use std::collections::{BTreeMap, BTreeSet};

use super::workflows;

/// Files of requirements, the plain one last.
pub(super) const REQUIREMENTS: &[&str] = &[
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements_test.txt",
    "test-requirements.txt",
    "requirements/dev.txt",
    "requirements/development.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "requirements/testing.txt",
    "tests/requirements.txt",
    "test/requirements.txt",
    PLAIN,
];

/// What the program itself needs.
pub(super) const PLAIN: &str = "requirements.txt";

/// Depth of folders that are searched for packages: `services/billing/api/web`.
const DEPTH_MAX: usize = 4;
/// Most folders that are searched for packages; a larger monorepo configures its gates by hand.
const FOLDERS_MAX: usize = 200;

/// Folders whose packages are examples, fixtures, copies or tools, not the project.
const NOT_THE_PROJECT: &[&str] = &[
    "__fixtures__",
    "__tests__",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "build",
    "contrib",
    "demo",
    "demos",
    "dist",
    "doc",
    "docs",
    "e2e",
    "example",
    "examples",
    "fixtures",
    "fuzz",
    "node_modules",
    "playground",
    "playgrounds",
    "sample",
    "samples",
    "scripts",
    "spec",
    "target",
    "template",
    "templates",
    "test",
    "test-data",
    "testdata",
    "tests",
    "third_party",
    "vendor",
];

/// Files that make a folder a package.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "Gemfile",
    "Package.swift",
    "Pipfile",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "deno.json",
    "deno.jsonc",
    "go.mod",
    "mix.exs",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "requirements.txt",
    "settings.gradle",
    "settings.gradle.kts",
    "setup.cfg",
    "setup.py",
];

/// Files of a package whose text matters.
const READ: &[&str] = &[
    "Cargo.toml",
    "Gemfile",
    "Pipfile",
    "composer.json",
    "deno.json",
    "deno.jsonc",
    "lerna.json",
    "mix.exs",
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "yarn.lock",
];

/// Files of the root whose text matters too.
const READ_IN_ROOT: &[&str] = &[
    "GNUmakefile",
    "Justfile",
    "Makefile",
    "justfile",
    "makefile",
];

/// Which files a commit has, and the text of those that describe packages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    paths: BTreeSet<String>,
    texts: BTreeMap<String, String>,
}

impl ProjectFiles {
    /// Takes the paths of all files, relative to the root, with `/` between their parts.
    pub fn new(paths: impl IntoIterator<Item = String>) -> Self {
        Self {
            paths: paths.into_iter().collect(),
            texts: BTreeMap::new(),
        }
    }

    /// Returns the files whose text the proposal reads, in order.
    pub fn wanted_texts(&self) -> Vec<String> {
        let mut wanted = Vec::new();
        for folder in self.package_folders() {
            let names = READ.iter().chain(REQUIREMENTS);
            let in_root = READ_IN_ROOT.iter().filter(|_| folder.is_empty());
            let paths = names.chain(in_root).map(|name| join(&folder, name));
            wanted.extend(paths.filter(|path| self.paths.contains(path)));
        }
        let workflows = self
            .beginning_with(workflows::FOLDER)
            .take(workflows::FILES_MAX);
        wanted.extend(workflows.map(str::to_owned));
        wanted
    }

    /// Adds the text of a file.
    #[must_use]
    pub fn with_text(mut self, path: impl Into<String>, text: impl Into<String>) -> Self {
        let path = path.into();
        self.paths.insert(path.clone());
        self.texts.insert(path, text.into());
        self
    }

    /// Returns the folders that may hold a package, the root (empty) first.
    pub(super) fn package_folders(&self) -> Vec<String> {
        let is_manifest = |name: &str| MANIFESTS.contains(&name) || is_solution(name);
        let folders: BTreeSet<&str> = self
            .paths
            .iter()
            .filter_map(|path| path.rsplit_once('/'))
            .filter(|(folder, name)| is_manifest(name) && is_the_project(folder))
            .map(|(folder, _)| folder)
            .collect();
        let nested = folders.into_iter().take(FOLDERS_MAX).map(str::to_owned);
        std::iter::once(String::new()).chain(nested).collect()
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    pub(super) fn text(&self, path: &str) -> &str {
        self.texts
            .get(path)
            .map_or("", |text| text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Returns the paths that begin with a text, in order.
    pub(super) fn beginning_with<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a str> {
        self.paths
            .range(start.to_owned()..)
            .map(String::as_str)
            .take_while(move |path| path.starts_with(start))
    }
}

/// Returns whether a file is a solution or project of .NET.
pub(super) fn is_solution(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("sln" | "slnx" | "csproj" | "fsproj"))
}

/// Returns whether the packages of a folder are the project's own.
fn is_the_project(folder: &str) -> bool {
    let mut parts = folder.split('/');
    folder.split('/').count() <= DEPTH_MAX
        && parts.all(|part| !part.starts_with('.') && !NOT_THE_PROJECT.contains(&part))
}

/// Joins a folder, which may be the root, and a name.
pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}
