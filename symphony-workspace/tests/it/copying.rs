//! Configuration files: copied, never committed, and no way out of the project.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use symphony_workspace::artifact::{ARTIFACT_BYTES_MAX, read_artifact};
use symphony_workspace::{RepositoryOptions, WorkspaceError};

use crate::project::{Project, at, commit_file, git, made, read, write};

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

fn with_copy(patterns: &[&str]) -> RepositoryOptions {
    RepositoryOptions {
        copy: patterns
            .iter()
            .map(|pattern| (*pattern).to_owned())
            .collect(),
        ..RepositoryOptions::default()
    }
}

#[test]
fn files_are_copied_once_with_their_permissions() {
    let project = Project::new();
    write(project.root.join(".env"), "KEY=abcdefgh\n");
    fs::set_permissions(project.root.join(".env"), fs::Permissions::from_mode(0o640)).unwrap();
    write(project.root.join("symphony.config.json"), "{}\n");
    write(project.root.join("config/dev.local.json"), "{}\n");
    write(project.root.join("config/deep/dev.local.json"), "{}\n");
    write(project.root.join("keys/a/b.key"), "k\n");
    let repository = project.open_with(with_copy(&["config/*.local.json", "keys/**/*.key"]));
    let worktree = made(&repository);
    write(
        worktree.path().join("symphony.config.json"),
        "{\"mine\": 1}\n",
    );
    let report = repository.copy_config_files(&worktree).unwrap();
    assert_eq!(
        report.copied,
        paths(&[".env", "config/dev.local.json", "keys/a/b.key"])
    );
    assert_eq!(report.problems, vec![]);
    let mode = fs::metadata(worktree.path().join(".env"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(
        read(worktree.path().join("symphony.config.json")),
        "{\"mine\": 1}\n"
    );

    write(worktree.path().join(".env"), "KEY=changed by the agent\n");
    let again = repository.copy_config_files(&worktree).unwrap();
    assert_eq!(again.copied, report.copied);
    assert_eq!(
        read(worktree.path().join(".env")),
        "KEY=changed by the agent\n"
    );
}

#[test]
fn nothing_of_symphonys_own_is_put_into_a_checkout() {
    let project = Project::new();
    write(project.root.join("symphony.config.json"), "{}\n");
    write(project.root.join(".symphony-state.json"), "{}\n");
    write(project.root.join("local.json"), "{}\n");
    let own = ["symphony.config.json", ".symphony-state.json"];
    let repository = project.open_with(with_copy(&["*.json", ".symphony-*"]));
    let before = repository.copied_digest().unwrap();
    let worktree = made(&repository);
    let report = repository.copy_config_files(&worktree).unwrap();
    assert_eq!(report.copied, paths(&["local.json"]));
    for own in own {
        assert!(!worktree.path().join(own).exists(), "{own}");
    }
    // a setting that has nothing to do with gates runs none again
    write(project.root.join("symphony.config.json"), "{ }\n");
    assert_eq!(repository.copied_digest().unwrap(), before);
    // an agent that writes one of them hands in none
    write(worktree.path().join("symphony.config.json"), "{}\n");
    git(worktree.path(), &["add", "-f", "symphony.config.json"]);
    let done = repository.auto_commit(&worktree, "work", at(1)).unwrap();
    assert_eq!(done.commit, None);
    // who names the file wants it
    let repository = project.open_with(with_copy(&["symphony.config.json"]));
    assert_ne!(repository.copied_digest().unwrap(), before);
}

#[test]
fn copied_files_never_enter_a_commit() {
    let project = Project::new();
    write(project.root.join(".env"), "KEY=abcdefgh\n");
    // An exclude file is beaten by this; the pathspec is not.
    commit_file(&project.root, ".gitignore", "*.log\n!.env\n");
    let repository = project.open();
    let worktree = made(&repository);
    repository.copy_config_files(&worktree).unwrap();
    assert!(repository.status(&worktree).unwrap().is_clean());
    write(worktree.path().join("work.txt"), "work\n");
    write(worktree.path().join("debug.log"), "ignored\n");
    git(worktree.path(), &["add", "-f", ".env"]);
    let done = repository.auto_commit(&worktree, "work", at(1)).unwrap();
    let files = git(
        &project.root,
        &["ls-tree", "-r", "--name-only", done.head.as_str()],
    );
    assert_eq!(files, ".gitignore\nREADME.md\nsrc/a.txt\nwork.txt");
    assert_eq!(read(worktree.path().join(".env")), "KEY=abcdefgh\n");
    // Staged alone, it gives no commit and leaves the index.
    git(worktree.path(), &["add", "-f", ".env"]);
    assert_eq!(
        repository
            .auto_commit(&worktree, "x", at(2))
            .unwrap()
            .commit,
        None
    );
    assert_eq!(git(worktree.path(), &["ls-files", ".env"]), "");
    // The same holds when the record of copied files is gone.
    fs::remove_dir_all(repository.common_dir().join("symphony")).unwrap();
    write(worktree.path().join("more.txt"), "more\n");
    let done = repository.auto_commit(&worktree, "more", at(3)).unwrap();
    let files = git(
        &project.root,
        &["ls-tree", "-r", "--name-only", done.head.as_str()],
    );
    assert!(!files.contains(".env"), "{files}");
}

#[test]
fn links_are_not_followed_in_or_out() {
    let project = Project::new();
    let outside = project.root.with_file_name("outside");
    write(outside.join("secret"), "root only\n");
    symlink(outside.join("secret"), project.root.join(".env")).unwrap();
    symlink(&outside, project.root.join("conf")).unwrap();
    write(project.root.join(".env.local"), "A=12345678\n");
    write(project.root.join("sub/x.cfg"), "x\n");
    let repository = project.open_with(with_copy(&["conf/secret", "sub/*.cfg"]));
    let worktree = made(&repository);
    // Planted by an agent: writing through it would change a file outside.
    symlink(&outside, worktree.path().join("sub")).unwrap();
    symlink(outside.join("secret"), worktree.path().join(".env.local")).unwrap();
    let report = repository.copy_config_files(&worktree).unwrap();
    assert_eq!(report.copied, Vec::<PathBuf>::new());
    let refused: Vec<&Path> = report
        .problems
        .iter()
        .map(|problem| problem.path.as_path())
        .collect();
    assert_eq!(
        refused,
        vec![
            Path::new(".env"),
            Path::new("conf/secret"),
            Path::new("sub/x.cfg")
        ]
    );
    for problem in &report.problems {
        assert_eq!(problem.reason, "a symbolic link is on the way");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(read(outside.join("secret")), "root only\n");
}

#[test]
fn only_regular_files_of_a_sane_size_are_copied() {
    let project = Project::new();
    fs::create_dir(project.root.join(".env.local")).unwrap();
    let big = fs::File::create(project.root.join("big.cfg")).unwrap();
    big.set_len(5 * 1024 * 1024).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        project.root.join("pipe.cfg"),
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let repository = project.open_with(with_copy(&["*.cfg"]));
    let report = repository.copy_config_files(&made(&repository)).unwrap();
    assert_eq!(report.copied, Vec::<PathBuf>::new());
    let reasons: Vec<(&Path, &str)> = report
        .problems
        .iter()
        .map(|problem| (problem.path.as_path(), problem.reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        vec![
            (
                Path::new("big.cfg"),
                "it has 5242880 bytes; expected at most 4194304"
            ),
            (Path::new("pipe.cfg"), "it is not a regular file"),
        ]
    );
    for pattern in ["../x", "/etc/passwd", "a/../../x", "", "[a"] {
        let repository = project.open_with(with_copy(&[pattern]));
        let error = repository
            .copy_config_files(&made(&repository))
            .unwrap_err();
        assert!(
            matches!(error, WorkspaceError::Pattern { .. }),
            "{pattern}: {error}"
        );
    }
}

#[test]
fn artifacts_are_read_from_the_worktree_first_and_never_through_links() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let places = [worktree.path(), repository.root()];
    write(project.root.join("docs/a.md"), "of the project\n");
    let found = read_artifact("docs/a.md", &places).unwrap();
    assert_eq!(
        (found.text().as_str(), &*found.place),
        ("of the project\n", repository.root())
    );
    write(worktree.path().join("docs/a.md"), "of the worktree\n");
    let found = read_artifact("docs/a.md", &places).unwrap();
    assert_eq!(
        (found.text().as_str(), &*found.place),
        ("of the worktree\n", worktree.path())
    );

    let error = read_artifact("docs/none.md", &places).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "`docs/none.md` was not found: looked for {}, {}",
            worktree.path().join("docs/none.md").display(),
            project.root.join("docs/none.md").display()
        )
    );
    symlink("/etc/passwd", worktree.path().join("link.md")).unwrap();
    symlink("/etc", worktree.path().join("etc")).unwrap();
    symlink("docs/a.md", worktree.path().join("inside.md")).unwrap();
    for path in [
        "link.md",
        "etc/passwd",
        "inside.md",
        "../../README.md",
        "/etc/passwd",
    ] {
        let error = read_artifact(path, &places).unwrap_err();
        assert!(
            matches!(error, WorkspaceError::Link { .. }),
            "{path}: {error}"
        );
    }
    assert!(matches!(
        read_artifact("docs", &places).unwrap_err(),
        WorkspaceError::NotAFile { .. }
    ));
    let big = fs::File::create(worktree.path().join("big.md")).unwrap();
    big.set_len(ARTIFACT_BYTES_MAX + 1).unwrap();
    assert!(matches!(
        read_artifact("big.md", &places).unwrap_err(),
        WorkspaceError::TooLarge { .. }
    ));
}
