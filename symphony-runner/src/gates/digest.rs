//! The parts of the digests of gates and of bases.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use symphony_core::config::ProjectConfig;
use symphony_workspace::CommitId;

use super::confinement::said;

/// Adds bytes with their length, so that no two sequences of values give the same digest.
pub(super) fn add(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

/// Adds a path, and the metadata of its file.
pub(super) fn add_stat(digest: &mut Sha256, path: &Path) {
    add(digest, path.as_os_str().as_bytes());
    if let Ok(meta) = path.metadata() {
        for value in [
            meta.ino(),
            meta.len(),
            meta.mtime().cast_unsigned(),
            meta.mtime_nsec().cast_unsigned(),
        ] {
            digest.update(value.to_le_bytes());
        }
    }
}

/// Returns a digest of what is tried when gates run on a base: the commit and the configuration. It leaves out the
/// environment: a person's shell and cron have different ones, and would take turns in making a hold due.
pub(crate) fn tried_digest(config: &ProjectConfig, base: &CommitId) -> String {
    let mut digest = Sha256::new();
    let configured = (&config.gates, &config.worktree.setup, &config.env);
    let configured = serde_json::to_vec(&configured).expect("a configuration has string keys only");
    digest.update(base.as_str().as_bytes());
    digest.update([0]);
    digest.update(configured);
    for part in said(&config.sandbox) {
        add(&mut digest, &part);
    }
    format!("{:x}", digest.finalize())
}

/// Returns the digest under which a base is recorded as green with the gates that it was tried with.
pub(super) fn green_digest(config: &ProjectConfig, base: &CommitId) -> String {
    let mut digest = Sha256::new();
    digest.update(b"green");
    digest.update(tried_digest(config, base).as_bytes());
    format!("{:x}", digest.finalize())
}
