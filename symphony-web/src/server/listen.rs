//! Where a server listens: a port of this machine, with or without TLS, another address, or a socket file.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::{TcpListener, UnixListener};

use super::tls::Tls;

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port cannot be had.
    #[error("port {} on {} {}", address.port(), address.ip(), port_problem(source))]
    Port {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The socket file cannot be made.
    #[error("the socket {} cannot be used: {source}", path.display())]
    Socket {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Free ports that are tried until one is free on both addresses.
const FREE_PORT_TRIES: u32 = 20;

/// Says what is wrong with a port.
fn port_problem(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "is already in use".to_owned(),
        io::ErrorKind::PermissionDenied => "is reserved for root".to_owned(),
        io::ErrorKind::AddrNotAvailable => {
            "cannot be used: this machine has no such address".to_owned()
        }
        _ => format!("cannot be used: {error}"),
    }
}

/// What connections come from.
#[derive(Debug)]
pub enum Listener {
    /// A port: on each of the machine's own addresses, or on one that others reach.
    Tcp(TcpListener, Option<TcpListener>),
    /// A port on which connections begin with a TLS handshake.
    Tls(TcpListener, Option<TcpListener>, Arc<Tls>),
    /// A socket file.
    Unix(UnixListener, SocketFile),
}

/// A socket file that is removed with its server.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.0);
    }
}

async fn bind(ip: IpAddr, port: u16) -> Result<TcpListener, ListenError> {
    let address = SocketAddr::new(ip, port);
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| ListenError::Port { address, source })
}

fn is_without_ipv6(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

impl Listener {
    /// Listens on a port of this machine; 0 takes a free one. A browser may go to either of the machine's own addresses, so another
    /// program must have neither: it would get the browser's session.
    ///
    /// # Errors
    /// When it is taken, or not allowed.
    pub async fn port(port: u16) -> Result<Self, ListenError> {
        let mut tries = if port == 0 { FREE_PORT_TRIES } else { 1 };
        loop {
            tries -= 1;
            let first = bind(Ipv4Addr::LOCALHOST.into(), port).await?;
            let taken = first.local_addr().map_or(port, |address| address.port());
            match bind(Ipv6Addr::LOCALHOST.into(), taken).await {
                Ok(second) => return Ok(Self::Tcp(first, Some(second))),
                Err(ListenError::Port { source, .. }) if is_without_ipv6(&source) => {
                    return Ok(Self::Tcp(first, None));
                }
                Err(error) if tries == 0 => return Err(error),
                Err(_) => {}
            }
        }
    }

    /// Listens on one address, which others may reach.
    ///
    /// # Errors
    /// When this machine does not have it, or the port is taken or not allowed.
    pub async fn address(address: SocketAddr) -> Result<Self, ListenError> {
        let listener = bind(address.ip(), address.port()).await?;
        Ok(Self::Tcp(listener, None))
    }

    /// Has connections to a port begin with a TLS handshake. A socket file stays as it is: only its owner reaches it.
    #[must_use]
    pub fn with_tls(self, tls: Arc<Tls>) -> Self {
        match self {
            Self::Tcp(first, second) | Self::Tls(first, second, _) => Self::Tls(first, second, tls),
            Self::Unix(..) => self,
        }
    }

    /// Listens on a socket file, which only its owner can use. One that a server left that was killed is replaced.
    ///
    /// # Errors
    /// When another server uses it, something else is there, or it cannot be made.
    pub async fn socket(path: &Path) -> Result<Self, ListenError> {
        let error = |source| ListenError::Socket {
            path: path.to_owned(),
            source,
        };
        if std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket()) {
            match tokio::net::UnixStream::connect(path).await {
                Ok(_) => return Err(error(io::ErrorKind::AddrInUse.into())),
                Err(_) => std::fs::remove_file(path).map_err(error)?,
            }
        }
        let listener = UnixListener::bind(path).map_err(error)?;
        let file = SocketFile(path.to_owned());
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private).map_err(error)?;
        Ok(Self::Unix(listener, file))
    }

    /// Returns the address that connections go to; none for a socket file.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener, _) | Self::Tls(listener, ..) => listener.local_addr().ok(),
            Self::Unix(..) => None,
        }
    }
}
