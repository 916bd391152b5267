//! `package.json`: Node.js, Bun and Deno.

use serde_json::Value;

use super::deno;
use super::ecosystem::{Ecosystem, Meanings, Packages, Stack, all, first, one_of};
use super::folder::Manifests;
use super::node_packages::{DATABASES, FRAMEWORKS, UIS};
use super::sources::imports;

const TESTS: &Meanings = &[
    ("vitest", "Vitest"),
    ("jest", "Jest"),
    ("mocha", "Mocha"),
    ("ava", "AVA"),
    ("@playwright/test", "Playwright"),
    ("cypress", "Cypress"),
];

const BUILDS: &Meanings = &[
    ("turbo", "Turborepo"),
    ("nx", "Nx"),
    ("vite", "Vite"),
    ("webpack", "webpack"),
    ("parcel", "Parcel"),
    ("tsup", "tsup"),
    ("rollup", "Rollup"),
    ("esbuild", "esbuild"),
];

struct Package {
    manifest: Value,
    packages: Packages,
}

impl Package {
    fn parse(text: &str) -> Self {
        let manifest: Value = serde_json::from_str(text).unwrap_or_default();
        let kinds = [
            "dependencies",
            "devDependencies",
            "peerDependencies",
            "optionalDependencies",
        ];
        let packages = kinds
            .into_iter()
            .filter_map(|kind| manifest.get(kind)?.as_object())
            .flat_map(|packages| packages.keys().cloned())
            .collect();
        Self { manifest, packages }
    }

    /// Returns whether a script is run by Bun.
    fn has_bun_script(&self) -> bool {
        let scripts = self.manifest.get("scripts").and_then(Value::as_object);
        let mut texts = scripts.into_iter().flatten();
        texts.any(|(_, script)| script.as_str().is_some_and(|text| text.starts_with("bun ")))
    }

    fn text(&self, key: &str) -> Option<String> {
        let text = self.manifest.get(key)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn has(&self, name: &str) -> bool {
        self.packages.contains(name)
    }

    /// Returns whether a script contains a word.
    fn runs(&self, script: &str, word: &str) -> bool {
        let script = self
            .manifest
            .get("scripts")
            .and_then(|scripts| scripts.get(script))
            .and_then(Value::as_str);
        script.is_some_and(|script| script.contains(word))
    }

    fn is_managed_by(&self, name: &str) -> bool {
        self.text("packageManager")
            .is_some_and(|manager| manager.split('@').next() == Some(name))
    }
}

/// Reads `package.json`.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let mut package = Package::parse(&folder.text("package.json")?);
    let deno = deno::manifest(folder);
    package
        .packages
        .extend(deno.iter().flat_map(deno::packages));
    let is_bun = package.is_managed_by("bun")
        || package.has_bun_script()
        || ["bun.lock", "bun.lockb", "bunfig.toml"]
            .iter()
            .any(|file| folder.has(file))
        || ["@types/bun", "bun-types"]
            .iter()
            .any(|name| package.has(name));
    let is_deno = folder.has("deno.json") || folder.has("deno.jsonc");
    let is_typescript = folder.has("tsconfig.json") || package.has("typescript");
    let stack = Stack {
        runtime: one_of([(is_bun, "bun"), (is_deno, "deno"), (true, "node")]),
        language: one_of([(is_typescript, "typescript"), (true, "javascript")]),
        framework: first(&package.packages, FRAMEWORKS),
        ui: first(&package.packages, UIS),
        testing: testing(&package, is_bun),
        database: databases(folder, &package, is_bun),
        build: build(&package),
        package_manager: package_manager(folder, &package, is_bun),
    };
    Some(Ecosystem {
        name: package.text("name"),
        description: package.text("description"),
        stack,
    })
}

/// Bun's own database is not a package: only the sources show it.
fn databases(folder: &Manifests<'_>, package: &Package, is_bun: bool) -> Vec<&'static str> {
    let mut named = all(&package.packages, DATABASES);
    if is_bun && !named.contains(&"SQLite") && imports(folder, "bun:sqlite") {
        named.push("SQLite");
    }
    named
}

fn testing(package: &Package, is_bun: bool) -> Vec<&'static str> {
    let named = all(&package.packages, TESTS);
    if !named.is_empty() {
        return named;
    }
    one_of([
        (is_bun, "Bun Test"),
        (package.runs("test", "node --test"), "Node Test Runner"),
    ])
}

fn build(package: &Package) -> Vec<&'static str> {
    if package.runs("build", "bun build") {
        return vec!["Bun Bundler"];
    }
    let named = first(&package.packages, BUILDS);
    if named.is_empty() && package.runs("build", "tsc") {
        return vec!["tsc"];
    }
    named
}

fn package_manager(folder: &Manifests<'_>, package: &Package, is_bun: bool) -> Vec<&'static str> {
    const NAMES: [&str; 4] = ["bun", "pnpm", "yarn", "npm"];
    // what the manifest says counts before what a lock file shows
    let stated = NAMES.into_iter().find(|name| package.is_managed_by(name));
    if let Some(name) = stated {
        return vec![name];
    }
    one_of([
        (folder.has("bun.lock") || folder.has("bun.lockb"), "bun"),
        (folder.has("pnpm-lock.yaml"), "pnpm"),
        (folder.has("yarn.lock"), "yarn"),
        (folder.has("package-lock.json"), "npm"),
        (is_bun, "bun"),
        (true, "npm"),
    ])
}
