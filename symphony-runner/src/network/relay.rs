//! A port of this machine's loopback that a person allowed: bytes are copied, and nothing is read.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Most connections at the same time; more wait. As many as the proxy takes.
const CONNECTIONS_MAX: usize = 256;
/// Pause after a failure to accept: the process is out of descriptors.
const FAILURE_PAUSE: Duration = Duration::from_millis(50);

/// Leads each connection of the socket to the address, until it is dropped.
pub(super) async fn relay(listener: UnixListener, address: SocketAddr) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut open = JoinSet::new();
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        while open.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                open.spawn(async move {
                    let _place = place;
                    // either side may break; both are closed then
                    let _copied = copy(stream, address).await;
                });
            }
            Err(_) => tokio::time::sleep(FAILURE_PAUSE).await,
        }
    }
}

async fn copy(mut stream: UnixStream, address: SocketAddr) -> std::io::Result<()> {
    let mut server = TcpStream::connect(address).await?;
    server.set_nodelay(true)?;
    copy_bidirectional(&mut stream, &mut server).await?;
    Ok(())
}
