//! The half inside the sandbox: a TCP port on its loopback leads to a unix socket outside.
//!
//! It decides nothing and reads nothing: an agent that talks to the socket itself gains nothing.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::error::ProxyError;

/// Most connections of one port; more wait in the system's queue. The proxy's own limit is lower
/// and gives a reason.
const CONNECTIONS_MAX: usize = 512;
/// Pause after a failure to accept: the process is out of descriptors.
const FAILURE_PAUSE: Duration = Duration::from_millis(50);

/// A port and the socket that it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// Where the agent connects to; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The socket of a proxy or an endpoint.
    pub socket: PathBuf,
}

/// Forwards all ports until the process ends; blocks, with one thread for all connections.
///
/// `ready` is called with the addresses in the order of `forwards` once all ports take connections:
/// an agent that starts after it finds them open.
///
/// # Errors
///
/// [`ProxyError::Listen`] for the first port that is not free, [`ProxyError::Forwarder`] if there
/// is no runtime. `ready` is not called then.
pub fn forward(
    forwards: &[Forward],
    ready: impl FnOnce(&[SocketAddr]),
) -> Result<Infallible, ProxyError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| ProxyError::Forwarder {
            socket: forwards
                .first()
                .map(|it| it.socket.clone())
                .unwrap_or_default(),
            source,
        })?;
    runtime.block_on(async {
        let mut bound = Vec::new();
        for forward in forwards {
            bound.push(Forwarder::bind(forward).await?);
        }
        let addresses: Vec<_> = bound.iter().map(Forwarder::address).collect();
        let mut running = JoinSet::new();
        for forwarder in bound {
            running.spawn(forwarder.run());
        }
        ready(&addresses);
        loop {
            // none ends; without ports there is nothing to wait for
            if running.join_next().await.is_none() {
                std::future::pending::<()>().await;
            }
        }
    })
}

/// One port that takes connections already.
#[derive(Debug)]
pub struct Forwarder {
    listener: TcpListener,
    address: SocketAddr,
    socket: PathBuf,
}

impl Forwarder {
    /// Listens.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Listen`].
    pub async fn bind(forward: &Forward) -> Result<Self, ProxyError> {
        let failed = |source| ProxyError::Listen {
            address: forward.listen,
            source,
        };
        let listener = TcpListener::bind(forward.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let socket = forward.socket.clone();
        Ok(Self {
            listener,
            address,
            socket,
        })
    }

    /// The address with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Copies until it is dropped.
    pub async fn run(self) -> Infallible {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut open = JoinSet::new();
        loop {
            let place = Arc::clone(&places).acquire_owned().await;
            while open.try_join_next().is_some() {}
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let socket = self.socket.clone();
                    open.spawn(async move {
                        let _place = place;
                        // either side may break; both are closed then
                        let _copied = copy(stream, socket).await;
                    });
                }
                Err(_) => tokio::time::sleep(FAILURE_PAUSE).await,
            }
        }
    }
}

async fn copy(mut stream: TcpStream, socket: PathBuf) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut server = UnixStream::connect(socket).await?;
    copy_bidirectional(&mut stream, &mut server).await?;
    Ok(())
}
