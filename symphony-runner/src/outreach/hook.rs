//! Commands of the configuration that reach out of Symphony (`notify`, `publish`): JSON on standard input, a time
//! limit, the environment of whoever runs Symphony, and no process left at the end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;
use symphony_core::config::{CommandLine, Millis, ProjectConfig};

use crate::environment::RUN_MARKER;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::write_private;
use crate::process::Supervision;
use crate::redaction::redactor_of_environment;
use crate::supervise::{CommandCall, CommandOutcome, Company, run_command};

/// A command with its input.
#[derive(Debug)]
pub(crate) struct Hook<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) config: &'a ProjectConfig,
    pub(crate) line: &'a CommandLine,
    pub(crate) limit: Millis,
    /// Where it runs.
    pub(crate) directory: &'a Path,
    /// The folder of its log and of its input.
    pub(crate) files: PathBuf,
    /// Names both files.
    pub(crate) name: &'a str,
}

impl Hook<'_> {
    /// Runs it to its end.
    pub(crate) async fn run<T: Serialize>(
        &self,
        supervision: &Supervision,
        input: &T,
    ) -> Result<CommandOutcome, RunnerError> {
        std::fs::create_dir_all(&self.files)
            .map_err(|error| RunnerError::io("make the folder", &self.files, error))?;
        let path = self.files.join(format!("{}.json", self.name));
        let text =
            serde_json::to_string(input).expect("the input of a command has string keys only");
        write_private(&path, &format!("{text}\n"))?;
        let environment = self.environment();
        let call = CommandCall {
            executable: &self.installation.executable,
            line: self.line,
            limit: self.limit,
            redactor: redactor_of_environment(&environment)?,
            environment,
            directory: self.directory,
            input: Some(path.clone()),
            log: self.files.join(format!("{}.log", self.name)),
            live: None,
            company: Company::Alone,
            remark: None,
            sandbox: None,
        };
        let outcome = run_command(supervision, call).await;
        // The input may be private, and is in the database.
        let _left = std::fs::remove_file(&path);
        outcome
    }

    /// The environment of Symphony itself: a desktop's notifier and a forge's CLI need their own variables.
    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.installation.environment.clone();
        environment.remove(std::ffi::OsStr::new(RUN_MARKER));
        let own = self.config.env.iter();
        environment.extend(own.map(|(name, value)| (name.into(), value.into())));
        environment
    }
}
