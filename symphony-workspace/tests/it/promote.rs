//! The branch of an issue moves to what a run on another host made: by compare-and-swap, and without losing anything.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;

use symphony_core::id::RunId;
use symphony_workspace::{
    BranchName, CommitId, PromoteRequest, Promotion, Pushed, WorkspaceError, WorktreeKey,
    result_reference,
};

use crate::project::{Project, at, branch, git, made, write};

fn environment() -> BTreeMap<OsString, OsString> {
    std::env::vars_os()
        .filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_"))
        .collect()
}

/// Makes a commit that no branch has.
fn loose(project: &Project, parent: &str, message: &str) -> CommitId {
    let tree = format!("{parent}^{{tree}}");
    let made = git(
        &project.root,
        &["commit-tree", "-m", message, "-p", parent, &tree],
    );
    CommitId::parse(made.trim()).unwrap()
}

fn promote(
    project: &Project,
    start: Option<&CommitId>,
    commit: &CommitId,
) -> Result<Promotion, WorkspaceError> {
    let repository = project.open();
    let base = repository.base().unwrap();
    repository.promote(&PromoteRequest {
        key: &WorktreeKey::of("SYM-1"),
        branch: &own(),
        base: &base.branch,
        start,
        commit,
        now: at(10),
    })
}

fn own() -> BranchName {
    branch("symphony/SYM-1")
}

fn moved() -> Promotion {
    Promotion::Moved {
        rescues: Vec::new(),
    }
}

#[test]
fn a_branch_moves_from_where_the_run_found_it_only() {
    let project = Project::new();
    let head = || project.open().branch_head(&own()).unwrap();
    let first = loose(&project, "HEAD", "first");
    assert_eq!(promote(&project, None, &first).unwrap(), moved());
    assert_eq!(head().as_ref(), Some(&first));
    assert_eq!(promote(&project, None, &first).unwrap(), Promotion::Before);
    let second = loose(&project, first.as_str(), "second");
    let other = loose(&project, first.as_str(), "other");
    for start in [None, Some(&other)] {
        let found = Some(first.clone());
        let elsewhere = Promotion::Elsewhere { found };
        assert_eq!(
            promote(&project, start, &second).unwrap(),
            elsewhere,
            "{start:?}"
        );
        assert_eq!(head().as_ref(), Some(&first));
    }
    assert_eq!(promote(&project, Some(&first), &second).unwrap(), moved());
    // the branch has gone on meanwhile, with the result in it
    assert_eq!(promote(&project, None, &first).unwrap(), Promotion::Before);
    // what is not here cannot be brought in
    let missing = CommitId::parse(&"1".repeat(40)).unwrap();
    let error = promote(&project, Some(&second), &missing).unwrap_err();
    assert!(
        matches!(error, WorkspaceError::CommitMissing { .. }),
        "{error:?}"
    );
    assert_eq!(head().as_ref(), Some(&second));
}

#[test]
fn a_worktree_of_an_earlier_run_makes_room_and_its_work_is_saved() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let folder = worktree.path().to_owned();
    write(folder.join("left.txt"), "not committed\n");
    let start = repository.branch_head(&own()).unwrap();
    let result = loose(&project, "HEAD", "result");
    let promotion = promote(&project, start.as_ref(), &result).unwrap();
    let Promotion::Moved { rescues } = promotion else {
        panic!("{promotion:?}");
    };
    assert_eq!(rescues.len(), 1, "{rescues:?}");
    assert!(!folder.exists(), "its files were those of the old commit");
    assert_eq!(repository.branch_head(&own()).unwrap(), Some(result));
}

#[test]
fn a_hub_that_is_another_repository_gives_results_and_gets_branches() {
    let (project, hub) = (Project::new(), Project::new());
    let repository = project.open();
    let address = hub.root.to_str().unwrap().to_owned();
    let run = RunId::parse("run-1").unwrap();
    let fetched = repository.fetch_result(&address, &environment(), &run);
    assert_eq!(fetched.unwrap(), None, "the hub has no result");
    let result = loose(&hub, "HEAD", "result");
    git(
        &hub.root,
        &["update-ref", &result_reference(&run), result.as_str()],
    );
    let fetched = repository.fetch_result(&address, &environment(), &run);
    assert_eq!(fetched.unwrap(), Some(result.clone()));
    assert_eq!(promote(&project, None, &result).unwrap(), moved());
    for _ in 0..2 {
        let pushed = repository.publish_to_hub(&address, &environment(), &own(), &result);
        assert_eq!(pushed.unwrap(), Pushed::Done);
    }
    assert_eq!(hub.open().branch_head(&own()).unwrap(), Some(result));

    let shared = tempfile::tempdir().unwrap();
    let bare = shared.path().join("hub.git");
    let bare = bare.to_str().unwrap();
    git(&project.root, &["clone", "-q", "--bare", ".", bare]);
    git(
        &project.root,
        &["commit", "-q", "--allow-empty", "-m", "more"],
    );
    let base = repository.base().unwrap();
    let publish = || {
        repository
            .publish_base(bare, &environment(), &base)
            .unwrap()
    };
    assert_eq!(publish(), Some(Pushed::Done));
    assert_eq!(publish(), None, "nothing is asked again");
}
