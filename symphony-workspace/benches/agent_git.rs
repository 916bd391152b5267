//! What a git folder of its own costs an agent's run, beside processes of git on the same repository, in turn in the same
//! run.
//!
//! `cargo bench -p symphony-workspace -- [FILES]…`. Equality comes first: what the agent committed must be what the branch has.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads clocks and arguments, starts its peer, and prints"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_workspace::{
    BaseMerge, BranchName, Repository, RepositoryOptions, Worktree, WorktreeKey, WorktreeRequest,
};

/// Rounds of each; the shortest counts, because what else the machine does only adds.
const ROUNDS: usize = 7;
const FILES: [usize; 3] = [100, 1_000, 57_000];
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

/// Makes a project with so many files.
fn project(root: &Path, files: usize) {
    fs::create_dir_all(root).unwrap();
    git(root, &["init", "-q", "-b", "main"]);
    for number in 0..files {
        let folder = root.join(format!("src/{}", number / FILES_A_FOLDER));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{number}.txt")), format!("{number}\n")).unwrap();
    }
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "all"]);
}

fn prepare(repository: &Repository) -> Worktree {
    let issue = IssueId::parse("SYM-1").unwrap();
    let request = WorktreeRequest {
        key: &WorktreeKey::of("SYM-1"),
        branch: &BranchName::of_issue(&issue),
        base: &BranchName::parse("main").unwrap(),
        merge: BaseMerge::Leave,
        now: Timestamp::now(),
    };
    repository.prepare_worktree(&request).unwrap().worktree
}

/// What is timed, with its times.
struct Row {
    name: &'static str,
    times: Vec<Duration>,
}

impl Row {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            times: Vec::new(),
        }
    }

    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = work();
        self.times.push(begun.elapsed());
        result
    }

    fn shortest_ms(&self) -> f64 {
        self.times.iter().min().unwrap().as_secs_f64() * 1_000.0
    }
}

fn measure(root: &Path, files: usize) {
    project(root, files);
    let repository = Repository::open(root, RepositoryOptions::default()).unwrap();
    let worktree = prepare(&repository);
    let base = BranchName::parse("main").unwrap();
    let mut process = Row::new("git rev-parse (a process)");
    let mut status = Row::new("git status");
    let mut clone = Row::new("git clone --shared");
    let mut give = Row::new("give");
    let mut nothing = Row::new("take, nothing committed");
    let mut commit = Row::new("take, one commit");
    let other: PathBuf = root.with_extension("clone");
    for round in 0..ROUNDS {
        process.time(|| git(worktree.path(), &["rev-parse", "HEAD"]));
        status.time(|| git(worktree.path(), &["status", "--porcelain"]));
        let words = ["clone", "-q", "--shared", ".", other.to_str().unwrap()];
        clone.time(|| git(root, &words));
        fs::remove_dir_all(&other).unwrap();
        let given = give.time(|| repository.give_git_folder(&worktree, &[&base]));
        assert!(given.unwrap());
        nothing
            .time(|| repository.take_git_folder(&worktree))
            .unwrap();
        repository.give_git_folder(&worktree, &[&base]).unwrap();
        fs::write(worktree.path().join("work.txt"), round.to_string()).unwrap();
        git(worktree.path(), &["add", "work.txt"]);
        git(worktree.path(), &["commit", "-q", "-m", "work"]);
        let head = git(worktree.path(), &["rev-parse", "HEAD"]);
        commit
            .time(|| repository.take_git_folder(&worktree))
            .unwrap();
        assert_eq!(git(root, &["rev-parse", "symphony/SYM-1"]), head);
        assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    }
    let unit = process.shortest_ms();
    println!("{files} files");
    for row in [process, status, clone, give, nothing, commit] {
        let time = row.shortest_ms();
        println!("  {:<26} {time:>8.1} ms  {:>6.1} x", row.name, time / unit);
    }
}

fn main() {
    let words = std::env::args();
    let asked: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    let sizes = if asked.is_empty() {
        FILES.to_vec()
    } else {
        asked
    };
    for files in sizes {
        let folder = tempfile::tempdir().unwrap();
        measure(&folder.path().join("project"), files);
    }
}
