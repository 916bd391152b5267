//! The keys of workers on other hosts: how long a run lives without a sign of life, and what a worker keeps where.

use super::key::DefaultValue::{Integer, Unset};
use super::key::Scope::TopLevel;
use super::key::{Key, Leaf, PathBase};
use super::row::leaf;
use crate::placement::{BEAT_MS_MIN, LEASE_MS_MAX, Lease};

/// A time of the lease. The three are checked together when the configuration is read.
const LEASE_TIME: Leaf = Leaf::Integer {
    min: BEAT_MS_MIN,
    max: LEASE_MS_MAX,
};
const LEASE_DEFAULT: Lease = Lease::DEFAULT;

#[rustfmt::skip]
pub(super) const LEASE: &[Key] = &[
    leaf("beat_ms", LEASE_TIME, Integer(LEASE_DEFAULT.beat_ms()), TopLevel,
        "Time between two signs of life of a run."),
    leaf("fence_ms", LEASE_TIME, Integer(LEASE_DEFAULT.fence_ms()), TopLevel,
        "Time without an answer from the database after which a host ends the agents of its runs; above `lease.beat_ms`."),
    leaf("dead_ms", LEASE_TIME, Integer(LEASE_DEFAULT.dead_ms()), TopLevel,
        "Time without a sign of life after which a run counts as silent; more than 20 s above `lease.fence_ms`. Two minutes later the run is ended without its host."),
];

#[rustfmt::skip]
pub(super) const WORKER: &[Key] = &[
    leaf("data_dir", Leaf::Path(PathBase::File), Unset("\"/var/lib/symphony/worker\""), TopLevel,
        "Folder of a worker's clones of projects, on a local disk; by default `~/.local/share/symphony/worker`."),
    leaf("secrets_dir", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/secrets\""), TopLevel,
        "Folder of the values of secrets on a worker, a file for each by the secret's name; without it, what systemd hands over in `$CREDENTIALS_DIRECTORY`."),
];
