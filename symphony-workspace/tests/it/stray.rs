//! Work beside the branch of a run, and what a repository shares that was lost meanwhile.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall fail"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use symphony_core::shared_refs::SharedRefs;
use symphony_workspace::{KnownWork, Repository, StrayWork, Worktree};

use crate::project::{Project, at, commit_file, git, made, write};

struct Case {
    project: Project,
    repository: Repository,
    worktree: Worktree,
    before: SharedRefs,
}

fn case() -> Case {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let before = repository.shared_refs().unwrap();
    Case {
        project,
        repository,
        worktree,
        before,
    }
}

impl Case {
    fn git(&self, arguments: &[&str]) -> String {
        git(self.worktree.path(), arguments)
    }

    fn commit(&self, file: &str) -> String {
        commit_file(self.worktree.path(), file, &format!("{file}\n")).to_string()
    }

    /// Looks as exit handling does, after the work was put away.
    fn stray(&self) -> StrayWork {
        let base = self.project.head("main");
        let rescues: BTreeSet<String> = self
            .repository
            .rescues_of(self.worktree.key())
            .unwrap()
            .into_iter()
            .collect();
        self.repository
            .auto_commit(&self.worktree, "wip", at(2))
            .unwrap();
        let known = KnownWork {
            base: Some(&base),
            rescues: &rescues,
            stash: Some(&self.before.stash),
        };
        self.repository
            .stray_work(&self.worktree, known, at(3))
            .unwrap()
    }

    fn lost(&self) -> Vec<String> {
        self.repository.lost_refs(&self.before).unwrap()
    }
}

#[test]
fn work_on_another_branch_on_a_detached_head_and_in_the_stash_is_found() {
    let case = case();
    write(case.worktree.path().join("README.md"), "for later\n");
    case.git(&["stash", "-q"]);
    case.git(&["checkout", "-q", "-b", "other"]);
    case.commit("other.txt");
    case.git(&["checkout", "-q", "--detach"]);
    let detached = case.commit("detached.txt");
    case.git(&["checkout", "-q", "symphony/SYM-1"]);
    case.commit("reset.txt");
    let reset = case.commit("reset-too.txt");
    case.git(&["reset", "-q", "--hard", "HEAD~2"]);
    case.commit("kept.txt");
    let stray = case.stray();
    assert_eq!(stray.branches, BTreeSet::from(["other".to_owned()]));
    let mut saved: Vec<String> = stray
        .unreferenced
        .iter()
        .map(|rescue| rescue.commit.to_string())
        .collect();
    let mut expected = vec![detached, reset];
    saved.sort();
    expected.sort();
    assert_eq!(saved, expected);
    let [stashed] = stray.stashed.try_into().unwrap();
    let shown = format!("{stashed}:README.md");
    assert_eq!(git(&case.project.root, &["show", &shown]), "for later");
    // doing it again saves nothing twice
    let refs = git(&case.project.root, &["for-each-ref", "refs/symphony"]);
    let again = case.stray();
    assert_eq!(again.unreferenced, []);
    assert_eq!(again.stashed.len(), 1);
    assert_eq!(
        git(&case.project.root, &["for-each-ref", "refs/symphony"]),
        refs
    );
}

#[test]
fn commits_that_were_amended_squashed_or_rebased_are_missed_by_nobody() {
    let case = case();
    case.commit("a.txt");
    case.commit("b.txt");
    case.git(&["reset", "-q", "--soft", "HEAD~2"]);
    case.git(&["commit", "-q", "-m", "both"]);
    write(case.worktree.path().join("c.txt"), "c\n");
    case.git(&["add", "-A"]);
    case.git(&["commit", "-q", "--amend", "-m", "all three"]);
    commit_file(&case.project.root, "base.txt", "moved on\n");
    case.git(&["rebase", "-q", "main"]);
    case.git(&["checkout", "-q", "--detach"]);
    case.git(&["checkout", "-q", "symphony/SYM-1"]);
    let picked = case.commit("picked.txt");
    case.git(&["reset", "-q", "--hard", "HEAD~1"]);
    case.commit("before.txt");
    case.git(&["cherry-pick", &picked]);
    assert_eq!(case.stray(), StrayWork::default());
}

#[test]
fn a_stash_entry_that_a_person_makes_is_the_persons() {
    let case = case();
    write(case.project.root.join("README.md"), "mine\n");
    git(&case.project.root, &["stash", "-q"]);
    case.commit("a.txt");
    assert_eq!(case.stray(), StrayWork::default());
    assert_eq!(case.lost(), [""; 0]);
}

#[test]
fn what_is_deleted_or_rewritten_is_kept_and_named_with_the_way_back() {
    let mut case = case();
    let root = case.project.root.clone();
    git(&root, &["checkout", "-q", "-b", "feature"]);
    let feature = commit_file(&root, "feature.txt", "mine\n");
    git(&root, &["checkout", "-q", "-b", "moved"]);
    let moved = commit_file(&root, "moved.txt", "mine\n");
    git(&root, &["tag", "-a", "v1", "-m", "release"]);
    let tag = git(&root, &["rev-parse", "v1"]);
    git(&root, &["checkout", "-q", "main"]);
    write(root.join("README.md"), "mine\n");
    git(&root, &["stash", "-q"]);
    let stash = git(&root, &["rev-parse", "refs/stash"]);
    case.before = case.repository.shared_refs().unwrap();
    case.git(&["stash", "clear"]);
    case.git(&["branch", "-q", "-D", "feature"]);
    case.git(&["branch", "-q", "-f", "moved", "main"]);
    case.git(&["tag", "-d", "v1"]);
    let lost = case.lost();
    assert_eq!(lost.len(), 4, "{lost:#?}");
    assert!(
        lost[0].contains(&format!("`git branch feature {feature}`")),
        "{lost:#?}"
    );
    assert!(
        lost[1].contains(&format!("`git branch moved-before {moved}`")),
        "{lost:#?}"
    );
    assert!(
        lost[2].contains(&format!("`git tag v1 {tag}`")),
        "{lost:#?}"
    );
    assert!(
        lost[3].contains(&format!("`git stash store {stash}`")),
        "{lost:#?}"
    );
    // it survives the strictest housekeeping, and comes back as it is said
    git(&root, &["reflog", "expire", "--expire=now", "--all"]);
    git(&root, &["gc", "-q", "--prune=now"]);
    git(&root, &["branch", "feature", feature.as_str()]);
    git(&root, &["tag", "v1", &tag]);
    git(&root, &["stash", "store", &stash]);
    git(&root, &["stash", "pop", "-q"]);
    assert_eq!(git(&root, &["cat-file", "-t", "v1"]), "tag");
    assert_eq!(case.lost().len(), 1, "moved; the entry was popped");
}

#[test]
fn what_a_person_does_every_day_is_not_named() {
    let mut case = case();
    let root = case.project.root.clone();
    git(&root, &["branch", "old-name"]);
    git(&root, &["branch", "behind"]);
    case.before = case.repository.shared_refs().unwrap();
    commit_file(&root, "more.txt", "mine\n");
    git(&root, &["branch", "-f", "behind", "main"]);
    git(&root, &["branch", "-m", "old-name", "new-name"]);
    git(&root, &["branch", "new"]);
    git(&root, &["tag", "v2"]);
    // Symphony's own come and go
    case.git(&["checkout", "-q", "--detach"]);
    case.git(&["branch", "-D", "symphony/SYM-1"]);
    assert_eq!(case.lost(), [""; 0]);
}

#[test]
fn what_loses_nothing_is_not_named() {
    for (name, act, lost) in [
        (
            "merged and deleted",
            &["git merge -q mine", "git branch -d mine"][..],
            0,
        ),
        ("deleted", &["git branch -D mine"], 1),
        (
            "rebased",
            &[
                "git commit -q --allow-empty -m on",
                "git rebase -q main mine",
            ],
            0,
        ),
        (
            "rebased, one commit left out",
            &[
                "git commit -q --allow-empty -m on",
                "git checkout -q mine",
                "git rebase -q --onto main mine~1",
            ],
            1,
        ),
        (
            "another message",
            &["git checkout -q mine", "git commit -q --amend -m better"],
            0,
        ),
        (
            "other files",
            &[
                "git checkout -q mine",
                "echo more >> two.txt",
                "git commit -qa --amend -m better",
            ],
            1,
        ),
        ("popped", &["git stash pop -q"], 0),
        (
            "popped and committed",
            &["git stash pop -q", "git add -A", "git commit -qm popped"],
            0,
        ),
        (
            "popped and thrown away",
            &["git stash pop -q", "git checkout -q -- README.md"],
            1,
        ),
        (
            "popped, its new file lost",
            &["git stash pop -q", "rm new.txt"],
            1,
        ),
        ("dropped", &["git stash drop -q"], 1),
    ] {
        let mut case = case();
        let root = case.project.root.clone();
        git(&root, &["checkout", "-q", "-b", "mine"]);
        commit_file(&root, "one.txt", "1\n");
        commit_file(&root, "two.txt", "2\n");
        // it goes with its issue
        git(&root, &["branch", "symphony/SYM-9"]);
        git(&root, &["checkout", "-q", "main"]);
        write(root.join("README.md"), "mine\n");
        write(root.join("new.txt"), "new\n");
        git(&root, &["stash", "-q", "--include-untracked"]);
        case.before = case.repository.shared_refs().unwrap();
        for command in act {
            let words: Vec<&str> = command.split(' ').collect();
            match words.as_slice() {
                ["git", arguments @ ..] => drop(git(&root, arguments)),
                ["echo", text, ">>", file] => write(root.join(file), text),
                ["rm", file] => std::fs::remove_file(root.join(file)).unwrap(),
                other => panic!("{other:?}"),
            }
        }
        let found = case.lost();
        assert_eq!(found.len(), lost, "{name}: {found:#?}");
    }
}

#[test]
fn ten_thousand_branches_are_compared_in_a_few_calls() {
    let mut case = case();
    let tree = git(&case.project.root, &["rev-parse", "main^{tree}"]);
    let head = git(
        &case.project.root,
        &["commit-tree", "-m", "elsewhere", &tree],
    );
    let mut packed = "# pack-refs with: peeled fully-peeled sorted\n".to_owned();
    for number in 10_000..20_000 {
        writeln!(packed, "{head} refs/heads/many/{number}").unwrap();
    }
    let file = case.project.root.join(".git/packed-refs");
    write(&file, &packed);
    case.before = case.repository.shared_refs().unwrap();
    assert!(case.before.refs.len() > 10_000);
    std::fs::remove_file(&file).unwrap();
    let begun = std::time::Instant::now();
    assert_eq!(case.lost().len(), 10_000);
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}
