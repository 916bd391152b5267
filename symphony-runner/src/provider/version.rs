//! The version of an agent's program: runs it in an empty environment with a time limit.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use crate::error::RunnerError;
use crate::process::Question;

/// How long a program may take to print its version: a cold start of Node.js on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(20);
/// Most of an answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 4096;

/// Runs `PROGRAM --version` and returns the first line of its output.
///
/// Its environment is `PATH` and an empty temporary home folder: it finds no settings, no credentials, and leaves
/// nothing behind.
///
/// # Errors
/// When it cannot be started, does not end in time, fails, or prints nothing.
pub fn program_version(program: &Path, search_path: &OsStr) -> Result<String, RunnerError> {
    let failed = |error| RunnerError::io("ask for the version of", program, error);
    let home = tempfile::tempdir().map_err(failed)?;
    let question = Question {
        program,
        arguments: &["--version"],
        directory: home.path(),
        environment: [
            ("PATH".into(), search_path.to_owned()),
            ("HOME".into(), home.path().into()),
        ]
        .into(),
        time_max: TIME_MAX,
        answer_bytes_max: ANSWER_BYTES_MAX,
    };
    let (status, answer) = question.ask().map_err(failed)?;
    let text = String::from_utf8_lossy(&answer);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    match line {
        Some(line) if status.success() => Ok(line.to_owned()),
        _ => Err(RunnerError::refused(format!(
            "`{} --version` ended with {status} and printed no version",
            program.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Makes a program. Another process writes it: what this one has open for writing, a child of another test inherits
    /// until it executes, and the system executes no file that someone may write.
    #[expect(clippy::disallowed_methods, reason = "a helper of tests")]
    fn program(folder: &Path, script: &str) -> std::path::PathBuf {
        let path = folder.join("agent");
        let written = Command::new("sh")
            .args([
                "-c",
                "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 700 \"$0\"",
            ])
            .arg(&path)
            .arg(script)
            .status();
        assert!(written.unwrap().success());
        path
    }

    #[test]
    fn the_first_line_is_the_version_and_the_environment_is_clean() {
        let folder = tempfile::tempdir().unwrap();
        let path = program(
            folder.path(),
            "echo; echo \"1.2 $1 ${USER-none}\"; echo more",
        );
        let version = program_version(&path, OsStr::new("/usr/bin:/bin")).unwrap();
        assert_eq!(version, "1.2 --version none");
    }

    #[test]
    fn one_that_fails_or_leaves_a_child_is_no_riddle() {
        let folder = tempfile::tempdir().unwrap();
        let path = program(folder.path(), "exit 3");
        let error = program_version(&path, OsStr::new("/bin"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("exit status: 3"), "{error}");
        // the child holds the pipe open until this test has its answer
        let asked = folder.path().join("asked");
        std::fs::write(&asked, "").unwrap();
        let waits = format!(
            "echo 5; while test -e '{}'; do sleep 0.02; done &",
            asked.display()
        );
        let path = program(folder.path(), &waits);
        assert_eq!(
            program_version(&path, OsStr::new("/usr/bin:/bin")).unwrap(),
            "5"
        );
        std::fs::remove_file(&asked).unwrap();
    }
}
