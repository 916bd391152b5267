//! Commits of submodules that a pull request names and that were never published: after a merge the base would name
//! what exists nowhere.

use crate::command_line::shell_quoted;
use crate::id::PrId;
use crate::listing::list_few;

/// Most commits that a sentence lists; the rest is counted.
const NAMED_MAX: usize = 5;
/// Characters of a commit that a text shows, as git abbreviates it.
const COMMIT_CHARS: usize = 8;

/// A commit of a submodule that no one else has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpublishedCommit {
    /// The path of the submodule.
    pub path: String,
    /// The commit.
    pub commit: String,
    /// The folder that has it.
    pub folder: String,
    /// Where it is.
    pub found: UnpublishedIn,
}

/// Where an unpublished commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnpublishedIn {
    /// In the submodule of a worktree, which knows its remote.
    Submodule,
    /// In a rescue ref of the project's own repository, after the worktree was removed.
    Rescue,
}

/// An open pull request that names such commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpublishedHead {
    /// The pull request.
    pub pr: PrId,
    /// The branch of its work, under whose name the commits can be pushed.
    pub branch: String,
    /// The commits; never empty.
    pub commits: Vec<UnpublishedCommit>,
}

impl UnpublishedHead {
    /// Describes what is wrong, in words that follow "it cannot be merged:".
    pub fn text(&self) -> String {
        let names: Vec<String> = self
            .commits
            .iter()
            .map(|one| {
                let commit = one.commit.get(..COMMIT_CHARS).unwrap_or(&one.commit);
                format!("{commit} in {}", one.path)
            })
            .collect();
        let what = match names.len() {
            1 => "a commit of a submodule that was",
            _ => "commits of submodules that were",
        };
        let names = names.iter().map(String::as_str);
        format!(
            "it names {what} never pushed ({})",
            list_few(names, NAMED_MAX)
        )
    }

    /// Returns the commands that resolve it, for the pull request of this name: first those that push. Only a submodule
    /// shows that a push has happened; a commit from a rescue ref takes force.
    pub fn answers(&self, reference: &str) -> Vec<String> {
        let push = |one: &UnpublishedCommit| {
            let remote = match one.found {
                UnpublishedIn::Submodule => "origin",
                UnpublishedIn::Rescue => "URL",
            };
            format!(
                "git -C {} push {remote} {}:refs/heads/{}",
                shell_quoted(&one.folder),
                one.commit,
                self.branch
            )
        };
        let mut answers: Vec<String> = self.commits.iter().take(NAMED_MAX).map(push).collect();
        let is_rescued = |one: &UnpublishedCommit| one.found == UnpublishedIn::Rescue;
        if self.commits.iter().any(is_rescued) {
            answers.push(format!("symphony pr merge {reference} --force"));
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpublished_commits_are_named_with_the_folder_to_push_them_from() {
        let one = |path: &str, found| UnpublishedCommit {
            path: path.to_owned(),
            commit: "0123456789".to_owned(),
            folder: format!("/p/{path}"),
            found,
        };
        let head = |commits| UnpublishedHead {
            pr: PrId::new(1),
            branch: "symphony/SYM-1".to_owned(),
            commits,
        };
        let single = head(vec![one("lib", UnpublishedIn::Submodule)]);
        assert_eq!(
            single.text(),
            "it names a commit of a submodule that was never pushed (01234567 in lib)"
        );
        assert_eq!(
            single.answers("SYM-1"),
            ["git -C /p/lib push origin 0123456789:refs/heads/symphony/SYM-1"]
        );
        let both = head(vec![
            one("a", UnpublishedIn::Submodule),
            one("b; c", UnpublishedIn::Rescue),
        ]);
        assert_eq!(
            both.text(),
            "it names commits of submodules that were never pushed (01234567 in a, 01234567 in b; c)"
        );
        assert_eq!(
            both.answers("7"),
            [
                "git -C /p/a push origin 0123456789:refs/heads/symphony/SYM-1",
                "git -C '/p/b; c' push URL 0123456789:refs/heads/symphony/SYM-1",
                "symphony pr merge 7 --force",
            ]
        );
    }
}
