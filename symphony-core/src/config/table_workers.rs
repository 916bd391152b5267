//! The keys of workers on other hosts: how long a run lives without a sign of life, and what a worker keeps where.

use super::defaults as d;
use super::key::DefaultValue::{Integer, Text, Unset};
use super::key::Scope::TopLevel;
use super::key::{Key, Leaf, PathBase, TextRule};
use super::row::{LINE, leaf};
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
pub(super) const TEMPORAL: &[Key] = &[
    leaf("address", Leaf::Text(TextRule::Temporal), Unset("\"https://temporal.example:7233\""), TopLevel,
        "Where the service is; `http://` only for one on this machine."),
    leaf("namespace", LINE, Text(d::TEMPORAL_NAMESPACE), TopLevel, "The namespace in it, which has to exist."),
    leaf("authority", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/temporal-ca.pem\""), TopLevel,
        "File of the authority that signed its certificate; without it those that the system trusts."),
    leaf("certificate", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/temporal.pem\""), TopLevel,
        "File of the certificate by which this host proves who it is, with `temporal.key`."),
    leaf("key", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/temporal.key\""), TopLevel, "File of the key of `temporal.certificate`."),
    leaf("api_key_file", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/temporal-api-key\""), TopLevel,
        "File with a key for the service's interface, such as one of Temporal Cloud."),
];

#[rustfmt::skip]
pub(super) const WORKER: &[Key] = &[
    leaf("data_dir", Leaf::Path(PathBase::File), Unset("\"/var/lib/symphony/worker\""), TopLevel,
        "Folder of a worker's clones of projects, on a local disk; by default `~/.local/share/symphony/worker`."),
    leaf("secrets_dir", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/secrets\""), TopLevel,
        "Folder of the values of secrets on a worker, a file for each by the secret's name; without it, what systemd hands over in `$CREDENTIALS_DIRECTORY`."),
];
