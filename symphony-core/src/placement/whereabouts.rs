//! Where a live run is, as a tick sees it.

use serde::Serialize;

use super::liveness::Liveness;
use super::name::{Host, Pool};

/// Where a live run is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "at")]
pub enum Whereabouts {
    /// On the host of the tick, where its lock file says whether it lives.
    #[default]
    Here,
    /// In a pool: no worker has begun it.
    Queued {
        /// The pool.
        pool: Pool,
        /// How many workers of the pool are there.
        workers: u32,
    },
    /// On a host that began it, where only its beats say whether it lives.
    Begun {
        /// The pool that it was taken from.
        pool: Pool,
        /// The host.
        host: Host,
        /// What the age of its last beat says.
        liveness: Liveness,
    },
}

impl Whereabouts {
    /// Returns whether its lock, its processes and its worktree are on the host of the tick.
    pub const fn is_here(&self) -> bool {
        matches!(self, Self::Here)
    }

    /// Returns where it is, as part of a sentence; `None` for a run of this host.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Here => return None,
            Self::Queued { pool, workers: 0 } => {
                format!("waits for a worker of pool {pool} (none seen)")
            }
            Self::Queued { pool, workers } => {
                format!("waits for a worker of pool {pool} ({workers} seen)")
            }
            Self::Begun { host, liveness, .. } => match liveness {
                Liveness::Alive => format!("on host {host}"),
                Liveness::Silent => {
                    format!("host {host} does not answer, and may still come back with its work")
                }
                Liveness::Lost => format!("host {host} did not come back: the next tick ends it"),
            },
        })
    }

    /// Returns the pool that it waits in.
    pub const fn queued_in(&self) -> Option<&Pool> {
        match self {
            Self::Queued { pool, .. } => Some(pool),
            Self::Here | Self::Begun { .. } => None,
        }
    }

    /// Returns the pool of which a worker has begun it.
    pub const fn begun_in(&self) -> Option<&Pool> {
        match self {
            Self::Begun { pool, .. } => Some(pool),
            Self::Here | Self::Queued { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_but_this_host_is_named() {
        let pool = Pool::parse("linux").unwrap();
        let queued = |workers| Whereabouts::Queued {
            pool: pool.clone(),
            workers,
        };
        let on = |liveness| Whereabouts::Begun {
            pool: pool.clone(),
            host: Host::parse("build-7").unwrap(),
            liveness,
        };
        for (whereabouts, words) in [
            (Whereabouts::Here, None),
            (
                queued(0),
                Some("waits for a worker of pool linux (none seen)"),
            ),
            (queued(3), Some("waits for a worker of pool linux (3 seen)")),
            (on(Liveness::Alive), Some("on host build-7")),
            (
                on(Liveness::Silent),
                Some("host build-7 does not answer, and may still come back with its work"),
            ),
            (
                on(Liveness::Lost),
                Some("host build-7 did not come back: the next tick ends it"),
            ),
        ] {
            assert_eq!(whereabouts.words().as_deref(), words, "{whereabouts:?}");
        }
    }
}
