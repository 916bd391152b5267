//! The fleet's hub, which `git daemon` serves at an address of its own: a bare repository, or the control's own.
//!
//! The control's own is reached over SSH. Where no server of it is installed, a stand-in for the client takes its place: it asks the daemon for
//! what SSH would run on the other side, over the same link.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use super::network::HUB;
use crate::support::programs::{program, run};
use crate::support::until;

/// The repository's name.
const NAME: &str = "hub.git";

/// What hosts run in the place of `ssh`: host and command are its arguments.
const SSH: &str = r#"#!/bin/bash
eval set -- "$2"
# a program in the background gets no input of its own
exec 3<>/dev/tcp/HUB/9418 4<&0
asked="$1 $2"
printf '%04x%s\0host=hub\0' $((${#asked} + 4 + 10)) "$asked" >&3
cat <&4 >&3 &
cat <&3
kill $! 2>/dev/null
exit 0
"#;

/// Where the hub is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a bare repository of its own.
    Bare,
    /// In the control's repository.
    Control,
}

/// The hub, which ends with the value.
#[derive(Debug)]
pub(super) struct Hub {
    repository: PathBuf,
    daemon: Child,
}

impl Hub {
    /// Makes the repository in a folder, if it is one of its own, and serves all that the folder has.
    pub(super) fn start(folder: &Path, place: Place) -> Self {
        let repository = folder.join(NAME);
        if place == Place::Bare {
            run(program("git", &["init", "-q", "--bare", "-b", "main"]).arg(&repository));
        }
        let ssh = folder.join("ssh");
        std::fs::write(&ssh, SSH.replace("HUB", HUB)).unwrap();
        run(program("chmod", &["755"]).arg(&ssh));
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
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
        until("the hub answers", || {
            std::net::TcpStream::connect((HUB, 9418)).ok()
        });
        Self { repository, daemon }
    }

    /// Returns the address of a bare repository in a folder, which is the same for all hosts and for the control.
    pub(super) fn address(folder: &Path) -> String {
        format!("git://{HUB}{}/{NAME}", folder.display())
    }

    /// Returns the settings of git by which hosts reach the control's own repository.
    pub(super) fn git_settings(folder: &Path) -> String {
        let ssh = folder.join("ssh");
        format!(
            "[core]\n\tsshCommand = {}\n[ssh]\n\tvariant = simple\n",
            ssh.display()
        )
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
