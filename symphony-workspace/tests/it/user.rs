//! The user's own git configuration and environment: what of it counts, and what does not.
//!
//! The rule is about the process's environment, so each test starts this test binary again with
//! another one and runs its second half there.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use symphony_workspace::{BaseMerge, Identity, RepositoryOptions};

use crate::project::{Project, at, executable, git, plain_folder, prepare, write};

/// Tells the second half where its home is.
const CHILD: &str = "SYMPHONY_WORKSPACE_TEST_HOME";

/// Runs a test of this binary again, with a home of its own and a hostile environment; returns the
/// home when this is already the second run.
fn second_half(test: &str, global_config: &str) -> Option<PathBuf> {
    if let Some(home) = std::env::var_os(CHILD) {
        return Some(home.into());
    }
    let home = plain_folder();
    let filter = home.path().join("upper");
    executable(&filter, "#!/bin/sh\ntr a-z A-Z\n");
    let config = global_config.replace("HOME", home.path().to_str().unwrap());
    write(home.path().join(".gitconfig"), &config);
    write(home.path().join("ignore"), "*.swp\n");
    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, home.path())
        .env("HOME", home.path())
        .env_remove("XDG_CONFIG_HOME")
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.fsmonitor")
        .env("GIT_CONFIG_VALUE_0", "/nowhere/fsmonitor")
        .env("GIT_EXTERNAL_DIFF", "/nowhere/diff")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    None
}

const GLOBAL: &str = "[user]\n\tname = Grace\n\temail = grace@example.org\n[core]\n\texcludesFile = ~/ignore\n\tpager = HOME/upper\n[filter \"lfs\"]\n\tclean = HOME/upper\n\tsmudge = cat\n[filter \"other\"]\n\tclean = HOME/upper\n";

fn committed(project: &Project, attributes: &str, options: RepositoryOptions) -> String {
    let repository = project.open_with(options);
    let worktree = prepare(&repository, BaseMerge::Merge).unwrap().worktree;
    write(worktree.path().join(".gitattributes"), attributes);
    write(worktree.path().join("data.bin"), "content\n");
    write(
        worktree.path().join(".x.swp"),
        "the user ignores it everywhere\n",
    );
    let done = repository.auto_commit(&worktree, "work", at(1)).unwrap();
    let files = git(
        &project.root,
        &["ls-tree", "-r", "--name-only", done.head.as_str()],
    );
    assert!(!files.contains(".x.swp"), "{files}");
    git(&project.root, &["show", &format!("{}:data.bin", done.head)])
}

#[test]
fn a_trusted_filter_of_the_users_own_configuration_runs() {
    let name = "user::a_trusted_filter_of_the_users_own_configuration_runs";
    if second_half(name, GLOBAL).is_none() {
        return;
    }
    let project = Project::new();
    // The repository names the filter too, with another program, which does not count.
    git(
        &project.root,
        &["config", "filter.lfs.clean", "/nowhere/evil"],
    );
    let text = committed(&project, "*.bin filter=lfs\n", RepositoryOptions::default());
    assert_eq!(text, "CONTENT");
}

/// A commit would hold the file unfiltered, so it stays in the worktree and is named.
fn assert_left_out(project: &Project, attributes: &str, options: RepositoryOptions) {
    let repository = project.open_with(options);
    let worktree = prepare(&repository, BaseMerge::Merge).unwrap().worktree;
    write(worktree.path().join(".gitattributes"), attributes);
    write(worktree.path().join("data.bin"), "content\n");
    write(worktree.path().join("data.txt"), "content\n");
    let done = repository.auto_commit(&worktree, "work", at(1)).unwrap();
    let files = git(
        &project.root,
        &["ls-tree", "-r", "--name-only", done.head.as_str()],
    );
    assert!(
        files.contains("data.txt") && files.contains(".gitattributes"),
        "{files}"
    );
    assert!(!files.contains("data.bin"), "{files}");
    assert_eq!(done.unfiltered, ["data.bin"]);
    assert!(worktree.path().join("data.bin").exists());
    repository.require_filters().unwrap();
    let left = repository.left_behind(&worktree, None).unwrap();
    let left = left.iter().map(|left| left.path.split(':').next().unwrap());
    assert_eq!(left.collect::<Vec<_>>(), ["data.bin"]);
    // A second look finds the same, and commits nothing.
    let again = repository.auto_commit(&worktree, "work", at(2)).unwrap();
    assert_eq!((again.commit, again.unfiltered), (None, done.unfiltered));
}

#[test]
fn a_filter_that_is_not_trusted_does_not_run() {
    let name = "user::a_filter_that_is_not_trusted_does_not_run";
    if second_half(name, GLOBAL).is_none() {
        return;
    }
    let project = Project::new();
    git(
        &project.root,
        &["config", "filter.other.clean", "/nowhere/evil"],
    );
    let options = RepositoryOptions::default();
    assert_left_out(&project, "*.bin filter=other\n", options);
    let project = Project::new();
    let options = RepositoryOptions {
        trusted_filters: vec![],
        ..RepositoryOptions::default()
    };
    assert_left_out(&project, "*.bin filter=lfs\n", options);
}

#[test]
fn the_human_is_whom_the_users_configuration_names() {
    let name = "user::the_human_is_whom_the_users_configuration_names";
    let Some(home) = second_half(name, GLOBAL) else {
        return;
    };
    assert!(home.join(".gitconfig").exists());
    let project = Project::new();
    let human = |name: &str, email: &str| {
        Some(Identity {
            name: name.into(),
            email: email.into(),
        })
    };
    assert_eq!(
        project.open().human_identity(),
        human("Grace", "grace@example.org")
    );
    git(
        &project.root,
        &["config", "user.email", "grace@work.example"],
    );
    assert_eq!(
        project.open().human_identity(),
        human("Grace", "grace@work.example")
    );
    fs::write(home.join(".gitconfig"), "").unwrap();
    assert_eq!(Project::new().open().human_identity(), None);
}
