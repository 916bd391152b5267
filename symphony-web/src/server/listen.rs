//! Where a server listens: a port of this machine, or a socket file.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, UnixListener};

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port cannot be had.
    #[error("the port {} of {} cannot be used: {source}", address.port(), address.ip())]
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

/// What connections come from.
#[derive(Debug)]
pub enum Listener {
    /// A port.
    Tcp(TcpListener),
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

impl Listener {
    /// Listens on a port.
    ///
    /// # Errors
    /// When it is taken, or not allowed.
    pub async fn port(address: SocketAddr) -> Result<Self, ListenError> {
        let bound = TcpListener::bind(address).await;
        bound
            .map(Self::Tcp)
            .map_err(|source| ListenError::Port { address, source })
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

    /// Returns the port; none for a socket file.
    pub fn local_port(&self) -> Option<u16> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok().map(|address| address.port()),
            Self::Unix(..) => None,
        }
    }
}
