//! Places for connections: a limit in all and a limit for each other machine, so that one machine cannot keep all others out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections at once. Further ones wait.
const PLACES: u32 = 512;

/// Connections at once from one other machine. Further ones are closed. A browser opens six, and a stream for each page of a
/// live run.
const PLACES_OF_ONE: u32 = 64;

/// The places of a server.
#[derive(Debug)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    taken: Mutex<HashMap<IpAddr, u32>>,
}

/// A place that a connection has, until this value is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _one: OwnedSemaphorePermit,
    visitor: Option<(Arc<Places>, IpAddr)>,
}

impl Places {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            all: Arc::new(Semaphore::new(PLACES as usize)),
            taken: Mutex::default(),
        })
    }

    /// Waits until a place is free.
    pub(super) async fn free(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.all).acquire_owned().await.ok()
    }

    /// Waits until all connections have ended.
    pub(super) async fn all_free(&self) {
        let _all = self.all.acquire_many(PLACES).await;
    }

    /// Gives a place to a connection; none where too many come from its machine. Those of this machine are not counted: a
    /// reverse proxy or a forwarded port has all visitors behind one address.
    pub(super) fn give(
        self: &Arc<Self>,
        one: OwnedSemaphorePermit,
        from: Option<IpAddr>,
    ) -> Option<Place> {
        let Some(machine) = from.and_then(machine_of) else {
            return Some(Place {
                _one: one,
                visitor: None,
            });
        };
        let mut taken = self.taken();
        let count = taken.entry(machine).or_default();
        if *count >= PLACES_OF_ONE {
            return None;
        }
        *count += 1;
        drop(taken);
        Some(Place {
            _one: one,
            visitor: Some((Arc::clone(self), machine)),
        })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, u32>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((places, machine)) = &self.visitor else {
            return;
        };
        let mut taken = places.taken();
        if let Some(count) = taken.get_mut(machine) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.remove(machine);
            }
        }
    }
}

/// Returns what is counted as one machine; none for this one. A machine with IPv6 has a whole network of addresses (RFC 4291).
fn machine_of(address: IpAddr) -> Option<IpAddr> {
    const NETWORK: u128 = !0 << 64;
    let address = address.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_machine_takes_a_part_of_the_places() {
        let places = Places::new();
        let give = async |from: &str| {
            let one = places.free().await.unwrap();
            places.give(one, Some(from.parse().unwrap()))
        };
        let mut kept = Vec::new();
        for _ in 0..PLACES_OF_ONE {
            kept.push(give("192.0.2.1").await.unwrap());
        }
        assert!(give("192.0.2.1").await.is_none());
        assert!(give("::ffff:192.0.2.1").await.is_none());
        assert!(give("192.0.2.2").await.is_some());
        for _ in 0..=PLACES_OF_ONE {
            kept.push(give("127.0.0.1").await.unwrap());
        }
        kept.remove(0);
        assert!(give("192.0.2.1").await.is_some());
        kept.clear();
        assert!(places.taken().is_empty());
        places.all_free().await;
    }

    #[test]
    fn a_network_of_ipv6_is_one_machine() {
        let machine = |text: &str| machine_of(text.parse().unwrap());
        assert_eq!(machine("2001:db8::1"), machine("2001:db8::ffff:1"));
        assert_ne!(machine("2001:db8::1"), machine("2001:db8:0:1::1"));
        for own in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(machine(own), None, "{own}");
        }
    }
}
