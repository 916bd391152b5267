//! One start of a confined program: its folders, and whether the sandbox itself failed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use symphony_sandbox::{CONFINE_FAILED, CONFINE_MESSAGE, Status};
use symphony_workspace::remove_deep;

use super::compose::StartFolders;
use super::fault::SandboxFault;
use crate::network::LoginCopy;
use crate::process::AgentExit;
use crate::provider::AgentCli;

/// The folder of all starts, in the folder of a run.
const STARTS: &str = "sandbox";

/// One start of a confined program. Dropping it removes its home with all that the program left there.
#[derive(Debug)]
pub(crate) struct Start {
    folder: PathBuf,
    /// The file of bubblewrap's report; `None` at a level without bubblewrap.
    report: Option<PathBuf>,
    /// The copy of a login in its home.
    login: Option<LoginCopy>,
}

impl Start {
    /// Makes the folders of a new start in the folder of a run. No other start has them: a link that a program left in a home
    /// would lead the mounts of the next one astray.
    ///
    /// With namespaces there is a report of bubblewrap, and temporary files are in memory.
    pub(super) fn make(
        run: &Path,
        has_namespaces: bool,
    ) -> Result<(Self, StartFolders), SandboxFault> {
        let folder = run
            .join(STARTS)
            .join(uuid::Uuid::now_v7().simple().to_string());
        let start = Self {
            report: has_namespaces.then(|| folder.join("report.json")),
            folder,
            login: None,
        };
        let folders = StartFolders {
            home: start.folder.join("home"),
            temporary: start.folder.join("tmp"),
        };
        let temporary = (!has_namespaces).then_some(&folders.temporary);
        for path in [&folders.home].into_iter().chain(temporary) {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(|source| SandboxFault::Io {
                action: "make the folder",
                path: path.clone(),
                source,
            })?;
        }
        Ok((start, folders))
    }

    /// Hands the login of a CLI in, if there is one that the environment leads to.
    pub(super) fn hand_in(
        &mut self,
        cli: &'static AgentCli,
        environment: &BTreeMap<OsString, OsString>,
        home: &Path,
    ) -> Result<(), SandboxFault> {
        let copied = LoginCopy::hand_in(cli, environment, home);
        self.login = copied.map_err(|source| SandboxFault::Io {
            action: "copy the login to",
            path: home.to_owned(),
            source,
        })?;
        Ok(())
    }

    /// Brings a login that was refreshed inside to the user, or the other way round.
    pub(crate) fn keep_login(&mut self) {
        if let Some(login) = &mut self.login {
            login.keep_same();
        }
    }

    /// Returns the file of bubblewrap's report.
    pub(crate) fn report(&self) -> Option<&Path> {
        self.report.as_deref()
    }

    /// Returns why the program never ran, if the sandbox failed.
    ///
    /// `stderr` is what was printed. `was_silent` says that the program wrote nothing else: one that ran can print what it likes.
    pub(crate) fn fault(
        &self,
        exit: AgentExit,
        stderr: &str,
        was_silent: bool,
    ) -> Option<SandboxFault> {
        let status = self.report.as_ref().map(|file| {
            // A report that is gone says that nothing ran.
            Status::parse(&fs::read(file).unwrap_or_default())
        });
        fault_of(status, exit, stderr, was_silent)
    }
}

/// Decides it. `status` is `None` at a level without bubblewrap.
///
/// Whoever ends bubblewrap by a signal keeps it from reporting an exit code, which says nothing about the sandbox.
fn fault_of(
    status: Option<Status>,
    exit: AgentExit,
    stderr: &str,
    was_silent: bool,
) -> Option<SandboxFault> {
    let last = || {
        let line = stderr.lines().rfind(|line| !line.trim().is_empty());
        line.unwrap_or("bubblewrap ended without an error message")
            .trim()
            .to_owned()
    };
    if let (Some(status), Some(_code)) = (status, exit.code)
        && status.exit_code.is_none()
    {
        return Some(SandboxFault::NotMade { message: last() });
    }
    let confined = stderr
        .lines()
        .find_map(|line| line.strip_prefix(CONFINE_MESSAGE));
    match confined {
        Some(message) if was_silent && exit.code == Some(i32::from(CONFINE_FAILED)) => {
            Some(SandboxFault::NotConfined {
                message: message.to_owned(),
            })
        }
        _ => None,
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        // it is read a last time, so before its folder is removed
        drop(self.login.take());
        if let Err(error) = remove_deep(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "the home of a sandbox stays for now");
        }
    }
}

/// Removes what is left of the starts of a run whose supervisor died.
pub(crate) fn remove_starts(run: &Path) -> std::io::Result<()> {
    remove_deep(&run.join(STARTS)).map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const fn code(code: i32) -> AgentExit {
        AgentExit {
            code: Some(code),
            signal: None,
        }
    }

    #[test]
    fn a_sandbox_failed_when_no_exit_code_was_reported() {
        let status = |child, exit_code| Some(Status { child, exit_code });
        let killed = AgentExit {
            code: None,
            signal: Some(9),
        };
        let confine = "symphony confine: seccomp: no";
        for (status, exit, stderr, was_silent, expected) in [
            (status(Some(7), Some(0)), code(0), "", false, None),
            (
                status(Some(7), Some(1)),
                code(1),
                "bwrap: a lie",
                false,
                None,
            ),
            (
                status(None, None),
                code(1),
                "x\nbwrap: setting up uid map: Permission denied\n",
                true,
                Some(
                    "the sandbox could not be created: bwrap: setting up uid map: Permission denied",
                ),
            ),
            (
                status(None, None),
                code(1),
                "",
                true,
                Some("the sandbox could not be created: bubblewrap ended without an error message"),
            ),
            (status(Some(7), None), killed, "", true, None),
            (status(None, None), killed, "", true, None),
            (
                status(Some(7), Some(126)),
                code(126),
                confine,
                true,
                Some("the program did not start in the sandbox: seccomp: no"),
            ),
            (status(Some(7), Some(126)), code(126), confine, false, None),
            (status(Some(7), Some(126)), code(126), "", true, None),
            (
                None,
                code(126),
                confine,
                true,
                Some("the program did not start in the sandbox: seccomp: no"),
            ),
            (None, code(1), "", true, None),
        ] {
            let found = fault_of(status, exit, stderr, was_silent).map(|fault| fault.to_string());
            assert_eq!(found.as_deref(), expected, "{status:?} {exit:?} {stderr}");
        }
    }

    #[test]
    fn each_start_has_a_home_of_its_own_and_leaves_nothing() {
        let run = tempfile::tempdir().unwrap();
        let (first, one) = Start::make(run.path(), true).unwrap();
        let (second, two) = Start::make(run.path(), false).unwrap();
        assert_ne!(one.home, two.home);
        assert!(first.report().is_some() && second.report().is_none());
        let closed = one.home.join("a/b");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
        drop((first, second));
        assert!(!one.home.exists() && !two.home.exists());
        remove_starts(run.path()).unwrap();
        remove_starts(run.path()).unwrap();
        assert!(!run.path().join(STARTS).exists());
    }
}
