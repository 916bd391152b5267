//! Writes a file as a whole or not at all.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

/// Whether a file that is there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is, with its owner and permissions kept.
    Replace,
    /// It is an error.
    Refuse,
}

/// Writes a text to a file beside it and renames that: a crash leaves the old file or the new one.
pub(crate) fn write_whole(path: &Path, text: &str, existing: Existing) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // As for any new file: readable by all that the user's mask allows.
    let new = Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new()
        .prefix(".symphony-")
        .permissions(new)
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if existing == Existing::Replace
        && let Ok(before) = std::fs::metadata(path)
    {
        let now = file.as_file().metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            fchown(file.as_file(), Some(before.uid()), Some(before.gid()))?;
        }
        file.as_file().set_permissions(before.permissions())?;
    }
    // The contents reach the disk before the name does, else a power cut could leave an empty file.
    file.as_file().sync_all()?;
    match existing {
        Existing::Replace => file.persist(path).map_err(|error| error.error)?,
        Existing::Refuse => file.persist_noclobber(path).map_err(|error| error.error)?,
    };
    File::open(folder)?.sync_all()
}
