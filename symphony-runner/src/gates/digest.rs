//! Adding to the digest of a gate.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

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
