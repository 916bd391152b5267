//! A shell script around a workspace: a supervised process with a time limit and a log, all of whose processes are ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use symphony_core::config::{CommandLine, Millis};

use crate::error::RunnerError;
use crate::process::Supervision;
use crate::supervise::{CommandCall, Company, run_command};

/// How much of the end of its output the end of a hook has.
const TAIL_BYTES_MAX: usize = 2 * 1024;

/// A hook to be run, by `bash -lc`.
#[derive(Debug)]
pub struct Hook<'a> {
    /// Symphony's own executable.
    pub executable: &'a Path,
    /// The script.
    pub script: &'a str,
    /// Its time limit.
    pub timeout: Duration,
    /// Its whole environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Its working directory.
    pub directory: &'a Path,
    /// The file of its output, which is bounded.
    pub log: PathBuf,
}

/// How a hook ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEnd {
    /// Why it counts as failed; absent when it succeeded.
    pub failure: Option<String>,
    /// How long it took.
    pub duration: Duration,
    /// The end of its output.
    pub output: String,
}

impl Hook<'_> {
    /// Runs the hook until it ends or its time is over. Then every process that it left is ended, too. No other program of
    /// this supervision may run at the same time.
    ///
    /// # Errors
    /// When it cannot be started, or its log cannot be opened.
    pub async fn run(self, supervision: &Supervision) -> Result<HookEnd, RunnerError> {
        let limit = Millis::new(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX));
        let line = CommandLine::Argv(["bash", "-lc", self.script].map(str::to_owned).to_vec());
        let call = CommandCall {
            executable: self.executable,
            line: &line,
            limit,
            environment: self.environment,
            directory: self.directory,
            input: None,
            redactor: None,
            log: self.log,
            live: None,
            company: Company::Alone,
            remark: None,
            sandbox: None,
        };
        let outcome = run_command(supervision, call).await?;
        Ok(HookEnd {
            failure: (!outcome.passed()).then(|| outcome.how(limit)),
            duration: outcome.duration,
            output: end_of(&outcome.output).to_owned(),
        })
    }
}

/// Returns the end of a text, cut between characters.
fn end_of(text: &str) -> &str {
    let mut from = text.len().saturating_sub(TAIL_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_output_is_cut_between_characters() {
        assert_eq!(end_of("short"), "short");
        let long = format!("x{}", "ü".repeat(TAIL_BYTES_MAX));
        let end = end_of(&long);
        assert!(end.len() <= TAIL_BYTES_MAX && end.chars().all(|c| c == 'ü'));
    }
}
