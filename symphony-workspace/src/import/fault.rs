//! What a failure to read or copy a git folder says about it.

use std::io;
use std::path::Path;

use crate::error::WorkspaceError;
use crate::linux::is_link_error;

/// Returns why objects were not copied: the disk is full, or the folder is not what an agent's git makes of it.
pub(super) fn not_copied(checkout: &Path, error: io::Error) -> WorkspaceError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            WorkspaceError::io("copy the objects of", checkout, error)
        }
        _ => WorkspaceError::Tampered {
            path: checkout.to_owned(),
            what: reason(&error),
        },
    }
}

/// Returns what is wrong with a git folder that cannot be read.
pub(super) fn reason(error: &io::Error) -> String {
    if is_link_error(error) {
        "a link is in its git folder, or in the place of it".to_owned()
    } else {
        format!("its git folder: {error}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_tampering() {
        let checkout = Path::new("/work");
        let full = not_copied(checkout, io::ErrorKind::StorageFull.into());
        assert!(full.is_disk_full(), "{full}");
        let denied = not_copied(checkout, io::ErrorKind::PermissionDenied.into());
        assert!(
            matches!(denied, WorkspaceError::Tampered { .. }),
            "{denied}"
        );
    }
}
