//! The logs of a git folder: where its `HEAD` and its stash have been (gitrepository-layout(5), `logs`).

use std::io;
use std::path::Path;

use super::refs::read_text;
use crate::commit_id::CommitId;
use crate::linux::Folder;
use crate::repository::BranchName;

/// The most entries that are taken over, the newest ones.
const ENTRIES_MAX: usize = 1_000;

/// An entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogEntry {
    /// The commit before the change; `None` when there was none.
    pub(crate) before: Option<CommitId>,
    /// The commit after the change.
    pub(crate) commit: CommitId,
    /// The whole line.
    pub(crate) line: String,
}

/// Reads the log of `HEAD`, the oldest entry first.
pub(super) fn of_head(folder: &Folder) -> io::Result<Vec<LogEntry>> {
    read(folder, "logs/HEAD")
}

/// Reads the log of a branch, the oldest entry first.
pub(super) fn of_branch(folder: &Folder, branch: &BranchName) -> io::Result<Vec<LogEntry>> {
    read(folder, &format!("logs/{}", branch.reference()))
}

/// Reads the log of the stash, which has all entries but the newest only here.
pub(super) fn of_stash(folder: &Folder) -> io::Result<Vec<LogEntry>> {
    read(folder, "logs/refs/stash")
}

fn read(folder: &Folder, path: &str) -> io::Result<Vec<LogEntry>> {
    let text = read_text(folder, Path::new(path))?.unwrap_or_default();
    Ok(parse(&text))
}

/// Reads lines such as `OLD NEW Name <mail> 1700000000 +0000<tab>commit: words`. Other lines are passed over.
fn parse(text: &str) -> Vec<LogEntry> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(ENTRIES_MAX);
    lines
        .into_iter()
        .skip(first)
        .filter_map(|line| {
            let (head, message) = line.split_once('\t').unwrap_or((line, ""));
            let mut words = head.split(' ');
            let old = CommitId::parse(words.next()?).ok()?;
            let commit = CommitId::parse(words.next()?).ok()?;
            let is_plain = !head.contains(char::is_control) && !message.contains(char::is_control);
            let is_one_kind = old.is_sha256() == commit.is_sha256();
            (is_plain && is_one_kind).then(|| LogEntry {
                before: (old.as_str() != old.zero_like()).then_some(old),
                commit,
                line: line.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OLD: &str = "0123456789abcdef0123456789abcdef01234567";
    const NEW: &str = "abcdef0123456789abcdef0123456789abcdef01";

    #[test]
    fn an_entry_is_a_line_of_two_commits_and_words() {
        let good = format!("{OLD} {NEW} Ada <a@b> 1700000000 +0000\tcommit: one");
        let bare = format!("{OLD} {NEW} Ada <a@b> 1700000000 +0000");
        let text = format!("{good}\n{OLD} short x\n{good}\u{1b}[31m\n\n{bare}\nnonsense");
        let lines: Vec<String> = parse(&text).into_iter().map(|entry| entry.line).collect();
        assert_eq!(lines, [good, bare]);
    }

    #[test]
    fn only_the_newest_entries_of_a_long_log_are_taken() {
        let line = |number: usize| format!("{OLD} {NEW} x <x> {number} +0000\tcommit: x\n");
        let text: String = (0..ENTRIES_MAX + 5).map(line).collect();
        let found = parse(&text);
        assert_eq!(found.len(), ENTRIES_MAX);
        assert_eq!(found.first().unwrap().line, line(5).trim_end());
    }

    proptest! {
        #[test]
        fn no_entry_holds_a_control_character(text in "\\PC{0,60}") {
            for entry in parse(&format!("{OLD} {NEW} {text}")) {
                let is_plain = |c: char| c == '\t' || !c.is_control();
                prop_assert!(entry.line.chars().all(is_plain));
            }
        }
    }
}
