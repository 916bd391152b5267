//! A real repository in a temporary folder, and git as a person would use it.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_workspace::{
    BaseMerge, BranchName, CommitId, Identity, MergePlan, MergeStyle, Prepared, Repository,
    RepositoryOptions, WorkspaceError, Worktree, WorktreeKey, WorktreeRequest,
};

pub(crate) type WorktreeResult<T> = Result<T, WorkspaceError>;

/// A project with one commit on `main`: `README.md` and `src/a.txt`.
pub(crate) struct Project {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

/// Runs git as a user with an own identity would; the test's own environment has no say.
#[expect(
    clippy::disallowed_methods,
    reason = "a test plays the user and the agent"
)]
pub(crate) fn git_in(folder: &Path, args: &[&str]) -> std::process::Output {
    let path = std::env::var_os("PATH").unwrap();
    Command::new("git")
        .current_dir(folder)
        // it would go on in the background, in a folder that a test removes
        .args(["-c", "maintenance.auto=false"])
        .args(args)
        .env_clear()
        .env("PATH", path)
        .env("HOME", folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@example.org")
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@example.org")
        .output()
        .unwrap()
}

/// Runs git and returns its output; it has to succeed.
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = git_in(folder, args);
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

pub(crate) fn write(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Makes a folder whose path is one word for a shell: git gives it the paths of many programs as they are.
pub(crate) fn plain_folder() -> tempfile::TempDir {
    let usual = std::env::temp_dir();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let place = match usual.to_str() {
        Some(path) if path.chars().all(is_plain) => usual.as_path(),
        _ => Path::new("/tmp"),
    };
    tempfile::tempdir_in(place).unwrap()
}

/// Makes a program. Another process writes it: what this one has open for writing, a child of another test inherits until
/// it executes, and the system executes no file that somebody may write.
#[expect(
    clippy::disallowed_methods,
    reason = "a test plays the user and the agent"
)]
pub(crate) fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let written = Command::new("sh")
        .args(["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .arg(text)
        .status();
    assert!(written.unwrap().success(), "{}", path.display());
}

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

/// Lists the locks of git in a repository, which it has while git is at work, or was killed.
pub(crate) fn git_locks(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.join(".git")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_lock = path.extension().is_some_and(|end| end == "lock");
            if path.is_dir() {
                folders.push(path);
            } else if is_lock && !path.ends_with("symphony.lock") {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Makes a file look as if it was last written so much earlier.
pub(crate) fn make_older(path: &Path, by: Duration) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written - by).unwrap();
}

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::parse(name).unwrap()
}

/// Commits a file in a checkout, as the user or the agent would.
pub(crate) fn commit_file(folder: &Path, path: &str, text: &str) -> CommitId {
    write(folder.join(path), text);
    git(folder, &["add", "--", path]);
    git(folder, &["commit", "-q", "-m", path]);
    CommitId::parse(&git(folder, &["rev-parse", "HEAD"])).unwrap()
}

impl Project {
    pub(crate) fn new() -> Self {
        Self::named("project")
    }

    pub(crate) fn named(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        write(root.join("README.md"), "hello\n");
        write(root.join("src/a.txt"), "one\ntwo\nthree\n");
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-q", "-m", "first"]);
        Self {
            _folder: folder,
            root,
        }
    }

    pub(crate) fn open(&self) -> Repository {
        self.open_with(RepositoryOptions::default())
    }

    /// Opens without adding the exclude entries, which takes the lock.
    pub(crate) fn open_unlocked(&self) -> Repository {
        Repository::open(&self.root, RepositoryOptions::default()).unwrap()
    }

    pub(crate) fn open_with(&self, options: RepositoryOptions) -> Repository {
        let repository = Repository::open(&self.root, options).unwrap();
        repository.exclude(&repository.own_excludes()).unwrap();
        repository
    }

    pub(crate) fn head(&self, reference: &str) -> CommitId {
        CommitId::parse(&git(&self.root, &["rev-parse", reference])).unwrap()
    }
}

/// Prepares the worktree of `SYM-1`.
pub(crate) fn prepare(repository: &Repository, merge: BaseMerge) -> WorktreeResult<Prepared> {
    prepare_issue(repository, "SYM-1", merge)
}

pub(crate) fn prepare_issue(
    repository: &Repository,
    issue: &str,
    merge: BaseMerge,
) -> WorktreeResult<Prepared> {
    let issue = IssueId::parse(issue).unwrap();
    repository.prepare_worktree(&WorktreeRequest {
        key: &WorktreeKey::of(issue.as_str()),
        branch: &BranchName::of_issue(&issue),
        base: &branch("main"),
        merge,
        now: at(0),
    })
}

pub(crate) fn made(repository: &Repository) -> Worktree {
    prepare(repository, BaseMerge::Merge).unwrap().worktree
}

/// Leaves what a killed `git worktree add` leaves: the first files of those it writes, in its order, the last one whole or
/// empty.
pub(crate) fn cut_off_creation(project: &Project, written: usize, last: &str) {
    let git_dir = project.root.join(".git/worktrees/SYM-1");
    let path = project.root.join(".symphony-workspaces/SYM-1");
    let files = [
        (git_dir.join("locked"), "symphony: being made".to_owned()),
        (git_dir.join("gitdir"), format!("{}/.git\n", path.display())),
        (
            path.join(".git"),
            format!("gitdir: {}\n", git_dir.display()),
        ),
        (git_dir.join("commondir"), "../..\n".to_owned()),
        (git_dir.join("logs/HEAD"), String::new()),
    ];
    fs::create_dir_all(&git_dir).unwrap();
    fs::create_dir_all(&path).unwrap();
    for (number, (file, text)) in files.iter().enumerate().take(written) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let is_empty = last == "empty" && number + 1 == written;
        write(file, if is_empty { "" } else { text });
    }
}

/// Someone who merges.
pub(crate) fn ada() -> Identity {
    Identity {
        name: "Ada Lovelace".into(),
        email: "ada@example.org".into(),
    }
}

/// Merges a head into a base as it is done for a pull request and for a phase of a plan: a plan first, then the move. Returns where the
/// base is then.
pub(crate) fn merge_into(
    repository: &Repository,
    base: &BranchName,
    expected: &CommitId,
    head: &CommitId,
    style: MergeStyle,
) -> WorktreeResult<CommitId> {
    let plan = repository.plan_merge(expected, head, style, "Merge SYM-1: a change", &ada())?;
    let to = match plan {
        MergePlan::FastForward(commit) | MergePlan::Merge(commit) => commit,
        MergePlan::AlreadyMerged => expected.clone(),
        MergePlan::Conflict(_) | MergePlan::Unrelated => panic!("{plan:?}"),
    };
    repository.move_base(base, expected, &to, &ada())?;
    Ok(to)
}
