//! The commits of a change, for whoever reads it.

use super::open::Repository;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitLine {
    /// Its id.
    pub id: String,
    /// When it was written, in seconds since 1970.
    pub at: i64,
    /// The name of its author.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
}

impl Repository {
    /// Lists the commits of `head` that `base` does not have, the newest first, and at most so many.
    ///
    /// # Errors
    /// When git fails, or the repository does not have one of the commits.
    pub fn commits_between(
        &self,
        base: &CommitId,
        head: &CommitId,
        count_max: u32,
    ) -> Result<Vec<CommitLine>, WorkspaceError> {
        let listed = self
            .git
            .command("log")
            .args([
                "-z",
                "--no-show-signature",
                "--format=%H%x00%at%x00%an%x00%s",
            ])
            .args([
                &format!("--max-count={count_max}"),
                head.as_str(),
                &format!("^{base}"),
                "--",
            ])
            .run()?;
        Ok(parse(&String::from_utf8_lossy(&listed)))
    }
}

fn parse(listed: &str) -> Vec<CommitLine> {
    let fields: Vec<&str> = listed.split('\0').collect();
    let commits = fields.chunks_exact(4).filter_map(|fields| match fields {
        [id, at, author, subject] => Some(CommitLine {
            id: (*id).to_owned(),
            at: at.parse().ok()?,
            author: (*author).to_owned(),
            subject: (*subject).to_owned(),
        }),
        _ => None,
    });
    commits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_field_by_field() {
        let listed = "aa|1700000000|Ada, of A|Say \"hello\"|bb|1600000000|||".replace('|', "\0");
        let line = |id: &str, at, author: &str, subject: &str| CommitLine {
            id: id.to_owned(),
            at,
            author: author.to_owned(),
            subject: subject.to_owned(),
        };
        let expected = [
            line("aa", 1_700_000_000, "Ada, of A", "Say \"hello\""),
            line("bb", 1_600_000_000, "", ""),
        ];
        assert_eq!(parse(&listed), expected);
        assert_eq!(parse(""), []);
    }
}
