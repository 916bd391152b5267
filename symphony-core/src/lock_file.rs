//! The lock files of package managers: tools write them, from manifests that people write.

/// Lock files and lists of checksums, each with the manifests that explain a change of it.
const LOCK_FILES: &[(&str, &[&str])] = &[
    ("Cargo.lock", &["Cargo.toml"]),
    ("Gemfile.lock", &["Gemfile", "gems.rb"]),
    ("Package.resolved", &["Package.swift"]),
    ("Pipfile.lock", &["Pipfile"]),
    ("Podfile.lock", &["Podfile"]),
    ("bun.lock", &["package.json"]),
    ("bun.lockb", &["package.json"]),
    ("composer.lock", &["composer.json"]),
    ("deno.lock", &["deno.json", "deno.jsonc", "package.json"]),
    ("flake.lock", &["flake.nix"]),
    ("go.sum", &["go.mod"]),
    ("go.work.sum", &["go.work", "go.mod"]),
    ("gradle.lockfile", &["build.gradle", "build.gradle.kts"]),
    ("mix.lock", &["mix.exs"]),
    ("npm-shrinkwrap.json", &["package.json"]),
    ("package-lock.json", &["package.json"]),
    (
        "packages.lock.json",
        &["Directory.Packages.props", "Directory.Build.props"],
    ),
    ("pdm.lock", &["pyproject.toml"]),
    ("pnpm-lock.yaml", &["package.json", "pnpm-workspace.yaml"]),
    ("poetry.lock", &["pyproject.toml"]),
    ("pubspec.lock", &["pubspec.yaml"]),
    ("pylock.toml", &["pyproject.toml"]),
    ("uv.lock", &["pyproject.toml"]),
    ("yarn.lock", &["package.json"]),
];

/// Returns the names of the manifests that a lock file is generated from; `None` if this is not the name of a lock
/// file.
pub fn manifests_of(name: &str) -> Option<&'static [&'static str]> {
    let found = LOCK_FILES
        .iter()
        .find(|(lock, _)| lock.eq_ignore_ascii_case(name));
    found.map(|(_, manifests)| *manifests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_is_known_by_its_name() {
        assert_eq!(manifests_of("Cargo.lock"), Some(&["Cargo.toml"][..]));
        assert_eq!(manifests_of("cargo.LOCK"), Some(&["Cargo.toml"][..]));
        assert_eq!(manifests_of("Cargo.toml"), None);
    }
}
