//! What a command that did not succeed says, and its exit code (spec: cli).
//!
//! An error is one sentence. Each part of it is a fact, a clause that can be read alone: "no git repository was found at
//! /tmp or above it", "cannot read a.json". What a command was doing is the only verb phrase: [`Context`] adds it, and in
//! front of a sentence it reads "failed to add the issue: …", further inside "cannot add the issue: …". An error without
//! it is a fact that says enough. `judgement` turns the typed errors of the libraries into an exit code and a hint, which
//! says what to type next.

mod context;
mod judgement;
mod message;
mod place;
mod plan;
mod provider;
#[cfg(test)]
mod refusal_tests;
mod review;
mod session;
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

use self::context::Unfinished;
use self::judgement::judge;

pub(crate) use context::Context;
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
    let mut lines = format!("{} {}\n", "error:".red().bold(), neutralised(&text));
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
    // when standard error is closed, no one can read a message
    let _unwritten = stderr.write_all(lines.as_bytes());
    verdict.exit.into()
}

/// Joins an error and its causes; a cause that its parent repeats is left out, as is one that only puts a number in front.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for cause in error.chain() {
        let part = match cause.downcast_ref::<Unfinished>() {
            Some(unfinished) if text.is_empty() => format!("failed to {}", unfinished.action),
            _ => cause.to_string(),
        };
        let part = without_name(&text, part);
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

/// Takes off the name that a cause begins with when the text before it has the name already: "set `a`: a: …".
fn without_name(before: &str, part: String) -> String {
    let is_named = |name: &str| {
        let mut words = before.split([' ', '`']);
        words.any(|word| word == name)
    };
    match part.split_once(": ") {
        Some((name, rest)) if is_named(name) => rest.to_owned(),
        _ => part,
    }
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
    use symphony_core::config::{KeyPath, ProblemKind};
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
            assert_eq!(
                judge(&Err::<(), _>(error).context("do it").unwrap_err())
                    .exit
                    .code(),
                code,
                "{text}"
            );
        }
    }

    fn shown(error: impl Into<anyhow::Error>, actions: &[&str]) -> String {
        let error = actions.iter().rev().fold(error.into(), |error, action| {
            Err::<(), _>(error).context(*action).unwrap_err()
        });
        sentence(&error)
    }

    #[test]
    fn an_error_reads_as_one_sentence() {
        let no_repository = || WorkspaceError::NotARepository {
            path: "/tmp".into(),
        };
        let not_readable = || WorkspaceError::Io {
            action: "read",
            path: "/p/a.md".into(),
            source: io::Error::from_raw_os_error(13),
        };
        let invalid = || ConfigFileError::Invalid {
            problems: vec![ConfigProblem {
                path: KeyPath::parse("gates[0]").unwrap(),
                kind: ProblemKind::Missing {
                    expected: "`command`".to_owned(),
                },
                file: Some("/p/symphony.config.json".to_owned()),
                position: None,
            }],
        };
        let transition = || StoreError::Transition {
            id: "A-1".to_owned(),
            source: human_move(&IssueState::Todo, IssueStatus::Done, Review::None).unwrap_err(),
        };
        let full = || {
            use rusqlite::{Error, ffi};
            StoreError::DiskFull(
                Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR), None).into(),
            )
        };
        let table = [
            shown(no_repository(), &[]),
            shown(no_repository(), &["add ../web"]),
            shown(
                RunnerError::from(no_repository()),
                &["run the demo", "add the project"],
            ),
            shown(not_readable(), &[]),
            shown(not_readable(), &["check the prompts"]),
            shown(invalid(), &["load the configuration"]),
            shown(Stop::new(Exit::Failed, "2 checks failed"), &[]),
            shown(
                Stop::new(Exit::Refused, "it is already `done`"),
                &["close A-1"],
            ),
            shown(transition(), &["move A-1 to `done`"]),
            shown(full(), &["add the issue"]),
            shown(io::Error::from_raw_os_error(28), &["write x.json"]),
            shown(
                io::Error::from_raw_os_error(2),
                &["write the manual pages into m"],
            ),
        ];
        insta::assert_snapshot!(table.join("\n"));
    }
}
