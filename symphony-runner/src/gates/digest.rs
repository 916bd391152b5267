//! What the digests of gates and of bases are made of.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use symphony_core::config::ProjectConfig;
use symphony_workspace::CommitId;

/// Adds bytes with their length, so that two values are never taken for one.
pub(super) fn add(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

/// Adds a path, and what the kernel tells of the file there.
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

/// Returns a digest of what is tried when gates run on a base: the commit, and what the configuration says. The environment
/// is not part of it: a person's shell and cron have different ones, and a hold would be probed by each after the other.
pub(crate) fn tried_digest(config: &ProjectConfig, base: &CommitId) -> String {
    let mut digest = Sha256::new();
    let said = (&config.gates, &config.worktree.setup, &config.env);
    let said = serde_json::to_vec(&said).expect("a configuration has string keys only");
    digest.update(base.as_str().as_bytes());
    digest.update([0]);
    digest.update(said);
    format!("{:x}", digest.finalize())
}

/// Returns the digest under which it is recorded that all gates passed on a base, as they were configured then.
pub(super) fn green_digest(config: &ProjectConfig, base: &CommitId) -> String {
    let mut digest = Sha256::new();
    digest.update(b"green");
    digest.update(tried_digest(config, base).as_bytes());
    format!("{:x}", digest.finalize())
}
