//! Git dies at every call that Symphony makes in the life of an issue and of a plan: before its effect, after it, leaving its lock.
//! Whoever comes next does the same step again, until the life is over: no work is lost, nothing is done twice, nothing is left.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use symphony_core::git_lock::SHARED_LOCK_AGE_MIN;
use symphony_workspace::{
    BaseMerge, BranchFate, BranchName, CommitId, GitCall, GitDeath, GitFaults, MergePlan,
    MergeStyle, RemoveRequest, Repository, RepositoryOptions, WorkspaceError, Worktree,
    WorktreeKey, WorktreeRequest,
};

use crate::project::{
    Project, ada, at, branch, commit_file, git, git_locks, make_older, merge_into, write,
};

/// How often a step is tried: once more than it can die, and once for a lock that has to grow old.
const TRIES_MAX: usize = 3;
/// Lives at the same time.
const LIVES_AT_ONCE: usize = 2;

/// A life that git dies in.
struct Life {
    project: Project,
    second: Cell<i64>,
    /// What repaired it, and the last error.
    repairs: Cell<Vec<String>>,
}

impl Life {
    fn begin() -> Self {
        let project = Project::new();
        write(project.root.join(".env"), "TOKEN=correct-horse-battery\n");
        write(
            project.root.join(".git/info/exclude"),
            "/.symphony-workspaces/\n/.env\n",
        );
        Self {
            project,
            second: Cell::new(0),
            repairs: Cell::new(Vec::new()),
        }
    }

    fn now(&self) -> symphony_core::Timestamp {
        self.second.set(self.second.get() + 1);
        at(self.second.get())
    }

    /// Does a step as often as it takes: whoever does it again may be another process, which opens the repository itself.
    fn step<T>(
        &self,
        name: &str,
        step: impl Fn(&Repository) -> Result<T, WorkspaceError>,
    ) -> Result<T, String> {
        let mut last = String::new();
        for number in 0..TRIES_MAX {
            let error = match Repository::open(&self.project.root, RepositoryOptions::default())
                .and_then(|repository| step(&repository))
            {
                Ok(done) => {
                    if number > 0 {
                        let mut repairs = self.repairs.take();
                        repairs.push(format!("{name} ×{number}"));
                        self.repairs.set(repairs);
                    }
                    return Ok(done);
                }
                Err(error) => error,
            };
            if let WorkspaceError::GitLocked { lock, .. } = &error {
                // ten minutes pass
                make_older(lock, SHARED_LOCK_AGE_MIN);
            }
            last = error.to_string();
        }
        Err(format!("{name}: {last}"))
    }

    fn prepare(
        &self,
        name: &str,
        branch: &BranchName,
        base: &BranchName,
    ) -> Result<Worktree, String> {
        let key = WorktreeKey::of("SYM-1");
        self.step(name, |repository| {
            let request = WorktreeRequest {
                key: &key,
                branch,
                base,
                merge: BaseMerge::Merge,
                now: self.now(),
            };
            let made = repository.prepare_worktree(&request)?;
            repository.copy_config_files(&made.worktree)?;
            Ok(made.worktree)
        })
    }

    fn remove(
        &self,
        name: &str,
        key: &str,
        branch: Option<&BranchName>,
        base: &BranchName,
    ) -> Result<(), String> {
        let key = WorktreeKey::of(key);
        self.step(name, |repository| {
            repository
                .remove_worktree(&RemoveRequest {
                    key: &key,
                    branch,
                    base,
                    fate: BranchFate::DeleteIfMerged,
                    now: self.now(),
                })
                .map(drop)
        })
    }

    /// Two runs, a pull request, a merge on a base that moved, the clean-up.
    fn issue(&self) -> Result<(), String> {
        let root = &self.project.root;
        let (own, main) = (branch("symphony/SYM-1"), branch("main"));
        let worktree = self.prepare("prepare", &own, &main)?;
        commit_file(worktree.path(), "committed.txt", "one\n");
        write(worktree.path().join("left.txt"), "left\n");
        self.step("auto-commit", |repository| {
            repository.auto_commit(&worktree, "work in progress", self.now())
        })?;
        commit_file(root, "base1.txt", "base\n");
        let worktree = self.prepare("prepare again", &own, &main)?;
        let head = commit_file(worktree.path(), "reviewed.txt", "reviewed\n");
        commit_file(worktree.path(), "late.txt", "late\n");
        write(worktree.path().join("later.txt"), "later\n");
        self.step("reset", |repository| {
            repository.reset_to(&worktree, &head, self.now())
        })?;
        let base = commit_file(root, "base2.txt", "base\n");
        let person = ada();
        let gates = WorktreeKey::of("_merge-SYM-1");
        let merged = self.step("plan and gates", |repository| {
            let plan =
                repository.plan_merge(&base, &head, MergeStyle::FastForward, "Merge", &person)?;
            let MergePlan::Merge(commit) = plan else {
                panic!("{plan:?}")
            };
            let worktree = repository.create_temporary(&gates, &commit, self.now())?;
            repository.copy_config_files(&worktree)?;
            Ok(commit)
        })?;
        self.remove("remove the gates' worktree", gates.as_str(), None, &main)?;
        self.step("move the base", |repository| {
            repository.move_base(&main, &base, &merged, &person)
        })?;
        self.remove("clean up", "SYM-1", Some(&own), &main)?;
        self.check(&[
            "committed.txt",
            "left.txt",
            "base1.txt",
            "reviewed.txt",
            "base2.txt",
        ])?;
        self.check_rescued(&["late.txt", "later.txt"])
    }

    /// Two phases whose work meets on the plan's base, and the merge of that.
    fn plan(&self) -> Result<(), String> {
        let main = branch("main");
        let base = branch("symphony/plan-a/base");
        let begun = self.project.head("main");
        self.step("plan begins", |repository| {
            repository.create_branch(&base, &begun)
        })?;
        for phase in ["one", "two"] {
            let own = branch(&format!("symphony/plan-a/{phase}"));
            let worktree = self.prepare(&format!("prepare {phase}"), &own, &base)?;
            write(worktree.path().join(format!("{phase}.txt")), "work\n");
            let done = self.step("commit", |repository| {
                repository.auto_commit(&worktree, phase, self.now())
            })?;
            if phase == "one" {
                // another phase was merged meanwhile
                self.other_phase(&base, &begun);
            }
            self.merge("merge", &base, &done.head)?;
            self.remove("clean up", "SYM-1", Some(&own), &base)?;
        }
        let head =
            CommitId::parse(&git(&self.project.root, &["rev-parse", base.as_str()])).unwrap();
        self.merge("conclude", &main, &head)?;
        self.remove("remove the plan's base", "plan-a", Some(&base), &main)?;
        self.check(&["one.txt", "two.txt", "other.txt"])
    }

    fn merge(&self, name: &str, base: &BranchName, head: &CommitId) -> Result<(), String> {
        self.step(name, |repository| {
            let expected = repository.branch_head(base)?.expect("it was made");
            merge_into(repository, base, &expected, head, MergeStyle::FastForward).map(drop)
        })
    }

    fn other_phase(&self, base: &BranchName, begun: &CommitId) {
        let root = &self.project.root;
        let blob = root.join(".git/other");
        write(&blob, "other\n");
        let blob = git(root, &["hash-object", "-w", blob.to_str().unwrap()]);
        let index = root.join(".git/other-index");
        let tree = {
            let sh = format!(
                "GIT_INDEX_FILE='{0}' git read-tree {begun} && GIT_INDEX_FILE='{0}' git update-index --add --cacheinfo 100644,{blob},other.txt && GIT_INDEX_FILE='{0}' git write-tree",
                index.display()
            );
            git(root, &["-c", &format!("alias.other=!{sh}"), "other"])
        };
        let commit = git(
            root,
            &["commit-tree", &tree, "-p", begun.as_str(), "-m", "other"],
        );
        git(root, &["update-ref", &base.reference(), &commit]);
    }

    /// The files are on the base once, and nothing is left.
    fn check(&self, files: &[&str]) -> Result<(), String> {
        let root = &self.project.root;
        let expect = |name: &str, found: String, wanted: &str| {
            (found == wanted)
                .then_some(())
                .ok_or_else(|| format!("{name}: `{found}`, not `{wanted}`"))
        };
        for file in files {
            let made = git(
                root,
                &["log", "--format=%s", "--diff-filter=A", "main", "--", file],
            );
            expect(file, made.lines().count().to_string(), "1")?;
            expect(
                file,
                git(root, &["ls-tree", "--name-only", "main", file]),
                file,
            )?;
        }
        expect("status", git(root, &["status", "--porcelain"]), "")?;
        expect(
            "branches",
            git(root, &["branch", "--list", "symphony/*"]),
            "",
        )?;
        let trees = git(root, &["worktree", "list", "--porcelain"]);
        expect(
            "worktrees",
            trees.matches("worktree ").count().to_string(),
            "1",
        )?;
        expect("folders", names(&root.join(".symphony-workspaces")), "")?;
        expect("locks", git_locks(root).join(" "), "")?;
        let secret = git(
            root,
            &["log", "--all", "--format=", "--name-only", "--", ".env"],
        );
        expect("commits with a secret", secret, "")?;
        git(root, &["fsck", "--no-dangling"]);
        Ok(())
    }

    fn check_rescued(&self, files: &[&str]) -> Result<(), String> {
        let root = &self.project.root;
        let refs = git(
            root,
            &[
                "for-each-ref",
                "--format=%(refname)",
                "refs/symphony/rescue",
            ],
        );
        for file in files {
            let is_saved = refs
                .lines()
                .any(|name| git(root, &["ls-tree", "--name-only", name, file]) == *file);
            if !is_saved {
                return Err(format!("{file} is in no rescue ref: {refs}"));
            }
        }
        Ok(())
    }
}

/// Lists what has no dot at its beginning.
fn names(folder: &Path) -> String {
    let Ok(entries) = fs::read_dir(folder) else {
        return String::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names.join(" ")
}

/// The ways in which a call dies that differ from one another.
fn deaths_of(call: &GitCall) -> &'static [GitDeath] {
    match (call.locks.is_empty(), call.changes()) {
        // it belongs to the call after it, which dies before its effect in a row of its own
        _ if call.line.starts_with("git config --list") => &[],
        (false, _) if call.deletes() => &GitDeath::ALL,
        (false, _) => &GitDeath::OF_ANY,
        (true, true) => &[GitDeath::BeforeEffect, GitDeath::AfterEffect],
        // a call that only reads has no effect, and takes no lock
        (true, false) => &[GitDeath::BeforeEffect],
    }
}

fn survive(live: fn(&Life) -> Result<(), String>) {
    let calls = {
        let life = Life::begin();
        let faults = GitFaults::arm(None);
        live(&life).unwrap();
        assert_eq!(life.repairs.take(), [""; 0]);
        faults.calls()
    };
    let rows: Vec<(usize, GitDeath)> = calls
        .iter()
        .enumerate()
        .flat_map(|(number, call)| deaths_of(call).iter().map(move |death| (number, *death)))
        .collect();
    let next = AtomicUsize::new(0);
    let told = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..LIVES_AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let life = Life::begin();
                    let _faults = GitFaults::arm(Some(*row));
                    let lived = live(&life);
                    let repaired = life.repairs.take().join(", ");
                    told.lock().unwrap().insert(*row, lived.map(|()| repaired));
                }
            });
        }
    });
    let mut failed = Vec::new();
    for ((number, death), lived) in told.into_inner().unwrap() {
        let line: String = calls[number].line.chars().take(90).collect();
        let lived = match lived {
            Ok(repaired) if repaired.is_empty() => "went on".to_owned(),
            Ok(repaired) => repaired,
            Err(error) => {
                failed.push(format!("{number} {} {line}: {error}", death.name()));
                format!("FAILED: {error}")
            }
        };
        println!("{number:>3} {:<12} | {line:<90} | {lived}", death.name());
    }
    println!("{} lives, {} calls", rows.len(), calls.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn wherever_git_dies_in_the_life_of_an_issue_the_next_try_repairs_it() {
    survive(Life::issue);
}

#[test]
fn wherever_git_dies_in_the_life_of_a_plan_the_next_try_repairs_it() {
    survive(Life::plan);
}
