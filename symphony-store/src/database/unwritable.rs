//! Finding the files of a database that are not writable, since SQLite only reports that one of them is not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The suffixes of the files that SQLite keeps beside a database.
const BESIDE: &[&str] = &["-wal", "-shm"];

/// Returns the existing files of a database that this process may not write, and its folder if SQLite cannot create
/// files beside it.
pub(crate) fn unwritable_files(database: &Path) -> Vec<PathBuf> {
    files_that(database, |path| {
        rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err()
    })
}

fn files_that(database: &Path, is_refused: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let beside = BESIDE.iter().map(|end| {
        let mut name = OsString::from(database);
        name.push(end);
        PathBuf::from(name)
    });
    let files = std::iter::once(database.to_owned()).chain(beside);
    let files = files.filter(|path| path.exists());
    let folder = database.parent().filter(|parent| parent.is_dir());
    files
        .chain(folder.map(Path::to_owned))
        .filter(|path| is_refused(path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_that_is_there_is_asked_for_and_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("s.db");
        let wal = folder.path().join("s.db-wal");
        std::fs::write(&database, "").unwrap();
        std::fs::write(&wal, "").unwrap();
        let all = files_that(&database, |_| true);
        assert_eq!(
            all,
            [database.clone(), wal.clone(), folder.path().to_owned()]
        );
        let one = files_that(&database, |path| path == wal);
        assert_eq!(one, [wal]);
        assert_eq!(unwritable_files(&database), Vec::<PathBuf>::new());
    }
}
