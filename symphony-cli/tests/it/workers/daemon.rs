//! A hub that can be away: `git daemon` serves the control's repository on this machine.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::until;

/// The hub, which is away until it is started.
pub(super) struct Daemon {
    folder: PathBuf,
    port: u16,
    address: String,
    child: Option<Child>,
}

impl Daemon {
    /// Chooses an address for a repository.
    pub(super) fn of(repository: &Path) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = port.local_addr().unwrap().port();
        Self {
            folder: repository.to_owned(),
            port,
            address: format!("git://127.0.0.1:{port}{}", repository.display()),
            child: None,
        }
    }

    /// Returns the address, whether it answers or not.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Begins to answer.
    #[expect(clippy::disallowed_methods, reason = "end-to-end tests start programs")]
    pub(super) fn start(&mut self) {
        let programs = Command::new("git").arg("--exec-path").output().unwrap();
        let programs = String::from_utf8(programs.stdout).unwrap();
        // `git daemon` is a program that starts this one, which would outlive it
        let daemon = Command::new(Path::new(programs.trim()).join("git-daemon"))
            .args(["--export-all", "--enable=receive-pack", "--reuseaddr"])
            .args(["--listen=127.0.0.1", &format!("--port={}", self.port)])
            .arg(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.child = Some(daemon.unwrap());
        until("the hub answers", || {
            TcpStream::connect(("127.0.0.1", self.port)).ok()
        });
    }
}

impl Daemon {
    /// Answers no more.
    pub(super) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _gone = child.kill();
            let _gone = child.wait();
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
    }
}
