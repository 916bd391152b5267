//! Whether git knows who commits, in a folder and an environment other than Symphony's own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use symphony_core::git_identity::{Answer, Committers};

use super::child;
use super::program::GitProgram;

/// How much of an answer is read: a name, an address and a time.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Time limit of an answer.
const LIMIT: Duration = Duration::from_secs(20);

impl GitProgram {
    /// Asks git whose name a commit would have that is made in a folder by a command with this environment. The answer
    /// is git's own, so it follows all of git's rules (variables, `includeIf`, `user.useConfigOnly`, the machine's
    /// name). Git reads its configuration for it, and runs no program.
    pub fn committers(
        &self,
        folder: &Path,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Committers {
        Committers {
            author: self.ask(folder, environment, "GIT_AUTHOR_IDENT"),
            committer: self.ask(folder, environment, "GIT_COMMITTER_IDENT"),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this module owns the git program"
    )]
    fn ask(
        &self,
        folder: &Path,
        environment: &BTreeMap<OsString, OsString>,
        variable: &str,
    ) -> Answer {
        let mut command = Command::new(self.path());
        command
            .args(["--no-pager", "var", variable])
            .current_dir(folder)
            .env_clear()
            .envs(environment);
        match child::run(command, Vec::new(), ANSWER_BYTES_MAX, LIMIT) {
            Ok(ended) => match ended.status {
                Some(status) if !status.success() => Answer::Refused,
                Some(_) | None => Answer::Known,
            },
            // Unknown: the agent that commits sees git's own complaint.
            Err(error) => {
                tracing::warn!(%error, variable, "git could not be asked who commits");
                Answer::Known
            }
        }
    }
}
