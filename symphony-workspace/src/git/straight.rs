//! A history without merges between two commits, read without a process.
//!
//! The commits themselves are read, one after the other. libgit2's own walks would trust `info/grafts` and the commit graph, which
//! agents can write.

use git2::{ObjectType, Odb, Oid};

/// How many commits are read before git is asked: reading as many takes a fifth of the time that a process takes.
const STEPS_MAX: usize = 32;
/// The largest commit that is read here. Its message is most of it.
const BYTES_MAX: usize = 1024 * 1024;

/// Returns how many commits `later` has that `earlier` does not have, if each of them has one parent, and the last of these is
/// `earlier`: then nothing else lies between the two. `None` where that is not so, or not known.
pub(super) fn steps_between(objects: &Odb<'_>, earlier: Oid, later: Oid) -> Option<usize> {
    let mut commit = later;
    for steps in 0..=STEPS_MAX {
        if commit == earlier {
            let (_, kind) = objects.read_header(earlier).ok()?;
            return (kind == ObjectType::Commit).then_some(steps);
        }
        commit = only_parent(objects, commit)?;
    }
    None
}

/// Returns the parent of a commit that has exactly one. A commit that git would not read so is left to git, as is a very large one.
fn only_parent(objects: &Odb<'_>, commit: Oid) -> Option<Oid> {
    let (bytes, kind) = objects.read_header(commit).ok()?;
    if kind != ObjectType::Commit || bytes > BYTES_MAX {
        return None;
    }
    let object = objects.read(commit).ok()?;
    let mut lines = object.data().split(|byte| *byte == b'\n');
    id(lines.next()?.strip_prefix(b"tree ")?)?;
    let parent = id(lines.next()?.strip_prefix(b"parent ")?)?;
    (!lines.next()?.starts_with(b"parent ")).then_some(parent)
}

/// Returns an object id that is written in full.
fn id(text: &[u8]) -> Option<Oid> {
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

    #[test]
    fn only_a_line_of_commits_is_counted() {
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
        let repository = git2::Repository::open(root).unwrap();
        let objects = repository.odb().unwrap();
        let missing = Oid::from_str("0123456789012345678901234567890123456789").unwrap();
        let tree = repository.find_commit(first).unwrap().tree_id();
        for (earlier, later, expected) in [
            (first, first, Some(0)),
            (missing, missing, None),
            (tree, tree, None),
            (first, second, Some(1)),
            (first, third, Some(2)),
            (second, side, Some(1)),
            (merged, after, Some(1)),
            (third, first, None),
            (third, side, None),
            // what lies between them includes both sides of the merge
            (second, merged, None),
            (first, after, None),
            (missing, third, None),
            (first, missing, None),
            (first, tree, None),
        ] {
            let found = steps_between(&objects, earlier, later);
            assert_eq!(found, expected, "{earlier} {later}");
        }
        // commits as git does not read them: with a parent that is gone, cut short, or after a tree that is no id
        for (text, earlier) in [
            (format!("tree {tree}\nparent {missing}\nauthor"), missing),
            (
                format!("tree {tree}\nparent {}\nauthor", "0".repeat(39)),
                Oid::ZERO_SHA1,
            ),
            (format!("tree zz\nparent {first}\nauthor"), first),
            (format!("tree {tree}\nparent {first} \nauthor"), first),
        ] {
            let odd = objects.write(ObjectType::Commit, text.as_bytes()).unwrap();
            assert_eq!(steps_between(&objects, earlier, odd), None, "{text}");
        }
        // a commit with a message that no one wrote by hand
        for (length, steps) in [(BYTES_MAX - 200, Some(1)), (BYTES_MAX, None)] {
            let author = "author A <a@localhost> 1 +0000\ncommitter A <a@localhost> 1 +0000";
            let message = "x".repeat(length);
            let text = format!("tree {tree}\nparent {first}\n{author}\n\n{message}\n");
            let large = objects.write(ObjectType::Commit, text.as_bytes()).unwrap();
            assert_eq!(steps_between(&objects, first, large), steps, "{length}");
        }
        // an agent's claim that the third commit follows the first
        let graft = format!("{third} {first}\n");
        std::fs::create_dir_all(root.join(".git/info")).unwrap();
        std::fs::write(root.join(".git/info/grafts"), graft).unwrap();
        git(
            root,
            &["replace", "--graft", &third.to_string(), &first.to_string()],
        );
        let repository = git2::Repository::open(root).unwrap();
        let objects = repository.odb().unwrap();
        assert_eq!(steps_between(&objects, first, third), Some(2));
    }

    #[test]
    fn a_long_way_is_left_to_git() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, &["init", "-q", "-b", "main"]);
        let first = commit(root, "first");
        let commits: Vec<Oid> = (0..=STEPS_MAX)
            .map(|n| commit(root, &n.to_string()))
            .collect();
        let repository = git2::Repository::open(root).unwrap();
        let objects = repository.odb().unwrap();
        let [.., last_but_one, last] = commits[..] else {
            panic!("there are more than two");
        };
        assert_eq!(
            steps_between(&objects, first, last_but_one),
            Some(STEPS_MAX)
        );
        assert_eq!(steps_between(&objects, first, last), None);
    }
}
