//! Clones of a hub on two hosts: brought up to date for each run, without touching the work of others.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use symphony_core::id::RunId;
use symphony_workspace::{
    BaseMerge, BranchName, CommitId, HubClone, HubUpdate, Pushed, Repository, RepositoryOptions,
    RunRef, UpdatedClone, WorkspaceError, Worktree, WorktreeKey, WorktreeRequest, result_reference,
    saved_reference,
};

use crate::project::{Project, at, branch, commit_file, git, read, write};

/// The control's repository, and the clones of hosts beside it.
struct Hub {
    control: Project,
    folder: tempfile::TempDir,
}

/// A host's clone.
struct Host {
    root: PathBuf,
    clone: HubClone,
}

impl Hub {
    fn new() -> Self {
        Self {
            control: Project::new(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn host(&self, name: &str) -> Host {
        self.host_of(name, &self.control.root)
    }

    /// A host of another hub.
    fn host_of(&self, name: &str, address: &Path) -> Host {
        self.host_with(name, address, &[])
    }

    /// A host of another hub, whose user has these variables.
    fn host_with(&self, name: &str, address: &Path, more: &[(&str, &Path)]) -> Host {
        let root = self.folder.path().canonicalize().unwrap().join(name);
        let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os()
            .filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_"))
            .collect();
        environment.extend(
            more.iter()
                .map(|(name, value)| ((*name).into(), (*value).into())),
        );
        let clone = HubClone::open(&root, options(), address.to_str().unwrap(), &environment);
        Host {
            root,
            clone: clone.unwrap(),
        }
    }

    fn at(&self, reference: &str) -> Option<CommitId> {
        let listed = git(
            &self.control.root,
            &["for-each-ref", "--format=%(objectname)", reference],
        );
        listed
            .lines()
            .next()
            .map(|line| CommitId::parse(line).unwrap())
    }
}

fn options() -> RepositoryOptions {
    RepositoryOptions {
        workspaces_dir: PathBuf::from(".symphony-workspaces"),
        ..RepositoryOptions::default()
    }
}

fn key() -> WorktreeKey {
    WorktreeKey::of("SYM-1")
}

fn own() -> BranchName {
    branch("symphony/SYM-1")
}

fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

impl Host {
    fn try_update(&self, result_of: Option<RunId>) -> Result<UpdatedClone, WorkspaceError> {
        self.clone.update(&HubUpdate {
            issue: Some((key(), own())),
            has_saved: true,
            result_of,
            now: at(1),
        })
    }

    fn update(&self) -> UpdatedClone {
        self.try_update(None).unwrap()
    }

    fn repository(&self) -> Repository {
        Repository::open(&self.root, options()).unwrap()
    }

    /// Makes the worktree of the issue.
    fn worktree(&self) -> Worktree {
        let prepared = self.repository().prepare_worktree(&WorktreeRequest {
            key: &key(),
            branch: &own(),
            base: &branch("main"),
            merge: BaseMerge::Leave,
            now: at(2),
        });
        prepared.unwrap().worktree
    }

    /// Makes the worktree of the issue, and commits a file there.
    fn work(&self, file: &str) -> (PathBuf, CommitId) {
        let path = self.worktree().path().to_owned();
        let commit = commit_file(&path, file, "work\n");
        (path, commit)
    }
}

#[test]
fn a_clone_begins_empty_and_follows_the_base() {
    let hub = Hub::new();
    let host = hub.host("h1");
    let first = host.update();
    assert_eq!(first.base.branch, branch("main"));
    assert_eq!(first.base.commit, hub.control.head("main"));
    assert_eq!((first.start, first.rescues), (None, Vec::new()));
    assert!(host.root.join("README.md").is_file());
    // a person goes on, renames a branch to a folder's name, and tags
    let root = &hub.control.root;
    git(root, &["branch", "topic"]);
    host.update();
    git(root, &["branch", "-D", "topic"]);
    git(root, &["branch", "topic/one"]);
    git(root, &["tag", "v1"]);
    let moved = commit_file(root, "more.txt", "more\n");
    assert_eq!(host.update().base.commit, moved);
    assert_eq!(read(host.root.join("more.txt")), "more\n");
    let branches = host.repository().branches().unwrap();
    assert_eq!(branches, ["main", "topic/one"]);
    assert_eq!(git(&host.root, &["tag"]), "v1");
    assert_eq!(git(&host.root, &["status", "--porcelain"]), "");
}

#[test]
fn a_result_has_a_ref_of_its_own_that_only_its_run_moves() {
    let hub = Hub::new();
    let host = hub.host("h1");
    host.update();
    let (path, first) = host.work("a.txt");
    let one = run("run-1");
    assert_eq!(host.clone.result_of(&one).unwrap(), None);
    assert_eq!(
        host.clone.push_result(&one, &first, None).unwrap(),
        Pushed::Done
    );
    assert_eq!(hub.at(&result_reference(&one)), Some(first.clone()));
    let second = commit_file(&path, "b.txt", "b\n");
    // another supervisor of the run has not seen the first push
    assert_eq!(
        host.clone.push_result(&one, &second, None).unwrap(),
        Pushed::Moved
    );
    let known = host.clone.result_of(&one).unwrap();
    assert_eq!(known, Some(first));
    let pushed = host
        .clone
        .push_result(&one, &second, known.as_ref())
        .unwrap();
    assert_eq!(pushed, Pushed::Done);
    assert_eq!(hub.at(&result_reference(&one)), Some(second.clone()));
    assert_eq!(
        hub.at("refs/heads/symphony/SYM-1"),
        None,
        "the control decides about branches"
    );
    // gates on another host find it before the control has moved the branch
    let other = hub.host("h2");
    other.try_update(Some(one)).unwrap();
    assert!(other.repository().has_commit(&second).unwrap());
    assert_eq!(other.try_update(Some(run("none"))).unwrap().start, None);
}

#[test]
fn what_is_saved_has_everything_and_counts_for_nothing() {
    let hub = Hub::new();
    let (host, other) = (hub.host("h1"), hub.host("h2"));
    host.update();
    let (path, _head) = host.work("one.txt");
    for (name, stage) in [("staged.txt", true), ("loose.txt", false)] {
        std::fs::write(path.join(name), "not committed\n").unwrap();
        if stage {
            git(&path, &["add", name]);
        }
    }
    let index = PathBuf::from(git(
        &path,
        &["rev-parse", "--path-format=absolute", "--git-path", "index"],
    ));
    let before = (
        std::fs::read(&index).unwrap(),
        git(&path, &["rev-parse", "HEAD"]),
    );
    let (repository, worktree) = (host.repository(), host.worktree());
    let first = repository.save_point(&worktree).unwrap();
    assert_eq!(
        (
            std::fs::read(&index).unwrap(),
            git(&path, &["rev-parse", "HEAD"])
        ),
        before,
        "the agent notices nothing"
    );
    let (run, reference) = (run("r1"), saved_reference(&key(), &run("r1")));
    let push = |commit, over| host.clone.push_saved(&key(), &run, commit, over).unwrap();
    assert_eq!(push(&first, None), Pushed::Done);
    let files = git(&hub.control.root, &["ls-tree", "--name-only", &reference]);
    for name in ["one.txt", "staged.txt", "loose.txt"] {
        assert!(files.lines().any(|line| line == name), "{files}");
    }
    // replaced by the next one, though neither has the other
    std::fs::remove_file(path.join("loose.txt")).unwrap();
    let second = repository.save_point(&worktree).unwrap();
    assert_eq!(push(&second, None), Pushed::Moved);
    assert_eq!(push(&second, Some(&first)), Pushed::Done);
    assert_eq!(host.clone.result_of(&run).unwrap(), None);
    // the next run on the issue can look at it, on whatever host
    assert_eq!(other.update().start, None);
    let fetched = |host: &Host| host.repository().saved_here(&key(), &run).unwrap();
    assert_eq!(fetched(&other), Some(second.clone()));
    let forget = |at| host.clone.forget_saved(&key(), &run, at).unwrap();
    assert_eq!(forget(&first), Pushed::Moved);
    assert_eq!(forget(&second), Pushed::Done);
    other.update();
    assert_eq!(fetched(&other), None);
}

#[test]
fn refs_of_runs_are_listed_and_removed_at_the_hub_and_from_elsewhere() {
    let hub = Hub::new();
    let host = hub.host("h1");
    host.update();
    let (_path, commit) = host.work("one.txt");
    let environment: BTreeMap<OsString, OsString> = std::env::vars_os()
        .filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_"))
        .collect();
    let address = hub.control.root.to_str().unwrap();
    let own = Repository::open(&hub.control.root, options()).unwrap();
    let elsewhere = host.repository();
    for (repository, other) in [(&own, None), (&elsewhere, Some((address, &environment)))] {
        host.clone.push_result(&run("r1"), &commit, None).unwrap();
        host.clone
            .push_saved(&key(), &run("r2"), &commit, None)
            .unwrap();
        let found = repository.refs_of_runs(other).unwrap();
        let runs: Vec<&str> = found.iter().map(RunRef::run).collect();
        assert_eq!(runs, ["r1", "r2"]);
        // one that has moved meanwhile stays
        let moved = RunRef {
            commit: hub.control.head("main"),
            ..found[0].clone()
        };
        repository.remove_ref_of_run(other, &moved).unwrap_err();
        for found in &found {
            repository.remove_ref_of_run(other, found).unwrap();
        }
        assert_eq!(repository.refs_of_runs(other).unwrap(), []);
    }
}

#[test]
fn a_worktree_stays_while_its_branch_is_as_at_the_hub() {
    let hub = Hub::new();
    let host = hub.host("h1");
    host.update();
    let (path, commit) = host.work("a.txt");
    let one = run("run-1");
    host.clone.push_result(&one, &commit, None).unwrap();
    git(
        &hub.control.root,
        &["branch", "symphony/SYM-1", commit.as_str()],
    );
    write(path.join("built.txt"), "warm\n");
    let again = host.update();
    assert_eq!(again.start, Some(commit.clone()));
    assert_eq!(again.rescues, Vec::new());
    assert_eq!(read(path.join("built.txt")), "warm\n");
    // another host goes on from there
    let other = hub.host("h2");
    assert_eq!(other.update().start, Some(commit));
    assert!(other.work("b.txt").0.join("a.txt").is_file());
}

#[test]
fn work_of_a_lost_run_is_kept_aside_and_never_built_on() {
    let hub = Hub::new();
    let host = hub.host("h1");
    host.update();
    let (path, lost) = host.work("lost.txt");
    write(path.join("uncommitted.txt"), "lost, too\n");
    let again = host.update();
    assert_eq!(again.start, None);
    assert!(!again.rescues.is_empty());
    assert!(!path.exists());
    assert_eq!(host.repository().branch_head(&own()).unwrap(), None);
    let kept = git(
        &host.root,
        &["for-each-ref", "--contains", lost.as_str(), "refs/symphony"],
    );
    assert!(kept.contains("rescue"), "{kept}");
    let (path, _) = host.work("new.txt");
    assert!(!path.join("lost.txt").exists());
}

#[test]
fn updates_of_one_clone_at_the_same_moment_wait_for_each_other() {
    let hub = Hub::new();
    let host = hub.host("h1");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let clone = host.clone.clone();
            scope.spawn(move || {
                let name = format!("SYM-{number}");
                for second in 0..3 {
                    let update = HubUpdate {
                        issue: Some((WorktreeKey::of(&name), branch(&format!("symphony/{name}")))),
                        has_saved: true,
                        result_of: None,
                        now: at(second),
                    };
                    clone.update(&update).unwrap();
                }
            });
        }
        for number in 0..4 {
            commit_file(&hub.control.root, &format!("{number}.txt"), "more\n");
        }
    });
    assert_eq!(host.update().base.commit, hub.control.head("main"));
}

/// How many processes wait for the lock of a file.
fn waiting_for(file: &File) -> usize {
    let inode = format!(":{} ", file.metadata().unwrap().ino());
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    let waiting = locks.lines().filter(|line| line.contains("-> FLOCK"));
    waiting.filter(|line| line.contains(&inode)).count()
}

#[test]
fn updates_that_wait_for_each_other_share_a_fetch() {
    let hub = Hub::new();
    let trace = hub.folder.path().join("trace");
    let host = hub.host_with("h1", &hub.control.root, &[("GIT_TRACE2_EVENT", &trace)]);
    host.update();
    let fetches = || {
        let events = read(&trace);
        let commands = events.lines().filter(|line| line.contains("\"cmd_name\""));
        commands
            .filter(|line| line.contains("\"name\":\"fetch\""))
            .count()
    };
    let saved = saved_reference(&WorktreeKey::of("SYM-0"), &run("r1"));
    let lock = File::open(host.root.join(".git/symphony-hub.lock")).unwrap();
    // one of them, or that one and what each of the other three needs for itself
    for (has_saved, expected) in [(false, 1), (true, 4)] {
        let before = fetches();
        lock.lock().unwrap();
        let found: Vec<UpdatedClone> = std::thread::scope(|scope| {
            let updates: Vec<_> = (0..4)
                .map(|number| {
                    let (clone, name) = (host.clone.clone(), format!("SYM-{number}"));
                    let update = HubUpdate {
                        issue: Some((WorktreeKey::of(&name), branch(&format!("symphony/{name}")))),
                        has_saved,
                        result_of: None,
                        now: at(2),
                    };
                    scope.spawn(move || clone.update(&update).unwrap())
                })
                .collect();
            let begun = Instant::now();
            while waiting_for(&lock) < 4 {
                assert!(begun.elapsed() < Duration::from_mins(1));
                std::thread::sleep(Duration::from_millis(10));
            }
            // what comes to the hub while they wait is brought, too
            let commit = commit_file(&hub.control.root, &format!("{has_saved}.txt"), "new\n");
            git(&hub.control.root, &["update-ref", &saved, commit.as_str()]);
            lock.unlock().unwrap();
            updates
                .into_iter()
                .map(|update| update.join().unwrap())
                .collect()
        });
        assert_eq!(fetches() - before, expected);
        let main = hub.control.head("main");
        assert!(
            found.iter().all(|updated| updated.base.commit == main),
            "{found:?}"
        );
        let key = WorktreeKey::of("SYM-0");
        let here = host.repository().saved_here(&key, &run("r1")).unwrap();
        assert_eq!(here, has_saved.then_some(main));
    }
    let before = fetches();
    host.update();
    assert_eq!(fetches() - before, 1, "one that came later fetches again");
}

#[test]
fn a_hub_that_does_not_answer_changes_nothing() {
    let hub = Hub::new();
    let host = hub.host("h1");
    host.update();
    let away = hub.control.root.with_extension("away");
    std::fs::rename(&hub.control.root, &away).unwrap();
    let error = host.try_update(None).unwrap_err();
    assert!(
        matches!(error, WorkspaceError::RemoteSilent { .. }),
        "{error:?}"
    );
    std::fs::rename(&away, &hub.control.root).unwrap();
    host.update();
}

/// A hub beside another one, whose objects have names by SHA-256.
fn sha256_beside(hub: &Hub) -> PathBuf {
    let other = hub.folder.path().canonicalize().unwrap().join("sha256");
    let made = ["init", "-q", "-b", "main", "--object-format=sha256"];
    std::fs::create_dir(&other).unwrap();
    git(&other, &made);
    git(&other, &["commit", "-q", "--allow-empty", "-m", "first"]);
    other
}

#[test]
fn a_clone_has_the_hash_of_its_hub() {
    let hub = Hub::new();
    let root = sha256_beside(&hub);
    let host = hub.host_of("host", &root);
    let updated = host.update();
    let base = git(&root, &["rev-parse", "main"]);
    assert_eq!(base.trim().len(), 64);
    assert_eq!(updated.base.commit.as_str(), base.trim());

    // and a result goes back
    let worktree = host.worktree();
    let commit = commit_file(worktree.path(), "a.txt", "a");
    let one = run("r1");
    let pushed = host.clone.push_result(&one, &commit, None).unwrap();
    assert_eq!(pushed, Pushed::Done);
    let again = hub.host_of("host", &root);
    assert_eq!(again.clone.result_of(&one).unwrap(), Some(commit));
    again.update();
}

#[test]
fn a_hub_that_names_commits_in_another_way_is_refused_by_name() {
    let hub = Hub::new();
    let other = sha256_beside(&hub);
    let address = other.to_str().unwrap();
    let is_refused = |error: WorkspaceError| {
        let text = error.to_string();
        assert!(
            matches!(&error, WorkspaceError::OtherObjectFormat(name) if name == address),
            "{error:?}"
        );
        assert!(text.contains("a hub with the same one"), "{text}");
    };
    // a clone that had something else before
    hub.host("host").update();
    is_refused(hub.host_of("host", &other).try_update(None).unwrap_err());
    // and where the control gives it its base
    let repository = Repository::open(&hub.control.root, options()).unwrap();
    let base = repository.base().unwrap();
    is_refused(
        repository
            .publish_base(address, &BTreeMap::new(), &base)
            .unwrap_err(),
    );
}
