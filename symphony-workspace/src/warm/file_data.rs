//! Copying the data of a file: by reflink where that saves something.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::ioctl_ficlone;
use rustix::io::retry_on_intr;

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

    /// Copies the data of a file to an empty one: by reflink until the file system refuses one, which it then does for all.
    pub(super) fn copy(&self, source: &OwnedFd, target: &OwnedFd) -> io::Result<()> {
        if self.is_by_reflink() {
            match retry_on_intr(|| ioctl_ficlone(target, source)).map_err(io::Error::from) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
                Err(_) => self.by_reflink.store(false, Ordering::Relaxed),
            }
        }
        // The kernel copies between two files without a buffer of ours.
        let mut source = File::from(source.try_clone()?);
        io::copy(&mut source, &mut File::from(target.try_clone()?)).map(drop)
    }
}
