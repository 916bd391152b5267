//! What an agent, a full disk or a power cut leaves in an agent's git folder stops no issue, and leads nowhere else.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use symphony_workspace::{
    BaseMerge, BranchFate, CommitId, RemoveRequest, Repository, WorkspaceError, Worktree,
};

use crate::project::{Project, at, branch, commit_file, git, git_in, made, prepare, read, write};

struct Case {
    project: Project,
    repository: Repository,
    worktree: Worktree,
}

fn given(project: Project) -> Case {
    let repository = project.open();
    let worktree = made(&repository);
    let given = repository.give_git_folder(&worktree, &[&branch("main")]);
    assert!(given.unwrap());
    Case {
        project,
        repository,
        worktree,
    }
}

fn case() -> Case {
    given(Project::new())
}

impl Case {
    fn path(&self, below: &str) -> PathBuf {
        self.worktree.path().join(below)
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(self.worktree.path(), arguments)
    }

    fn commit(&self, file: &str) -> CommitId {
        commit_file(self.worktree.path(), file, &format!("{file}\n"))
    }

    fn object(&self, id: &str) -> PathBuf {
        let (two, rest) = id.split_at(2);
        self.path(".git/objects").join(two).join(rest)
    }

    /// Ends the run as exit handling does, and begins the next one; returns the branch then.
    fn goes_on(&self) -> CommitId {
        assert!(self.repository.take_git_folder(&self.worktree).unwrap());
        let done = self.repository.auto_commit(&self.worktree, "wip", at(2));
        let head = done.unwrap().head;
        prepare(&self.repository, BaseMerge::Leave).unwrap();
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        head
    }

    fn has(&self, head: &CommitId, file: &str) {
        let shown = git(&self.project.root, &["show", &format!("{head}:{file}")]);
        assert_eq!(shown, file);
    }
}

#[test]
fn objects_that_are_gone_or_empty_cost_their_commits_and_no_file() {
    for damage in ["gone", "empty", "blob gone"] {
        let case = case();
        let first = case.commit("first.txt");
        let second = case.commit("second.txt");
        let id = match damage {
            "blob gone" => case.git(&["rev-parse", "HEAD:second.txt"]),
            _ => second.to_string(),
        };
        let object = case.object(&id);
        fs::remove_file(&object).unwrap();
        if damage == "empty" {
            fs::write(&object, "").unwrap();
        }
        let head = case.goes_on();
        // what is complete is kept as it was made, the rest as files
        assert_eq!(case.project.head("symphony/SYM-1~"), first, "{damage}");
        case.has(&head, "second.txt");
        git(&case.project.root, &["fsck", "--full", "--strict"]);
    }
}

#[test]
fn refs_that_name_no_commit_and_branches_without_one_stop_nothing() {
    type Damage = fn(&Case, &str);
    let blob = |case: &Case| case.git(&["hash-object", "-w", "README.md"]);
    let damages: [(&str, Damage); 6] = [
        ("head is a blob", |case, blob| {
            fs::write(case.path(".git/HEAD"), format!("{blob}\n")).unwrap();
        }),
        ("the branch is a blob", |case, blob| {
            write(
                case.path(".git/refs/heads/symphony/SYM-1"),
                &format!("{blob}\n"),
            );
        }),
        ("merging a blob", |case, blob| {
            fs::write(case.path(".git/MERGE_HEAD"), format!("{blob}\n")).unwrap();
        }),
        ("merging nothing", |case, _| {
            let none = "0123456789abcdef0123456789abcdef01234567\n";
            fs::write(case.path(".git/MERGE_HEAD"), none).unwrap();
        }),
        ("an orphan", |case, _| {
            case.git(&["checkout", "-q", "--orphan", "new"]);
        }),
        ("a new repository", |case, _| {
            fs::remove_dir_all(case.path(".git")).unwrap();
            case.git(&["init", "-q"]);
        }),
    ];
    for (name, damage) in damages {
        let case = case();
        let blob = blob(&case);
        write(case.path("work.txt"), "work.txt\n");
        damage(&case, &blob);
        let head = case.goes_on();
        case.has(&head, "work.txt");
        assert_eq!(case.project.head("symphony/SYM-1"), head, "{name}");
    }
}

#[test]
fn among_any_number_of_branches_its_own_is_found() {
    let case = case();
    let head = case.commit("work.txt");
    let mut packed = read(case.path(".git/packed-refs"));
    for number in 0..3_000 {
        writeln!(packed, "{head} refs/heads/a{number:04}").unwrap();
    }
    fs::write(case.path(".git/packed-refs"), packed).unwrap();
    case.git(&["checkout", "-q", "a0001"]);
    assert!(case.repository.take_git_folder(&case.worktree).unwrap());
    assert_eq!(case.project.head("symphony/SYM-1"), head);
}

#[test]
fn more_tags_than_a_folder_takes_are_left_out() {
    let project = Project::new();
    let head = project.head("HEAD");
    let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted \n");
    writeln!(packed, "{head} refs/heads/main").unwrap();
    for number in 0..90_000 {
        writeln!(packed, "{head} refs/tags/v{number:06}").unwrap();
    }
    fs::write(project.root.join(".git/packed-refs"), packed).unwrap();
    fs::remove_file(project.root.join(".git/refs/heads/main")).unwrap();
    let case = given(project);
    assert_eq!(case.git(&["tag"]), "");
    let work = case.commit("work.txt");
    assert!(case.repository.take_git_folder(&case.worktree).unwrap());
    assert_eq!(case.project.head("symphony/SYM-1"), work);
}

#[test]
fn what_git_hides_by_a_setting_stays_hidden() {
    let project = Project::new();
    let excludes = project.root.join(".git/own-excludes");
    write(&excludes, "*.secret\n");
    git(
        &project.root,
        &["config", "core.excludesFile", excludes.to_str().unwrap()],
    );
    let case = given(project);
    write(case.path("a.secret"), "secret\n");
    assert_eq!(case.git(&["status", "--porcelain"]), "");
}

#[test]
fn large_files_of_an_agent_are_taken_over() {
    // SHA-256 of "large"
    const NAME: &str = "d35c416a85b807e9b5384915d6ebb4a9f7352713efd89857b45a242f473728a9";
    let case = case();
    let (first, rest) = NAME.split_at(2);
    let (second, _) = rest.split_at(2);
    let place = format!(".git/lfs/objects/{first}/{second}/{NAME}");
    write(case.path(&place), "large");
    case.repository.read_git_folder(&case.worktree).unwrap();
    let taken = fs::read(case.project.root.join(&place));
    assert_eq!(taken.unwrap(), b"large");
}

#[test]
fn a_broken_note_is_named_and_the_work_is_saved_when_the_worktree_goes() {
    let case = case();
    write(case.path("work.txt"), "work.txt\n");
    let note = case.worktree.place().git_dir.join("symphony-agent.json");
    fs::write(&note, "{").unwrap();
    let error = case.repository.take_git_folder(&case.worktree).unwrap_err();
    assert!(matches!(error, WorkspaceError::Tampered { .. }), "{error}");
    let removed = case.repository.remove_worktree(&RemoveRequest {
        key: case.worktree.key(),
        branch: case.worktree.branch(),
        base: &branch("main"),
        fate: BranchFate::Keep,
        now: at(9),
    });
    let rescue = removed.unwrap().rescues.first().unwrap().clone();
    case.has(&rescue.commit, "work.txt");
}

/// A live agent puts links in the place of its git folder, as fast as it can, while Symphony makes it again.
#[test]
fn no_link_of_a_live_agent_leads_out_of_its_checkout() {
    let case = case();
    git(&case.project.root, &["branch", "users-work"]);
    let outside = case.project.root.join(".git");
    let before = (
        read(outside.join("HEAD")),
        git(&case.project.root, &["for-each-ref"]),
    );
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, entry, to) = (Arc::clone(&is_over), case.path(".git"), outside.clone());
    let agent = std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) {
            // refused while a folder is there
            drop(symlink(&to, &entry));
        }
    });
    for _ in 0..40 {
        // lost races are refused, and nothing of the project is touched
        drop(case.repository.renew_git_folder(&case.worktree));
    }
    is_over.store(true, Ordering::Relaxed);
    agent.join().unwrap();
    let after = (
        read(outside.join("HEAD")),
        git(&case.project.root, &["for-each-ref"]),
    );
    assert_eq!(after, before);
    assert!(!outside.join("symphony-agent.json").exists());
    git(&case.project.root, &["fsck", "--full", "--strict"]);
}

/// A nested repository that borrows the objects of another brings nothing of it in.
#[test]
fn absorbing_a_repository_brings_in_only_its_own_commits() {
    for by in ["alternates", "objects", "refs"] {
        let case = case();
        let other = Project::named("other");
        let secret = commit_file(&other.root, "secret.txt", "TOP SECRET\n");
        let inner = case.path("inner");
        fs::create_dir(&inner).unwrap();
        git(&inner, &["init", "-q", "-b", "main"]);
        commit_file(&inner, "own.txt", "own\n");
        let there = other.root.join(".git");
        let entry = |name: &str| inner.join(".git").join(name);
        match by {
            "alternates" => {
                let text = format!("{}\n", there.join("objects").display());
                fs::write(entry("objects/info/alternates"), text).unwrap();
                fs::write(entry("refs/heads/stolen"), format!("{secret}\n")).unwrap();
            }
            name => {
                fs::remove_dir_all(entry(name)).unwrap();
                symlink(there.join(name), entry(name)).unwrap();
            }
        }
        let absorbed = case.repository.absorb_nested(&case.worktree, None, at(1));
        assert!(absorbed.is_err(), "{by}: {absorbed:?}");
        let found = git_in(&case.project.root, &["cat-file", "-e", secret.as_str()]);
        assert!(!found.status.success(), "{by}");
        assert!(inner.join("own.txt").exists() && there.join("HEAD").exists());
    }
}

/// The same for the repositories of submodules, which are saved when their worktree goes.
#[test]
fn saving_submodules_brings_in_only_their_own_commits() {
    let case = case();
    let other = Project::named("other");
    let secret = commit_file(&other.root, "secret.txt", "TOP SECRET\n");
    let module = case.path(".git/modules/evil");
    git(
        case.worktree.path(),
        &["init", "-q", "--bare", module.to_str().unwrap()],
    );
    let text = format!("{}\n", other.root.join(".git/objects").display());
    fs::write(module.join("objects/info/alternates"), text).unwrap();
    git(
        &module,
        &["update-ref", "refs/heads/stolen", secret.as_str()],
    );
    let removed = case.repository.remove_worktree(&RemoveRequest {
        key: case.worktree.key(),
        branch: case.worktree.branch(),
        base: &branch("main"),
        fate: BranchFate::Keep,
        now: at(9),
    });
    assert!(removed.is_err());
    let found = git_in(&case.project.root, &["cat-file", "-e", secret.as_str()]);
    assert!(!found.status.success());
}

#[test]
fn a_submodule_whose_objects_are_missing_does_not_keep_its_worktree() {
    let case = case();
    let checkout = case.project.root.with_file_name("sub");
    fs::create_dir(&checkout).unwrap();
    git(&checkout, &["init", "-q", "-b", "main"]);
    let whole = commit_file(&checkout, "whole.txt", "whole\n");
    git(&checkout, &["checkout", "-q", "-b", "damaged"]);
    let damaged = commit_file(&checkout, "damaged.txt", "damaged\n");
    let blob = git(&checkout, &["rev-parse", "HEAD:damaged.txt"]);
    let next = commit_file(&checkout, "next.txt", "next\n");
    for lost in [blob.as_str(), damaged.as_str()] {
        let (two, rest) = lost.split_at(2);
        fs::remove_file(checkout.join(".git/objects").join(two).join(rest)).unwrap();
    }
    let module = case.path(".git/modules/sub");
    fs::rename(checkout.join(".git"), &module).unwrap();
    let removed = case.repository.remove_worktree(&RemoveRequest {
        key: case.worktree.key(),
        branch: case.worktree.branch(),
        base: &branch("main"),
        fate: BranchFate::Keep,
        now: at(9),
    });
    let saved = removed.unwrap().submodules;
    let saved: Vec<_> = saved.iter().map(|saved| &saved.rescue.commit).collect();
    assert_eq!(saved, [&whole], "and not {next}");
    assert!(!case.worktree.path().exists());
}
