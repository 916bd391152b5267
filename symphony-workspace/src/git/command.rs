//! One call of the git program, hardened.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use symphony_core::Timestamp;

use super::answer::line;
use super::apart::Apart;
use super::child::{self, Ended};
use super::drivers;
#[cfg(feature = "failpoints")]
use super::fault::GitDeath;
use super::identity::Identity;
use super::lock_file::{clear_lock, lock_in_the_way};
use super::place::Git;
use super::suspects::note_shared_locks;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;

/// Time limit of a call that reads or moves refs. Git needs milliseconds, a cold disk seconds.
const QUICK: Duration = Duration::from_mins(2);
/// Time limit of a call that writes a checkout: 78,000 files took 12 s on a slow disk.
const SLOW: Duration = Duration::from_mins(15);
/// Time limit of a call that may write all objects of a repository again. No one waits for it.
const LONG: Duration = Duration::from_hours(1);
/// How much output of a call is read by default: the list of a million paths fits.
const STDOUT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How often one call is run when locks are in its way. Each run may meet another one, such as that of a ref and that
/// of the packed refs.
const LOCKED_TRIES_MAX: usize = 5;

/// The home of the calls. Nothing can be created below it, and reading below it finds nothing.
const NO_HOME: &str = "/dev/null";

/// Settings that name a program or change the meaning of a call. Hooks are handled separately.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    // A forged commit graph would hide commits from a judge or a merge.
    "core.commitGraph=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.editor=true",
    "core.askPass=",
    "core.alternateRefsCommand=",
    "core.sshCommand=ssh",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "merge.verifySignatures=false",
    "log.showSignature=false",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "credential.helper=",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "protocol.ext.allow=never",
    "fetch.fsckObjects=true",
    "fetch.writeCommitGraph=false",
    "safe.bareRepository=explicit",
    "checkout.workers=0",
    "advice.graftFileDeprecated=false",
];

/// Git's words about an object that a partial clone has not fetched yet (`GIT_NO_LAZY_FETCH`).
const NOT_FETCHED: &[&str] = &["lazy fetching disabled", "from promisor remote"];

/// Subcommands that neither read nor write files of a checkout, and so never run a driver. All others get their drivers
/// disarmed, even those that seem to affect the index alone: git reads files with a doubtful time stamp whenever it
/// writes an index.
const NEVER_READ_FILES: &[&str] = &[
    "cat-file",
    "commit-tree",
    "config",
    "fetch",
    "for-each-ref",
    "ls-tree",
    "merge-base",
    "pack-objects",
    "rev-list",
    "rev-parse",
    "symbolic-ref",
    "update-ref",
];

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) cut: bool,
}

/// A call that is being built.
#[derive(Debug)]
pub(crate) struct GitCommand<'a> {
    git: &'a Git,
    subcommand: &'static str,
    args: Vec<OsString>,
    stdin: Vec<u8>,
    index: Option<PathBuf>,
    identity: Option<Identity>,
    hooks: bool,
    folders: bool,
    optional_locks: bool,
    attributes: Option<CommitId>,
    settings: &'static [&'static str],
    stdout_max: usize,
    limit: Duration,
}

impl Git {
    /// Starts to build a call of a subcommand.
    pub(crate) fn command(&self, subcommand: &'static str) -> GitCommand<'_> {
        GitCommand::new(self, subcommand)
    }
}

impl<'a> GitCommand<'a> {
    fn new(git: &'a Git, subcommand: &'static str) -> Self {
        Self {
            git,
            subcommand,
            args: Vec::new(),
            stdin: Vec::new(),
            index: None,
            identity: None,
            hooks: false,
            folders: false,
            optional_locks: false,
            attributes: None,
            settings: &[],
            stdout_max: STDOUT_BYTES_MAX,
            limit: QUICK,
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets the input of the call.
    pub(crate) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = bytes;
        self
    }

    /// Uses another index file instead of the worktree's.
    pub(crate) fn index(mut self, index: Option<&Path>) -> Self {
        self.index = index.map(Path::to_owned);
        self
    }

    /// Commits with another identity than Symphony's.
    pub(crate) fn identity(mut self, identity: &Identity) -> Self {
        self.identity = Some(identity.clone());
        self
    }

    /// Lets the repository's hooks run, with the user's home. Only for `worktree.run_hooks`.
    pub(crate) fn with_hooks(mut self) -> Self {
        self.hooks = true;
        self
    }

    /// Reads only the repository's objects: not its configuration, its attributes, nor a checkout. The `.gitattributes`
    /// of this commit count.
    pub(crate) fn apart(mut self, attributes: &CommitId) -> Self {
        self.attributes = Some(attributes.clone());
        self
    }

    /// Fetches from a folder, which Symphony made.
    pub(crate) fn fetching_a_folder(mut self) -> Self {
        self.folders = true;
        self
    }

    /// Lets a call that only looks write what it noticed into the index. Only where no one else works in the checkout.
    pub(crate) fn noting_in_index(mut self) -> Self {
        self.optional_locks = true;
        self
    }

    /// Adds settings (`name=value`), which take the place of all others of the same name.
    pub(crate) fn settings(mut self, settings: &'static [&'static str]) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the time limit of a call that writes a checkout.
    pub(crate) fn slow(mut self) -> Self {
        self.limit = SLOW;
        self
    }

    /// Sets the time limit of a call that may write all objects of a repository again.
    pub(crate) fn long(mut self) -> Self {
        self.limit = LONG;
        self
    }

    /// Reads at most this much output. The answer shows whether there was more.
    pub(crate) fn stdout_max(mut self, bytes: usize) -> Self {
        self.stdout_max = bytes;
        self
    }

    /// Runs the call and returns its output.
    pub(crate) fn run(self) -> Result<Vec<u8>, WorkspaceError> {
        let name = self.name();
        let answer = self.answer(&[0])?;
        if answer.cut {
            return Err(WorkspaceError::GitAnswer {
                command: name,
                expected: "a shorter answer",
                found: format!("more than {} bytes", answer.stdout.len()),
            });
        }
        Ok(answer.stdout)
    }

    /// Runs the call and returns its single line.
    pub(crate) fn line(self) -> Result<String, WorkspaceError> {
        let name = self.name();
        line(&name, &self.run()?)
    }

    /// Runs the call and returns the object that it prints.
    pub(crate) fn object(self) -> Result<CommitId, WorkspaceError> {
        let name = self.name();
        let text = self.line()?;
        CommitId::parse(&text).map_err(|error| WorkspaceError::GitAnswer {
            command: name,
            expected: "an object name",
            found: error.found,
        })
    }

    /// Runs the call. Exit codes other than `allowed` are errors. A lock in its way is removed if a dead git left it,
    /// and waited for if it is in use.
    pub(crate) fn answer(self, allowed: &[i32]) -> Result<Answer, WorkspaceError> {
        let mut tries = 1;
        loop {
            let error = match self.once(allowed) {
                Err(error) => error,
                answer => return answer,
            };
            let lock = match &error {
                WorkspaceError::Git { stderr, .. } => lock_in_the_way(stderr),
                _ => None,
            };
            let Some(lock) = lock.filter(|_| tries < LOCKED_TRIES_MAX) else {
                return Err(error);
            };
            clear_lock(self.git.place(), &lock)?;
            tries += 1;
        }
    }

    fn once(&self, allowed: &[i32]) -> Result<Answer, WorkspaceError> {
        let begun = Timestamp::now();
        let outcome = self.run_once(allowed);
        if let Err(WorkspaceError::Git { code: None, .. } | WorkspaceError::GitTimedOut { .. }) =
            &outcome
        {
            // It was killed, and may have left its locks.
            note_shared_locks(self.git.place(), begun);
        }
        outcome
    }

    fn run_once(&self, allowed: &[i32]) -> Result<Answer, WorkspaceError> {
        let name = self.name();
        let place = self.git.place().work_tree.clone();
        let limit = self.limit;
        #[cfg(feature = "failpoints")]
        let death = self.death();
        #[cfg(feature = "failpoints")]
        if matches!(death, Some(GitDeath::BeforeEffect | GitDeath::LeavingLock)) {
            return Err(died(name, place));
        }
        let mut command = self.build()?;
        let attributes = self.attributes.as_ref();
        let apart = attributes.map(|commit| Apart::make(self.git.place(), commit));
        let apart = apart.transpose()?;
        if let Some(apart) = &apart {
            apart.point(&mut command);
        }
        tracing::trace!(command = name, place = %place.display(), "git");
        let ended =
            child::run(command, self.stdin.clone(), self.stdout_max, limit).map_err(|source| {
                WorkspaceError::Io {
                    action: "start git in",
                    path: place.clone(),
                    source,
                }
            })?;
        #[cfg(feature = "failpoints")]
        if let Some(death) = death {
            if death == GitDeath::AfterDeletion {
                let arguments = self.plain_arguments();
                super::fault::leave_lock_of_deleted(self.git.place(), self.subcommand, &arguments);
            }
            return Err(died(name, place));
        }
        let stderr = String::from_utf8_lossy(&ended.stderr).trim_end().to_owned();
        let Some(status) = ended.status else {
            return Err(WorkspaceError::GitTimedOut {
                command: name,
                place,
                seconds: limit.as_secs(),
            });
        };
        let Ended { stdout, cut, .. } = ended;
        match status.code() {
            Some(code) if allowed.contains(&code) => Ok(Answer { code, stdout, cut }),
            // It was killed because enough was read, so the output is the answer.
            None if cut => Ok(Answer {
                code: 0,
                stdout,
                cut,
            }),
            Some(_) if NOT_FETCHED.iter().any(|words| stderr.contains(words)) => {
                Err(WorkspaceError::ObjectsNotFetched { place })
            }
            code => Err(WorkspaceError::Git {
                command: name,
                place,
                code,
                stderr,
            }),
        }
    }

    /// Returns the death that a test ordered for this call.
    #[cfg(feature = "failpoints")]
    fn death(&self) -> Option<GitDeath> {
        let place = self.git.place();
        let arguments = self.plain_arguments();
        super::fault::death_of(place, self.subcommand, &arguments, self.index.as_deref())
    }

    #[cfg(feature = "failpoints")]
    fn plain_arguments(&self) -> Vec<String> {
        self.args
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect()
    }

    fn name(&self) -> String {
        let mut name = format!("git {}", self.subcommand);
        for arg in &self.args {
            name.push(' ');
            name.push_str(&arg.to_string_lossy());
        }
        name
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this module owns the git program"
    )]
    fn build(&self) -> Result<Command, WorkspaceError> {
        let place = self.git.place();
        place.refuse_redirected()?;
        let program = self.git.program();
        let identity = self.identity.clone().unwrap_or_else(Identity::symphony);
        let mut command = Command::new(program.path());
        command
            .current_dir(if place.work_tree.is_dir() {
                &place.work_tree
            } else {
                &place.common_dir
            })
            .env_clear()
            .env("PATH", program.search())
            .env("LC_ALL", "C")
            .env("HOME", NO_HOME)
            .env("XDG_CONFIG_HOME", NO_HOME)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_ALLOW_PROTOCOL", "https:ssh")
            .env("GIT_NO_LAZY_FETCH", "1")
            // A replaced object or a graft would show a judge another tree than the one that is merged.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env("GIT_EDITOR", "true")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_AUTHOR_NAME", &identity.name)
            .env("GIT_AUTHOR_EMAIL", &identity.email)
            .env("GIT_COMMITTER_NAME", &identity.name)
            .env("GIT_COMMITTER_EMAIL", &identity.email)
            .env("GIT_DIR", &place.git_dir)
            .env("GIT_COMMON_DIR", &place.common_dir)
            .env("GIT_WORK_TREE", &place.work_tree);
        if self.subcommand == "check-ignore" {
            // It refuses to run with this setting. Its caller prefixes each path with `./`, so that it is not a
            // pattern.
            command.env_remove("GIT_LITERAL_PATHSPECS");
        }
        if self.folders {
            command.env("GIT_ALLOW_PROTOCOL", "file");
        }
        if self.optional_locks {
            command.env("GIT_OPTIONAL_LOCKS", "1");
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        if self.hooks {
            if let Some(home) = std::env::var_os("HOME") {
                command.env("HOME", home);
            }
        } else {
            command.args(["-c", "core.hooksPath=/dev/null"]);
        }
        if self.folders {
            // objects that an agent made: large ones are written as they come, not held in memory
            command.args(["-c", "core.bigFileThreshold=1m", "-c", "pack.threads=1"]);
        }
        for setting in SETTINGS.iter().chain(self.settings) {
            command.args(["-c", setting]);
        }
        if !NEVER_READ_FILES.contains(&self.subcommand) && self.attributes.is_none() {
            drivers::disarm(self.git, &mut command)?;
        }
        command.arg(self.subcommand).args(&self.args);
        Ok(command)
    }
}

/// Returns the error of a git that was killed.
#[cfg(feature = "failpoints")]
fn died(command: String, place: PathBuf) -> WorkspaceError {
    WorkspaceError::Git {
        command,
        place,
        code: None,
        stderr: String::new(),
    }
}
