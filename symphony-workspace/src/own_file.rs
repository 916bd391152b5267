//! Reads files where agents can write. A pipe in the place of a file would block the reader for ever, a device would
//! never end, and a link would lead it to another file: none of Symphony's own files is any of these.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Largest file that is read: records are kilobytes, raw output that a supervisor kept is capped below this.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Opens one of Symphony's own files; never blocks, and follows no link.
///
/// # Errors
/// `NotFound` when there is none, `InvalidInput` when it is not a regular file; otherwise when it cannot be opened.
pub fn open_own_file(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY).bits();
    open(path, flags)
}

fn open(path: &Path, flags: u32) -> io::Result<File> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path);
    let not_a_file = || io::Error::new(ErrorKind::InvalidInput, "it is not a regular file");
    let file = match opened {
        // a link, a socket
        Err(error) if is_other_kind(&error) => return Err(not_a_file()),
        opened => opened?,
    };
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(not_a_file())
    }
}

/// Reads one of Symphony's own files.
///
/// # Errors
/// As [`open_own_file`], and when it is larger than any that Symphony writes.
pub fn read_own_file(path: &Path) -> io::Result<Vec<u8>> {
    read(open_own_file(path)?)
}

/// Reads a file of git's or of a person's; never blocks. A link is followed: people link prompts, and git's files may
/// be links.
///
/// # Errors
/// `NotFound` when there is none, `InvalidInput` when it is not a regular file, `InvalidData` when it is larger than
/// 64 MiB; otherwise when
/// it cannot be read.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read(open(path, (OFlags::NONBLOCK | OFlags::NOCTTY).bits())?)
}

/// Reads a file of git's or of a person's that is text.
///
/// # Errors
/// As [`read_file`], and `InvalidData` when it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    text(read_file(path)?)
}

fn read(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > BYTES_MAX) {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            "it is larger than 64 MiB",
        ));
    }
    Ok(bytes)
}

/// Reads one of Symphony's own files that is text.
///
/// # Errors
/// As [`read_own_file`], and `InvalidData` when it is not UTF-8.
pub fn read_own_text(path: &Path) -> io::Result<String> {
    text(read_own_file(path)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn is_other_kind(error: &io::Error) -> bool {
    let kinds = [rustix::io::Errno::LOOP, rustix::io::Errno::NXIO];
    kinds
        .iter()
        .any(|kind| error.raw_os_error() == Some(kind.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_a_file_is_read_and_nothing_keeps_the_reader_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        assert_eq!(read_own_text(&at("file")).unwrap(), "text");
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        let mode = rustix::fs::Mode::RWXU;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), kind, mode, 0).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        for name in ["link", "pipe", "socket", ""] {
            let error = read_own_file(&at(name)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}: {error}");
        }
        assert_eq!(read_text(&at("link")).unwrap(), "text");
        for name in ["pipe", "socket", ""] {
            let error = read_file(&at(name)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}: {error}");
        }
        let error = read_own_file(&at("missing")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        std::fs::write(at("bytes"), [0xff]).unwrap();
        let error = read_own_text(&at("bytes")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
}
