//! Commits of submodules: named while nobody else has them, saved before their worktree goes.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::path::{Path, PathBuf};

use symphony_workspace::{
    BranchFate, RemoveRequest, Removed, Repository, WorkspaceError, Worktree,
};

use crate::project::{Project, at, branch, commit_file, git, made, write};

struct Case {
    project: Project,
    repository: Repository,
    worktree: Worktree,
}

/// A worktree with a submodule in which an agent has worked; returns it with the url of the library.
fn with_submodule() -> (Case, Project) {
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
    git(
        worktree.path(),
        &[&allow[..], &["submodule", "update", "-q", "--init"]].concat(),
    );
    let case = Case {
        project,
        repository,
        worktree,
    };
    (case, library)
}

impl Case {
    fn remove(&self) -> Result<Removed, WorkspaceError> {
        self.repository.remove_worktree(&RemoveRequest {
            key: self.worktree.key(),
            branch: self.worktree.branch(),
            base: &branch("main"),
            fate: BranchFate::Keep,
            now: at(9),
        })
    }

    fn unpublished(&self) -> Vec<(String, String)> {
        let head = self.repository.head(&self.worktree).unwrap();
        let base = self.project.head("main");
        let links = self.repository.unpublished_links(&base, &head).unwrap();
        let told = links.into_iter().map(|link| (link.path, link.commit));
        told.collect()
    }
}

#[test]
fn a_link_to_a_commit_that_was_never_published_is_named_until_it_is_pushed() {
    let (case, _library) = with_submodule();
    let lib = case.worktree.path().join("lib");
    assert_eq!(case.unpublished(), []);
    let fix = commit_file(&lib, "fix.txt", "a fix\n");
    git(case.worktree.path(), &["commit", "-qam", "the fix"]);
    let named = [("lib".to_owned(), fix.to_string())];
    assert_eq!(case.unpublished(), named);
    // an emptied checkout hides nothing
    git(
        case.worktree.path(),
        &["submodule", "deinit", "-q", "-f", "lib"],
    );
    assert_eq!(case.unpublished(), named);
    let allow = ["-c", "protocol.file.allow=always"];
    let update = ["submodule", "update", "-q", "--init"];
    git(case.worktree.path(), &[&allow[..], &update].concat());
    let target = "HEAD:refs/heads/symphony/SYM-1";
    git(&lib, &["push", "-q", "origin", target]);
    assert_eq!(case.unpublished(), []);
}

#[test]
fn a_clone_in_the_place_of_a_submodule_is_looked_at_like_one() {
    let (case, library) = with_submodule();
    let worktree = case.worktree.path().to_owned();
    let allow = ["-c", "protocol.file.allow=always"];
    git(&worktree, &["submodule", "deinit", "-q", "-f", "lib"]);
    std::fs::remove_dir_all(git_dir(&worktree).join("modules")).unwrap();
    let url = library.root.to_str().unwrap();
    git(
        &worktree,
        &[&allow[..], &["clone", "-q", url, "lib"]].concat(),
    );
    let fix = commit_file(&worktree.join("lib"), "fix.txt", "a fix\n");
    git(&worktree, &["commit", "-qam", "the fix"]);
    assert_eq!(case.unpublished(), [("lib".to_owned(), fix.to_string())]);
    git(
        &worktree.join("lib"),
        &[&allow[..], &["push", "-q", "origin", "HEAD:refs/heads/fix"]].concat(),
    );
    assert_eq!(case.unpublished(), []);
}

#[test]
fn a_repository_inside_a_submodule_is_work_and_keeps_the_worktree() {
    let (case, _library) = with_submodule();
    let nested = case.worktree.path().join("lib/nested");
    std::fs::create_dir(&nested).unwrap();
    git(&nested, &["init", "-q"]);
    commit_file(&nested, "n.txt", "precious\n");
    let left = case.repository.left_behind(&case.worktree, None).unwrap();
    let paths: Vec<&str> = left.iter().map(|left| left.path.as_str()).collect();
    assert_eq!(paths, ["lib"]);
    let refused = case.remove().unwrap_err();
    assert!(
        matches!(refused, WorkspaceError::RescueFailed { .. }),
        "{refused:?}"
    );
    assert!(nested.join("n.txt").exists());
}

#[test]
fn a_submodule_of_a_submodule_is_looked_at_like_one() {
    let (case, library) = with_submodule();
    let deep = Project::named("deep");
    let allow = ["-c", "protocol.file.allow=always"];
    let lib = case.worktree.path().join("lib");
    let url = deep.root.to_str().unwrap();
    git(
        &lib,
        &[&allow[..], &["submodule", "add", "-q", url, "deep"]].concat(),
    );
    let fix = commit_file(&lib.join("deep"), "fix.txt", "a fix\n");
    git(&lib, &["commit", "-qam", "deeper"]);
    git(
        &lib,
        &[
            &allow[..],
            &["push", "-q", "origin", "HEAD:refs/heads/deeper"],
        ]
        .concat(),
    );
    git(case.worktree.path(), &["commit", "-qam", "the fix"]);
    assert_eq!(
        case.unpublished(),
        [("lib/deep".to_owned(), fix.to_string())]
    );
    git(
        &lib.join("deep"),
        &[&allow[..], &["push", "-q", "origin", "HEAD:refs/heads/fix"]].concat(),
    );
    assert_eq!(case.unpublished(), []);
    drop(library);
}

/// Returns the git folder of a worktree.
fn git_dir(worktree: &Path) -> PathBuf {
    PathBuf::from(git(worktree, &["rev-parse", "--absolute-git-dir"]).trim())
}

#[test]
fn a_submodule_that_leads_to_a_fetched_tag_is_published() {
    let (case, library) = with_submodule();
    git(&library.root, &["checkout", "-q", "--detach"]);
    let release = commit_file(&library.root, "release.txt", "1\n");
    git(&library.root, &["tag", "v1"]);
    let lib = case.worktree.path().join("lib");
    git(&lib, &["fetch", "-q", "--tags"]);
    git(&lib, &["checkout", "-q", release.as_str()]);
    git(case.worktree.path(), &["commit", "-qam", "release 1"]);
    assert_eq!(case.unpublished(), []);
    // a tag of its own publishes nothing
    commit_file(&lib, "mine.txt", "mine\n");
    git(&lib, &["tag", "mine"]);
    git(case.worktree.path(), &["commit", "-qam", "mine"]);
    assert_eq!(case.unpublished().len(), 1);
}

#[test]
fn commits_of_a_submodule_are_saved_before_its_worktree_is_removed() {
    let (case, _library) = with_submodule();
    let lib = case.worktree.path().join("lib");
    git(&lib, &["checkout", "-q", "-b", "aside"]);
    let aside = commit_file(&lib, "aside.txt", "aside\n");
    git(&lib, &["checkout", "-q", "--detach", "origin/main"]);
    let fix = commit_file(&lib, "fix.txt", "a fix\n");
    git(case.worktree.path(), &["commit", "-qam", "the fix"]);
    let removed = case.remove().unwrap();
    let names: Vec<&str> = removed
        .submodules
        .iter()
        .map(|saved| saved.name.as_str())
        .collect();
    assert_eq!(names, ["lib", "lib"]);
    let mut saved: Vec<_> = removed
        .submodules
        .iter()
        .map(|saved| saved.rescue.commit.clone())
        .collect();
    let mut expected = vec![aside, fix.clone()];
    saved.sort();
    expected.sort();
    assert_eq!(saved, expected);
    let root = &case.project.root;
    assert_eq!(git(root, &["show", &format!("{fix}:fix.txt")]), "a fix");
    git(root, &["fsck", "--connectivity-only"]);
    // the link still names what nobody else has
    let (base, head) = (
        case.project.head("main"),
        case.project.head("symphony/SYM-1"),
    );
    let [link] = case
        .repository
        .unpublished_links(&base, &head)
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!((link.commit, link.is_submodule), (fix.to_string(), false));
}

#[test]
fn a_shallow_submodule_with_commits_of_its_own_keeps_its_worktree() {
    let (case, _library) = with_submodule();
    let lib = case.worktree.path().join("lib");
    commit_file(&lib, "fix.txt", "a fix\n");
    git(case.worktree.path(), &["commit", "-qam", "the fix"]);
    let git_dir = git(&lib, &["rev-parse", "--absolute-git-dir"]);
    let parent = git(&lib, &["rev-parse", "origin/main"]);
    write(Path::new(&git_dir).join("shallow"), &format!("{parent}\n"));
    let error = case.remove().unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::RescueFailed { .. }),
        "{error}"
    );
    assert!(case.worktree.path().exists());
}
