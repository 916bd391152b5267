//! Merges that were made outside Symphony are found on the base, whatever their kind; parts and edited versions are none.

use symphony_core::outside::Evidence;
use symphony_workspace::{ChangeQuery, CommitId, FoundChange, Repository};

use crate::project::{Project, branch, commit_file, git, made, write};

/// A branch with two commits that touch two files, which left the base at `since`.
struct Case {
    project: Project,
    repository: Repository,
    since: CommitId,
    head: CommitId,
    first: CommitId,
}

const BRANCH: &str = "symphony/SYM-1";
const FILES: &[&str] = &["mine.txt", "src/a.txt"];

fn case() -> Case {
    let project = Project::new();
    let repository = project.open();
    commit_file(
        &project.root,
        "src/a.txt",
        "one\ntwo\nthree\nfour\nfive\nsix\nseven\n",
    );
    let since = project.head("main");
    let worktree = made(&repository);
    let first = commit_file(worktree.path(), "mine.txt", "mine\n");
    let head = commit_file(
        worktree.path(),
        "src/a.txt",
        "one\nTWO\nthree\nfour\nfive\nsix\nseven\n",
    );
    Case {
        project,
        repository,
        since,
        head,
        first,
    }
}

impl Case {
    /// Runs git as a person in the project's checkout of the base.
    fn person(&self, arguments: &[&str]) -> String {
        git(&self.project.root, arguments)
    }

    fn base(&self) -> CommitId {
        self.project.head("main")
    }

    fn find_since(&self, since: &CommitId) -> Option<FoundChange> {
        let query = ChangeQuery {
            branch: &branch("main"),
            base: &self.base(),
            since,
            head: &self.head,
            files: FILES,
        };
        self.repository
            .find_change(&query)
            .expect("git finds it out")
    }

    fn find(&self) -> Option<FoundChange> {
        self.find_since(&self.since)
    }

    fn assert_found(&self, evidence: Evidence, commit: &CommitId) {
        let found = self.find().expect("the change is on the base");
        assert_eq!((found.evidence, &found.commit), (evidence, commit));
    }

    /// Commits something of a person's on the base.
    fn others(&self, file: &str, text: &str) -> CommitId {
        write(self.project.root.join(file), text);
        self.person(&["add", "--", file]);
        self.person(&["commit", "-q", "-m", "something else"]);
        self.base()
    }

    fn squash(&self) {
        self.person(&["merge", "-q", "--squash", BRANCH]);
    }
}

#[test]
fn nothing_is_found_on_a_base_that_did_not_get_it() {
    let case = case();
    assert_eq!(case.find(), None);
    case.others("other.txt", "x\n");
    assert_eq!(case.find(), None);
    // the same file, something else
    case.others("mine.txt", "another\n");
    assert_eq!(case.find(), None);
}

#[test]
fn a_fast_forward_names_who_moved_the_branch() {
    let case = case();
    case.person(&["merge", "-q", "--ff-only", BRANCH]);
    case.assert_found(Evidence::History, &case.head);
    assert_eq!(case.find().unwrap().by.as_deref(), Some("Ada"));
    // the base went on since
    case.others("other.txt", "x\n");
    case.assert_found(Evidence::History, &case.head);
}

#[test]
fn a_merge_commit_names_who_made_it() {
    let case = case();
    case.others("other.txt", "x\n");
    case.person(&["merge", "-q", "--no-ff", "-m", "Merge it", BRANCH]);
    let merge = case.base();
    case.others("other.txt", "y\n");
    case.assert_found(Evidence::History, &merge);
    assert_eq!(case.find().unwrap().by.as_deref(), Some("Ada"));
}

#[test]
fn a_squash_is_found_also_when_the_base_went_on_before_and_after() {
    let case = case();
    case.others("src/a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    case.squash();
    case.person(&["commit", "-q", "-m", "Everything at once"]);
    let squashed = case.base();
    case.assert_found(Evidence::Tree, &squashed);
    assert_eq!(case.find().unwrap().by.as_deref(), Some("Ada"));
    // what it changed is changed again: the commit that had it all still tells
    case.others("src/a.txt", "one\nother\nthree\nfour\nfive\nsix\nseven\n");
    case.others("mine.txt", "edited\n");
    case.assert_found(Evidence::Tree, &squashed);
}

#[test]
fn a_rebase_of_several_commits_is_found_at_its_last_one() {
    let case = case();
    case.others("other.txt", "x\n");
    case.person(&["cherry-pick", case.first.as_str()]);
    assert_eq!(case.find(), None, "one of two commits is a part");
    case.person(&["cherry-pick", case.head.as_str()]);
    case.assert_found(Evidence::Tree, &case.base());
}

#[test]
fn picks_on_both_sides_of_a_look_are_the_whole() {
    let case = case();
    case.others("other.txt", "x\n");
    case.person(&["cherry-pick", case.first.as_str()]);
    let seen = case.base();
    assert_eq!(case.find(), None);
    case.person(&["cherry-pick", case.head.as_str()]);
    let found = case.find_since(&seen).unwrap();
    assert_eq!(found.evidence, Evidence::Tree);
}

#[test]
fn a_rebase_that_was_edited_between_its_commits_is_found_by_its_patches() {
    let case = case();
    case.others("other.txt", "x\n");
    case.person(&["cherry-pick", case.first.as_str()]);
    case.others("mine.txt", "edited\n");
    assert_eq!(case.find(), None);
    case.person(&["cherry-pick", case.head.as_str()]);
    case.assert_found(Evidence::Patch, &case.base());
}

#[test]
fn an_edited_version_is_another_change() {
    let case = case();
    case.squash();
    write(case.project.root.join("mine.txt"), "mine, but better\n");
    case.person(&["add", "mine.txt"]);
    case.person(&["commit", "-q", "-m", "Nearly everything"]);
    assert_eq!(case.find(), None);
}

#[test]
fn a_base_that_was_set_back_has_it_no_more() {
    let case = case();
    case.person(&["merge", "-q", "--no-ff", "-m", "Merge it", BRANCH]);
    let merged = case.base();
    case.person(&["reset", "-q", "--hard", case.since.as_str()]);
    assert_eq!(case.find_since(&merged), None);
}

#[test]
fn commits_made_on_a_branch_are_told_from_those_that_came_to_it() {
    let case = case();
    let on = |since: &CommitId| {
        case.repository
            .branch_commits_on(&case.base(), since)
            .unwrap()
    };
    // the base went on, and the branch got it
    let before = case.base();
    case.others("other.txt", "x\n");
    let worktree = case.repository.workspaces_dir().join("SYM-1");
    git(&worktree, &["merge", "-q", "--no-ff", "-m", "base", "main"]);
    assert_eq!(on(&before), []);
    // half of the branch comes to the base
    case.person(&["merge", "-q", "--no-ff", "-m", "half", case.first.as_str()]);
    assert_eq!(on(&before), [(branch(BRANCH), vec![case.first.clone()])]);
    let half = case.base();
    assert_eq!(on(&half), []);
    // and then the rest
    case.person(&["merge", "-q", "--no-ff", "-m", "rest", case.head.as_str()]);
    assert_eq!(on(&half), [(branch(BRANCH), vec![case.head.clone()])]);
}
