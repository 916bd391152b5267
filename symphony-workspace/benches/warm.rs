//! What a checkout that starts with kept build output saves, beside a cold one of the same commit and beside a worktree that a person
//! makes, in turn in the same run.
//!
//! `cargo bench -p symphony-workspace --bench warm -- [only=cargo] [packages=24] [files=57000] [rounds=5]`; `only` is one of `cargo`,
//! `node`, `python` and `files`. Equality comes first: a good commit passes in all three, a bad one fails in all, and they have the
//! same files.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads clocks and arguments, starts its peer, and prints"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::warm::GenerationKey;
use symphony_workspace::{
    CommitId, Donation, Generation, PackageMarks, Pristine, Repository, RepositoryOptions,
    WarmPool, WorktreeKey,
};

/// Rounds of each, one after the other, unless `rounds` says otherwise.
const ROUNDS: usize = 5;
/// Files of the package that a project of Node needs.
const PACKAGE_FILES: usize = 3_000;
/// Packages that the project's own one depends on.
const PACKAGES: usize = 24;
/// Functions of each.
const FUNCTIONS: usize = 150;
/// Files of the project whose checkout is only prepared.
const FILES: usize = 57_000;
const FILES_A_FOLDER: usize = 100;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.invalid"])
        .args(["-c", "maintenance.auto=false"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn source(value: usize) -> String {
    (0..FUNCTIONS).fold(format!("pub fn value() -> usize {{ {value} }}\n"), |mut text, number| {
        writeln!(
            text,
            "pub fn f{number}(words: &[String]) -> String {{ words.iter().enumerate().map(|(at, word)| format!(\"{{at}} {{word:?}} {number}\")).collect::<Vec<_>>().join(\"-\") }}"
        )
        .unwrap();
        text
    })
}

/// A project with a pool, whose checkouts are seen at one path.
struct Bench {
    root: PathBuf,
    repository: Repository,
    pool: WarmPool,
    canonical: PathBuf,
    /// What a gate with its set-up runs. The set-up comes first, and what it left is what counts for packages.
    set_up: &'static str,
    gate: &'static str,
    rounds: usize,
}

impl Bench {
    /// Makes it of the files that `fill` writes.
    fn new(
        folder: &Path,
        (set_up, gate): (&'static str, &'static str),
        fill: impl FnOnce(&Path),
    ) -> Self {
        let root = folder.join("project");
        fs::create_dir_all(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        fill(&root);
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-qm", "base"]);
        let repository = Repository::open(&root, RepositoryOptions::default()).unwrap();
        let excludes = repository.own_excludes();
        repository.exclude(&excludes).unwrap();
        Self {
            pool: WarmPool::at(root.join(".symphony/warm")),
            canonical: folder.join("canonical"),
            repository,
            root,
            set_up,
            gate,
            rounds: asked("rounds").unwrap_or(ROUNDS),
        }
    }

    fn head(&self) -> CommitId {
        CommitId::parse(&git(&self.root, &["rev-parse", "HEAD"])).unwrap()
    }

    fn commit(&self, base: &CommitId, path: &str, text: &str) -> CommitId {
        write(&self.root.join(path), text);
        git(&self.root, &["commit", "-qam", "change"]);
        let commit = self.head();
        git(&self.root, &["reset", "-q", "--hard", base.as_str()]);
        commit
    }

    fn cold(&self, commit: &CommitId) -> Pristine {
        let key = WorktreeKey::of("_gates-cold");
        self.repository.create_pristine(&key, commit).unwrap()
    }

    fn warm(&self, generation: &Generation, commit: &CommitId) -> Pristine {
        let key = WorktreeKey::of("_gates-warm");
        self.repository
            .create_seeded(&key, commit, &self.pool, generation, Timestamp::now())
            .unwrap()
    }

    /// Makes a worktree and runs the same commands in it, as a person would. Returns whether they pass.
    fn by_hand(&self, commit: &CommitId) -> bool {
        let worktree = self.canonical.with_file_name("by-hand");
        let path = worktree.to_str().unwrap();
        git(
            &self.root,
            &["worktree", "add", "-q", "--detach", path, commit.as_str()],
        );
        let passes = shell(&worktree, self.set_up) && shell(&worktree, self.gate);
        self.leave(&worktree);
        passes
    }

    /// Removes the checkouts of a round: each run of gates has a folder of its own, where nothing is yet.
    fn clear(&self) {
        for key in ["_gates-cold", "_gates-warm"] {
            let removed = self.repository.remove_pristine(&WorktreeKey::of(key));
            removed.unwrap();
        }
    }

    fn leave(&self, worktree: &Path) {
        let path = worktree.to_str().unwrap();
        git(&self.root, &["worktree", "remove", "--force", path]);
    }

    /// Builds the base, and keeps what that leaves.
    fn generation(&self, base: &CommitId) -> Generation {
        let donor = self.cold(base);
        fs::rename(donor.path(), &self.canonical).unwrap();
        assert!(shell(&self.canonical, self.set_up));
        fs::rename(&self.canonical, donor.path()).unwrap();
        let after = PackageMarks::of(donor.path());
        assert!(self.passes(&donor));
        self.keep(&donor, &after)
    }

    fn keep(&self, pristine: &Pristine, after_set_up: &PackageMarks) -> Generation {
        let key = GenerationKey {
            version: GenerationKey::VERSION,
            project: ProjectId::parse("bench").unwrap(),
            system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            canonical: self.canonical.clone(),
            ground: String::new(),
            gates: String::new(),
        };
        let donation = Donation {
            pool: &self.pool,
            key: &key,
            after_set_up,
            now: Timestamp::now(),
        };
        let kept = self.repository.make_generation(pristine, donation);
        // the clock must be past the build
        std::thread::sleep(Duration::from_secs(3));
        kept.unwrap().unwrap()
    }

    /// Runs set-up and gate at the path where each checkout is seen.
    fn passes(&self, pristine: &Pristine) -> bool {
        fs::rename(pristine.path(), &self.canonical).unwrap();
        let passes = shell(&self.canonical, self.set_up) && shell(&self.canonical, self.gate);
        fs::rename(&self.canonical, pristine.path()).unwrap();
        passes
    }
}

fn shell(folder: &Path, script: &str) -> bool {
    let output = Command::new("sh")
        .args(["-euc", script])
        .current_dir(folder)
        .env_remove("CARGO_TARGET_DIR")
        .env("npm_config_update_notifier", "false")
        .env("npm_config_audit", "false")
        .env("npm_config_fund", "false")
        .env("npm_config_offline", "true")
        .output()
        .unwrap();
    output.status.success()
}

fn fill_with_packages(root: &Path, packages: usize) {
    write(&root.join(".gitignore"), "/target\n");
    let mut manifest =
        "[package]\nname = \"whole\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n".to_owned();
    let mut sum = String::new();
    for number in 0..packages {
        writeln!(manifest, "p{number} = {{ path = \"p{number}\" }}").unwrap();
        let text =
            format!("[package]\nname = \"p{number}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        write(&root.join(format!("p{number}/Cargo.toml")), &text);
        write(&root.join(format!("p{number}/src/lib.rs")), &source(number));
        write!(sum, " + p{number}::value()").unwrap();
    }
    write(&root.join("Cargo.toml"), &manifest);
    let lib = format!("pub fn total() -> usize {{ 0{sum} }}\n");
    write(&root.join("src/lib.rs"), &lib);
    let expected: usize = (0..packages).sum();
    let test = format!("#[test]\nfn total() {{ assert_eq!(whole::total(), {expected}) }}\n");
    write(&root.join("tests/total.rs"), &test);
    let locked = Command::new("cargo")
        .args(["generate-lockfile", "--offline"])
        .current_dir(root)
        .status();
    assert!(locked.unwrap().success());
}

/// Compares all three for a commit, A B C A B C.
fn compare(bench: &Bench, generation: &Generation, name: &str, commit: &CommitId, expected: bool) {
    let (mut cold_times, mut hand_times, mut warm_times, mut prepared_times) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        bench.clear();
        let begun = Instant::now();
        let cold = bench.cold(commit);
        let cold_passes = bench.passes(&cold);
        cold_times.push(begun.elapsed());
        let begun = Instant::now();
        let warm = bench.warm(generation, commit);
        prepared_times.push(begun.elapsed());
        let warm_passes = bench.passes(&warm);
        warm_times.push(begun.elapsed());
        let begun = Instant::now();
        let hand_passes = bench.by_hand(commit);
        hand_times.push(begun.elapsed());
        let all = (cold_passes, warm_passes, hand_passes);
        assert_eq!(all, (expected, expected, expected), "{name}");
        let listed = |checkout: &Pristine| git(checkout.path(), &["ls-files", "-s"]);
        assert_eq!(listed(&cold), listed(&warm), "{name}");
    }
    println!(
        "{name:<32} cold {:>6.0} ms, by hand {:>6.0} ms, warm {:>6.0} ms (preparation {:>5.0} ms); {} than cold, {} than by hand",
        middle(&cold_times),
        middle(&hand_times),
        middle(&warm_times),
        middle(&prepared_times),
        faster(&cold_times, &warm_times),
        faster(&hand_times, &warm_times),
    );
}

/// Returns the median in milliseconds.
fn middle(times: &[Duration]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2].as_secs_f64() * 1e3
}

/// Says how many times faster the second is: the median of the rounds, and their range.
fn faster(slow: &[Duration], fast: &[Duration]) -> String {
    let pairs = slow.iter().zip(fast);
    let mut ratios: Vec<f64> = pairs
        .map(|(slow, fast)| slow.as_secs_f64() / fast.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
    format!(
        "{:.1} times faster ({least:.1} to {most:.1})",
        ratios[ratios.len() / 2]
    )
}

fn measure_cargo(packages: usize) {
    let folder = tempfile::tempdir().unwrap();
    let base_folder = folder.path().canonicalize().unwrap();
    let commands = ("true", "cargo test --offline -q");
    let bench = Bench::new(&base_folder, commands, |root| {
        fill_with_packages(root, packages);
    });
    let base = bench.head();
    let generation = bench.generation(&base);
    let lib = fs::read_to_string(bench.root.join("src/lib.rs")).unwrap();
    let good = bench.commit(&base, "src/lib.rs", &lib.replace("0 +", "0 + 0 +"));
    let bad = bench.commit(&base, "src/lib.rs", &lib.replace("0 +", "1 +"));
    let deep = bench.commit(&base, "p0/src/lib.rs", &format!("{}\n//\n", source(0)));
    println!("{packages} packages");
    compare(&bench, &generation, "  a small change", &good, true);
    compare(
        &bench,
        &generation,
        "  a small change that is wrong",
        &bad,
        false,
    );
    compare(
        &bench,
        &generation,
        "  a change of one package",
        &deep,
        true,
    );
}

/// Packages from an archive of the project. Its set-up installs only where there are none.
fn measure_node() {
    let folder = tempfile::tempdir().unwrap();
    let base_folder = folder.path().canonicalize().unwrap();
    let commands = ("test -d node_modules || npm ci --silent", "node test.js");
    let bench = Bench::new(&base_folder, commands, |root| {
        let package = base_folder.join("package");
        write(
            &package.join("package.json"),
            r#"{"name":"dep","version":"1.0.0"}"#,
        );
        for number in 0..PACKAGE_FILES {
            let path = format!("lib/{}/{number}.js", number / FILES_A_FOLDER);
            write(&package.join(path), &format!("exports.value = {number};\n"));
        }
        fs::create_dir(root.join("vendor")).unwrap();
        let pack = format!(
            "npm pack --silent --pack-destination '{}'",
            root.join("vendor").display()
        );
        assert!(shell(&package, &pack), "npm is needed");
        let manifest = r#"{"name":"app","version":"1.0.0","private":true,"dependencies":{"dep":"file:vendor/dep-1.0.0.tgz"}}"#;
        write(&root.join("package.json"), manifest);
        write(&root.join(".gitignore"), "/node_modules\n");
        write(&root.join("one.js"), "exports.one = 1;\n");
        let test =
            "require('assert').equal(require('./one').one + require('dep/lib/0/7').value, 8);\n";
        write(&root.join("test.js"), test);
        assert!(shell(root, "npm install --package-lock-only --silent"));
    });
    let base = bench.head();
    let generation = bench.generation(&base);
    let good = bench.commit(&base, "one.js", "exports.one = 2 - 1;\n");
    let bad = bench.commit(&base, "one.js", "exports.one = 2;\n");
    println!("packages of Node, {PACKAGE_FILES} files");
    compare(&bench, &generation, "  a small change", &good, true);
    compare(&bench, &generation, "  a wrong one", &bad, false);
}

/// A virtual environment with pip. Its set-up makes one only where there is none.
fn measure_python() {
    let folder = tempfile::tempdir().unwrap();
    let base_folder = folder.path().canonicalize().unwrap();
    let commands = (
        "test -d .venv || python3 -m venv .venv",
        ".venv/bin/python test.py",
    );
    let bench = Bench::new(&base_folder, commands, |root| {
        write(&root.join(".gitignore"), "/.venv\n__pycache__/\n");
        write(&root.join("requirements.txt"), "");
        write(&root.join("one.py"), "ONE = 1\n");
        write(
            &root.join("test.py"),
            "import one, pip\nassert one.ONE == 1\n",
        );
    });
    let base = bench.head();
    let generation = bench.generation(&base);
    let good = bench.commit(&base, "one.py", "ONE = 2 - 1\n");
    let bad = bench.commit(&base, "one.py", "ONE = 2\n");
    println!("a virtual environment");
    compare(&bench, &generation, "  a small change", &good, true);
    compare(&bench, &generation, "  a wrong one", &bad, false);
}

/// Times the preparation alone, where there is next to no build output.
fn measure_preparation(files: usize) {
    let folder = tempfile::tempdir().unwrap();
    let base_folder = folder.path().canonicalize().unwrap();
    let bench = Bench::new(&base_folder, ("true", "true"), |root| {
        write(&root.join(".gitignore"), "/target\n");
        write(&root.join("Cargo.toml"), "[workspace]\n");
        for number in 0..files {
            let path = format!("src/{}/{number}.txt", number / FILES_A_FOLDER);
            write(&root.join(path), &format!("{number}\n"));
        }
    });
    let base = bench.head();
    let donor = bench.cold(&base);
    write(&donor.path().join("target/debug/.fingerprint/a"), "a");
    let generation = bench.keep(&donor, &PackageMarks::default());
    let change = bench.commit(&base, "src/0/0.txt", "changed\n");
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        bench.clear();
        let begun = Instant::now();
        drop(bench.cold(&change));
        cold.push(begun.elapsed());
        let begun = Instant::now();
        drop(bench.warm(&generation, &change));
        warm.push(begun.elapsed());
    }
    println!(
        "{files} files: cold checkout {:.0} ms, warm {:.0} ms",
        middle(&cold),
        middle(&warm),
    );
}

fn word(name: &str) -> Option<String> {
    let mut words = std::env::args();
    words.find_map(|word| Some(word.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

fn asked(name: &str) -> Option<usize> {
    word(name)?.parse().ok()
}

fn main() {
    let only = word("only");
    let is_asked = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if is_asked("cargo") {
        measure_cargo(asked("packages").unwrap_or(PACKAGES));
    }
    if is_asked("node") {
        measure_node();
    }
    if is_asked("python") {
        measure_python();
    }
    if is_asked("files") {
        let files = asked("files").map_or(vec![1_000, FILES], |files| vec![files]);
        for files in files {
            measure_preparation(files);
        }
    }
}
