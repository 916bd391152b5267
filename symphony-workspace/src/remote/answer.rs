//! What a remote says.

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;

/// Most characters of git's words that are kept.
const WORDS_CHARS_MAX: usize = 600;

/// What came of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has it.
    Done,
    /// The branch is not where it was found: someone else has pushed.
    Moved,
    /// The remote refuses the push: a protected branch, a rule, a hook.
    Refused {
        /// Its words.
        detail: String,
    },
}

/// Returns git's words on one line, without the credentials that an address may have.
pub(super) fn shown(stderr: &str) -> String {
    let words: Vec<String> = stderr.split_whitespace().map(without_credentials).collect();
    words.join(" ").chars().take(WORDS_CHARS_MAX).collect()
}

/// Takes `user:password@` out of an address.
fn without_credentials(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else {
        return word.to_owned();
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{host}{path}"),
        None => word.to_owned(),
    }
}

/// Reads the commit of a ref from the answer of `ls-remote`.
pub(super) fn head_in(listed: &str, reference: &str) -> Result<Option<CommitId>, WorkspaceError> {
    let mut lines = listed.lines().filter_map(|line| line.split_once('\t'));
    let Some((commit, _)) = lines.find(|(_, name)| *name == reference) else {
        return Ok(None);
    };
    object(commit).map(Some)
}

fn object(commit: &str) -> Result<CommitId, WorkspaceError> {
    CommitId::parse(commit).map_err(|error| WorkspaceError::GitAnswer {
        command: "git ls-remote".to_owned(),
        expected: "an object name",
        found: error.found,
    })
}

/// Reads all refs from the answer of `ls-remote`, with the commits that they are at.
pub(super) fn references(listed: &str) -> Result<Vec<(String, CommitId)>, WorkspaceError> {
    let lines = listed.lines().filter_map(|line| line.split_once('\t'));
    lines
        .map(|(commit, name)| Ok((name.to_owned(), object(commit)?)))
        .collect()
}

/// Reads the branch that `HEAD` names from the answer of `ls-remote --symref`.
pub(super) fn symbolic_head(listed: &str) -> Option<&str> {
    let mut lines = listed.lines().filter_map(|line| line.split_once('\t'));
    let (target, _) =
        lines.find(|(target, name)| *name == "HEAD" && target.starts_with("ref: "))?;
    target.strip_prefix("ref: refs/heads/")
}

/// Reads what came of a push of one ref from its porcelain output; `None` if the remote said nothing about the ref.
pub(super) fn pushed(stdout: &str) -> Option<Pushed> {
    let mut lines = stdout.lines().filter_map(|line| {
        let mut parts = line.splitn(3, '\t');
        let flag = parts.next().filter(|flag| flag.len() == 1)?;
        Some((flag.to_owned(), parts.nth(1)?.to_owned()))
    });
    let (flag, summary) = lines.next()?;
    if flag != "!" {
        return Some(Pushed::Done);
    }
    let is_moved = [
        "(stale info)",
        "(fetch first)",
        "(non-fast-forward)",
        "(already exists)",
    ]
    .iter()
    .any(|words| summary.contains(words));
    if is_moved && !summary.starts_with("[remote rejected]") {
        return Some(Pushed::Moved);
    }
    Some(Pushed::Refused {
        detail: shown(&summary),
    })
}

/// Returns whether git says that the other repository names its objects in another way (`--object-format`): at a fetch, and at a push.
pub(super) fn is_other_format(stderr: &str) -> bool {
    stderr.contains("mismatched algorithms")
        || stderr.contains("does not support this repository's hash algorithm")
}

#[cfg(test)]
mod tests {
    use super::super::no_answer::NoAnswer;
    use super::*;

    #[test]
    fn what_a_remote_says_of_a_push_is_read() {
        let line = |flag: &str, summary: &str| {
            format!("To https://example.com/a\n{flag}\tabc:refs/heads/b\t{summary}\nDone\n")
        };
        let refused = |detail: &str| Pushed::Refused {
            detail: detail.to_owned(),
        };
        for (flag, summary, expected) in [
            ("*", "[new branch]", Some(Pushed::Done)),
            (" ", "1234567..89abcde", Some(Pushed::Done)),
            ("=", "[up to date]", Some(Pushed::Done)),
            ("+", "1234567...89abcde (forced update)", Some(Pushed::Done)),
            ("!", "[rejected] (stale info)", Some(Pushed::Moved)),
            ("!", "[rejected] (fetch first)", Some(Pushed::Moved)),
            ("!", "[rejected] (non-fast-forward)", Some(Pushed::Moved)),
            (
                "!",
                "[remote rejected] (protected branch hook declined)",
                Some(refused(
                    "[remote rejected] (protected branch hook declined)",
                )),
            ),
        ] {
            assert_eq!(pushed(&line(flag, summary)), expected, "{summary}");
        }
        assert_eq!(pushed(""), None);
        assert_eq!(pushed("fatal: something\n"), None);
    }

    #[test]
    fn the_reason_of_silence_is_read_and_no_password_is_shown() {
        for (stderr, expected) in [
            (
                "git@example.com: Permission denied (publickey).",
                NoAnswer::Credentials,
            ),
            (
                "fatal: Authentication failed for 'https://example.com/a/'",
                NoAnswer::Credentials,
            ),
            (
                "fatal: could not read Username for 'https://example.com': terminal prompts disabled",
                NoAnswer::Credentials,
            ),
            ("Host key verification failed.", NoAnswer::Trust),
            (
                "fatal: unable to access 'https://example.com/': server certificate verification failed",
                NoAnswer::Trust,
            ),
            ("remote: Repository not found.", NoAnswer::Missing),
            (
                "fatal: couldn't find remote ref refs/heads/main",
                NoAnswer::Missing,
            ),
            (
                "fatal: unable to access 'https://example.com/': Could not resolve host: example.com",
                NoAnswer::Unreachable,
            ),
        ] {
            assert_eq!(NoAnswer::of(stderr), expected, "{stderr}");
        }
        assert_eq!(
            shown("fatal: unable to access 'https://ada:secret@example.com/a.git/':\n no"),
            "fatal: unable to access 'https://example.com/a.git/': no"
        );
    }
}
