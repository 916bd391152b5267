//! Which file systems a database may be on.

use std::path::Path;

use crate::error::WorkspaceError;
use crate::linux::file_system_magic;

/// Kernel numbers of file systems whose locks are unreliable across machines (`statfs(2)` and the kernel's `magic.h`).
const NETWORK: &[(u64, &str)] = &[
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x564c, "ncp"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "kafs"),
    (0x7375_7245, "coda"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x1983_0326, "fhgfs"),
    (0x786f_4256, "vboxsf"),
    (0x7461_636f, "ocfs2"),
    (0x0116_1970, "gfs2"),
    (0xaad7_aaea, "panfs"),
];

/// Returns the name of the network file system that a kernel number means; `None` for a local one.
pub fn network_file_system(magic: u64) -> Option<&'static str> {
    NETWORK
        .iter()
        .find(|(number, _)| *number == magic)
        .map(|(_, name)| *name)
}

/// Returns the name of the network file system that a path is on; `None` if it is on a local one.
///
/// # Errors
/// When the path does not exist or may not be accessed.
pub fn network_file_system_of(path: &Path) -> Result<Option<&'static str>, WorkspaceError> {
    file_system_magic(path)
        .map(network_file_system)
        .map_err(|source| WorkspaceError::io("find the file system of", path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_number() {
        for (magic, expected) in [
            (0x6969, Some("nfs")),
            (0xff53_4d42, Some("cifs")),
            (0xfe53_4d42, Some("smb2")),
            (0x0102_1997, Some("9p")),
            (0xef53, None),      // ext4
            (0x9123_683e, None), // btrfs
            (0x5846_5342, None), // xfs
            (0x0102_1994, None), // tmpfs
            (0x794c_7630, None), // overlayfs
            (0x2fc1_2fc1, None), // zfs
            (0x6573_5546, None), // fuse: local and remote alike, so it is not refused
        ] {
            assert_eq!(network_file_system(magic), expected, "{magic:#x}");
        }
    }

    #[test]
    fn the_temporary_folder_can_be_asked() {
        assert!(network_file_system_of(&std::env::temp_dir()).is_ok());
        assert!(network_file_system_of(Path::new("/no such folder")).is_err());
    }
}
