//! What a command that did not succeed says, and its exit code (spec: cli).
//!
//! Libraries state facts; `judgement` turns their typed errors into an exit code and a hint. An error is one sentence,
//! `failed to …: cause`, and a hint says what to type next.

mod judgement;
mod place;
mod plan;
mod provider;
#[cfg(test)]
mod refusal_tests;
mod review;
mod stop;
mod verdict;

use std::io::{self, Write as _};
use std::process::ExitCode;

use owo_colors::OwoColorize as _;
use symphony_core::config::ConfigProblem;
use symphony_core::nearest::nearest;
use symphony_runner::RunnerError;
use symphony_runner::output::neutralised;
use symphony_store::StoreError;
use symphony_workspace::config_file::ConfigFileError;

use self::judgement::judge;
use self::stop::Form;
pub(crate) use judgement::{database_fix, identity_fix};
pub(crate) use plan::plan_hint;
pub(crate) use provider::provider_fix;
pub(crate) use stop::{Exit, Stop};

/// Returns a hint with the name that was probably meant before what lists them all.
pub(crate) fn did_you_mean<'a>(
    found: &str,
    names: impl IntoIterator<Item = &'a str>,
    listing: &str,
) -> String {
    match nearest(found, names) {
        Some(name) => format!("did you mean `{name}`? {listing}"),
        None => listing.to_owned(),
    }
}

/// Writes an error to standard error and returns the exit code that belongs to it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        // the reader has seen enough
        return Exit::Done.into();
    }
    let verdict = judge(error);
    let mut stderr = anstream::stderr().lock();
    let text = sentence(error);
    let mut causes = error.chain().map(|cause| cause.downcast_ref::<Stop>());
    let is_finding = causes
        .next()
        .flatten()
        .is_some_and(|stop| stop.form == Form::Finding);
    let failed_to = if is_finding { "" } else { "failed to " };
    let mut lines = format!(
        "{} {failed_to}{}\n",
        "error:".red().bold(),
        neutralised(&text)
    );
    for problem in problems(error).iter().skip(1) {
        lines.push_str(&format!("  also: {}\n", neutralised(&problem.to_string())));
    }
    if let Some(hint) = verdict.hint {
        lines.push_str(&format!(
            "{} {}\n",
            "hint:".cyan().bold(),
            neutralised(&hint)
        ));
    }
    // when standard error is gone there is nobody left to tell
    let _unwritten = stderr.write_all(lines.as_bytes());
    verdict.exit.into()
}

/// Joins an error and its causes; a cause that its parent repeats is left out, as is one that only puts a number in front.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for cause in error.chain() {
        let part = cause.to_string();
        if text.contains(part.trim()) || !last.is_empty() && part.ends_with(&last) {
            continue;
        }
        last.clone_from(&part);
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(part.trim());
        if matches!(
            cause.downcast_ref::<StoreError>(),
            Some(StoreError::DiskFull(_))
        ) {
            // SQLite calls the same thing an I/O error
            break;
        }
    }
    text.replace(NO_SPACE, "the disk is full")
}

/// What the C library says of a full disk, and what Rust adds.
const NO_SPACE: &str = "No space left on device (os error 28)";

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Returns the exit code that an error leads to.
pub(crate) fn exit_of(error: &anyhow::Error) -> Exit {
    judge(error).exit
}

fn problems(error: &anyhow::Error) -> &[ConfigProblem] {
    error
        .chain()
        .find_map(|cause| match cause.downcast_ref::<RunnerError>() {
            Some(RunnerError::Config(error)) => Some(error.problems()),
            _ => cause
                .downcast_ref::<ConfigFileError>()
                .map(ConfigFileError::problems),
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use symphony_core::issue::{IssueState, IssueStatus, Review, human_move};
    use symphony_workspace::WorkspaceError;

    use super::*;

    #[test]
    fn each_kind_of_error_has_its_exit_code() {
        let transition =
            human_move(&IssueState::Todo, IssueStatus::Done, Review::None).unwrap_err();
        let not_found = StoreError::NotFound {
            what: "run",
            id: "x".to_owned(),
        };
        let table = [
            (anyhow::Error::from(not_found), 3),
            (
                StoreError::Transition {
                    id: "A-1".to_owned(),
                    source: transition,
                }
                .into(),
                4,
            ),
            (
                StoreError::Refused {
                    reason: "no".to_owned(),
                }
                .into(),
                4,
            ),
            (Stop::new(Exit::Busy, "wait").into(), 5),
            (ConfigFileError::NotFound { path: "x".into() }.into(), 3),
            (
                RunnerError::Refused {
                    reason: "no".to_owned(),
                }
                .into(),
                4,
            ),
            (
                RunnerError::from(StoreError::Refused {
                    reason: "no".to_owned(),
                })
                .into(),
                4,
            ),
            (
                WorkspaceError::NotARepository { path: "/".into() }.into(),
                3,
            ),
            (io::Error::other("disk").into(), 1),
        ];
        for (error, code) in table {
            let text = error.to_string();
            assert_eq!(judge(&error.context("do it")).exit.code(), code, "{text}");
        }
    }

    #[test]
    fn a_full_disk_is_called_that() {
        use rusqlite::{Error, ffi};
        let source = Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR), None);
        let database = anyhow::Error::from(StoreError::DiskFull(source)).context("add the issue");
        assert_eq!(
            sentence(&database),
            "add the issue: write to the database: the disk is full"
        );
        let file = anyhow::Error::from(io::Error::from_raw_os_error(28)).context("write x.json");
        assert_eq!(sentence(&file), "write x.json: the disk is full");
    }

    #[test]
    fn a_cause_that_is_repeated_is_said_once() {
        let transition =
            human_move(&IssueState::Todo, IssueStatus::Done, Review::None).unwrap_err();
        let error = StoreError::Transition {
            id: "A-1".to_owned(),
            source: transition,
        };
        let error = Err::<(), _>(error)
            .context("move A-1 to `done`")
            .unwrap_err();
        insta::assert_snapshot!(sentence(&error), @"move A-1 to `done`: A-1: an issue in `todo` cannot move to `done`; from `todo` a human can move it to `backlog`, `cancelled`");
    }
}
