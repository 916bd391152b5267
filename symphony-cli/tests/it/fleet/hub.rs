//! The fleet's hub: a bare repository that `git daemon` serves at an address of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use super::network::HUB;
use super::programs::{program, run, succeeds};
use crate::support::until;

/// The repository's name.
const NAME: &str = "hub.git";

/// The hub, which ends with the value.
#[derive(Debug)]
pub(super) struct Hub {
    repository: PathBuf,
    daemon: Child,
}

impl Hub {
    /// Makes the repository in a folder, and serves it.
    pub(super) fn start(folder: &Path) -> Self {
        let repository = folder.join(NAME);
        run(program("git", &["init", "-q", "--bare", "-b", "main"]).arg(&repository));
        // Every host fetches at the same moment, and none may have to wait for another one's connection.
        // `git daemon` is a program that starts this one, which would outlive it.
        let daemon = run(&mut program("git", &["--exec-path"])) + "/git-daemon";
        let daemon = program(
            &daemon,
            &[
                "--export-all",
                "--enable=receive-pack",
                "--reuseaddr",
                "--max-connections=0",
            ],
        )
        .arg(format!("--listen={HUB}"))
        .arg(format!("--base-path={}", folder.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
        let hub = Self { repository, daemon };
        until("the hub answers", || {
            succeeds(&mut program("git", &["ls-remote", &Self::address()])).then_some(())
        });
        hub
    }

    /// Returns its address, which is the same for all hosts and for the control.
    pub(super) fn address() -> String {
        format!("git://{HUB}/{NAME}")
    }

    /// Asks git in the repository.
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        run(program("git", &["-C"])
            .arg(&self.repository)
            .args(arguments))
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _gone = self.daemon.kill();
        let _gone = self.daemon.wait();
    }
}
