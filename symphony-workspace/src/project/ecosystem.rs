//! What one ecosystem's manifests say.

use std::collections::BTreeSet;

/// Names of packages that a project is built from or with.
pub(super) type Packages = BTreeSet<String>;

/// A package, and what its presence means.
pub(super) type Meanings = [(&'static str, &'static str)];

/// What one ecosystem's manifests say.
#[derive(Debug, Default)]
pub(super) struct Ecosystem {
    /// The project's name.
    pub(super) name: Option<String>,
    /// Its description.
    pub(super) description: Option<String>,
    /// What it is made of.
    pub(super) stack: Stack,
}

/// What a project is made of; each list in order, without repetitions.
#[derive(Debug, Clone, Default)]
pub(super) struct Stack {
    pub(super) runtime: Vec<&'static str>,
    pub(super) language: Vec<&'static str>,
    pub(super) framework: Vec<&'static str>,
    pub(super) ui: Vec<&'static str>,
    pub(super) testing: Vec<&'static str>,
    pub(super) database: Vec<&'static str>,
    pub(super) build: Vec<&'static str>,
    pub(super) package_manager: Vec<&'static str>,
}

/// Runtimes of Rust that take the place of `native`.
const ASYNC_RUNTIMES: [&str; 3] = ["tokio", "async-std", "smol"];

impl Stack {
    /// Adds what another ecosystem has.
    pub(super) fn join(mut self, other: &Self) -> Self {
        for (own, more) in [
            (&mut self.runtime, &other.runtime),
            (&mut self.language, &other.language),
            (&mut self.framework, &other.framework),
            (&mut self.ui, &other.ui),
            (&mut self.testing, &other.testing),
            (&mut self.database, &other.database),
            (&mut self.build, &other.build),
            (&mut self.package_manager, &other.package_manager),
        ] {
            for name in more {
                if !own.contains(name) {
                    own.push(name);
                }
            }
        }
        self
    }

    /// Completes the stack of a workspace's member by that of its root: the package manager is the root's, and so is
    /// what the member leaves open.
    pub(super) fn within(mut self, root: &Self) -> Self {
        const OPEN: [&str; 2] = ["node", "native"];
        self.package_manager.clone_from(&root.package_manager);
        if self.runtime.iter().all(|name| OPEN.contains(name)) {
            self.runtime.clone_from(&root.runtime);
        }
        if self.testing.is_empty() {
            self.testing.clone_from(&root.testing);
        }
        self
    }

    /// Removes fallback entries that a more specific entry replaces.
    pub(super) fn without_stand_ins(mut self) -> Self {
        if self
            .runtime
            .iter()
            .any(|name| ASYNC_RUNTIMES.contains(name))
        {
            self.runtime.retain(|name| *name != "native");
        }
        if self.language.contains(&"typescript") {
            self.language.retain(|name| *name != "javascript");
        }
        self
    }

    /// Returns the entries with their labels, in the order of the specification.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        const NO_FRAMEWORK: &[&str] = &["None"];
        let framework = if self.framework.is_empty() {
            NO_FRAMEWORK
        } else {
            &self.framework
        };
        [
            ("Runtime", self.runtime.as_slice()),
            ("Language", &self.language),
            ("Framework", framework),
            ("UI", &self.ui),
            ("Testing", &self.testing),
            ("Database", &self.database),
            ("Build", &self.build),
            ("Package Manager", &self.package_manager),
        ]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(label, names)| (label.to_owned(), names.join(", ")))
        .collect()
    }
}

/// Returns the meaning of the first package of a table that the project uses: of several frameworks, the one that
/// contains the others.
pub(super) fn first(packages: &Packages, meanings: &Meanings) -> Vec<&'static str> {
    all(packages, meanings).into_iter().take(1).collect()
}

/// Returns what the packages of a table that are there mean, each once.
pub(super) fn all(packages: &Packages, meanings: &Meanings) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (package, meaning) in meanings {
        if packages.contains(*package) && !found.contains(meaning) {
            found.push(*meaning);
        }
    }
    found
}

/// Returns the meanings whose text occurs in a manifest, for formats that are read without a parser.
pub(super) fn mentioned(text: &str, meanings: &Meanings) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (word, meaning) in meanings {
        if text.contains(word) && !found.contains(meaning) {
            found.push(*meaning);
        }
    }
    found
}

/// Returns the first that is there, as a list.
pub(super) fn one_of<const N: usize>(choices: [(bool, &'static str); N]) -> Vec<&'static str> {
    let mut there = choices.into_iter().filter(|(is_there, _)| *is_there);
    there.next().map(|(_, name)| name).into_iter().collect()
}
