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
        "Time without a sign of life after which a run counts as silent; more than 20 s above `lease.fence_ms`. Two minutes later the control ends the run without its host."),
];

#[rustfmt::skip]
pub(super) const TEMPORAL: &[Key] = &[
    leaf("address", Leaf::Text(TextRule::Temporal), Unset("\"https://temporal.example:7233\""), TopLevel,
        "Address of the service; `http://` only for one on this machine."),
    leaf("namespace", LINE, Text(d::TEMPORAL_NAMESPACE), TopLevel, "Its namespace, which has to exist."),
    leaf("authority", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/temporal-ca.pem\""), TopLevel,
        "Certificate file of the authority that signed the service's certificate; without this key, the authorities that the system trusts."),
    leaf("certificate", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/temporal.pem\""), TopLevel,
        "File of the certificate that identifies this host to the service; it needs `temporal.key`, too."),
    leaf("key", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/temporal.key\""), TopLevel, "File of the key of `temporal.certificate`."),
    leaf("api_key_file", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/temporal-api-key\""), TopLevel,
        "File with an API key for the service, such as one of Temporal Cloud."),
];

#[rustfmt::skip]
pub(super) const WORKER: &[Key] = &[
    leaf("data_dir", Leaf::Path(PathBase::File), Unset("\"/var/lib/symphony/worker\""), TopLevel,
        "Folder of a worker's clones of projects, on a local disk; by default `~/.local/share/symphony/worker`."),
    leaf("secrets_dir", Leaf::Path(PathBase::File), Unset("\"/etc/symphony/secrets\""), TopLevel,
        "Folder with the values of secrets on a worker, one file for each, named after it; without this key, the folder that systemd sets in `$CREDENTIALS_DIRECTORY`."),
];
