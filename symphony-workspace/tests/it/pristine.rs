//! Pristine checkouts: nothing but the commit, whatever an agent did to its own folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use symphony_workspace::{
    CommitId, Planted, Pristine, Repository, RepositoryOptions, WorkspaceError, WorktreeKey,
};

use crate::project::{Project, commit_file, executable, git, git_in, made, read, write};

fn checkout(repository: &Repository, at: &CommitId) -> Pristine {
    let key = WorktreeKey::of("_gates-1");
    let pristine = repository
        .create_pristine(&key, at)
        .expect("the commit is there");
    assert_eq!(pristine.commit(), at);
    pristine
}

#[test]
fn what_an_agent_hides_in_its_worktree_is_not_in_the_checkout() {
    let project = Project::new();
    let repository = project.open();
    let agent = made(&repository);
    let head = commit_file(agent.path(), ".gitignore", "ignored.txt\n");
    let exclude = project.root.join(".git/info/exclude");
    let excluded = read(&exclude) + "excluded.txt\n";
    fs::write(&exclude, excluded).unwrap();
    for name in ["ignored.txt", "excluded.txt", "untracked.txt"] {
        write(agent.path().join(name), "hidden\n");
    }
    git(
        agent.path(),
        &["update-index", "--skip-worktree", "src/a.txt"],
    );
    write(agent.path().join("src/a.txt"), "fixed only here\n");
    git(
        agent.path(),
        &["update-index", "--assume-unchanged", "README.md"],
    );
    write(agent.path().join("README.md"), "changed only here\n");

    let pristine = checkout(&repository, &head);
    let mut names: Vec<String> = fs::read_dir(pristine.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".git", ".gitignore", "README.md", "src"]);
    assert_eq!(read(pristine.path().join("src/a.txt")), "one\ntwo\nthree\n");
    assert_eq!(read(pristine.path().join("README.md")), "hello\n");
    // the control: in the agent's own folder git says that nothing is different
    assert_eq!(
        git(agent.path(), &["status", "--porcelain"]),
        "?? untracked.txt"
    );
    // what the shared exclude file hides shows here, since the clone has none
    write(pristine.path().join("excluded.txt"), "x");
    assert_eq!(
        git(pristine.path(), &["status", "--porcelain"]),
        "?? excluded.txt"
    );
}

#[test]
fn the_clone_shares_nothing_that_can_be_changed() {
    let project = Project::new();
    let repository = project.open();
    let first = project.head("main");
    let marker = project.root.with_file_name("hook-ran");
    let hook = format!("#!/bin/sh\ntouch '{}'\n", marker.display());
    executable(&project.root.join(".git/hooks/post-checkout"), &hook);
    git(&project.root, &["config", "user.name", "Mallory"]);
    let second = commit_file(&project.root, "b.txt", "b\n");
    git(
        &project.root,
        &["tag", "-a", "v1.0", "-m", "one", first.as_str()],
    );

    let pristine = checkout(&repository, &second);
    git(pristine.path(), &["checkout", "-q", first.as_str()]);
    assert!(!marker.exists(), "a hook of the repository ran");
    assert!(
        !git_in(pristine.path(), &["config", "user.name"])
            .status
            .success()
    );
    // tags and the base are there, as versions and changelogs are made from them
    assert_eq!(
        git(pristine.path(), &["describe", second.as_str()]),
        format!("v1.0-1-g{}", second.as_str().get(..7).unwrap())
    );
    git(
        pristine.path(),
        &["update-ref", "refs/heads/main", first.as_str()],
    );
    git(pristine.path(), &["tag", "-d", "v1.0"]);
    assert_eq!(project.head("main"), second);
    assert_eq!(git(&project.root, &["tag"]), "v1.0");
    assert_eq!(
        git(&project.root, &["worktree", "list", "--porcelain"])
            .matches("worktree ")
            .count(),
        1
    );
}

#[test]
fn configuration_files_come_from_the_project_and_their_digest_tells_them_apart() {
    let project = Project::new();
    write(project.root.join(".env"), "KEY=right\n");
    write(project.root.join("conf/local.toml"), "a = 1\n");
    let repository = project.open_with(RepositoryOptions {
        copy: vec!["conf/*.toml".to_owned()],
        ..RepositoryOptions::default()
    });
    let agent = made(&repository);
    repository.copy_config_files(&agent).unwrap();
    write(agent.path().join(".env"), "KEY=wrong\n");

    let pristine = checkout(&repository, &project.head("main"));
    let report = repository.copy_into_pristine(&pristine).unwrap();
    assert_eq!(report.problems, []);
    assert_eq!(read(pristine.path().join(".env")), "KEY=right\n");
    assert_eq!(read(pristine.path().join("conf/local.toml")), "a = 1\n");

    let before = repository.copied_digest().unwrap();
    assert_eq!(repository.copied_digest().unwrap(), before);
    write(project.root.join("conf/local.toml"), "a = 2\n");
    assert_ne!(repository.copied_digest().unwrap(), before);
}

#[test]
fn a_checkout_of_a_dead_process_is_replaced_and_removed_whole() {
    let project = Project::new();
    let repository = project.open();
    let key = WorktreeKey::of("_gates-1");
    let head = project.head("main");
    let path = checkout(&repository, &head).path().to_owned();
    write(path.join("left/by/somebody.txt"), "x");
    write(path.join("README.md"), "changed");
    fs::remove_file(path.join(".git/HEAD")).unwrap();

    assert_eq!(
        read(checkout(&repository, &head).path().join("README.md")),
        "hello\n"
    );
    assert!(!path.join("left").exists());
    assert!(repository.remove_pristine(&key).unwrap());
    assert!(!repository.remove_pristine(&key).unwrap());

    let elsewhere = project.root.with_file_name("elsewhere");
    write(elsewhere.join("keep.txt"), "x");
    symlink(&elsewhere, &path).unwrap();
    let error = repository.remove_pristine(&key).unwrap_err().to_string();
    assert!(error.contains("link"), "{error}");
    assert!(elsewhere.join("keep.txt").exists());
}

#[test]
fn trees_tell_whether_two_commits_have_the_same_files() {
    let project = Project::new();
    let repository = project.open();
    let first = project.head("main");
    git(
        &project.root,
        &["commit", "-q", "--allow-empty", "-m", "nothing"],
    );
    let empty = project.head("main");
    let other = commit_file(&project.root, "b.txt", "b\n");
    let tree = |commit| repository.tree_of(commit).unwrap();
    assert_eq!(tree(&first), tree(&empty));
    assert_ne!(tree(&first), tree(&other));
}

#[test]
fn a_shallow_and_a_sha256_repository_are_checked_out_too() {
    let project = Project::new();
    commit_file(&project.root, "b.txt", "b\n");
    let shallow = project.root.with_file_name("shallow");
    let url = format!("file://{}", project.root.display());
    git(
        project.root.parent().unwrap(),
        &["clone", "-q", "--depth", "1", &url, "shallow"],
    );
    let repository = Repository::open(&shallow, RepositoryOptions::default()).unwrap();
    let pristine = checkout(&repository, &project.head("main"));
    assert_eq!(git(pristine.path(), &["log", "--format=%s"]), "b.txt");

    let other = project.root.with_file_name("sha256");
    fs::create_dir(&other).unwrap();
    git(
        &other,
        &["init", "-q", "-b", "main", "--object-format=sha256"],
    );
    let head = commit_file(&other, "a.txt", "a\n");
    let repository = Repository::open(&other, RepositoryOptions::default()).unwrap();
    let pristine = checkout(&repository, &head);
    assert_eq!(git(pristine.path(), &["status", "--porcelain"]), "");
}

#[test]
fn a_setting_that_an_agent_made_does_not_change_what_is_checked_out() {
    let project = Project::new();
    let link = project.root.join("state.txt");
    symlink("good", &link).unwrap();
    git(&project.root, &["add", "state.txt"]);
    let head = commit_file(&project.root, "lines.txt", "one\ntwo\n");
    for setting in [
        ["core.symlinks", "false"],
        ["core.autocrlf", "true"],
        ["core.eol", "crlf"],
        ["core.fileMode", "false"],
        ["core.ignoreCase", "true"],
    ] {
        git(&project.root, &["config", setting[0], setting[1]]);
    }
    let pristine = checkout(&project.open(), &head);
    let found = fs::read_link(pristine.path().join("state.txt")).unwrap();
    assert_eq!(found.to_str(), Some("good"));
    assert_eq!(read(pristine.path().join("lines.txt")), "one\ntwo\n");
}

#[test]
fn tracked_files_are_restored_whatever_was_done_to_hide_a_change() {
    let project = Project::new();
    write(project.root.join("sub/run.sh"), "#!/bin/sh\n");
    symlink("a.txt", project.root.join("src/link")).unwrap();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-q", "-m", "more"]);
    let repository = project.open();
    let head = project.head("main");
    let pristine = checkout(&repository, &head);
    let root = pristine.path().to_owned();
    let restored = || repository.restore_tracked(&pristine).unwrap();
    assert_eq!(restored(), Vec::<String>::new());

    // the same length and the same time of the last write, in an index that says that nothing is different
    let file = root.join("src/a.txt");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "ONE\nTWO\nTHREE\n").unwrap();
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(time)
        .unwrap();
    git(&root, &["update-index", "--assume-unchanged", "src/a.txt"]);
    // attributes and settings that would make git write something else
    write(root.join(".git/info/attributes"), "* text eol=crlf\n");
    write(root.join("src/.gitattributes"), "* text eol=crlf\n");
    git(&root, &["config", "core.autocrlf", "true"]);
    git(&root, &["config", "core.trustctime", "false"]);
    assert_eq!(restored(), ["src/a.txt"]);
    assert_eq!(read(&file), "one\ntwo\nthree\n");
    assert_eq!(restored(), Vec::<String>::new());

    // removed, made another kind, made executable, led elsewhere
    let elsewhere = project.root.with_file_name("elsewhere");
    write(elsewhere.join("run.sh"), "evil\n");
    fs::remove_dir_all(root.join("sub")).unwrap();
    symlink(&elsewhere, root.join("sub")).unwrap();
    fs::remove_file(root.join("README.md")).unwrap();
    write(root.join("README.md/inside.txt"), "x");
    fs::remove_file(root.join("src/link")).unwrap();
    write(root.join("src/link"), "x");
    git(&root, &["config", "core.fileMode", "false"]);
    executable(&file, "one\ntwo\nthree\n");
    write(root.join("built.txt"), "stays\n");
    assert_eq!(
        restored(),
        ["README.md", "src/a.txt", "src/link", "sub/run.sh"]
    );
    assert_eq!(read(root.join("README.md")), "hello\n");
    assert_eq!(read(root.join("sub/run.sh")), "#!/bin/sh\n");
    assert!(!fs::symlink_metadata(root.join("sub")).unwrap().is_symlink());
    assert_eq!(
        read(elsewhere.join("run.sh")),
        "evil\n",
        "what a link led to stays"
    );
    assert_eq!(
        fs::read_link(root.join("src/link")).unwrap().to_str(),
        Some("a.txt")
    );
    assert_eq!(read(root.join("built.txt")), "stays\n");
    assert_eq!(restored(), Vec::<String>::new());

    // touched, and the same: nothing is said
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, bytes).unwrap();
    assert_eq!(restored(), Vec::<String>::new());
    assert!(!project.root.join(".git/symphony/restore/_gates-1").exists());
}

#[test]
fn a_write_right_after_the_checkout_shows_every_time() {
    let project = Project::new();
    let repository = project.open();
    let head = project.head("main");
    let pristine = checkout(&repository, &head);
    let file = pristine.path().join("src/a.txt");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    for _ in 0..20 {
        let written = fs::File::options().write(true).open(&file).unwrap();
        fs::write(&file, "ONE\ntwo\nthree\n").unwrap();
        written.set_modified(time).unwrap();
        assert_eq!(
            repository.restore_tracked(&pristine).unwrap(),
            ["src/a.txt"]
        );
    }
}

#[test]
fn what_commands_leave_beside_the_commit_is_removed_unless_git_ignores_it() {
    let project = Project::new();
    write(project.root.join(".gitignore"), "target/\n*.o\n:odd\n");
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-q", "-m", "ignore output"]);
    let repository = project.open();
    let head = project.head("main");
    let pristine = checkout(&repository, &head);
    let root = pristine.path().to_owned();
    // copied, and left by the set-up
    write(root.join(".env"), "KEY=1\n");
    write(root.join("gen/made.txt"), "made\n");
    write(root.join("gen/deep/.gitignore"), "*.tmp\n");
    write(root.join("target/debug/app"), "app\n");
    let planted = || repository.remove_planted(&pristine).unwrap();
    let nothing = Planted::default();
    assert_eq!(planted(), nothing, "the first look records");
    assert_eq!(planted(), nothing);

    write(root.join("target/debug/app"), "another\n");
    write(root.join("src/a.o"), "output\n");
    write(root.join(":odd"), "output\n");
    assert_eq!(planted(), nothing, "build output is shared");
    assert!(root.join("target/debug/app").exists() && root.join("src/a.o").exists());

    write(root.join("src/planted.txt"), "x");
    write(root.join("gen/deep/more.txt"), "x");
    write(root.join("new/folder/file.txt"), "x");
    write(root.join("new/folder/file.o"), "output");
    symlink("/etc/passwd", root.join("src/link")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    // it says of itself and of its neighbours that they are ignored, and so do the checkout's own settings
    write(root.join("sub/.gitignore"), "*\n");
    write(root.join("sub/hidden.txt"), "x");
    write(root.join("hidden/.gitignore"), "*\n");
    write(root.join("hidden/file.txt"), "x");
    write(root.join(".git/info/exclude"), "*\n");
    git(&root, &["config", "core.excludesFile", "/dev/stdin"]);
    // a repository inside, in which git would not look
    fs::create_dir_all(root.join("src/inner")).unwrap();
    git(&root.join("src/inner"), &["init", "-q", "."]);
    write(root.join("src/inner/file.txt"), "x");
    let Planted {
        mut removed,
        restored,
        changed,
    } = planted();
    removed.sort();
    assert_eq!(
        removed,
        [
            "empty/",
            "gen/deep/more.txt",
            "hidden/.gitignore",
            "hidden/file.txt",
            "new/folder/file.txt",
            "src/inner/.git",
            "src/inner/file.txt",
            "src/link",
            "src/planted.txt",
            "sub/.gitignore",
            "sub/hidden.txt",
        ]
    );
    assert_eq!((restored, changed), (vec![], vec![]));
    assert!(!root.join("hidden").exists() && !root.join("src/inner").exists());
    assert_eq!(read(root.join("new/folder/file.o")), "output");
    assert_eq!(read(root.join("gen/made.txt")), "made\n");
    assert_eq!(planted(), nothing);

    // what was there before is put back, and named once; a name that was ignored as a file is another thing as a folder
    write(root.join(".env"), "KEY=2\n");
    fs::remove_file(root.join("gen/made.txt")).unwrap();
    fs::remove_dir_all(root.join("target")).unwrap();
    write(root.join("target"), "x");
    let found = planted();
    assert_eq!(found.restored, [".env", "gen/made.txt"]);
    assert_eq!(read(root.join(".env")), "KEY=1\n");
    assert_eq!(read(root.join("gen/made.txt")), "made\n");
    assert_eq!(found.removed, ["target"]);
    assert_eq!(planted(), nothing);

    // folders that a command made unreadable, and one that is deeper than anything real
    write(root.join("locked/file.txt"), "x");
    fs::set_permissions(root.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::create_dir_all(root.join(vec!["d"; 200].join("/"))).unwrap();
    let removed = planted().removed;
    assert!(
        removed.contains(&"locked/file.txt".to_owned()),
        "{removed:#?}"
    );
    assert!(!root.join("locked").exists() && !root.join("d").exists());
    assert_eq!(planted(), nothing);
}

#[test]
fn the_git_folder_is_put_back_to_what_it_was_before_the_first_command() {
    let project = Project::new();
    write(project.root.join("more.txt"), "more\n");
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-q", "-m", "BAD message"]);
    let repository = project.open();
    let head = project.head("main");
    let pristine = checkout(&repository, &head);
    let root = pristine.path().to_owned();
    let git_dir = root.join(".git");
    // left by the set-up
    write(git_dir.join("hooks/pre-commit"), "#!/bin/sh\n");
    write(git_dir.join("modules/lib/HEAD"), "one\n");
    let restored = || repository.restore_git_folder(&pristine).unwrap();
    assert_eq!(restored(), Vec::<String>::new(), "the first look records");
    git(&root, &["status", "--short"]);
    write(git_dir.join("modules/lib/HEAD"), "two\n");
    assert_eq!(restored(), Vec::<String>::new());

    // another commit, a message in place of another, a file that is not listed, settings, an object, a redirected folder
    let parent = git(&root, &["rev-parse", "HEAD~1"]);
    git(&root, &["update-ref", "--no-deref", "HEAD", parent.trim()]);
    git(&root, &["replace", head.as_str(), parent.trim()]);
    git(&root, &["rm", "-q", "--cached", "src/a.txt"]);
    git(&root, &["config", "core.pager", "true"]);
    git(&root, &["hash-object", "-w", "more.txt"]);
    write(root.join("new.txt"), "new\n");
    git(&root, &["hash-object", "-w", "new.txt"]);
    write(git_dir.join("info/exclude"), "*\n");
    fs::remove_file(git_dir.join("hooks/pre-commit")).unwrap();
    fs::set_permissions(git_dir.join("refs"), fs::Permissions::from_mode(0o000)).unwrap();
    let named = restored();
    for name in [
        ".git/HEAD",
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/info/exclude",
        ".git/refs/replace",
    ] {
        assert!(named.iter().any(|path| path == name), "{name}: {named:?}");
    }
    assert_eq!(
        git(&root, &["log", "-1", "--format=%s"]).trim(),
        "BAD message"
    );
    assert!(git(&root, &["ls-files"]).contains("src/a.txt"));
    assert_eq!(restored(), Vec::<String>::new());

    // the folder itself led elsewhere, or gone
    let elsewhere = project.root.with_file_name("elsewhere");
    fs::rename(&git_dir, &elsewhere).unwrap();
    write(elsewhere.join("HEAD"), "evil\n");
    symlink(&elsewhere, &git_dir).unwrap();
    assert!(!restored().is_empty());
    assert!(fs::symlink_metadata(&git_dir).unwrap().is_dir());
    assert_eq!(read(elsewhere.join("HEAD")), "evil\n");
    assert_eq!(
        git(&root, &["log", "-1", "--format=%s"]).trim(),
        "BAD message"
    );
    fs::remove_dir_all(&git_dir).unwrap();
    assert!(!restored().is_empty());
    assert_eq!(
        git(&root, &["log", "-1", "--format=%s"]).trim(),
        "BAD message"
    );
}

#[test]
fn copied_files_are_put_back_although_git_ignores_them() {
    let project = Project::new();
    write(
        project.root.join(".gitignore"),
        ".env\nconf/*.toml\nconf\n*.big\n",
    );
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-q", "-m", "ignore secrets"]);
    write(project.root.join(".env"), "KEY=right\n");
    write(project.root.join("conf/local.toml"), "a = 1\n");
    let repository = project.open_with(RepositoryOptions {
        copy: vec!["conf/*.toml".to_owned()],
        ..RepositoryOptions::default()
    });
    let pristine = checkout(&repository, &project.head("main"));
    repository.copy_into_pristine(&pristine).unwrap();
    let root = pristine.path().to_owned();
    // the set-up may change what was copied: that is what each gate gets
    write(root.join(".env"), "KEY=right\nSET_UP=1\n");
    fs::write(root.join("data.large"), vec![0; 9 * 1024 * 1024]).unwrap();
    let restore = || repository.remove_planted(&pristine).unwrap();
    let nothing = Planted::default();
    assert_eq!(restore(), nothing);

    let env = root.join(".env");
    let outside = project.root.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    write(outside.join("local.toml"), "a = 2\n");
    let attacks: [(&str, &dyn Fn()); 6] = [
        (".env", &|| write(&env, "KEY=wrong\nSET_UP=1\n")),
        (".env", &|| fs::remove_file(&env).unwrap()),
        (".env", &|| {
            fs::remove_file(&env).unwrap();
            symlink("/etc/passwd", &env).unwrap();
        }),
        (".env", &|| {
            fs::remove_file(&env).unwrap();
            write(env.join("deep/file"), "x");
        }),
        (".env", &|| {
            fs::set_permissions(&env, fs::Permissions::from_mode(0o000)).unwrap();
        }),
        ("conf/local.toml", &|| {
            fs::remove_dir_all(root.join("conf")).unwrap();
            symlink(&outside, root.join("conf")).unwrap();
        }),
    ];
    for (number, (path, attack)) in attacks.iter().enumerate() {
        attack();
        let found = restore();
        assert_eq!(found.restored, [*path], "{number}");
        assert_eq!(read(&env), "KEY=right\nSET_UP=1\n", "{number}");
        assert_eq!(read(root.join("conf/local.toml")), "a = 1\n", "{number}");
        assert_eq!(restore(), nothing, "{number}");
    }
    assert_eq!(read(outside.join("local.toml")), "a = 2\n");
    // written with what it held before, it has not changed
    write(&env, "KEY=right\nSET_UP=1\n");
    assert_eq!(restore(), nothing);
    // what the set-up had removed is removed again
    let removed = checkout(&repository, &project.head("main"));
    repository.copy_into_pristine(&removed).unwrap();
    let env = removed.path().join(".env");
    fs::remove_file(&env).unwrap();
    assert_eq!(repository.remove_planted(&removed).unwrap(), nothing);
    write(&env, "KEY=wrong\n");
    assert_eq!(
        repository.remove_planted(&removed).unwrap().restored,
        [".env"]
    );
    assert!(!env.exists());
    drop(removed);
    let pristine = checkout(&repository, &project.head("main"));
    repository.copy_into_pristine(&pristine).unwrap();
    fs::write(root.join("data.large"), vec![0; 9 * 1024 * 1024]).unwrap();
    let restore = || repository.remove_planted(&pristine).unwrap();
    assert_eq!(restore(), nothing);
    // too large to be kept
    write(root.join("data.large"), "x");
    assert_eq!(restore().changed, ["data.large"]);
    assert_eq!(restore(), nothing);
}

#[test]
fn a_checkout_that_was_removed_or_replaced_is_noticed() {
    type Done<'a> = &'a dyn Fn(&Path);

    let project = Project::new();
    let repository = project.open();
    let head = project.head("main");
    let files = |root: &Path| {
        fs::remove_dir_all(root.join("src")).unwrap();
        fs::remove_file(root.join("README.md")).unwrap();
    };
    let moved = |root: &Path| fs::rename(root, root.with_extension("away")).unwrap();
    let cases: [(&str, bool, Done<'_>); 9] = [
        ("nothing", true, &|_| ()),
        ("a file was changed", true, &|root| {
            write(root.join("README.md"), "changed\n");
        }),
        ("some files were removed", true, &|root| {
            fs::remove_dir_all(root.join("src")).unwrap();
        }),
        ("all files were removed", false, &|root| files(root)),
        ("it was removed", false, &|root| {
            fs::remove_dir_all(root).unwrap();
        }),
        ("another one was made in its place", false, &|root| {
            fs::remove_dir_all(root).unwrap();
            fs::create_dir(root).unwrap();
            git(root, &["init", "-q"]);
            write(root.join("README.md"), "hello\n");
        }),
        ("it was moved, and a link leads there", false, &|root| {
            moved(root);
            symlink(root.with_extension("away"), root).unwrap();
        }),
        ("its git folder was removed", false, &|root| {
            fs::remove_dir_all(root.join(".git")).unwrap();
        }),
        ("the folder above was removed", false, &|root| {
            fs::remove_dir_all(root.parent().unwrap()).unwrap();
        }),
    ];
    for (what, is_in_place, done) in cases {
        let pristine = checkout(&repository, &head);
        done(pristine.path());
        let found = pristine.require_in_place();
        if is_in_place {
            assert!(found.is_ok(), "{what}: {found:?}");
        } else {
            assert!(
                matches!(found, Err(WorkspaceError::CheckoutGone { .. })),
                "{what}: {found:?}"
            );
        }
        if pristine.path().is_symlink() {
            fs::remove_file(pristine.path()).unwrap();
        }
    }
}
