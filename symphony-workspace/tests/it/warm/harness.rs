//! A project whose checkouts are seen at one path, by moving them there while a command runs. It builds with cargo where no
//! other files are given.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::warm::{ColdReason, GenerationKey};
use symphony_workspace::{
    CommitId, Donation, Generation, PackageMarks, Pristine, Repository, WarmPool, WorktreeKey,
};

use crate::project::{Project, git, write};

/// The files of the base. Each test of `tests/it.rs` is what one trap breaks.
const FILES: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\ndep = { path = \"dep\" }\n\n[workspace]\n",
    ),
    (
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"dep\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"k\"\nversion = \"0.1.0\"\ndependencies = [\n \"dep\",\n]\n",
    ),
    (".gitignore", "/target\n/src/gen.rs\n"),
    ("data.txt", "1\n"),
    ("lazy.txt", "1\n"),
    ("assets/a", "a\n"),
    ("assets/b", "b\n"),
    (
        "dep/Cargo.toml",
        "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    ),
    ("dep/src/lib.rs", "pub const ONE: i32 = 1;\n"),
    (
        "build.rs",
        r#"fn main() {
    // It declares one file of three.
    println!("cargo:rerun-if-changed=data.txt");
    let number = |name: &str| std::fs::read_to_string(name).unwrap().trim().to_owned();
    let assets = std::fs::read_dir("assets").unwrap().count();
    let text = format!(
        "pub const DATA: i32 = {}; pub const LAZY: i32 = {}; pub const ASSETS: usize = {assets};",
        number("data.txt"), number("lazy.txt"),
    );
    std::fs::write(std::env::var("OUT_DIR").unwrap() + "/g.rs", text).unwrap();
}
"#,
    ),
    (
        "src/lib.rs",
        "include!(concat!(env!(\"OUT_DIR\"), \"/g.rs\"));\npub fn v() -> i32 { dep::ONE }\n",
    ),
    ("src/main.rs", "fn main() { println!(\"{}\", k::v()) }\n"),
    ("src/bin/tool.rs", "fn main() { println!(\"tool\") }\n"),
    (
        "tests/it.rs",
        r#"use std::process::Command;
fn said(program: &str) -> String {
    let output = Command::new(program).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
#[test] fn value() { assert_eq!(k::v(), 1) }
#[test] fn program() { assert_eq!(said(env!("CARGO_BIN_EXE_k")), "1") }
#[test] fn tool() { assert_eq!(said("target/debug/tool"), "tool") }
#[test] fn data() { assert_eq!(k::DATA, 1) }
#[test] fn lazy() { assert_eq!(k::LAZY, 1) }
#[test] fn assets() { assert_eq!(k::ASSETS, 2) }
#[test] fn file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data.txt");
    assert_eq!(std::fs::read_to_string(path).unwrap().trim(), "1")
}
"#,
    ),
];

/// How a command ended.
pub(crate) struct Ran {
    pub(crate) passed: bool,
    pub(crate) output: String,
}

/// The project, with a pool.
pub(crate) struct Warm {
    pub(crate) project: Project,
    pub(crate) repository: Repository,
    pub(crate) pool: WarmPool,
    pub(crate) base: CommitId,
    /// Where commands see their checkout.
    canonical: PathBuf,
    checkouts: Cell<u32>,
}

impl Warm {
    /// Makes a project that builds with cargo.
    pub(crate) fn new() -> Self {
        Self::of(|root| {
            for (path, text) in FILES {
                write(root.join(path), text);
            }
        })
    }

    /// Makes a project with the files that `fill` writes into its root.
    pub(crate) fn of(fill: impl FnOnce(&Path)) -> Self {
        let project = Project::new();
        fill(&project.root);
        git(&project.root, &["add", "-A"]);
        git(&project.root, &["commit", "-qm", "base"]);
        let repository = project.open();
        let pool = WarmPool::at(project.root.join(".symphony/warm"));
        let canonical = project.root.parent().unwrap().join("canonical");
        Self {
            base: project.head("HEAD"),
            project,
            repository,
            pool,
            canonical,
            checkouts: Cell::new(0),
        }
    }

    /// Commits a change of the base, dated long before anything was built, and returns to the base.
    pub(crate) fn commit(&self, files: &[(&str, Option<&str>)]) -> CommitId {
        let root = &self.project.root;
        for (path, text) in files {
            match text {
                Some(text) => write(root.join(path), text),
                None => fs::remove_file(root.join(path)).unwrap(),
            }
            git(root, &["add", "-f", "-A", path]);
        }
        let date = "2001-01-01T00:00:00Z";
        git(root, &["commit", "-qm", "change", "--date", date]);
        let commit = self.project.head("HEAD");
        git(root, &["reset", "-q", "--hard", self.base.as_str()]);
        commit
    }

    /// Commits what a script does to the base, and returns to the base.
    #[cfg(feature = "ecosystems")]
    pub(crate) fn commit_by(&self, script: &str) -> CommitId {
        let root = &self.project.root;
        let ran = shell(root, script);
        assert!(ran.passed, "{script}: {}", ran.output);
        git(root, &["add", "-A"]);
        git(root, &["commit", "-qm", "change"]);
        let commit = self.project.head("HEAD");
        git(root, &["reset", "-q", "--hard", self.base.as_str()]);
        git(root, &["clean", "-fdxq", "-e", ".symphony"]);
        commit
    }

    /// Runs a script in a checkout, at the path where all are seen.
    #[cfg(feature = "ecosystems")]
    pub(crate) fn sh(&self, pristine: &Pristine, script: &str) -> Ran {
        fs::rename(pristine.path(), &self.canonical).unwrap();
        let ran = shell(&self.canonical, script);
        fs::rename(&self.canonical, pristine.path()).unwrap();
        ran
    }

    /// Returns the key of everything that is made here.
    pub(crate) fn key(&self) -> GenerationKey {
        GenerationKey {
            version: GenerationKey::VERSION,
            project: ProjectId::parse("k").unwrap(),
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            canonical: self.canonical.clone(),
            ground: "ground".to_owned(),
            gates: "gates".to_owned(),
        }
    }

    fn next_key(&self) -> WorktreeKey {
        self.checkouts.set(self.checkouts.get() + 1);
        WorktreeKey::of(&format!("_gates-{}", self.checkouts.get()))
    }

    /// Makes a checkout that starts with nothing.
    pub(crate) fn cold(&self, commit: &CommitId) -> Pristine {
        let key = self.next_key();
        self.repository.create_pristine(&key, commit).unwrap()
    }

    /// Makes a checkout that starts with a generation.
    pub(crate) fn seeded(
        &self,
        generation: &Generation,
        commit: &CommitId,
    ) -> Result<Pristine, ColdReason> {
        self.seeded_at(generation, commit, later())
    }

    /// The same at a certain time.
    pub(crate) fn seeded_at(
        &self,
        generation: &Generation,
        commit: &CommitId,
        now: Timestamp,
    ) -> Result<Pristine, ColdReason> {
        let key = self.next_key();
        let seeded = self
            .repository
            .create_seeded(&key, commit, &self.pool, generation, now);
        if seeded.is_err() {
            let path = self.repository.worktree_path(&key).unwrap();
            assert!(!path.exists(), "a refused checkout leaves nothing");
        }
        seeded
    }

    /// Makes a generation of a checkout.
    pub(crate) fn donate(&self, pristine: &Pristine, after: &PackageMarks) -> Option<Generation> {
        let key = self.key();
        let donation = Donation {
            pool: &self.pool,
            key: &key,
            after_set_up: after,
            now: Timestamp::now(),
        };
        self.repository.make_generation(pristine, donation).unwrap()
    }

    /// Builds and tests the base, and makes a generation of it.
    pub(crate) fn generation(&self) -> Generation {
        let pristine = self.cold(&self.base);
        let ran = self.test(&pristine);
        assert!(ran.passed, "{}", ran.output);
        self.donate(&pristine, &PackageMarks::default()).unwrap()
    }

    /// Runs all tests in a checkout, at the path where all are seen.
    pub(crate) fn test(&self, pristine: &Pristine) -> Ran {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let words = ["test", "--offline", "--tests", "--no-fail-fast", "-v"];
        self.run(pristine, cargo.as_ref(), &words)
    }

    /// Runs a program in a checkout, at the path where all are seen.
    #[expect(clippy::disallowed_methods, reason = "a test plays the gate")]
    pub(crate) fn run(&self, pristine: &Pristine, program: &Path, words: &[&str]) -> Ran {
        fs::rename(pristine.path(), &self.canonical).unwrap();
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(&self.canonical)
            .env_clear()
            .env("CARGO_INCREMENTAL", "1");
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "RUSTUP_TOOLCHAIN",
        ] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let output = command.output().unwrap();
        fs::rename(&self.canonical, pristine.path()).unwrap();
        Ran {
            passed: output.status.success(),
            output: [output.stdout, output.stderr]
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .concat(),
        }
    }
}

/// Runs a script in a folder, with a home of its own and without a network that it would need.
#[cfg(feature = "ecosystems")]
#[expect(clippy::disallowed_methods, reason = "a test plays the gate")]
pub(crate) fn shell(folder: &Path, script: &str) -> Ran {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args(["-euc", script])
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home.path())
        .env(
            "PYENV_ROOT",
            std::env::var_os("PYENV_ROOT").unwrap_or_default(),
        )
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .env("PIP_NO_INDEX", "1")
        .env("npm_config_offline", "true")
        .env("npm_config_update_notifier", "false")
        .env("npm_config_audit", "false")
        .env("npm_config_fund", "false")
        .output()
        .unwrap();
    Ran {
        passed: output.status.success(),
        output: [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .concat(),
    }
}

/// Returns a time that is past everything that a test wrote.
pub(crate) fn later() -> Timestamp {
    let now = Timestamp::now().as_millisecond();
    Timestamp::from_millisecond(now + 10_000).unwrap()
}
