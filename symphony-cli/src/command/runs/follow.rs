//! Reading a log file that grows, and whose middle may be left out while it is read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::failure::Context as _;

/// Time between two looks at a file.
pub(super) const LOOK: Duration = Duration::from_millis(200);

/// A reader of whole lines. A log that reached its limit is replaced by a shorter one with the same end: reading goes on
/// there behind the last line that was read.
#[derive(Debug)]
pub(super) struct Follower {
    path: PathBuf,
    inode: Option<u64>,
    offset: u64,
    partial: Vec<u8>,
    last: Vec<u8>,
}

impl Follower {
    /// Begins at the start of a file, which need not exist yet.
    pub(super) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            inode: None,
            offset: 0,
            partial: Vec::new(),
            last: Vec::new(),
        }
    }

    /// Says whether the file was there.
    pub(super) const fn has_file(&self) -> bool {
        self.inode.is_some()
    }

    /// Returns the lines that were added; with `is_over` a last line without its end too.
    pub(super) fn read(&mut self, is_over: bool) -> anyhow::Result<Vec<Vec<u8>>> {
        let added = self
            .read_added()
            .with_context(|| format!("read {}", self.path.display()))?;
        self.partial.extend_from_slice(&added);
        let whole = self
            .partial
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let rest = self.partial.split_off(whole);
        let whole = std::mem::replace(&mut self.partial, rest);
        let mut lines: Vec<Vec<u8>> = whole
            .split_inclusive(|byte| *byte == b'\n')
            .map(without_end)
            .collect();
        if is_over && !self.partial.is_empty() {
            lines.push(std::mem::take(&mut self.partial));
        }
        if let Some(last) = lines.last() {
            self.last.clone_from(last);
        }
        Ok(lines)
    }

    fn read_added(&mut self) -> io::Result<Vec<u8>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let replaced = self
            .inode
            .replace(metadata.ino())
            .is_some_and(|inode| inode != metadata.ino());
        let mut bytes = Vec::new();
        if replaced || metadata.len() < self.offset {
            self.partial.clear();
            file.read_to_end(&mut bytes)?;
            self.offset = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let read = behind_line(&bytes, &self.last);
            return Ok(bytes.split_off(read));
        }
        file.seek(SeekFrom::Start(self.offset))?;
        file.read_to_end(&mut bytes)?;
        self.offset += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(bytes)
    }
}

fn without_end(line: &[u8]) -> Vec<u8> {
    line.strip_suffix(b"\n").unwrap_or(line).to_vec()
}

/// Returns where the last occurrence of a line ends; 0 when it is not there.
fn behind_line(bytes: &[u8], line: &[u8]) -> usize {
    let mut end = bytes.len();
    for candidate in bytes.rsplit(|byte| *byte == b'\n') {
        if candidate == line && !line.is_empty() {
            return (end + 1).min(bytes.len());
        }
        end = end.saturating_sub(candidate.len() + 1);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: Vec<Vec<u8>>) -> Vec<String> {
        lines
            .into_iter()
            .map(|line| String::from_utf8(line).unwrap())
            .collect()
    }

    #[test]
    fn lines_come_when_they_are_whole_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.txt");
        let mut follower = Follower::new(path.clone());
        assert!(follower.read(false).unwrap().is_empty());
        assert!(!follower.has_file());
        std::fs::write(&path, "one\ntw").unwrap();
        assert_eq!(text(follower.read(false).unwrap()), ["one"]);
        std::fs::write(&path, "one\ntwo\nthree").unwrap();
        assert_eq!(text(follower.read(false).unwrap()), ["two"]);
        assert_eq!(text(follower.read(true).unwrap()), ["three"]);
        assert!(follower.has_file());
    }

    #[test]
    fn a_file_that_was_cut_goes_on_behind_the_last_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.txt");
        std::fs::write(&path, "a\nb\nc\n").unwrap();
        let mut follower = Follower::new(path.clone());
        assert_eq!(text(follower.read(false).unwrap()), ["a", "b", "c"]);
        let cut = folder.path().join("new");
        std::fs::write(&cut, "a\n[omitted]\nc\nd\n").unwrap();
        std::fs::rename(&cut, &path).unwrap();
        assert_eq!(text(follower.read(false).unwrap()), ["d"]);
    }
}
