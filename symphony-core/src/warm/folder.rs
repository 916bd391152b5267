//! The folders that a generation keeps, for each ecosystem.

use super::path::file_name;

/// Tools whose output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecosystem {
    /// cargo: it compares the times of sources with those of its output, and hashes everything else.
    Cargo,
    /// npm and its kin: a folder of packages counts as complete when it is there.
    Node,
    /// A virtual environment of Python.
    Python,
}

/// A folder that git ignores and that may outlive a checkout. It is directly in the checkout's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptFolder {
    /// Its name.
    pub name: &'static str,
    /// The tool that fills it.
    pub ecosystem: Ecosystem,
    /// Files in the checkout's root, one of which the commit must have.
    pub manifests: &'static [&'static str],
}

/// All of them.
pub const FOLDERS: &[KeptFolder] = &[
    KeptFolder {
        name: "target",
        ecosystem: Ecosystem::Cargo,
        manifests: &["Cargo.toml"],
    },
    KeptFolder {
        name: "node_modules",
        ecosystem: Ecosystem::Node,
        manifests: &["package.json"],
    },
    KeptFolder {
        name: ".venv",
        ecosystem: Ecosystem::Python,
        manifests: &["pyproject.toml", "requirements.txt", "setup.py", "Pipfile"],
    },
];

/// Names of files, at any depth, that say what is in a folder of packages.
const OF_NODE: &[&str] = &[
    ".npmrc",
    ".pnpmfile.cjs",
    ".yarnrc",
    ".yarnrc.yml",
    "bun.lock",
    "bun.lockb",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "yarn.lock",
];

/// The same for a virtual environment.
const OF_PYTHON: &[&str] = &[
    ".python-version",
    "Pipfile",
    "Pipfile.lock",
    "pdm.lock",
    "pip.conf",
    "poetry.lock",
    "poetry.toml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "uv.lock",
    "uv.toml",
];

impl KeptFolder {
    /// Returns whether a change of a file of the commit forbids keeping the folder: what it holds may be another thing then.
    pub fn is_decided_by(&self, path: &str) -> bool {
        let name = file_name(path);
        let is_in = |folder: &str| path.split('/').rev().skip(1).any(|part| part == folder);
        match self.ecosystem {
            // It compares all that it reads with what it noted.
            Ecosystem::Cargo => false,
            // Packages can be patched by files beside them, or be files themselves.
            Ecosystem::Node => {
                OF_NODE.contains(&name)
                    || has_ending(name, &["patch", "tgz"])
                    || is_in("patches")
                    || is_in(".yarn")
            }
            Ecosystem::Python => {
                OF_PYTHON.contains(&name)
                    || has_ending(name, &["whl"])
                    || (has_ending(name, &["txt", "in"])
                        && ["requirements", "constraints"]
                            .iter()
                            .any(|word| path.contains(word)))
            }
        }
    }
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| endings.contains(&ending))
}

/// Returns the folders that a commit with these files has.
pub fn folders_of<'t>(
    tracked: impl Fn(&str) -> bool + 't,
) -> impl Iterator<Item = KeptFolder> + 't {
    FOLDERS
        .iter()
        .copied()
        .filter(move |folder| folder.manifests.iter().any(|file| tracked(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> KeptFolder {
        *FOLDERS.iter().find(|folder| folder.name == name).unwrap()
    }

    #[test]
    fn what_a_folder_holds_is_decided_by_these_files() {
        for (name, path, expected) in [
            ("target", "Cargo.lock", false),
            ("target", "src/lib.rs", false),
            ("node_modules", "package.json", true),
            ("node_modules", "packages/ui/package.json", true),
            ("node_modules", "package-lock.json", true),
            ("node_modules", "pnpm-lock.yaml", true),
            ("node_modules", ".npmrc", true),
            ("node_modules", "patches/left-pad+1.3.0.patch", true),
            ("node_modules", "vendor/left-pad.tgz", true),
            ("node_modules", ".yarn/patches/a", true),
            ("node_modules", "src/package.ts", false),
            ("node_modules", "src/patches.ts", false),
            ("node_modules", "Cargo.toml", false),
            (".venv", "pyproject.toml", true),
            (".venv", "libs/a/pyproject.toml", true),
            (".venv", "requirements.txt", true),
            (".venv", "requirements-dev.in", true),
            (".venv", "requirements/test.txt", true),
            (".venv", "ci/constraints.txt", true),
            (".venv", "wheels/a-1.0-py3-none-any.whl", true),
            (".venv", "uv.lock", true),
            (".venv", "docs/notes.txt", false),
            (".venv", "src/app.py", false),
            (".venv", "package.json", false),
        ] {
            assert_eq!(folder(name).is_decided_by(path), expected, "{name} {path}");
        }
    }

    #[test]
    fn a_folder_is_kept_only_for_its_manifest() {
        let names = |files: &[&str]| -> Vec<&str> {
            let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
            folders_of(move |file| files.iter().any(|known| known == file))
                .map(|folder| folder.name)
                .collect()
        };
        assert_eq!(names(&[]), Vec::<&str>::new());
        assert_eq!(names(&["Cargo.toml"]), ["target"]);
        assert_eq!(names(&["crates/a/Cargo.toml"]), Vec::<&str>::new());
        assert_eq!(
            names(&["package.json", "Cargo.toml", "setup.py"]),
            ["target", "node_modules", ".venv"]
        );
    }
}
