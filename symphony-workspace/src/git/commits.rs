//! Commits as git has them, read without a process.
//!
//! The commits themselves are read. libgit2's own walks would trust `info/grafts` and the commit graph, which agents can write. What a
//! commit has never changes, so it is read once for all questions about a repository.

use std::collections::HashMap;

use git2::{ObjectType, Odb, Oid};

use super::relation::{Commit, Relation, relation};

/// How many commits one question reads before git is asked: reading as many takes as long as a process. The next question goes on from
/// there.
const READS_MAX: usize = 256;
/// The largest commit that is read here. Its message is most of it.
const BYTES_MAX: usize = 1024 * 1024;
/// How many parents a commit has at most. Git writes as many as it is given, and each takes memory.
const PARENTS_MAX: usize = 16;
/// How many commits are remembered.
const KNOWN_MAX: usize = 65_536;

/// The commits of a repository that were read.
#[derive(Debug, Default)]
pub(super) struct Commits(HashMap<Oid, Commit<Oid>>);

impl Commits {
    /// Returns how two commits are related; `None` where git has to say.
    pub(super) fn relation(
        &mut self,
        one: Oid,
        two: Oid,
        objects: &Odb<'_>,
    ) -> Option<Relation<Oid>> {
        let known = &mut self.0;
        let mut reads = 0;
        relation(one, two, |id| {
            if let Some(commit) = known.get(&id) {
                return Some(commit.clone());
            }
            reads += 1;
            if reads > READS_MAX {
                return None;
            }
            let commit = commit(objects, id)?;
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            known.insert(id, commit.clone());
            Some(commit)
        })
    }
}

/// Reads a commit. One that git would not read so is left to git, as is a very large one.
fn commit(objects: &Odb<'_>, id: Oid) -> Option<Commit<Oid>> {
    let (bytes, kind) = objects.read_header(id).ok()?;
    if kind != ObjectType::Commit || bytes > BYTES_MAX {
        return None;
    }
    let object = objects.read(id).ok()?;
    let mut lines = object.data().split(|byte| *byte == b'\n');
    whole_id(lines.next()?.strip_prefix(b"tree ")?)?;
    let mut parents = Vec::new();
    loop {
        let line = lines.next()?;
        let Some(parent) = line.strip_prefix(b"parent ") else {
            line.strip_prefix(b"author ")?;
            break;
        };
        parents.push(whole_id(parent)?);
        if parents.len() > PARENTS_MAX {
            return None;
        }
    }
    let date = date(lines.next()?.strip_prefix(b"committer ")?)?;
    Some(Commit { parents, date })
}

/// Returns the seconds after name and address.
fn date(committer: &[u8]) -> Option<i64> {
    let text = committer.rsplit(|byte| *byte == b'>').next()?;
    str::from_utf8(text)
        .ok()?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Returns an object id that is written in full.
fn whole_id(text: &[u8]) -> Option<Oid> {
    let is_whole = text.len() == 40 && text.iter().all(u8::is_ascii_hexdigit);
    Oid::from_str(str::from_utf8(text).ok()?)
        .ok()
        .filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "git makes the history")]
    fn git(root: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@localhost"])
            .args(args)
            .current_dir(root)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(root: &Path, message: &str) -> Oid {
        git(root, &["commit", "-q", "--allow-empty", "-m", message]);
        head(root)
    }

    fn head(root: &Path) -> Oid {
        Oid::from_str(git(root, &["rev-parse", "HEAD"]).trim_end()).unwrap()
    }

    /// Returns the only base of two commits, and how many commits only the second one has.
    fn between(root: &Path, one: Oid, two: Oid) -> Option<(Option<Oid>, Option<usize>)> {
        let repository = git2::Repository::open(root).unwrap();
        let found = Commits::default().relation(one, two, &repository.odb().unwrap())?;
        assert!(found.bases.len() <= 1, "{found:?}");
        Some((found.bases.first().copied(), found.only_two))
    }

    /// A commit with a tree, written as git has it.
    fn with_parents(objects: &Odb<'_>, tree: Oid, parent: Oid, count: usize) -> Oid {
        let parents = format!("parent {parent}\n").repeat(count);
        let by = "A <a@localhost> 1999999999 +0000";
        let text = format!("tree {tree}\n{parents}author {by}\ncommitter {by}\n\n");
        objects.write(ObjectType::Commit, text.as_bytes()).unwrap()
    }

    #[test]
    fn histories_are_those_of_the_commits_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, &["init", "-q", "-b", "main"]);
        let first = commit(root, "parent 0000");
        let second = commit(root, "second");
        let third = commit(root, "third");
        git(root, &["checkout", "-q", "-b", "side", &second.to_string()]);
        let side = commit(root, "side");
        git(root, &["merge", "-q", "--no-ff", "-m", "merge", "main"]);
        let merged = head(root);
        let after = commit(root, "after");
        git(root, &["checkout", "-q", "--orphan", "other"]);
        let other = commit(root, "other");
        let repository = git2::Repository::open(root).unwrap();
        let objects = repository.odb().unwrap();
        let missing = Oid::from_str("0123456789012345678901234567890123456789").unwrap();
        let tree = repository.find_commit(first).unwrap().tree_id();
        for (one, two, expected) in [
            (first, first, Some((Some(first), Some(0)))),
            (missing, missing, None),
            (tree, tree, None),
            (first, second, Some((Some(first), Some(1)))),
            (first, third, Some((Some(first), Some(2)))),
            (second, side, Some((Some(second), Some(1)))),
            (third, first, Some((Some(first), Some(0)))),
            (third, side, Some((Some(second), Some(1)))),
            (merged, after, Some((Some(merged), Some(1)))),
            // what lies between them includes both sides of the merge
            (second, merged, Some((Some(second), None))),
            (first, after, Some((Some(first), None))),
            // the first commit has no parent
            (other, third, Some((None, None))),
            (missing, third, None),
            (first, missing, None),
            (first, tree, None),
        ] {
            assert_eq!(between(root, one, two), expected, "{one} {two}");
        }
        // commits as git does not read them: with a parent that is gone, cut short, or after a tree that is no id
        let author = "author A <a@localhost> 1 +0000\ncommitter A <a@localhost> 1999999999 +0000";
        for start in [
            format!("tree {tree}\nparent {missing}"),
            format!("tree {tree}\nparent {}", "0".repeat(39)),
            format!("tree zz\nparent {first}"),
            format!("tree {tree}\nparent {first} "),
        ] {
            let text = format!("{start}\n{author}\n\nodd\n");
            let odd = objects.write(ObjectType::Commit, text.as_bytes()).unwrap();
            assert_eq!(between(root, first, odd), None, "{text}");
        }
        // dates that are none, and a name that looks like one
        for (committer, is_known) in [
            ("committer A <a@localhost> soon +0000", false),
            ("committer A <a@localhost>", false),
            ("committer > 7 <a@localhost> 1999999999 +0000", true),
        ] {
            let text = format!("tree {tree}\nparent {first}\nauthor A\n{committer}\n\nodd\n");
            let odd = objects.write(ObjectType::Commit, text.as_bytes()).unwrap();
            let expected = is_known.then_some((Some(first), Some(1)));
            assert_eq!(between(root, first, odd), expected, "{text}");
        }
        // a commit with a message that no one wrote by hand
        for (length, ahead) in [(BYTES_MAX - 300, Some(1)), (BYTES_MAX, None)] {
            let message = "x".repeat(length);
            let text = format!("tree {tree}\nparent {first}\n{author}\n\n{message}\n");
            let large = objects.write(ObjectType::Commit, text.as_bytes()).unwrap();
            let found = between(root, first, large).and_then(|(_, ahead)| ahead);
            assert_eq!(found, ahead, "{length}");
        }
        for (count, is_known) in [(PARENTS_MAX, true), (PARENTS_MAX + 1, false)] {
            let odd = with_parents(&objects, tree, first, count);
            assert_eq!(between(root, first, odd).is_some(), is_known, "{count}");
        }
        // an agent's claim that the third commit follows the first
        let graft = format!("{third} {first}\n");
        std::fs::create_dir_all(root.join(".git/info")).unwrap();
        std::fs::write(root.join(".git/info/grafts"), graft).unwrap();
        git(
            root,
            &["replace", "--graft", &third.to_string(), &first.to_string()],
        );
        assert_eq!(between(root, first, third), Some((Some(first), Some(2))));
    }

    #[test]
    fn a_long_way_is_left_to_git_until_most_of_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, &["init", "-q", "-b", "main"]);
        let repository = git2::Repository::open(root).unwrap();
        let objects = repository.odb().unwrap();
        let tree = objects.write(ObjectType::Tree, b"").unwrap();
        let mut line = Vec::<Oid>::new();
        for number in 0..=READS_MAX {
            let parent = line.last().map(|last| format!("parent {last}\n"));
            let parent = parent.unwrap_or_default();
            let by = format!("A <a@localhost> {number} +0000");
            let text = format!("tree {tree}\n{parent}author {by}\ncommitter {by}\n\n");
            line.push(objects.write(ObjectType::Commit, text.as_bytes()).unwrap());
        }
        let mut commits = Commits::default();
        let mut ahead = || {
            let found = commits.relation(line[0], line[READS_MAX], &objects);
            found.and_then(|found| found.only_two)
        };
        assert_eq!(ahead(), None);
        assert_eq!(ahead(), Some(READS_MAX));
    }
}
