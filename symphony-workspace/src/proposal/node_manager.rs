//! The package manager of a Node project.

use serde_json::Value;

use super::folder::Folder;

/// The program that installs packages and runs scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manager {
    Npm,
    Pnpm,
    YarnClassic,
    YarnModern,
    Bun,
}

impl Manager {
    /// Tells it from lock files, and without one from the manifest.
    pub(super) fn of(folder: &Folder<'_>, manifest: &Value) -> Self {
        let named = manifest.get("packageManager").and_then(Value::as_str);
        let (name, version) = named
            .and_then(|text| text.split_once('@'))
            .unwrap_or_default();
        if folder.has("pnpm-lock.yaml") || name == "pnpm" {
            return Self::Pnpm;
        }
        if folder.has_any(&["bun.lock", "bun.lockb"]) || name == "bun" {
            return Self::Bun;
        }
        if folder.has("yarn.lock") || name == "yarn" {
            let is_modern = folder.has(".yarnrc.yml")
                || folder.text("yarn.lock").contains("__metadata:")
                || (name == "yarn" && !version.starts_with(['0', '1']));
            return if is_modern {
                Self::YarnModern
            } else {
                Self::YarnClassic
            };
        }
        Self::Npm
    }

    /// Returns the command that installs exactly what the lock file contains. Without a lock file it must not write
    /// one: a new file would look like the agent's work.
    pub(super) fn install(self, folder: &Folder<'_>) -> &'static str {
        let locked = match self {
            Self::Npm => folder.has_any(&["package-lock.json", "npm-shrinkwrap.json"]),
            Self::Pnpm => folder.has("pnpm-lock.yaml"),
            Self::YarnClassic | Self::YarnModern => folder.has("yarn.lock"),
            Self::Bun => folder.has_any(&["bun.lock", "bun.lockb"]),
        };
        match (self, locked) {
            (Self::Npm, true) => "npm ci",
            (Self::Npm, false) => "npm install --no-package-lock",
            (Self::Pnpm, true) => "pnpm install --frozen-lockfile",
            (Self::Pnpm, false) => "pnpm install --no-lockfile",
            (Self::YarnClassic, true) => "yarn install --frozen-lockfile",
            (Self::YarnClassic, false) => "yarn install --no-lockfile",
            (Self::YarnModern, true) => "yarn install --immutable",
            (Self::YarnModern, false) => "yarn install",
            (Self::Bun, true) => "bun install --frozen-lockfile",
            (Self::Bun, false) => "bun install --no-save",
        }
    }

    /// Returns the command that runs a script, with arguments for the script's own program.
    pub(super) fn run(self, script: &str, arguments: &str) -> String {
        let command = match (self, script) {
            (Self::Npm, "test") => "npm test".to_owned(),
            (Self::Pnpm, "test") => "pnpm test".to_owned(),
            (Self::YarnClassic | Self::YarnModern, "test") => "yarn test".to_owned(),
            (Self::Npm, _) => format!("npm run {script}"),
            (Self::Pnpm, _) => format!("pnpm run {script}"),
            (Self::YarnClassic | Self::YarnModern, _) => format!("yarn run {script}"),
            // `bun test` is Bun's own runner
            (Self::Bun, _) => format!("bun run {script}"),
        };
        match (self, arguments) {
            (_, "") => command,
            (Self::Npm, arguments) => format!("{command} -- {arguments}"),
            (_, arguments) => format!("{command} {arguments}"),
        }
    }

    /// Returns the command that runs `test` in every member of the workspace that has it.
    pub(super) const fn test_members(self) -> &'static str {
        match self {
            Self::Npm => "npm test --workspaces --if-present",
            Self::Pnpm => "pnpm -r test",
            Self::YarnClassic => "yarn workspaces run test",
            Self::YarnModern => "yarn workspaces foreach -A run test",
            Self::Bun => "bun run --filter '*' test",
        }
    }
}
