//! Calls of git that leave this machine: with the user's own settings, credentials and keys, which no other call sees.
//!
//! A push or a fetch is the user's, made for them: an ssh agent, a credential helper or a certificate that works for them in a
//! terminal has to work here too. It asks no one anything, runs no hook, and follows no submodule.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::process::Command;
use std::time::Duration;

use super::child::{self, Ended, Limits};
use super::place::Git;
use crate::error::WorkspaceError;

/// A call that asks for refs.
const ASKED: Limits = Limits {
    whole: Duration::from_mins(1),
    idle: None,
};
/// A call that sends objects over a slow line. No one waits for it but the run whose they are.
const SENT: Limits = Limits {
    whole: Duration::from_mins(10),
    idle: None,
};
/// A call that gets objects over a slow line. A connection that is lost without a word would keep it, and all runs that wait for it.
const FETCHED: Limits = Limits {
    idle: Some(Duration::from_mins(2)),
    ..SENT
};
/// How long a remote may be silent while a tick waits for it.
const TICK_IDLE: Duration = Duration::from_secs(30);
/// How ssh is called. Without `BatchMode`, it would wait for a passphrase that no one can type. It gives up after 20 s without a connection,
/// and after a minute in which one that it has does not answer.
const SSH: &str =
    "ssh -oBatchMode=yes -oConnectTimeout=20 -oServerAliveInterval=15 -oServerAliveCountMax=4";
/// How much output is read: refs of one branch, and what a server says of a push.
const STDOUT_BYTES_MAX: usize = 1024 * 1024;
/// How much output is read of a list of refs: some 600,000 refs of runs.
const LIST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Settings of every such call.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "push.gpgSign=false",
    "fetch.fsckObjects=true",
    "fetch.writeCommitGraph=false",
    "protocol.ext.allow=never",
    "protocol.file.allow=user",
];

/// Variables of the user's environment that would point git at another repository or run a program of somebody's choice.
const TAKEN_AWAY: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_CONFIG",
    "GIT_TRACE",
    "GIT_TRACE_CURL",
    "GIT_CURL_VERBOSE",
];

/// What kind of call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// It asks for refs.
    Ask,
    /// It lists refs, of which there may be hundreds of thousands.
    List,
    /// It gets objects.
    Fetch,
    /// It sends objects.
    Push,
}

/// Who waits for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// One run or one person, or the runs of one host.
    Few,
    /// A tick, and with it all projects.
    Tick,
}

impl Call {
    /// Returns how long a call may take. In a tick, each has to end well within the time of a step, and one that moves objects has to be able to
    /// finish on a slow line: the limit in all is for HTTP, where a lost connection cannot be seen.
    const fn limits(self, waiting: Waiting) -> Limits {
        match (self, waiting) {
            (Self::Ask, Waiting::Few) => ASKED,
            (Self::List | Self::Fetch, Waiting::Few) => FETCHED,
            (Self::Push, Waiting::Few) => SENT,
            (Self::Ask, Waiting::Tick) => Limits {
                idle: Some(TICK_IDLE),
                ..ASKED
            },
            (Self::List | Self::Fetch, Waiting::Tick) => Limits {
                whole: Duration::from_mins(5),
                idle: Some(TICK_IDLE),
            },
            // Long enough for hooks, and for what waits in the buffer of a slow line.
            (Self::Push, Waiting::Tick) => Limits {
                whole: Duration::from_mins(8),
                idle: Some(Duration::from_mins(2)),
            },
        }
    }

    /// Returns how much of its output is read.
    const fn stdout_max(self) -> usize {
        match self {
            Self::List => LIST_BYTES_MAX,
            Self::Ask | Self::Fetch | Self::Push => STDOUT_BYTES_MAX,
        }
    }
}

/// The answer of a call.
#[derive(Debug)]
pub(crate) struct NetworkAnswer {
    pub(crate) code: Option<i32>,
    /// The limit of its output, if it printed more and was ended for that.
    pub(crate) cut_at: Option<usize>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Git {
    /// Runs a call in the environment of the user.
    pub(crate) fn over_network(
        &self,
        environment: &BTreeMap<OsString, OsString>,
        kind: Call,
        waiting: Waiting,
        subcommand: &str,
        arguments: &[&str],
    ) -> Result<NetworkAnswer, WorkspaceError> {
        let mut command = self.user_command(environment)?;
        if !self.names_ssh(environment)? {
            command.env("GIT_SSH_COMMAND", SSH);
        }
        command.arg(subcommand).args(arguments);
        let limits = kind.limits(waiting);
        self.ended(command, subcommand, limits, kind.stdout_max())
    }

    /// Returns whether the user chose how ssh is called.
    fn names_ssh(
        &self,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<bool, WorkspaceError> {
        let mut variables = ["GIT_SSH_COMMAND", "GIT_SSH"].iter();
        if variables.any(|name| environment.contains_key(OsStr::new(name))) {
            return Ok(true);
        }
        let mut command = self.user_command(environment)?;
        command.args(["config", "--get", "core.sshCommand"]);
        let found = self.ended(command, "config", ASKED, STDOUT_BYTES_MAX)?;
        Ok(found.code == Some(0))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this module owns the git program"
    )]
    fn user_command(
        &self,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Command, WorkspaceError> {
        let place = self.place();
        place.refuse_redirected()?;
        let mut command = Command::new(self.program().path());
        command.current_dir(&place.common_dir).env_clear();
        for (name, value) in environment {
            if !TAKEN_AWAY.iter().any(|taken| OsStr::new(taken) == name) {
                command.env(name, value);
            }
        }
        command
            .env("PATH", self.program().search())
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_DIR", &place.common_dir);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        Ok(command)
    }

    fn ended(
        &self,
        command: Command,
        subcommand: &str,
        limits: Limits,
        stdout_max: usize,
    ) -> Result<NetworkAnswer, WorkspaceError> {
        let place = &self.place().common_dir;
        let ended = child::run_within(command, Vec::new(), stdout_max, limits)
            .map_err(|source| WorkspaceError::io("start git in", place, source))?;
        let Ended {
            status,
            is_stuck,
            stdout,
            cut,
            stderr,
        } = ended;
        if cut {
            return Ok(NetworkAnswer {
                code: None,
                cut_at: Some(stdout_max),
                stdout: String::new(),
                stderr: said(&stderr),
            });
        }
        let Some(status) = status else {
            if let Some(idle) = limits.idle.filter(|_| is_stuck) {
                let idle = idle.as_secs();
                return Ok(NetworkAnswer {
                    code: None,
                    cut_at: None,
                    stdout: String::new(),
                    stderr: format!(
                        "{}\nnothing came or went for {idle} s, so it was ended",
                        said(&stderr)
                    ),
                });
            }
            return Err(WorkspaceError::GitTimedOut {
                command: format!("git {subcommand}"),
                place: place.clone(),
                seconds: limits.whole.as_secs(),
            });
        };
        Ok(NetworkAnswer {
            code: status.code(),
            cut_at: None,
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: said(&stderr),
        })
    }
}

fn said(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::git::{GitProgram, Place};

    fn git_in(folder: &tempfile::TempDir) -> Git {
        git2::Repository::init(folder.path()).unwrap();
        let root = folder.path().canonicalize().unwrap();
        let place = Place {
            git_dir: root.join(".git"),
            common_dir: root.join(".git"),
            work_tree: root,
        };
        Git::new(GitProgram::find().unwrap(), Vec::new(), place)
    }

    #[test]
    fn a_tick_notices_silence_sooner_and_ends_each_call_within_a_step() {
        let step = Duration::from_mins(10);
        for kind in [Call::Ask, Call::List, Call::Fetch, Call::Push] {
            let few = kind.limits(Waiting::Few);
            let tick = kind.limits(Waiting::Tick);
            let idle = tick.idle.unwrap_or(tick.whole);
            assert!(idle < tick.whole, "{kind:?} {tick:?}");
            assert!(few.idle.is_none_or(|few| idle < few), "{kind:?} {tick:?}");
            assert!(tick.whole <= few.whole, "{kind:?} {tick:?}");
            // a hub is asked before the first call
            let asked = Call::Ask.limits(Waiting::Tick).whole;
            assert!(tick.whole + asked < step, "{kind:?} {tick:?}");
        }
    }

    #[test]
    fn an_answer_that_is_cut_is_known_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let git = git_in(&folder);
        let answer = |bytes_max| {
            let mut command = git.user_command(&BTreeMap::new()).unwrap();
            command.args(["help", "--all"]);
            git.ended(command, "help", ASKED, bytes_max).unwrap()
        };
        let (cut, whole) = (answer(10), answer(STDOUT_BYTES_MAX));
        assert_eq!((cut.code, cut.cut_at), (None, Some(10)), "{cut:?}");
        assert_eq!((whole.code, whole.cut_at), (Some(0), None), "{whole:?}");
    }

    #[test]
    fn a_hub_that_says_nothing_any_more_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let git = git_in(&folder);
        // the kernel accepts what comes, and no one answers
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("git://{}/project", silent.local_addr().unwrap());
        let mut command = git.user_command(&BTreeMap::new()).unwrap();
        command.args(["fetch", &address]);
        let limits = Limits {
            idle: Some(Duration::from_secs(1)),
            ..FETCHED
        };
        let answer = git
            .ended(command, "fetch", limits, STDOUT_BYTES_MAX)
            .unwrap();
        let words = "nothing came or went for 1 s, so it was ended";
        assert!(answer.stderr.ends_with(words), "{answer:?}");
        assert_eq!(answer.code, None);
    }
}
