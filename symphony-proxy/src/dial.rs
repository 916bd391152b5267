//! Connects to the first of some addresses that answers.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Time until the next address is tried as well (RFC 8305, section 5).
const NEXT_AFTER: Duration = Duration::from_millis(250);
/// Most addresses that are tried; a DNS answer may have hundreds.
const ADDRESSES_MAX: usize = 16;

/// The addresses of a name, or why there are none.
pub type Resolution<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Finds the addresses of names.
pub trait Resolve: Send + Sync + 'static {
    /// Returns the addresses of a name in the order in which they are to be tried.
    fn resolve<'a>(&'a self, name: &'a str) -> Resolution<'a>;
}

/// Asks the system, as other programs of the user do.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolution<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|place| place.ip()).collect())
        })
    }
}

/// Connects to one of the addresses within `limit`.
///
/// # Errors
///
/// That of the last address that failed, or [`io::ErrorKind::TimedOut`].
pub(crate) async fn dial(addresses: &[SocketAddr], limit: Duration) -> io::Result<TcpStream> {
    let first = tokio::time::timeout(limit, first_to_answer(addresses)).await;
    let stream = first.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
    // small writes of TLS and of event streams must not wait for acknowledgements
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn first_to_answer(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut rest = alternate(addresses).into_iter();
    let mut tries = JoinSet::new();
    let mut last: io::Error = io::ErrorKind::AddrNotAvailable.into();
    loop {
        match rest.next() {
            Some(address) => {
                tries.spawn(TcpStream::connect(address));
            }
            None if tries.is_empty() => return Err(last),
            None => {}
        }
        let has_more = rest.len() > 0;
        let pause = tokio::time::sleep(NEXT_AFTER);
        tokio::select! {
            Some(tried) = tries.join_next() => match tried {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = error,
                Err(error) => last = io::Error::other(error),
            },
            () = pause, if has_more => {}
        }
    }
}

/// Orders addresses so that the two families take turns, the first one's first.
fn alternate(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (same, other): (Vec<_>, Vec<_>) = addresses
        .iter()
        .copied()
        .partition(|address| address.is_ipv6() == first_is_v6);
    let (mut same, mut other) = (same.into_iter(), other.into_iter());
    let mut ordered = Vec::with_capacity(addresses.len());
    loop {
        let pair = [same.next(), other.next()];
        if pair == [None, None] || ordered.len() >= ADDRESSES_MAX {
            ordered.truncate(ADDRESSES_MAX);
            return ordered;
        }
        ordered.extend(pair.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns() {
        let places = |text: &str| -> Vec<SocketAddr> {
            text.split_whitespace()
                .map(|place| place.parse().unwrap())
                .collect()
        };
        let given = places("[::1]:1 [::2]:1 [::3]:1 1.1.1.1:1");
        assert_eq!(
            alternate(&given),
            places("[::1]:1 1.1.1.1:1 [::2]:1 [::3]:1")
        );
        assert_eq!(alternate(&[]), []);
        let many = vec![given[0]; 40];
        assert_eq!(alternate(&many).len(), ADDRESSES_MAX);
    }

    #[tokio::test]
    async fn another_address_is_tried_when_one_refuses() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let open = listener.local_addr().unwrap();
        let closed = SocketAddr::new("127.0.0.2".parse().unwrap(), open.port());
        let stream = dial(&[closed, open], Duration::from_secs(5)).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), open);
        let error = dial(&[closed], Duration::from_secs(5)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let error = dial(&[], Duration::from_secs(5)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
    }
}
