//! Opens a connection to a target: directly, or through the user's own proxy.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::dial::{Resolve, dial};
use crate::head::HEAD_BYTES_MAX;
use crate::host::{Host, Target};
use crate::limits::Limits;
use crate::policy::{Allowed, Decision, Refusal};
use crate::stream::Rewound;
use crate::upstream::Upstream;

/// Time for the user's proxy to connect to the target.
const HANDSHAKE_MAX: Duration = Duration::from_secs(30);

/// How targets are reached.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) upstream: Option<Upstream>,
    pub(crate) limits: Limits,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum NotOpened {
    /// The policy forbids it.
    Refused(Refusal),
    /// The network does not allow it.
    Failed(Answer),
}

impl From<Answer> for NotOpened {
    fn from(answer: Answer) -> Self {
        Self::Failed(answer)
    }
}

impl Route {
    /// The user's proxy, if the target is reached through it.
    pub(crate) fn upstream_for(&self, target: &Target) -> Option<&Upstream> {
        self.upstream
            .as_ref()
            .filter(|upstream| !upstream.is_exception(target))
    }

    /// Connects to an address that the target resolved to and that the policy opens.
    pub(crate) async fn open_checked(
        &self,
        target: &Target,
        allowed: &Allowed,
    ) -> Result<TcpStream, NotOpened> {
        let addresses = self.addresses(target).await?;
        let places = match allowed.decide(target, &addresses) {
            Decision::Connect(places) => places,
            Decision::Refuse(Refusal::NoAddress) => return Err(no_address(target).into()),
            Decision::Refuse(refusal) => return Err(NotOpened::Refused(refusal)),
        };
        let stream = self.dial(target, &places).await?;
        let (Ok(own), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else {
            return Err(
                Answer::new(502, format!("symphony: {target} closed the connection.\n")).into(),
            );
        };
        // nothing was sent yet: the connection alone reveals no more than a scan from outside
        if is_own_address(own, peer) && !allowed.is_explicit(peer) {
            let address = peer.ip();
            return Err(NotOpened::Refused(Refusal::OwnAddress { address }));
        }
        Ok(stream)
    }

    /// Connects to a target that a person configured, whatever its address is.
    pub(crate) async fn open_trusted(&self, target: &Target) -> Result<TcpStream, Answer> {
        let addresses = self.addresses(target).await?;
        let places: Vec<_> = addresses
            .into_iter()
            .map(|address| SocketAddr::new(address, target.port))
            .collect();
        if places.is_empty() {
            return Err(no_address(target));
        }
        self.dial(target, &places).await
    }

    /// Asks the user's proxy for a tunnel to the target.
    pub(crate) async fn tunnel(
        &self,
        upstream: &Upstream,
        target: &Target,
    ) -> Result<Rewound<TcpStream>, Answer> {
        let mut stream = self.open_trusted(&upstream.target).await?;
        let handshake =
            tokio::time::timeout(HANDSHAKE_MAX, handshake(&mut stream, upstream, target));
        match handshake.await {
            Ok(Ok((200..=299, early))) => Ok(Rewound::new(stream, early)),
            Ok(Ok((status, _))) => Err(Answer::new(
                502,
                format!("symphony: your proxy answered {status} when asked for {target}.\n"),
            )),
            Ok(Err(error)) => Err(Answer::new(
                502,
                format!("symphony: your proxy failed when asked for {target}: {error}.\n"),
            )),
            Err(_) => Err(Answer::new(
                504,
                format!("symphony: your proxy did not answer when asked for {target}.\n"),
            )),
        }
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Answer> {
        let name = match &target.host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name,
        };
        let found = tokio::time::timeout(self.limits.connect, self.resolver.resolve(name)).await;
        match found {
            Ok(Ok(addresses)) => Ok(addresses),
            Ok(Err(error)) => Err(Answer::new(
                502,
                format!("symphony: the address of {name} was not found: {error}.\n"),
            )),
            Err(_) => Err(Answer::new(
                504,
                format!("symphony: the address of {name} was not found in time.\n"),
            )),
        }
    }

    async fn dial(&self, target: &Target, places: &[SocketAddr]) -> Result<TcpStream, Answer> {
        dial(places, self.limits.connect).await.map_err(|error| {
            let status = if error.kind() == io::ErrorKind::TimedOut {
                504
            } else {
                502
            };
            Answer::new(
                status,
                format!("symphony: connecting to {target} failed: {error}.\n"),
            )
        })
    }
}

fn no_address(target: &Target) -> Answer {
    Answer::new(502, format!("symphony: {} has no address.\n", target.host))
}

/// Says whether a connection ends on the machine that it began on. The system then takes the
/// destination for the source as well, also for addresses that are public.
fn is_own_address(own: SocketAddr, peer: SocketAddr) -> bool {
    own.ip() == peer.ip()
}

/// Sends `CONNECT` and returns the status with what came after the head (RFC 9110, section 9.3.6).
async fn handshake(
    stream: &mut TcpStream,
    upstream: &Upstream,
    target: &Target,
) -> io::Result<(u16, Vec<u8>)> {
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
    if let Some(secret) = &upstream.authorization {
        request.extend(b"Proxy-Authorization: ");
        request.extend(secret.header().as_bytes());
        request.extend(b"\r\n");
    }
    request.extend(b"\r\n");
    stream.write_all(&request).await?;
    let mut answer = Vec::new();
    loop {
        let end = memchr::memmem::find(&answer, b"\r\n\r\n");
        if let Some(end) = end {
            let rest = answer.split_off(end + 4);
            let status = status(&answer).ok_or(io::ErrorKind::InvalidData)?;
            return Ok((status, rest));
        }
        if answer.len() >= HEAD_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if stream.read_buf(&mut answer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Reads the status of an answer (RFC 9112, section 4).
fn status(answer: &[u8]) -> Option<u16> {
    let rest = answer
        .strip_prefix(b"HTTP/1.1 ")
        .or(answer.strip_prefix(b"HTTP/1.0 "))?;
    let digits = std::str::from_utf8(rest.get(..3)?).ok()?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_three_digits() {
        let table = [
            ("HTTP/1.1 200 OK\r\n\r\n", Some(200)),
            ("HTTP/1.0 407\r\n\r\n", Some(407)),
            ("HTTP/1.1 +20 OK\r\n\r\n", None),
            ("HTTP/1.1 2", None),
            ("SSH-2.0-x\r\n\r\n", None),
        ];
        for (text, expected) in table {
            assert_eq!(status(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn own_addresses_are_known_by_the_source() {
        let table = [
            ("198.51.100.7:5000", "198.51.100.7:443", true),
            ("10.0.0.2:5000", "198.51.100.7:443", false),
            ("[2001:db8::1]:1", "[2001:db8::1]:2", true),
        ];
        for (own, peer, expected) in table {
            assert_eq!(
                is_own_address(own.parse().unwrap(), peer.parse().unwrap()),
                expected
            );
        }
    }
}
