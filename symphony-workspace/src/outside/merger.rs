//! Who put a change on a base, as far as git knows.

use super::change::ChangeQuery;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::Identity;
use crate::own_file::read_text;
use crate::repository::Repository;

/// How forges sign the merges and squashes that a person makes on their pages: that person is the author then.
const FORGES: &[&str] = &["GitHub", "GitLab", "Gitea", "Forgejo", "Bitbucket"];

impl Repository {
    /// Returns the name of who put a change on the base: who made the commit, and for the agent's own commits who moved
    /// the branch.
    pub(super) fn merger_of(
        &self,
        commit: &CommitId,
        query: &ChangeQuery<'_>,
    ) -> Result<Option<String>, WorkspaceError> {
        let is_own = self.is_merged(commit, query.head)?;
        if is_own {
            return Ok(self.mover_of(query));
        }
        let names = self
            .git
            .command("rev-list")
            .args(["--max-count=1", "--no-commit-header", "--format=%cn%x09%an"])
            .arg(commit.as_str())
            .line()?;
        let (committer, author) = names.split_once('\t').unwrap_or((&names, ""));
        Ok(a_person(person_of(committer, author)))
    }

    /// Returns who moved the base to its current commit, from its reflog.
    fn mover_of(&self, query: &ChangeQuery<'_>) -> Option<String> {
        let path = self
            .common_dir()
            .join("logs")
            .join(query.branch.reference());
        let log = read_text(&path).ok()?;
        let last = log.lines().last()?;
        let mut parts = last.splitn(3, ' ');
        let (_old, new, rest) = (parts.next()?, parts.next()?, parts.next()?);
        if new != query.base.as_str() {
            return None;
        }
        let (name, _address) = rest.split_once(" <")?;
        a_person(name)
    }
}

/// Returns whose decision a commit was: a forge signs as committer what a person made on its page.
fn person_of<'a>(committer: &'a str, author: &'a str) -> &'a str {
    if FORGES.contains(&committer) {
        author
    } else {
        committer
    }
}

fn a_person(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty() && name != Identity::symphony().name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forge_is_nobody_and_neither_is_symphony() {
        for (committer, author, expected) in [
            ("Grace", "Ada", Some("Grace")),
            ("GitHub", "Ada", Some("Ada")),
            ("Symphony", "Ada", None),
            ("GitHub", "Symphony", None),
            ("", "", None),
        ] {
            let name = a_person(person_of(committer, author));
            assert_eq!(name.as_deref(), expected, "{committer} {author}");
        }
    }
}
