//! Packing a repository in which much has gathered, while worktrees of it are in use.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use symphony_workspace::WorkspaceError;

use crate::project::{Project, commit_file, executable, git, git_in, made, write};

/// More packs than may gather.
const MANY: usize = 52;

/// Leaves packs, as fetches do.
fn gather(root: &Path, packs: usize) {
    for number in 0..packs {
        git(
            root,
            &["commit", "-q", "--allow-empty", "-m", &number.to_string()],
        );
        git(root, &["repack", "-q", "-d"]);
    }
}

fn packs(root: &Path) -> usize {
    let entries = fs::read_dir(root.join(".git/objects/pack")).unwrap();
    let names = entries.map(|entry| entry.unwrap().path());
    names
        .filter(|path| path.extension().is_some_and(|end| end == "pack"))
        .count()
}

/// Writes an object that nothing refers to.
fn unreferred(root: &Path, text: &str) -> String {
    write(root.join(".git/unreferred"), text);
    git(root, &["hash-object", "-w", ".git/unreferred"])
}

fn loose(root: &Path, object: &str) -> PathBuf {
    let (folder, file) = object.split_at(2);
    root.join(".git/objects").join(folder).join(file)
}

/// Makes a file look as if it was written three weeks ago. Git lets no one write objects, so it is opened for reading.
fn make_old(path: &Path) {
    let file = fs::File::open(path).unwrap();
    let weeks = Duration::from_hours(3 * 7 * 24);
    file.set_modified(SystemTime::now() - weeks).unwrap();
}

fn has(root: &Path, object: &str) -> bool {
    git_in(root, &["cat-file", "-e", object]).status.success()
}

/// Everything below a folder, with the contents of files.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

#[test]
fn many_packs_become_few_and_all_that_is_in_use_stays() {
    let project = Project::new();
    let root = &project.root;
    let repository = project.open();
    let worktree = made(&repository).path().to_owned();
    commit_file(&worktree, "work.txt", "work\n");
    gather(root, MANY);
    write(worktree.join("staged.txt"), "staged\n");
    git(&worktree, &["add", "staged.txt"]);
    write(worktree.join("new.txt"), "new\n");
    git(
        root,
        &["update-ref", "refs/symphony/rescue/SYM-2", "HEAD~3"],
    );
    // what an agent has done so far has no ref while it is on its way
    let young = unreferred(root, "a minute old\n");
    let old = unreferred(root, "three weeks old\n");
    make_old(&loose(root, &old));
    let refs = contents(&root.join(".git/refs"));
    let logs = contents(&root.join(".git/logs"));
    let status = git(&worktree, &["status", "--porcelain"]);

    repository.pack().unwrap();

    assert!(packs(root) <= 2, "{} packs", packs(root));
    assert_eq!(contents(&root.join(".git/refs")), refs);
    assert_eq!(contents(&root.join(".git/logs")), logs);
    assert!(has(root, &young));
    assert!(!has(root, &old));
    git(root, &["fsck", "--full", "--no-dangling"]);
    assert_eq!(git(&worktree, &["status", "--porcelain"]), status);
    assert_eq!(git(&worktree, &["show", ":staged.txt"]), "staged");
    git(&worktree, &["commit", "-q", "-m", "staged"]);
    let staged = git(&worktree, &["rev-parse", "HEAD"]);
    let branch = "refs/heads/symphony/SYM-1";
    assert_eq!(git(root, &["rev-parse", branch]), staged);
    // it was opened before the packs went away that it had read
    assert!(repository.has_commit(&project.head(branch)).unwrap());
    assert!(repository.has_commit(&project.head("HEAD~20")).unwrap());
}

#[test]
fn little_is_left_as_it_is() {
    let project = Project::new();
    let repository = project.open();
    gather(&project.root, 3);
    let old = unreferred(&project.root, "three weeks old\n");
    make_old(&loose(&project.root, &old));
    let before = contents(&project.root.join(".git"));
    repository.pack().unwrap();
    assert_eq!(contents(&project.root.join(".git")), before);
}

#[test]
fn what_a_killed_git_leaves_is_no_obstacle() {
    let project = Project::new();
    let root = &project.root;
    gather(root, MANY);
    // no process has such a number
    write(root.join(".git/gc.pid"), "4194999 elsewhere\n");
    make_old(&root.join(".git/gc.pid"));
    let half = root.join(".git/objects/pack/tmp_pack_a1b2c3");
    write(&half, "PACK");
    make_old(&half);
    project.open().pack().unwrap();
    assert!(packs(root) <= 2, "{} packs", packs(root));
    assert!(!half.exists());
}

#[test]
fn no_program_of_the_repository_runs() {
    let project = Project::new();
    let root = &project.root;
    let repository = project.open();
    gather(root, MANY);
    let ran = root.join(".git/ran");
    let program = root.join(".git/hooks/pre-auto-gc");
    executable(&program, &format!("#!/bin/sh\ntouch '{}'\n", ran.display()));
    let name = "gc.recentObjectsHook";
    git(root, &["config", name, program.to_str().unwrap()]);
    let refused = repository.pack().unwrap_err();
    assert!(
        matches!(&refused, WorkspaceError::Tampered { what, .. } if what.contains("`gc.recentobjectshook`")),
        "{refused:?}"
    );
    assert_eq!(packs(root), MANY);
    git(root, &["config", "--unset", name]);
    repository.pack().unwrap();
    assert!(packs(root) <= 2, "{} packs", packs(root));
    assert!(!ran.exists());
}
