//! Commits of an agent's own git folder come into the project, and nothing else of that folder does.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use symphony_workspace::{Imported, Repository, WorkspaceError, WorktreeKey};

use crate::project::{Project, commit_file, executable, git, git_in, write};

fn key() -> WorktreeKey {
    WorktreeKey::of("SYM-1")
}

/// The refs of what was imported.
const IMPORTED: &str = "refs/symphony/runs/SYM-1";

/// A project, an agent's clone of it that borrows its objects, and another repository with a secret.
struct Places {
    project: Project,
    repository: Repository,
    folder: tempfile::TempDir,
}

impl Places {
    fn new() -> Self {
        let project = Project::new();
        let repository = project.open();
        let folder = crate::project::plain_folder();
        let places = Self {
            project,
            repository,
            folder,
        };
        git(
            places.folder.path(),
            &[
                "clone",
                "-q",
                "--shared",
                places.project.root.to_str().expect("the path is text"),
                "clone",
            ],
        );
        git(places.folder.path(), &["init", "-q", "-b", "main", "other"]);
        commit_file(&places.other(), "secret.txt", "TOP SECRET\n");
        places
    }

    fn clone(&self) -> PathBuf {
        self.folder.path().join("clone")
    }

    fn git_folder(&self) -> PathBuf {
        self.clone().join(".git")
    }

    fn other(&self) -> PathBuf {
        self.folder.path().join("other")
    }

    fn import(&self) -> Result<Imported, WorkspaceError> {
        let imported = self.repository.import(&self.clone(), &key(), None);
        let waiting = self.project.root.join(".git/symphony-imports");
        let left = fs::read_dir(waiting).map_or(0, Iterator::count);
        assert_eq!(left, 0, "nothing is left of an import");
        imported
    }

    fn refused(&self, words: &str) {
        let error = self.import().expect_err("it is refused").to_string();
        assert!(error.contains(words), "{error}");
        let kept = git(&self.project.root, &["for-each-ref", IMPORTED]);
        assert_eq!(kept, "", "nothing came in");
    }

    /// The head is not complete, or not what git takes.
    fn left_out(&self) {
        let imported = self.import().expect("the folder can be read");
        assert_eq!(imported.head, None);
        assert!(
            imported.left_out.contains(&"HEAD".to_owned()),
            "{imported:?}"
        );
        let kept = git(&self.project.root, &["for-each-ref", IMPORTED]);
        assert!(!kept.contains("/head/"), "{kept}");
    }

    fn has(&self, reference: &str) -> bool {
        git_in(
            &self.project.root,
            &["rev-parse", "--verify", "-q", reference],
        )
        .status
        .success()
    }

    fn shows(&self, object: &str) -> String {
        git(&self.project.root, &["cat-file", "-p", object])
    }
}

#[test]
fn the_head_and_all_that_it_needs_come_in() {
    let places = Places::new();
    let first = commit_file(&places.clone(), "work.txt", "work\n");
    let imported = places.import().unwrap();
    assert_eq!(imported.head, Some(first.clone()));
    assert_eq!(imported.branch.as_deref(), Some("refs/heads/main"));
    assert!(imported.others.is_empty());
    let kept = format!("{IMPORTED}/head/{first}");
    assert_eq!(places.shows(&format!("{kept}:work.txt")), "work");
    git(&places.project.root, &["fsck", "--full", "--strict"]);
    // the objects are the project's own now
    let second = commit_file(&places.clone(), "more.txt", "more\n");
    git(&places.clone(), &["repack", "-qad"]);
    git(&places.clone(), &["pack-refs", "--all"]);
    assert_eq!(places.import().unwrap().head, Some(second.clone()));
    fs::remove_dir_all(places.clone()).unwrap();
    assert_eq!(places.shows(&format!("{second}:more.txt")), "more");
    git(&places.project.root, &["fsck", "--full", "--strict"]);
    // and no other ref moved
    let branches = git(
        &places.project.root,
        &["for-each-ref", "--format=%(refname)", "refs/heads"],
    );
    assert_eq!(branches, "refs/heads/main");
}

#[test]
fn a_detached_head_other_branches_and_the_stash_are_kept() {
    let places = Places::new();
    let clone = places.clone();
    git(&clone, &["checkout", "-qb", "idea/one"]);
    let idea = commit_file(&clone, "idea.txt", "idea\n");
    write(clone.join("idea.txt"), "half an idea\n");
    git(&clone, &["stash", "-q"]);
    git(&clone, &["checkout", "-q", "--detach", "main"]);
    let head = commit_file(&clone, "work.txt", "work\n");
    let imported = places.import().unwrap();
    assert_eq!((imported.head, imported.branch), (Some(head), None));
    let names: Vec<&str> = imported
        .others
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["refs/heads/idea/one", "refs/stash"]);
    let [(_, branch), (_, stash)] = imported.others.as_slice() else {
        panic!("{:?}", imported.others);
    };
    assert_eq!(branch, &idea);
    let stash = format!("{IMPORTED}/stash/{stash}:idea.txt");
    assert_eq!(places.shows(&stash), "half an idea");
    places.repository.forget_imported(&key()).unwrap();
    assert!(!places.has(&format!("{IMPORTED}/branch/{idea}")));
}

#[test]
fn a_clone_without_a_commit_brings_nothing() {
    let places = Places::new();
    let head = git(&places.project.root, &["rev-parse", "HEAD"]);
    assert_eq!(places.import().unwrap().head.unwrap().as_str(), head);
    let kept = git(&places.project.root, &["for-each-ref", IMPORTED]);
    assert_eq!(kept, "", "there is nothing to fetch");
}

#[test]
fn a_shallow_project_gets_its_commits_too() {
    let origin = Project::new();
    commit_file(&origin.root, "a.txt", "second\n");
    let folder = crate::project::plain_folder();
    let url = format!("file://{}", origin.root.display());
    git(
        folder.path(),
        &["clone", "-q", "--depth", "1", &url, "shallow"],
    );
    let shallow = folder.path().join("shallow");
    let repository =
        Repository::open(&shallow, symphony_workspace::RepositoryOptions::default()).unwrap();
    let clone = folder.path().join("clone");
    git(
        folder.path(),
        &[
            "clone",
            "-q",
            &format!("file://{}", shallow.display()),
            "clone",
        ],
    );
    let head = commit_file(&clone, "work.txt", "work\n");
    assert_eq!(
        repository.import(&clone, &key(), None).unwrap().head,
        Some(head)
    );
    git(&shallow, &["fsck", "--full"]);
}

/// Whatever the clone's configuration and hooks name is not run.
#[test]
fn nothing_of_the_clone_is_executed() {
    let places = Places::new();
    let head = commit_file(&places.clone(), "work.txt", "work\n");
    let hit = places.folder.path().join("hit");
    let program = places.folder.path().join("evil");
    executable(
        &program,
        &format!("#!/bin/sh\ntouch {}\nexec \"$@\"\n", hit.display()),
    );
    let clone = places.clone();
    let evil = program.to_str().unwrap();
    let hooks = places.folder.path().join("hooks");
    for hook in [
        "post-checkout",
        "post-upload-pack",
        "pre-receive",
        "reference-transaction",
        "update",
        "pre-auto-gc",
    ] {
        fs::create_dir_all(&hooks).unwrap();
        fs::copy(&program, hooks.join(hook)).unwrap();
        fs::copy(&program, places.git_folder().join("hooks").join(hook)).unwrap();
    }
    let plant = |settings: &[(&str, &str)]| {
        for (key, value) in settings {
            git(&clone, &["config", key, value]);
        }
    };
    plant(&[
        ("core.fsmonitor", evil),
        ("uploadpack.packObjectsHook", evil),
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("core.alternateRefsCommand", evil),
        ("core.sshCommand", evil),
        ("core.pager", evil),
        ("core.gitProxy", evil),
        ("protocol.ext.allow", "always"),
    ]);
    // it works: a plain look at the clone runs it
    git_in(&clone, &["status"]);
    fs::remove_file(&hit).unwrap();
    plant(&[
        ("remote.evil.promisor", "true"),
        ("remote.evil.url", "ext::sh -c touch% hit"),
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "evil"),
    ]);
    // even a configuration that git cannot read
    let config = places.git_folder().join("config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text + "[include]\n\tpath = /dev/stdin\n[\n").unwrap();
    assert_eq!(places.import().unwrap().head, Some(head.clone()));
    assert!(!hit.exists());
}

#[test]
fn objects_of_another_repository_do_not_come_in() {
    let secret = |places: &Places| git(&places.other(), &["rev-parse", "HEAD"]);
    // by alternates of the clone
    let places = Places::new();
    let alternates = places.git_folder().join("objects/info/alternates");
    let mut text = fs::read_to_string(&alternates).unwrap();
    text.push_str(places.other().join(".git/objects").to_str().unwrap());
    fs::write(&alternates, text + "\n").unwrap();
    let tree = git(&places.other(), &["rev-parse", "HEAD^{tree}"]);
    let stolen = git(
        &places.clone(),
        &["commit-tree", "-p", "HEAD", "-m", "steal", &tree],
    );
    git(&places.clone(), &["update-ref", "HEAD", &stolen]);
    places.left_out();
    assert!(
        !git_in(&places.project.root, &["cat-file", "-e", &tree])
            .status
            .success()
    );

    // by a git folder that is a link
    let places = Places::new();
    fs::remove_dir_all(places.git_folder()).unwrap();
    symlink(places.other().join(".git"), places.git_folder()).unwrap();
    places.refused("a link is in its git folder");

    // by objects that are a link, as a folder and as a file
    let places = Places::new();
    let commit = secret(&places);
    fs::write(places.git_folder().join("refs/heads/main"), &commit).unwrap();
    let (two, rest) = commit.split_at(2);
    let objects = places.git_folder().join("objects");
    fs::create_dir_all(objects.join(two)).unwrap();
    symlink(
        places.other().join(".git/objects").join(two).join(rest),
        objects.join(two).join(rest),
    )
    .unwrap();
    places.refused("a link is in its git folder");
    fs::remove_dir_all(objects.join(two)).unwrap();
    symlink(
        places.other().join(".git/objects").join(two),
        objects.join(two),
    )
    .unwrap();
    places.refused("a link is in its git folder");

    // by a git folder that is a file, which names another
    let places = Places::new();
    fs::remove_dir_all(places.git_folder()).unwrap();
    let text = format!("gitdir: {}/.git\n", places.other().display());
    fs::write(places.git_folder(), text).unwrap();
    places.refused("its git folder");
}

#[test]
fn refs_that_are_no_refs_are_refused_and_nothing_waits() {
    let pipe = |path: &Path| {
        fs::remove_file(path).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
    };
    for (what, words) in [
        ("pipe", "not a file"),
        ("outside", "`HEAD` is not a ref"),
        ("circle", "too many names"),
        ("long", "larger than 8 MiB"),
        ("folder", "not a file"),
        ("link", "a link is in its git folder"),
    ] {
        let places = Places::new();
        let head = places.git_folder().join("HEAD");
        match what {
            "pipe" => pipe(&head),
            "outside" => fs::write(&head, "ref: ../../../etc/passwd\n").unwrap(),
            "circle" => {
                fs::write(&head, "ref: refs/heads/a\n").unwrap();
                fs::write(
                    places.git_folder().join("refs/heads/a"),
                    "ref: refs/heads/a\n",
                )
                .unwrap();
            }
            "long" => fs::write(&head, " ".repeat(9 << 20)).unwrap(),
            "folder" => {
                fs::remove_file(&head).unwrap();
                fs::create_dir(&head).unwrap();
            }
            _ => {
                fs::remove_file(&head).unwrap();
                symlink("/etc/passwd", &head).unwrap();
            }
        }
        places.refused(words);
    }
}

#[test]
fn objects_that_git_would_not_take_are_refused() {
    // a tree that would be a git folder in a checkout
    let places = Places::new();
    let clone = places.clone();
    commit_file(&clone, "w", "w\n");
    let run = |script: &str| {
        let out = git_in(&clone, &["-c", &format!("alias.x=!{script}"), "x"]);
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    let blob = git(&clone, &["rev-parse", "HEAD:w"]);
    let inner = run(&format!(
        "printf '100644 blob {blob}\\tconfig\\n' | git mktree"
    ));
    let tree = run(&format!(
        "printf '040000 tree {inner}\\t.GIT\\n' | git mktree"
    ));
    let commit = git(&clone, &["commit-tree", "-p", "HEAD", "-m", "x", &tree]);
    git(&clone, &["update-ref", "HEAD", &commit]);
    places.left_out();

    // a missing object
    let places = Places::new();
    commit_file(&places.clone(), "w", "w\n");
    let blob = git(&places.clone(), &["rev-parse", "HEAD:w"]);
    let (two, rest) = blob.split_at(2);
    fs::remove_file(places.git_folder().join("objects").join(two).join(rest)).unwrap();
    places.left_out();

    // an object with the contents of another
    let places = Places::new();
    commit_file(&places.clone(), "w", "w\n");
    let wrong = git(&places.clone(), &["hash-object", "-w", "--stdin"]);
    let object = |id: &str| {
        let (two, rest) = id.split_at(2);
        places.git_folder().join("objects").join(two).join(rest)
    };
    let blob = git(&places.clone(), &["rev-parse", "HEAD:w"]);
    fs::set_permissions(object(&blob), fs::Permissions::from_mode(0o644)).unwrap();
    fs::copy(object(&wrong), object(&blob)).unwrap();
    places.left_out();

    // an object that is a pipe: the import must not wait for a writer
    let places = Places::new();
    commit_file(&places.clone(), "w", "w\n");
    let folder = places.git_folder().join("objects/ab");
    fs::create_dir_all(&folder).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("0123456789abcdef0123456789abcdef012345"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    places.refused("not a file");
}

#[test]
fn many_refs_are_looked_at_in_part() {
    let places = Places::new();
    let head = commit_file(&places.clone(), "w", "w\n");
    let folder = places.git_folder().join("refs/heads/many");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..3_000 {
        fs::write(folder.join(number.to_string()), format!("{head}\n")).unwrap();
    }
    assert_eq!(places.import().unwrap().head, Some(head.clone()));
}

#[test]
fn a_ref_that_is_broken_does_not_cost_the_work() {
    let places = Places::new();
    let clone = places.clone();
    git(&clone, &["checkout", "-qb", "whole"]);
    let whole = commit_file(&clone, "whole", "whole\n");
    git(&clone, &["checkout", "-q", "main"]);
    let head = commit_file(&clone, "w", "w\n");
    let heads = places.git_folder().join("refs/heads");
    fs::write(heads.join("garbage"), "garbage\n").unwrap();
    fs::write(
        heads.join("missing"),
        "0123456789abcdef0123456789abcdef01234567\n",
    )
    .unwrap();
    fs::write(heads.join("a b:c"), format!("{whole}\n")).unwrap();
    let imported = places.import().unwrap();
    assert_eq!(imported.head, Some(head));
    assert_eq!(imported.others, [("refs/heads/whole".to_owned(), whole)]);
    assert_eq!(
        imported.left_out,
        ["refs/heads/garbage", "refs/heads/missing"]
    );
}

/// A file of nothing can say that it has gigabytes; a small object can be one of gigabytes.
#[test]
fn what_is_small_on_the_disk_takes_little_space_and_memory() {
    let places = Places::new();
    commit_file(&places.clone(), "w", "w\n");
    let packs = places.git_folder().join("objects/pack");
    let name = packs.join(format!("pack-{}", "a".repeat(40)));
    let sparse = |end: &str| {
        let file = fs::File::create(name.with_extension(end)).unwrap();
        file.set_len(1 << 30).unwrap();
    };
    sparse("idx");
    sparse("pack");
    places.refused("much larger than it is");
    // git does not look into a pack without an index, so it is not even copied
    fs::remove_file(name.with_extension("idx")).unwrap();
    places.import().unwrap();
}
