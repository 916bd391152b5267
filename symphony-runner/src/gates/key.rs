//! Everything that the result of a gate depends on, as one digest. While it is equal, a gate that passed need not run
//! again.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use symphony_core::config::{Gate, GateReads, ProjectConfig};
use symphony_core::gates::{ConfiguredGate, groups};
use symphony_workspace::{CommitId, Identity, Repository};

use super::digest::{add, add_stat};
use super::programs::Programs;
use crate::environment::RUN_MARKER;
use crate::error::RunnerError;

/// Changes with the content of the digests, so that those of an older Symphony never match new ones.
const VERSION: &str = "symphony-gate-6";

/// Variables that describe where a command was started from, not what it does. Cron sets none of them.
const IGNORED_VARIABLES: &[&str] = &[
    RUN_MARKER,
    "COLORTERM",
    "LOGNAME",
    "SHELL",
    "TERM",
    "USER",
    "XDG_RUNTIME_DIR",
];

/// Programs of toolchains. With another version of one of them, a gate may have another result.
const TOOLS: &[&str] = &[
    "bun", "bundle", "cargo", "cc", "clang", "cmake", "composer", "deno", "dotnet", "elixir",
    "gcc", "go", "gradle", "java", "javac", "make", "mix", "mvn", "node", "npm", "php", "pip",
    "pnpm", "poetry", "python", "python3", "ruby", "rustc", "sh", "swift", "tox", "uv", "yarn",
];

/// What the results of a project's gates depend on now, besides the files of the commit: set-up, copied files,
/// environment and toolchain.
///
/// It decides every question about whether a result still counts: which gates need not run again, and whether a merge
/// may rely on the recorded gates of a pull request.
#[derive(Debug)]
pub(crate) struct Ground {
    digest: Sha256,
    programs: Programs,
}

impl Ground {
    /// Reads the current state of the project. `sandbox` is what results depend on of what confines them.
    ///
    /// # Errors
    /// When the files that a checkout gets copied cannot be listed.
    pub(crate) fn of(
        repository: &Repository,
        config: &ProjectConfig,
        environment: &BTreeMap<OsString, OsString>,
        sandbox: &[Vec<u8>],
    ) -> Result<Self, RunnerError> {
        let mut digest = Sha256::new();
        add(&mut digest, VERSION.as_bytes());
        add(&mut digest, repository.copied_digest()?.as_bytes());
        let programs = Programs::of(environment);
        add(&mut digest, &json(&config.worktree.setup));
        if let Some(setup) = &config.worktree.setup {
            programs.add(&mut digest, setup);
        }
        add_environment(&mut digest, environment);
        add_tools(&mut digest, environment);
        for part in sandbox {
            add(&mut digest, part);
        }
        Ok(Self { digest, programs })
    }

    /// Returns the digest of all of it, without any gate.
    pub(super) fn digest(&self) -> String {
        format!("{:x}", self.digest.clone().finalize())
    }

    /// Returns a digest for each gate of everything that its result depends on besides the files of the commit. It
    /// includes the gates before it, since it may test what they built.
    pub(crate) fn definitions(&self, gates: &[Gate]) -> Vec<String> {
        let mut before = self.digest.clone();
        let mut definitions = Vec::with_capacity(gates.len());
        for group in groups(gates) {
            definitions.extend(group.iter().map(|gate| {
                let mut digest = before.clone();
                add(&mut digest, gate.name.as_bytes());
                add(&mut digest, &json(&gate.command));
                self.programs.add(&mut digest, &gate.command);
                format!("{:x}", digest.finalize())
            }));
            for gate in group {
                add(&mut before, &json(&(&gate.command, gate.required)));
                self.programs.add(&mut before, &gate.command);
            }
        }
        definitions
    }

    /// Returns the gates of a configuration with everything that their results depend on.
    pub(crate) fn configured(&self, gates: &[Gate]) -> Vec<ConfiguredGate> {
        let defined = gates.iter().zip(self.definitions(gates));
        let configured = defined.map(|(gate, definition)| ConfiguredGate {
            name: gate.name.clone(),
            required: gate.required,
            definition,
        });
        configured.collect()
    }
}

/// What gates can see of a commit: its files, and the history that a checkout shows.
#[derive(Debug, Clone)]
pub(super) struct Sight<'a> {
    /// The tree of the commit.
    pub(super) tree: &'a CommitId,
    /// The commits that it adds to the base.
    pub(super) history: &'a History,
    /// The repository's tags, each with its commit.
    pub(super) tags: &'a [u8],
}

/// The commits that a gated commit adds to the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum History {
    /// The commits up to this one. A merge with the base, which only Symphony makes, adds those of the head.
    Of(CommitId),
    /// One commit on top of the base, with this message and author.
    Squash {
        /// The message.
        message: String,
        /// The author.
        author: Identity,
    },
}

/// Returns the digest under which a pass of a gate with this definition, which saw this, is remembered.
pub(super) fn key(definition: &str, reads: GateReads, sight: &Sight<'_>) -> String {
    let mut digest = Sha256::new();
    add(&mut digest, sight.tree.as_str().as_bytes());
    add(&mut digest, definition.as_bytes());
    match (reads, sight.history) {
        (GateReads::Tree, _) => {}
        (GateReads::History, History::Of(commit)) => {
            add(&mut digest, b"commits");
            add(&mut digest, commit.as_str().as_bytes());
            add(&mut digest, sight.tags);
        }
        (GateReads::History, History::Squash { message, author }) => {
            add(&mut digest, b"squash");
            for text in [message, &author.name, &author.email] {
                add(&mut digest, text.as_bytes());
            }
            add(&mut digest, sight.tags);
        }
    }
    format!("{:x}", digest.finalize())
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("a command line has string keys only")
}

fn add_environment(digest: &mut Sha256, environment: &BTreeMap<OsString, OsString>) {
    for (name, value) in environment {
        if !IGNORED_VARIABLES.iter().any(|ignored| name == ignored) {
            add(digest, name.as_bytes());
            add(digest, value.as_bytes());
        }
    }
}

/// Adds the programs that the search path leads to, and how old they are. A proxy of `rustup` is the same file for
/// every toolchain, so its settings and the folder of its toolchains are added, too.
fn add_tools(digest: &mut Sha256, environment: &BTreeMap<OsString, OsString>) {
    let variable = |name: &str| environment.get(OsStr::new(name));
    let folders: Vec<&OsStr> = variable("PATH")
        .map(|path| {
            path.as_bytes()
                .split(|byte| *byte == b':')
                .map(OsStr::from_bytes)
                .collect()
        })
        .unwrap_or_default();
    for tool in TOOLS {
        let found = folders.iter().find_map(|folder| {
            let path = Path::new(folder).join(tool);
            path.is_file().then_some(path)
        });
        if let Some(path) = found {
            let real = path.canonicalize().unwrap_or(path);
            add(digest, tool.as_bytes());
            add_stat(digest, &real);
        }
    }
    let rustup = variable("RUSTUP_HOME")
        .map(|home| Path::new(home).to_owned())
        .or_else(|| Some(Path::new(variable("HOME")?).join(".rustup")));
    if let Some(rustup) = rustup {
        add_stat(digest, &rustup.join("settings.toml"));
        add_stat(digest, &rustup.join("toolchains"));
        add_stat(digest, &rustup.join("update-hashes"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_counts_for_another_commit_only_where_the_gate_sees_the_same() {
        let id = |digit: &str| CommitId::parse(&digit.repeat(40)).unwrap();
        let squash = |message: &str| History::Squash {
            message: message.to_owned(),
            author: Identity::symphony(),
        };
        let key = |reads, tree: &str, history: History, tags: &str| {
            let sight = Sight {
                tree: &id(tree),
                history: &history,
                tags: tags.as_bytes(),
            };
            key("test", reads, &sight)
        };
        let first = |reads| key(reads, "a", History::Of(id("1")), "v1");
        for (tree, history, tags, by_history, by_tree) in [
            ("a", History::Of(id("1")), "v1", true, true),
            ("a", History::Of(id("2")), "v1", false, true),
            ("a", History::Of(id("1")), "v2", false, true),
            ("a", squash("Add it"), "v1", false, true),
            ("b", History::Of(id("1")), "v1", false, false),
        ] {
            for (reads, expected) in [(GateReads::History, by_history), (GateReads::Tree, by_tree)]
            {
                let same = key(reads, tree, history.clone(), tags) == first(reads);
                assert_eq!(same, expected, "{reads} {tree} {history:?} {tags}");
            }
        }
        assert_ne!(
            key(GateReads::History, "a", squash("Add it"), ""),
            key(GateReads::History, "a", squash("WIP"), "")
        );
    }
}
