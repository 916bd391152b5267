//! Pushing to a remote and fetching from it, with a real repository on the other side.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use symphony_workspace::{CommitId, NoAnswer, Pushed, Remote, Repository, WorkspaceError};

use crate::project::{Project, branch, commit_file, git, made};

/// A project with a bare repository as its remote `origin`.
struct Site {
    project: Project,
    repository: Repository,
    bare: PathBuf,
    environment: BTreeMap<OsString, OsString>,
}

impl Site {
    fn new() -> Self {
        let project = Project::new();
        let bare = project.root.parent().unwrap().join("bare.git");
        let bare_text = bare.to_str().unwrap().to_owned();
        git(
            &project.root,
            &["init", "--quiet", "--bare", "-b", "main", &bare_text],
        );
        git(&project.root, &["remote", "add", "origin", &bare_text]);
        git(&project.root, &["push", "--quiet", "origin", "main"]);
        let repository = project.open();
        let environment = std::env::vars_os()
            .filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_"))
            .collect();
        Self {
            project,
            repository,
            bare,
            environment,
        }
    }

    fn remote(&self) -> Remote<'_> {
        Remote::new(&self.repository, "origin", &self.environment)
    }

    fn at(&self, name: &str) -> Option<CommitId> {
        self.remote().head(&branch(name)).unwrap()
    }
}

#[test]
fn a_branch_is_pushed_if_it_is_where_it_was_found() {
    let site = Site::new();
    let worktree = made(&site.repository);
    let first = commit_file(worktree.path(), "a.txt", "a\n");
    let name = branch("symphony/SYM-1");
    assert_eq!(site.at("symphony/SYM-1"), None);
    assert_eq!(
        site.remote().push(&first, &name, None).unwrap(),
        Pushed::Done
    );
    assert_eq!(site.at("symphony/SYM-1"), Some(first.clone()));
    // a second push over nothing finds something there
    let second = commit_file(worktree.path(), "b.txt", "b\n");
    assert_eq!(
        site.remote().push(&second, &name, None).unwrap(),
        Pushed::Moved
    );
    assert_eq!(site.at("symphony/SYM-1"), Some(first.clone()));
    assert_eq!(
        site.remote().push(&second, &name, Some(&first)).unwrap(),
        Pushed::Done
    );
    // history may be rewritten, but not that of others
    let base = site.project.head("main");
    assert_eq!(
        site.remote().push(&base, &name, Some(&first)).unwrap(),
        Pushed::Moved
    );
    assert_eq!(
        site.remote().push(&base, &name, Some(&second)).unwrap(),
        Pushed::Done
    );
    assert_eq!(site.at("symphony/SYM-1"), Some(base));
}

#[test]
fn a_base_is_only_ever_advanced() {
    let site = Site::new();
    let before = site.project.head("main");
    let after = commit_file(&site.project.root, "a.txt", "a\n");
    let name = branch("main");
    assert_eq!(site.remote().advance(&after, &name).unwrap(), Pushed::Done);
    assert_eq!(
        site.remote().advance(&before, &name).unwrap(),
        Pushed::Moved
    );
    assert_eq!(site.at("main"), Some(after));
}

#[test]
fn a_refused_push_has_the_words_of_the_remote() {
    let site = Site::new();
    let hook = site.bare.join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(
        &hook,
        "#!/bin/sh\necho 'no pushes on Fridays' >&2\nexit 1\n",
    )
    .unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let after = commit_file(&site.project.root, "a.txt", "a\n");
    let answer = site.remote().advance(&after, &branch("main")).unwrap();
    let Pushed::Refused { detail } = answer else {
        panic!("{answer:?}");
    };
    assert!(detail.contains("hook declined"), "{detail}");
}

#[test]
fn what_is_fetched_moves_no_branch_of_the_user() {
    let site = Site::new();
    let other = site.project.root.parent().unwrap().join("other");
    let (bare, other_text) = (site.bare.to_str().unwrap(), other.to_str().unwrap());
    git(&site.project.root, &["clone", "--quiet", bare, other_text]);
    let theirs = commit_file(&other, "theirs.txt", "theirs\n");
    git(&other, &["tag", "v1"]);
    git(&other, &["push", "--quiet", "--tags", "origin", "main"]);
    let before = git(
        &site.project.root,
        &["for-each-ref", "refs/heads", "refs/tags", "refs/remotes"],
    );
    assert_eq!(site.remote().fetch(&branch("main")).unwrap(), theirs);
    let after = git(
        &site.project.root,
        &["for-each-ref", "refs/heads", "refs/tags", "refs/remotes"],
    );
    assert_eq!(before, after);
    assert!(site.repository.has_commit(&theirs).unwrap());
    assert!(!site.project.root.join(".git/FETCH_HEAD").exists());
}

#[test]
fn no_hook_of_the_repository_runs() {
    let site = Site::new();
    let hook = site.project.root.join(".git/hooks/pre-push");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntouch ran\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let after = commit_file(&site.project.root, "a.txt", "a\n");
    let answer = site.remote().advance(&after, &branch("main")).unwrap();
    assert_eq!(answer, Pushed::Done);
    assert!(!site.project.root.join("ran").exists());
    assert!(!site.project.root.join(".git/ran").exists());
}

#[test]
fn silence_says_why() {
    let site = Site::new();
    let missing = Remote::new(&site.repository, "upstream", &site.environment);
    let error = missing.address().unwrap_err();
    assert!(matches!(error, WorkspaceError::NoRemote { .. }), "{error}");
    let error = site.remote().fetch(&branch("gone")).unwrap_err();
    assert!(
        matches!(
            &error,
            WorkspaceError::RemoteSilent {
                why: NoAnswer::Missing,
                ..
            }
        ),
        "{error}"
    );
    // a port on which no one listens
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .unwrap()
        .port();
    let address = format!("https://ada:secret@127.0.0.1:{port}/acme/web.git");
    git(
        &site.project.root,
        &["remote", "set-url", "origin", &address],
    );
    let error = site.remote().head(&branch("main")).unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(
            &error,
            WorkspaceError::RemoteSilent {
                why: NoAnswer::Unreachable,
                ..
            }
        ),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}
