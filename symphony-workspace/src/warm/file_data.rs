//! Copying the data of a file: by reflink where that saves something.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::ioctl_ficlone;
use rustix::io::retry_on_intr;

/// Up to this size, a file is small. On XFS a reflink takes 24 µs, and a copy of 4 KiB 27, of 32 KiB 35 and of 256 KiB 97.
const SMALL_BYTES_MAX: u64 = 32 * 1024;
/// How much is read at once.
const BUFFER_BYTES: usize = 16 * 1024;

/// What is done with small files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Small {
    /// They are read and written, for git, which then compares their contents: it finds a copy in memory and reads 4 KiB of it in
    /// 7 µs, and of a reflink, which the kernel knows nothing of, in 80.
    Copied,
    /// They are shared like large ones, which takes no space.
    Shared,
}

/// How data is copied.
#[derive(Debug)]
pub(super) struct FileData {
    by_reflink: AtomicBool,
}

impl Default for FileData {
    fn default() -> Self {
        Self {
            by_reflink: AtomicBool::new(true),
        }
    }
}

impl FileData {
    /// Returns whether the file system has refused no reflink yet.
    pub(super) fn is_by_reflink(&self) -> bool {
        self.by_reflink.load(Ordering::Relaxed)
    }

    /// Copies the data of a file of some size to an empty one. Large ones are copied by reflink until the file system refuses
    /// one, which it then does for all.
    pub(super) fn copy(
        &self,
        mut source: &File,
        mut target: &File,
        size: u64,
        small: Small,
    ) -> io::Result<()> {
        let is_small = size <= SMALL_BYTES_MAX;
        if self.is_by_reflink() && !(is_small && small == Small::Copied) {
            match retry_on_intr(|| ioctl_ficlone(target, source)).map_err(io::Error::from) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
                Err(_) => self.by_reflink.store(false, Ordering::Relaxed),
            }
        }
        if is_small {
            return copy_small(source, target);
        }
        // The kernel copies between two files without a buffer of ours.
        io::copy(&mut source, &mut target).map(drop)
    }
}

/// Copies to the end, wherever that is by now. The kernel is not asked to copy between the files: it might share them.
fn copy_small(mut source: &File, mut target: &File) -> io::Result<()> {
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => target.write_all(buffer.get(..count).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn all_bytes_are_copied_whatever_the_size() {
        let folder = tempfile::tempdir().unwrap();
        let data = FileData::default();
        for size in [0, 1, 32_767, 32_768, 32_769, 100_000] {
            let bytes: Vec<u8> = (0..size)
                .map(|at: usize| at.to_le_bytes()[at % 3])
                .collect();
            let (from, to) = (folder.path().join("from"), folder.path().join("to"));
            fs::write(&from, &bytes).unwrap();
            // The size may have grown since it was asked for.
            for known in [size as u64, 0] {
                for small in [Small::Copied, Small::Shared] {
                    let (source, target) = (File::open(&from).unwrap(), File::create(&to).unwrap());
                    data.copy(&source, &target, known, small).unwrap();
                    assert_eq!(fs::read(&to).unwrap(), bytes, "{size} bytes");
                }
            }
        }
    }
}
