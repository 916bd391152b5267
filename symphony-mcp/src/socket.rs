//! The run's socket: role, run and issue belong to it, on the supervisor's side.

use std::fmt;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;

use crate::error::McpError;
use crate::service::{Service, serve};

/// Most sessions at once on one socket: a CLI opens one; some open a second one while they start.
const SESSIONS_MAX: usize = 8;

/// Who connects, as the kernel recorded it when the connection was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its user.
    pub uid: u32,
    /// Its process; `None` if the kernel cannot name it.
    pub pid: Option<i32>,
}

/// Returns whether a peer may act for the run.
type PeerCheck = Box<dyn Fn(Peer) -> bool + Send + Sync>;

/// A run's socket, bound but not yet served. Dropping it removes the file.
pub struct RunSocket {
    listener: UnixListener,
    path: PathBuf,
    sessions_max: usize,
    may_speak: PeerCheck,
}

impl fmt::Debug for RunSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunSocket({})", self.path.display())
    }
}

/// Opens the folder and returns a path to the file in it that is short even if the folder's own path is long: the
/// address of a socket is limited to 108 bytes.
fn short(path: &Path) -> io::Result<(File, PathBuf)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not the path of a file",
        ));
    };
    // Only to go through: an agent in a sandbox may use the socket, and not list the folder.
    let through = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::PATH.bits().cast_signed())
        .open(if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        })?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", through.as_raw_fd())).join(name);
    Ok((through, path))
}

/// Binds a socket at a path, mode 0600, in a folder of mode 0700, which is created if it is missing. Whatever is at the
/// path is replaced.
///
/// # Errors
/// When the folder or the socket cannot be created.
pub fn bind_private(path: &Path) -> io::Result<UnixListener> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        // An existing folder may be open to others.
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let (_folder, through) = short(path)?;
    let listener = UnixListener::bind(through)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

impl RunSocket {
    /// Binds the socket at a path, mode 0600, in the run's own folder: mode 0700, created if it is missing.
    ///
    /// A judge's socket takes one session: nothing else that runs in its worktree can reach its verdict tools.
    ///
    /// # Errors
    /// When the folder or the socket cannot be created.
    pub fn bind(path: &Path, single_session: bool) -> Result<Self, McpError> {
        let listener = bind_private(path).map_err(|source| McpError::Socket {
            path: path.to_owned(),
            source,
        })?;
        let sessions_max = if single_session { 1 } else { SESSIONS_MAX };
        Ok(Self {
            listener,
            path: path.to_owned(),
            sessions_max,
            may_speak: Box::new(|_| true),
        })
    }

    /// Takes sessions only of peers that `may_speak` for the run. A refused peer does not use up a session.
    #[must_use]
    pub fn with_peer_check(
        mut self,
        may_speak: impl Fn(Peer) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.may_speak = Box::new(may_speak);
        self
    }

    /// Serves sessions until the future is dropped. Sessions over the limit are closed at once.
    ///
    /// A single-session socket takes one session in its whole life; others take any number, limited only at one time.
    ///
    /// # Errors
    /// When the socket itself fails.
    pub async fn serve(self, service: Service) -> Result<(), McpError> {
        let mut sessions = JoinSet::new();
        let mut accepted = 0_usize;
        loop {
            tokio::select! {
                incoming = self.listener.accept() => {
                    let (stream, _address) = incoming.map_err(McpError::Transport)?;
                    if !self.is_heard(&stream) {
                        tracing::warn!(socket = %self.path.display(), "refused a process that is not of this run");
                        continue;
                    }
                    let spent = if self.sessions_max == 1 { accepted } else { sessions.len() };
                    if spent >= self.sessions_max {
                        tracing::warn!(socket = %self.path.display(), "refused another session on the run's socket");
                        continue;
                    }
                    accepted += 1;
                    let (read, write) = stream.into_split();
                    sessions.spawn(serve(service.clone(), read, write));
                }
                Some(ended) = sessions.join_next() => {
                    if let Ok(Err(error)) = ended {
                        tracing::warn!(%error, "a session on the run's socket failed");
                    }
                }
            }
        }
    }
}

impl RunSocket {
    fn is_heard(&self, stream: &UnixStream) -> bool {
        // The kernel always knows the peer of a Unix socket; a peer that cannot be named is refused.
        stream.peer_cred().is_ok_and(|credentials| {
            (self.may_speak)(Peer {
                uid: credentials.uid(),
                pid: credentials.pid().filter(|pid| *pid > 0),
            })
        })
    }
}

impl Drop for RunSocket {
    fn drop(&mut self) {
        let _removed = std::fs::remove_file(&self.path);
    }
}

/// Connects to a run's socket.
pub(crate) fn connect(path: &Path) -> Result<StdStream, McpError> {
    let open = || -> io::Result<StdStream> {
        let (_folder, through) = short(path)?;
        StdStream::connect(through)
    };
    open().map_err(|source| McpError::Connect {
        path: path.to_owned(),
        source,
    })
}
