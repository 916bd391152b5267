//! A hub that can be away: `git daemon` serves the control's repository on this machine.

use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt,
};

use crate::support::until;

/// The hub, which is away until it is started.
pub(super) struct Daemon {
    folder: PathBuf,
    /// Keeps the port while the hub is away: nothing listens on it, and the hub can.
    _reserved: OwnedFd,
    port: u16,
    address: String,
    child: Option<Child>,
}

impl Daemon {
    /// Chooses an address for a repository.
    pub(super) fn of(repository: &Path) -> Self {
        let (reserved, port) = reserve_port();
        Self {
            folder: repository.to_owned(),
            _reserved: reserved,
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
        let daemon = self.child.insert(daemon.unwrap());
        until("the hub answers", || {
            let ended = daemon.try_wait().unwrap();
            assert_eq!(ended, None, "it is the hub that answers");
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

/// Binds a port of this machine that `git daemon --reuseaddr` can bind as well, and no one that asks for any port.
fn reserve_port() -> (OwnedFd, u16) {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap();
    (socket, address.port())
}
