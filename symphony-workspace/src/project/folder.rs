//! Reading the manifests of a project.

use std::fs;
use std::path::Path;

use crate::artifact::read_beneath;

/// Largest manifest that is read: generated ones are smaller too.
const MANIFEST_BYTES_MAX: u64 = 1024 * 1024;
/// Most entries of a folder that are checked for manifests with variable names.
const ENTRIES_MAX: usize = 2_000;

/// The folder of a project.
#[derive(Debug)]
pub(super) struct Manifests<'a> {
    root: &'a Path,
    /// The root of the workspace that the folder is a member of: lock files and settings are there.
    workspace: Option<&'a Path>,
}

impl<'a> Manifests<'a> {
    pub(super) const fn new(root: &'a Path) -> Self {
        Self {
            root,
            workspace: None,
        }
    }

    /// A folder within a project.
    pub(super) const fn within(root: &'a Path, workspace: &'a Path) -> Self {
        Self {
            root,
            workspace: Some(workspace),
        }
    }

    /// Returns whether there is a regular file of that name, here or in the root of the workspace.
    pub(super) fn has(&self, name: &str) -> bool {
        self.has_own(name) || self.workspace.is_some_and(|root| is_file(&root.join(name)))
    }

    /// Returns whether there is a regular file of that name in the folder itself.
    pub(super) fn has_own(&self, name: &str) -> bool {
        is_file(&self.root.join(name))
    }

    /// Returns whether a manifest of an ecosystem is in the folder.
    pub(super) fn has_manifest(&self) -> bool {
        const NAMES: [&str; 12] = [
            "package.json",
            "deno.json",
            "deno.jsonc",
            "Cargo.toml",
            "pyproject.toml",
            "requirements.txt",
            "go.mod",
            "pom.xml",
            "build.gradle",
            "build.gradle.kts",
            "composer.json",
            "mix.exs",
        ];
        NAMES.iter().any(|name| self.has_own(name))
            || self.has_own("Gemfile")
            || self
                .entries("")
                .iter()
                .any(|name| Path::new(name).extension().is_some_and(|it| it == "csproj"))
    }

    /// Returns whether the folder has a lock file of its own: then it is not part of the workspace around it.
    pub(super) fn has_lock(&self) -> bool {
        const NAMES: [&str; 9] = [
            "package-lock.json",
            "pnpm-lock.yaml",
            "yarn.lock",
            "bun.lock",
            "bun.lockb",
            "Cargo.lock",
            "uv.lock",
            "poetry.lock",
            "deno.lock",
        ];
        NAMES.iter().any(|name| self.has_own(name))
    }

    /// Returns whether there is a folder of that name.
    pub(super) fn has_folder(&self, name: &str) -> bool {
        fs::symlink_metadata(self.root.join(name)).is_ok_and(|meta| meta.is_dir())
    }

    /// Reads a file; `None` if it does not exist or cannot be read. Invalid UTF-8 is replaced.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let bytes = read_beneath(self.root, name, MANIFEST_BYTES_MAX).ok()??;
        let text = String::from_utf8_lossy(&bytes);
        Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
    }

    /// Returns the first file, in order of the alphabet, whose name has an extension: in the root, then in the folders
    /// of the root, then in those of `src`.
    pub(super) fn first_with_extension(&self, extension: &str) -> Option<String> {
        let is_meant = |name: &&String| {
            let path = Path::new(name.as_str());
            path.extension().is_some_and(|found| found == extension)
        };
        for folder in ["", "src"] {
            let names = self.entries(folder);
            if let Some(name) = names.iter().find(is_meant) {
                return Some(name.clone());
            }
            let folders = names.iter().filter(|name| self.has_folder(name));
            let mut below = folders.flat_map(|folder| self.entries(folder));
            if let Some(name) = below.find(|name| is_meant(&name)) {
                return Some(name);
            }
        }
        None
    }

    /// The entries of a folder, as paths from the root, in order of the alphabet.
    pub(super) fn entries(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(folder)) else {
            return Vec::new();
        };
        let lead = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let names = entries.flatten().take(ENTRIES_MAX);
        let mut names: Vec<String> = names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.') && name != "node_modules")
            .map(|name| format!("{lead}{name}"))
            .collect();
        names.sort_unstable();
        names
    }
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// Returns a folder's name.
pub(super) fn name_of(root: &Path) -> String {
    let real = root.canonicalize();
    let path = real.as_deref().unwrap_or(root);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    super::model::shortened(&name)
}
