//! What a run leaves behind: observed, absorbed, revealed.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeSet;

use symphony_workspace::{Repository, WorkspaceError, Worktree};

use crate::project::{Project, at, commit_file, git, git_in, made, read, write};

struct Case {
    project: Project,
    repository: Repository,
    worktree: Worktree,
}

/// A worktree that was set up, with an ignored folder of its own.
fn case() -> Case {
    let project = Project::new();
    write(project.root.join(".env"), "PIN=1234\n");
    commit_file(
        &project.root,
        ".gitignore",
        "target/\ndata/\n*.local\n*.log\n",
    );
    let repository = project.open();
    let worktree = made(&repository);
    repository.copy_config_files(&worktree).unwrap();
    write(worktree.path().join("data/seed.csv"), "from the set-up\n");
    repository.record_baseline(&worktree).unwrap();
    Case {
        project,
        repository,
        worktree,
    }
}

impl Case {
    fn left(&self) -> Vec<String> {
        let base = self.project.head("main");
        let left = self.repository.left_behind(&self.worktree, Some(&base));
        let told =
            |left: &symphony_core::left_behind::LeftBehind| format!("{} {}", left.kind, left.path);
        left.unwrap().iter().map(told).collect()
    }

    fn nested(&self) -> Vec<String> {
        let base = self.project.head("main");
        self.repository
            .nested_repositories(&self.worktree, Some(&base))
            .unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        write(self.worktree.path().join(path), text);
    }

    /// Makes a repository with one commit in a folder of the worktree.
    fn nest(&self, path: &str) {
        let folder = self.worktree.path().join(path);
        write(folder.join("work.txt"), "all the work\n");
        git(&folder, &["init", "-q", "-b", "main"]);
        git(&folder, &["add", "-A"]);
        git(&folder, &["commit", "-qm", "inner work"]);
    }
}

#[test]
fn nothing_is_left_behind_of_honest_work() {
    let case = case();
    commit_file(case.worktree.path(), "a.txt", "done\n");
    case.write("uncommitted.txt", "exit handling commits it\n");
    case.write("target/debug/a.o", "built\n");
    case.write("data/more.csv", "in a folder of the set-up\n");
    case.write("run.log", "noise\n");
    assert_eq!(case.left(), [""; 0]);
}

#[test]
fn ignored_work_and_a_changed_copy_are_left_behind_also_for_the_next_run() {
    let case = case();
    case.write("settings.local", "the agent's\n");
    case.write(".gitignore", "target/\ndata/\n*.local\n*.log\n/hidden/\n");
    case.write("hidden/feature.rs", "fn feature() {}\n");
    case.write(".env", "PIN=1234\nNEW_KEY=needed by the change\n");
    let expected = [
        "ignored hidden",
        "ignored settings.local",
        "copied_file .env",
    ];
    assert_eq!(case.left(), expected);
    // the next run in the same worktree finds the first record
    case.repository.copy_config_files(&case.worktree).unwrap();
    case.repository.record_baseline(&case.worktree).unwrap();
    assert_eq!(case.left(), expected);
}

#[test]
fn a_nested_repository_is_found_also_when_only_its_link_was_committed() {
    let case = case();
    case.nest("lib");
    assert_eq!(case.nested(), ["lib"]);
    let folder = case.worktree.path();
    git_in(folder, &["add", "-A"]);
    git(folder, &["commit", "-qm", "one file: a link"]);
    assert_eq!(case.nested(), ["lib"]);
    assert_eq!(case.left(), ["nested_repository lib"]);
    // a repository before its first commit
    std::fs::create_dir(folder.join("unborn")).unwrap();
    git(&folder.join("unborn"), &["init", "-q"]);
    write(folder.join("unborn/work.txt"), "work\n");
    assert_eq!(case.nested(), ["lib", "unborn"]);
}

#[test]
fn absorbed_files_are_committed_and_the_history_is_kept() {
    let case = case();
    let folder = case.worktree.path();
    case.nest("lib");
    case.nest("lib/deeper");
    git_in(folder, &["add", "-A"]);
    git(folder, &["commit", "-qm", "a link"]);
    let inner = git(&folder.join("lib"), &["rev-parse", "HEAD"]);
    // commits that only tags have, one of each kind of tag
    let mut tagged = Vec::new();
    for kind in ["plain", "annotated"] {
        let lib = folder.join("lib");
        git(&lib, &["commit", "-q", "--allow-empty", "-m", kind]);
        tagged.push(git(&lib, &["rev-parse", "HEAD"]));
        match kind {
            "plain" => git(&lib, &["tag", kind]),
            _ => git(&lib, &["tag", "-a", "-m", kind, kind]),
        };
        git(&lib, &["reset", "-q", "--hard", &inner]);
    }
    // what its configuration names does not run
    let canary = folder.join("canary");
    let program = format!("touch {}", canary.display());
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "uploadpack.packObjectsHook",
    ] {
        git(&folder.join("lib"), &["config", key, &program]);
    }
    let base = case.project.head("main");
    let absorbed = case
        .repository
        .absorb_nested(&case.worktree, Some(&base), at(5))
        .unwrap();
    let paths: Vec<&str> = absorbed.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["lib", "lib/deeper"]);
    assert!(!canary.exists());
    assert_eq!(case.nested(), [""; 0]);
    let done = case
        .repository
        .auto_commit(&case.worktree, "absorbed", at(6))
        .unwrap();
    let files = git(folder, &["ls-tree", "-r", "--name-only", "HEAD", "lib"]);
    assert_eq!(files, "lib/deeper/work.txt\nlib/work.txt");
    assert!(done.commit.is_some());
    let saved = absorbed[0].rescues.iter();
    let saved: BTreeSet<&str> = saved.map(|rescue| rescue.commit.as_str()).collect();
    let expected = tagged.iter().chain([&inner]).map(String::as_str);
    assert_eq!(saved, expected.collect());
    let mut rescues = absorbed[0].rescues.iter();
    let rescue = rescues
        .find(|rescue| rescue.commit.as_str() == inner)
        .unwrap();
    let saved = git(
        &case.project.root,
        &["show", &format!("{}:work.txt", rescue.reference)],
    );
    assert_eq!(saved, "all the work");
    // nothing is left to do
    let again = case
        .repository
        .absorb_nested(&case.worktree, Some(&base), at(7));
    assert_eq!(again.unwrap(), []);
}

#[test]
fn a_repository_whose_git_folder_is_elsewhere_is_not_absorbed() {
    let case = case();
    let elsewhere = case.project.root.parent().unwrap().join("elsewhere");
    let folder = case.worktree.path().join("lib");
    write(folder.join("work.txt"), "work\n");
    git(
        &folder,
        &[
            "init",
            "-q",
            "--separate-git-dir",
            elsewhere.to_str().unwrap(),
        ],
    );
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-qm", "inner"]);
    assert_eq!(case.nested(), ["lib"]);
    let refused = case.repository.absorb_nested(&case.worktree, None, at(5));
    assert!(
        matches!(refused, Err(WorkspaceError::Embedded { .. })),
        "{refused:?}"
    );
    assert!(elsewhere.join("HEAD").exists());
}

#[test]
fn a_submodule_is_left_behind_only_with_work_of_its_own() {
    let project = Project::new();
    let library = Project::named("library");
    let url = library.root.to_str().unwrap().to_owned();
    let allow = ["-c", "protocol.file.allow=always"];
    git(
        &project.root,
        &[&allow[..], &["submodule", "add", "-q", &url, "lib"]].concat(),
    );
    git(&project.root, &["commit", "-qm", "a submodule"]);
    let repository = project.open();
    let worktree = made(&repository);
    let case = Case {
        project,
        repository,
        worktree,
    };
    let folder = case.worktree.path().to_owned();
    assert_eq!(case.left(), [""; 0], "not checked out");
    git(
        &folder,
        &[&allow[..], &["submodule", "update", "-q", "--init"]].concat(),
    );
    assert_eq!(case.left(), [""; 0], "as the base has it");
    commit_file(&folder.join("lib"), "fix.txt", "a fix\n");
    assert_eq!(case.left(), ["submodule lib"]);
    git(&folder, &["add", "lib"]);
    git(
        &folder,
        &["commit", "-qm", "names a commit that nobody else has"],
    );
    assert_eq!(case.left(), ["submodule lib"]);
}

#[test]
fn files_that_the_index_hides_are_committed() {
    let case = case();
    let folder = case.worktree.path();
    git(folder, &["update-index", "--skip-worktree", "README.md"]);
    git(folder, &["update-index", "--assume-unchanged", "src/a.txt"]);
    case.write("README.md", "the change\n");
    case.write("src/a.txt", "the other change\n");
    assert_eq!(git(folder, &["status", "--porcelain", "-uno"]), "");
    case.repository
        .auto_commit(&case.worktree, "all", at(5))
        .unwrap();
    assert_eq!(git(folder, &["show", "HEAD:README.md"]), "the change");
    assert_eq!(git(folder, &["show", "HEAD:src/a.txt"]), "the other change");
    assert_eq!(read(folder.join("README.md")), "the change\n");
}
