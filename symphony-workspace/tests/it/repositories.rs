//! Repositories of every kind: opened, or refused with what is wrong.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::fs;
use std::path::Path;

use symphony_workspace::{
    BaseMerge, BranchName, Repository, RepositoryOptions, Unwritable, WorkspaceError, discover,
};

use crate::project::{
    Project, at, commit_file, executable, git, git_in, made, prepare, read, write,
};

fn open(path: &Path) -> Result<Repository, WorkspaceError> {
    Repository::open(path, RepositoryOptions::default())
}

/// Works in a repository as a run does, and says what the worktree's branch holds.
fn job(root: &Path) -> String {
    let repository = open(root).unwrap();
    let worktree = prepare(&repository, BaseMerge::Merge).unwrap().worktree;
    write(worktree.path().join("work.txt"), "work\n");
    let done = repository.auto_commit(&worktree, "work", at(1)).unwrap();
    let base = repository.base().unwrap();
    let diff = repository.diff(&base.commit, &done.head, 1 << 20).unwrap();
    assert_eq!(diff.files.len(), 1, "{diff:?}");
    git(root, &["ls-tree", "-r", "--name-only", done.head.as_str()])
}

#[test]
fn what_cannot_be_worked_in_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let plain = root.join("plain");
    fs::create_dir(&plain).unwrap();
    assert!(matches!(
        open(&plain).unwrap_err(),
        WorkspaceError::NotARepository { .. }
    ));
    assert!(matches!(
        open(&root.join("none")).unwrap_err(),
        WorkspaceError::Io { .. }
    ));

    let empty = root.join("empty");
    fs::create_dir(&empty).unwrap();
    git(&empty, &["init", "-q"]);
    assert_eq!(
        open(&empty).unwrap_err().to_string(),
        format!("the repository {} has no commit yet", empty.display())
    );

    let bare = root.join("bare.git");
    git(&root, &["init", "-q", "--bare", "bare.git"]);
    assert!(matches!(
        open(&bare).unwrap_err(),
        WorkspaceError::Bare { .. }
    ));
    assert!(matches!(
        open(&bare.join("refs")).unwrap_err(),
        WorkspaceError::Bare { .. }
    ));

    let project = Project::new();
    git(&project.root, &["worktree", "add", "-q", "../linked"]);
    let linked = project.root.with_file_name("linked");
    let error = open(&linked).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} is a linked worktree of the repository {}; expected that repository's main checkout",
            linked.display(),
            project.root.join(".git").display()
        )
    );
}

#[test]
fn what_keeps_work_from_starting_is_found_before_it_starts() {
    let project = Project::new();
    let require = || Repository::require_base(&project.root, RepositoryOptions::default());
    require().unwrap();
    git(&project.root, &["config", "core.bare", "true"]);
    let is_bare = |error| {
        matches!(
            error,
            WorkspaceError::BareSetting {
                is_of_main: false,
                ..
            }
        )
    };
    assert!(is_bare(require().unwrap_err()));
    assert!(is_bare(open(&project.root).unwrap_err()));
    git(&project.root, &["config", "core.bare", "false"]);

    for packed in [false, true] {
        git(&project.root, &["branch", "symphony"]);
        if packed {
            git(&project.root, &["pack-refs", "--all"]);
        }
        let error = require().unwrap_err();
        assert!(
            matches!(error, WorkspaceError::OwnBranchesBlocked),
            "{error}"
        );
        git(
            &project.root,
            &["branch", "-m", "symphony", &format!("mine-{packed}")],
        );
        require().unwrap();
    }
    git(&project.root, &["branch", "symphony/SYM-7"]);
    require().unwrap();
}

#[test]
fn the_root_is_found_from_below() {
    let project = Project::new();
    let found = discover(&project.root.join("src")).unwrap();
    assert_eq!(
        (found.root, found.common_dir),
        (project.root.clone(), project.root.join(".git"))
    );
}

#[test]
fn the_default_branch_is_told_in_this_order() {
    let project = Project::new();
    let default = || {
        open(&project.root)
            .unwrap()
            .default_branch()
            .map(|name| name.to_string())
    };
    assert_eq!(default().unwrap(), "main");
    git(&project.root, &["checkout", "-q", "-b", "feature"]);
    assert_eq!(default().unwrap(), "main");
    git(&project.root, &["branch", "develop"]);
    git(
        &project.root,
        &[
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/develop",
        ],
    );
    assert_eq!(default().unwrap(), "develop");
    git(
        &project.root,
        &["symbolic-ref", "--delete", "refs/remotes/origin/HEAD"],
    );
    git(&project.root, &["branch", "-D", "-q", "main"]);
    assert_eq!(default().unwrap(), "feature");
    git(&project.root, &["checkout", "-q", "--detach"]);
    git(&project.root, &["branch", "symphony/SYM-9"]);
    assert!(matches!(
        default().unwrap_err(),
        WorkspaceError::NoDefaultBranch { branches, .. } if branches == ["develop", "feature", "symphony/SYM-9"]
    ));
    git(&project.root, &["branch", "-D", "-q", "develop"]);
    assert_eq!(default().unwrap(), "feature");
    let options = RepositoryOptions {
        base_branch: Some("nope".into()),
        ..RepositoryOptions::default()
    };
    let error = Repository::open(&project.root, options)
        .unwrap()
        .base()
        .unwrap_err();
    assert!(
        matches!(error, WorkspaceError::BranchMissing { .. }),
        "{error}"
    );
}

#[test]
fn a_detached_head_is_no_hindrance() {
    let project = Project::new();
    git(&project.root, &["checkout", "-q", "--detach"]);
    assert_eq!(job(&project.root), "README.md\nsrc/a.txt\nwork.txt");
}

#[test]
fn shallow_partial_and_separate_clones_work() {
    let project = Project::new();
    commit_file(&project.root, "second.txt", "second\n");
    git(&project.root, &["config", "uploadpack.allowFilter", "true"]);
    let folder = project.root.parent().unwrap();
    let url = format!("file://{}", project.root.display());
    git(folder, &["clone", "-q", "--depth", "1", &url, "shallow"]);
    git(
        folder,
        &["clone", "-q", "--filter=blob:none", &url, "partial"],
    );
    git(
        folder,
        &[
            "clone",
            "-q",
            "--separate-git-dir",
            "elsewhere.git",
            &url,
            "separate",
        ],
    );
    for name in ["shallow", "partial", "separate"] {
        assert_eq!(
            job(&folder.join(name)),
            "README.md\nsecond.txt\nsrc/a.txt\nwork.txt",
            "{name}"
        );
    }
}

#[test]
fn sha256_reftable_split_index_and_sparse_checkouts_work() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (name, init) in [
        (
            "sha256",
            &["init", "-q", "-b", "main", "--object-format=sha256"][..],
        ),
        (
            "reftable",
            &["init", "-q", "-b", "main", "--ref-format=reftable"][..],
        ),
        ("split", &["init", "-q", "-b", "main"][..]),
    ] {
        let path = root.join(name);
        fs::create_dir(&path).unwrap();
        git(&path, init);
        if name == "split" {
            git(&path, &["config", "core.splitIndex", "true"]);
        }
        commit_file(&path, "a.txt", "a\n");
        assert_eq!(job(&path), "a.txt\nwork.txt", "{name}");
    }
    let project = Project::new();
    commit_file(&project.root, "big/b.txt", "b\n");
    git(
        &project.root,
        &["sparse-checkout", "set", "--sparse-index", "src"],
    );
    assert_eq!(
        job(&project.root),
        "README.md\nbig/b.txt\nsrc/a.txt\nwork.txt"
    );
}

#[test]
fn submodules_stay_as_they_are() {
    let library = Project::named("library");
    let project = Project::new();
    let url = library.root.to_str().unwrap();
    git(
        &project.root,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            url,
            "lib",
        ],
    );
    git(&project.root, &["commit", "-q", "-m", "submodule"]);
    assert_eq!(
        job(&project.root),
        ".gitmodules\nREADME.md\nlib\nsrc/a.txt\nwork.txt"
    );
    // The submodule's own checkout is a repository of its own, and a project if somebody wants.
    let found = discover(&project.root.join("lib")).unwrap();
    assert_eq!(found.root, project.root.join("lib"));
    assert_eq!(job(&found.root), "README.md\nsrc/a.txt\nwork.txt");
}

#[test]
fn ignored_by_the_user_means_ignored() {
    let project = Project::new();
    let repository = project.open();
    let worktree = prepare(&repository, BaseMerge::Merge).unwrap().worktree;
    write(worktree.path().join(".gitignore"), "*.o\n");
    write(worktree.path().join("x.o"), "object\n");
    let done = repository.auto_commit(&worktree, "x", at(1)).unwrap();
    let files = git(
        &project.root,
        &["ls-tree", "-r", "--name-only", done.head.as_str()],
    );
    assert_eq!(files, ".gitignore\nREADME.md\nsrc/a.txt");
}

#[test]
fn files_with_names_like_options_and_pathspecs_are_committed() {
    let project = Project::new();
    let repository = project.open();
    let worktree = prepare(&repository, BaseMerge::Merge).unwrap().worktree;
    for name in [
        "-rf",
        "--help",
        ":(exclude)x",
        "a\nb",
        "*",
        "[x]",
        "\"q\"",
        " lead",
        "trail ",
        "ä",
    ] {
        write(worktree.path().join(name), "x\n");
    }
    let done = repository.auto_commit(&worktree, "names", at(1)).unwrap();
    assert!(repository.status(&worktree).unwrap().is_clean());
    let names = git(
        &project.root,
        &["ls-tree", "-z", "--name-only", done.head.as_str()],
    );
    assert_eq!(names.split_terminator('\0').count(), 12);
}

#[test]
fn a_file_becomes_a_folder_and_back() {
    let project = Project::new();
    let repository = project.open();
    let worktree = prepare(&repository, BaseMerge::Merge).unwrap().worktree;
    fs::remove_file(worktree.path().join("README.md")).unwrap();
    write(worktree.path().join("README.md/inner.txt"), "x\n");
    fs::remove_dir_all(worktree.path().join("src")).unwrap();
    std::os::unix::fs::symlink("README.md", worktree.path().join("src")).unwrap();
    let done = repository.auto_commit(&worktree, "shapes", at(1)).unwrap();
    assert_eq!(
        git(
            &project.root,
            &[
                "ls-tree",
                "-r",
                "--format=%(objectmode) %(path)",
                done.head.as_str()
            ]
        ),
        "100644 README.md/inner.txt\n120000 src"
    );
    assert!(repository.status(&worktree).unwrap().is_clean());
}

#[test]
fn hooks_run_when_they_are_asked_for() {
    let project = Project::new();
    let hook = project.root.join(".git/hooks/pre-commit");
    executable(
        &hook,
        "#!/bin/sh\ngrep -q forbidden work.txt && { echo 'no, no' >&2; exit 1; }\nexit 0\n",
    );
    let options = |run_hooks| RepositoryOptions {
        run_hooks,
        ..RepositoryOptions::default()
    };
    let repository = project.open_with(options(true));
    let worktree = prepare(&repository, BaseMerge::Merge).unwrap().worktree;
    write(worktree.path().join("work.txt"), "forbidden\n");
    let error = repository
        .auto_commit(&worktree, "work", at(1))
        .unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::HookRefused { stderr, .. } if stderr == "no, no"),
        "{error}"
    );
    assert_eq!(read(worktree.path().join("work.txt")), "forbidden\n");
    write(worktree.path().join("work.txt"), "allowed\n");
    assert!(
        repository
            .auto_commit(&worktree, "work", at(2))
            .unwrap()
            .commit
            .is_some()
    );
    write(worktree.path().join("work.txt"), "forbidden\n");
    let repository = project.open_with(options(false));
    assert!(
        repository
            .auto_commit(&worktree, "work", at(3))
            .unwrap()
            .commit
            .is_some()
    );
}

#[test]
fn text_at_a_commit_is_read_without_the_checkout() {
    let project = Project::new();
    let repository = project.open();
    let base = repository.base().unwrap().commit;
    commit_file(&project.root, "CLAUDE.md", "new\n");
    assert_eq!(repository.file_at(&base, "CLAUDE.md", 100).unwrap(), None);
    let head = project.head("main");
    assert_eq!(
        repository.file_at(&head, "CLAUDE.md", 100).unwrap(),
        Some(b"new\n".to_vec())
    );
    assert_eq!(repository.file_at(&head, "src", 100).unwrap(), None);
    assert!(matches!(
        repository.file_at(&head, "CLAUDE.md", 3).unwrap_err(),
        WorkspaceError::TooLarge { .. }
    ));
}

#[test]
fn only_the_attributes_of_the_commit_say_what_is_generated() {
    let project = Project::new();
    write(
        project.root.join(".gitattributes"),
        "gen/** linguist-generated\n*.pb linguist-vendored=true\nempty linguist-generated=\ngen/no -linguist-generated\n",
    );
    git(&project.root, &["add", "-A"]);
    let base = commit_file(
        &project.root,
        "web/.gitattributes",
        "out.js linguist-generated=true\n",
    );
    // what came later, and what lies in the checkout, says nothing
    commit_file(&project.root, ".gitattributes", "* linguist-generated\n");
    write(
        project.root.join("src/.gitattributes"),
        "* linguist-generated\n",
    );
    let repository = project.open();
    let paths = [
        "src/a.rs",
        "gen/a.rs",
        "gen/no",
        "a b.pb",
        "empty",
        "web/out.js",
        "out.js",
    ];
    let generated = repository.generated_at(&base, &paths).unwrap();
    assert_eq!(generated, ["gen/a.rs", "a b.pb", "web/out.js"]);
    assert_eq!(repository.generated_at(&base, &[]).unwrap(), [""; 0]);
    // an agent could have written it
    write(
        project.root.join(".git/info/attributes"),
        "* linguist-generated\n",
    );
    assert_eq!(repository.generated_at(&base, &paths).unwrap(), [""; 0]);
}

#[test]
fn a_long_patch_is_cut_at_a_line_and_the_files_are_whole() {
    let project = Project::new();
    let repository = project.open();
    let base = repository.base().unwrap().commit;
    let text = "a line\n".repeat(2_000);
    write(project.root.join("long.txt"), &text);
    let head = commit_file(&project.root, "z.txt", "z\n");
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-q", "--amend", "-m", "long"]);
    let head = (head != project.head("main"))
        .then(|| project.head("main"))
        .unwrap();
    let diff = repository.diff(&base, &head, 1_000).unwrap();
    assert!(diff.patch_cut);
    assert!(diff.patch.len() <= 1_000 && diff.patch.ends_with('\n'));
    assert_eq!(
        diff.files
            .iter()
            .map(|file| file.insertions)
            .collect::<Vec<_>>(),
        vec![2_000, 1]
    );
}

#[test]
fn exclude_entries_keep_the_tree_clean() {
    let project = Project::new();
    let repository = project.open();
    assert!(!repository.exclude(&repository.own_excludes()).unwrap());
    write(project.root.join(".symphony/symphony.db"), "x");
    write(project.root.join("symphony.config.json"), "{}");
    prepare(&repository, BaseMerge::Merge).unwrap();
    assert_eq!(git(&project.root, &["status", "--porcelain"]), "");
}

#[test]
fn branches_with_hostile_names_are_no_arguments() {
    let project = Project::new();
    let head = project.head("main");
    for name in ["--upload-pack=touch x", "-q", "--output=x"] {
        let reference = project.root.join(".git/refs/heads").join(name);
        write(reference, &format!("{head}\n"));
        assert!(BranchName::parse(name).is_err());
    }
    assert_eq!(job(&project.root), "README.md\nsrc/a.txt\nwork.txt");
    assert!(!project.root.join("x").exists());
    assert!(git_in(&project.root, &["status"]).status.success());
}

#[test]
fn what_git_ignores_and_tracks_is_known() {
    let project = Project::new();
    write(project.root.join(".gitignore"), "target/\n");
    git(&project.root, &["add", ".gitignore"]);
    git(&project.root, &["commit", "-q", "-m", "ignore"]);
    let repository = project.open_unlocked();
    for (path, ignored) in [("target/", true), ("web/target/", true), (".venv/", false)] {
        assert_eq!(repository.ignores(path), ignored, "{path}");
    }
    repository.exclude(&["/.venv/".to_owned()]).unwrap();
    assert!(repository.ignores(".venv/"));
    assert!(repository.stop_excluding(&["/.venv/".to_owned()]).unwrap());
    assert!(!repository.ignores(".venv/"));
    write(project.root.join("new.txt"), "");
    for (path, tracked) in [("README.md", true), ("new.txt", false), ("none", false)] {
        assert_eq!(repository.tracks(path).unwrap(), tracked, "{path}");
    }
}

/// Does something as a user to whom neither the superuser's rights nor the files belong. Only this thread is another one's.
fn as_user<T: Send>(uid: u32, done: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                let user = rustix::process::Uid::from_raw(uid);
                rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            }
            done()
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_git_folder_in_which_work_cannot_be_written_is_found_before_it_starts() {
    use std::os::unix::fs::{PermissionsExt, chown};
    const USER: u32 = 4242;
    let project = Project::new();
    let folder = project.root.parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let repository = project.open();
    let _worktree = made(&repository);
    let git_dir = project.root.join(".git");
    let is_root = rustix::process::geteuid().is_root();
    let look = || as_user(USER, || repository.require_writable());
    if is_root {
        // it belongs to somebody else
        let found = look();
        let Err(WorkspaceError::NotWritable { path, why, .. }) = found else {
            panic!("{found:?}")
        };
        assert_eq!((path, why), (git_dir.clone(), Unwritable::Owner { uid: 0 }));
        git(&project.root, &["config", "core.logAllRefUpdates", "true"]);
        for entry in walk(&project.root) {
            chown(&entry, Some(USER), Some(USER)).unwrap();
        }
    }
    assert!(look().is_ok());
    let one_object = fs::read_dir(git_dir.join("objects")).unwrap();
    let one_object = one_object.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let one_object = one_object.into_iter().find(|name| name.len() == 2).unwrap();
    for place in [
        "objects".to_owned(),
        format!("objects/{one_object}"),
        "refs".to_owned(),
        "refs/heads".to_owned(),
        "refs/heads/symphony".to_owned(),
        "worktrees".to_owned(),
    ] {
        let at = git_dir.join(&place);
        let before = fs::metadata(&at).unwrap().permissions();
        fs::set_permissions(&at, fs::Permissions::from_mode(0o555)).unwrap();
        let found = look();
        let Err(WorkspaceError::NotWritable { path, why, .. }) = found else {
            panic!("{place}: {found:?}")
        };
        assert_eq!((path, why), (at.clone(), Unwritable::Mode));
        fs::set_permissions(&at, before).unwrap();
        assert!(look().is_ok(), "{place}");
    }
    // a single file says nothing: git writes another one
    for name in ["packed-refs", "index"] {
        write(git_dir.join(name), "");
        fs::set_permissions(git_dir.join(name), fs::Permissions::from_mode(0o444)).unwrap();
    }
    assert!(look().is_ok());
}

/// Returns a folder and everything below it.
fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        if path.is_dir() && !path.is_symlink() {
            found.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        next += 1;
    }
    found
}

#[test]
fn all_branches_are_listed_among_files_that_are_none() {
    let project = Project::new();
    let refs = project.root.join(".git/refs/heads");
    for name in ["aa", "zz/z"] {
        git(&project.root, &["branch", name]);
    }
    std::os::unix::fs::symlink("none", refs.join("leads-nowhere")).unwrap();
    let kind = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, refs.join("pipe"), kind, mode, 0).unwrap();
    std::os::unix::fs::symlink("pipe", refs.join("to-pipe")).unwrap();
    write(refs.join("empty"), "");
    let head = git(&project.root, &["rev-parse", "main"]);
    let deep = "d/".repeat(150) + "d";
    write(refs.join(&deep), &format!("{head}\n"));
    let branches = project.open().branches().unwrap();
    assert_eq!(branches, ["aa", deep.as_str(), "main", "zz/z"]);
}
