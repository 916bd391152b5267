//! A log file of bounded size that keeps its head and its tail (reliability, decision 10).
//!
//! The file grows to its limit; then its middle is omitted: a new file with the head, a line with the number of missing
//! bytes, and the tail replaces the old one by a rename. So the file is whole and readable at any moment, even after a
//! crash, and a flood costs twice its bytes in writes and at most one and a half times the limit on disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Mode of log files: they may hold what the agent read.
const LOG_MODE: u32 = 0o600;

/// Size of the write buffer, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// Upper bound for the length of an omission line, in bytes.
pub(super) const MARKER_BYTES_MAX: u64 = 80;

/// Limits of one log file, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLimits {
    /// Size at which the middle is omitted.
    pub bytes_max: u64,
    /// How much of the beginning stays.
    pub head_bytes: u64,
    /// How much of the end stays when the middle is omitted; after that the file grows again.
    pub tail_bytes: u64,
}

impl LogLimits {
    /// For the raw stream. All three together are 64 MiB per run.
    pub const STREAM: Self = Self::quartered(40);
    /// For the formatted log.
    pub const FORMATTED: Self = Self::quartered(16);
    /// For stderr.
    pub const STDERR: Self = Self::quartered(8);

    /// A file of the given size, of which a quarter is head and, after each cut, a quarter tail.
    const fn quartered(mebibytes: u64) -> Self {
        let bytes_max = mebibytes * 1024 * 1024;
        Self {
            bytes_max,
            head_bytes: bytes_max / 4,
            tail_bytes: bytes_max / 4,
        }
    }
}

/// The format of the line that replaces the omitted middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmissionStyle {
    /// As text, for people.
    Text,
    /// As a JSON object, so that an NDJSON file stays one.
    Json,
}

impl OmissionStyle {
    const fn frame(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("[omitted] ", " bytes were left out here\n"),
            Self::Json => ("{\"type\":\"symphony_omitted\",\"bytes\":", "}\n"),
        }
    }

    fn marker(self, bytes: u64) -> String {
        let (before, after) = self.frame();
        format!("{before}{bytes}{after}")
    }

    pub(super) fn parse(self, line: &str) -> Option<u64> {
        let (before, after) = self.frame();
        line.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
    }
}

/// A log file that is being written.
#[derive(Debug)]
pub struct CappedLog {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    /// Size of the file, in bytes, without the buffer.
    size: u64,
    limits: LogLimits,
    style: OmissionStyle,
}

impl CappedLog {
    /// Opens a log file for appending, and creates it (mode 0600) if there is none.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(
        path: impl Into<PathBuf>,
        limits: LogLimits,
        style: OmissionStyle,
    ) -> io::Result<Self> {
        let path = path.into();
        let file = OpenOptions::new()
            .append(true)
            .read(true)
            .create(true)
            .mode(LOG_MODE)
            .open(&path)?;
        let size = file.metadata()?.len();
        Ok(Self {
            path,
            file,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            size,
            limits,
            style,
        })
    }

    /// Returns where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes, usually a line with its line feed. They are written with the next [`Self::flush`], or when the
    /// buffer is full.
    ///
    /// # Errors
    /// When writing fails, for instance because the disk is full.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            return self.append(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes the buffer to the file. To be called whenever the stream pauses.
    ///
    /// # Errors
    /// When writing fails; the buffered bytes are then lost.
    pub fn flush(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.append(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        result
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        // A piece is never larger than the space between head and tail, so that the limit holds.
        let room = self
            .limits
            .bytes_max
            .saturating_sub(self.limits.head_bytes + self.limits.tail_bytes + MARKER_BYTES_MAX)
            .max(1);
        for piece in bytes.chunks(usize::try_from(room).unwrap_or(usize::MAX)) {
            let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            if self.size.saturating_add(length) > self.limits.bytes_max {
                self.leave_out_middle()?;
            }
            self.file.write_all(piece)?;
            self.size = self.size.saturating_add(length);
        }
        Ok(())
    }

    fn leave_out_middle(&mut self) -> io::Result<()> {
        let head_end = self.head_end()?;
        let (marker_end, omitted_before) = self.earlier_marker(head_end)?;
        let tail_start = self.tail_start(marker_end)?;
        let omitted = omitted_before.saturating_add(tail_start - marker_end);
        let mut temporary = self.path.clone().into_os_string();
        temporary.push(".new");
        let mut new = OpenOptions::new()
            .append(true)
            .read(true)
            .create_new(true)
            .mode(LOG_MODE)
            .open(without_leftover(Path::new(&temporary))?)?;
        self.file.rewind()?;
        io::copy(&mut (&self.file).take(head_end), &mut new)?;
        new.write_all(self.style.marker(omitted).as_bytes())?;
        self.file.seek(SeekFrom::Start(tail_start))?;
        io::copy(&mut &self.file, &mut new)?;
        // The rename comes last: until then the old file is the whole log.
        fs::rename(&temporary, &self.path)?;
        self.size = new.metadata()?.len();
        self.file = new;
        Ok(())
    }

    /// Finds the end of the last whole line of the head. It depends only on the head's bytes, so a later omission, also
    /// by another process, finds the same place, followed by the marker.
    fn head_end(&mut self) -> io::Result<u64> {
        self.file.rewind()?;
        let mut reader =
            BufReader::with_capacity(BUFFER_BYTES, (&self.file).take(self.limits.head_bytes));
        let mut position = 0;
        let mut end = 0;
        loop {
            let available = reader.fill_buf()?;
            if available.is_empty() {
                return Ok(end);
            }
            let count = available.len();
            if let Some(index) = memchr::memrchr(b'\n', available) {
                end = position + length(index) + 1;
            }
            position += length(count);
            reader.consume(count);
        }
    }

    /// Reads the marker of an earlier omission: where it ends, and how many bytes it replaces.
    fn earlier_marker(&mut self, head_end: u64) -> io::Result<(u64, u64)> {
        self.file.seek(SeekFrom::Start(head_end))?;
        let mut line = Vec::new();
        BufReader::new((&self.file).take(MARKER_BYTES_MAX)).read_until(b'\n', &mut line)?;
        let marker = std::str::from_utf8(&line)
            .ok()
            .and_then(|line| self.style.parse(line));
        Ok(marker.map_or((head_end, 0), |omitted| {
            (head_end + length(line.len()), omitted)
        }))
    }

    /// Finds the start of the first whole line of the tail, or of a part if it is one long line.
    fn tail_start(&mut self, earliest: u64) -> io::Result<u64> {
        let wanted = self
            .size
            .saturating_sub(self.limits.tail_bytes)
            .max(earliest);
        if wanted == earliest {
            return Ok(wanted);
        }
        // The byte before tells whether a line starts right here.
        self.file.seek(SeekFrom::Start(wanted - 1))?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, &self.file);
        let mut position = wanted - 1;
        loop {
            let available = reader.fill_buf()?;
            if available.is_empty() {
                return Ok(wanted);
            }
            if let Some(index) = memchr::memchr(b'\n', available) {
                let start = position + length(index) + 1;
                return Ok(if start < self.size { start } else { wanted });
            }
            let count = available.len();
            position += length(count);
            reader.consume(count);
        }
    }
}

impl Drop for CappedLog {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!(path = %self.path.display(), %error, "the end of a log is lost");
        }
    }
}

/// Removes what a crash in the middle of an omission left.
fn without_leftover(path: &Path) -> io::Result<&Path> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(path),
    }
}

pub(super) fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    const LIMITS: LogLimits = LogLimits {
        bytes_max: 400,
        head_bytes: 100,
        tail_bytes: 100,
    };

    fn line(number: usize) -> String {
        format!("line {number:04}\n")
    }

    #[test]
    fn a_small_log_is_kept_whole_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.txt");
        let mut log = CappedLog::open(&path, LIMITS, OmissionStyle::Text).unwrap();
        log.write(b"first\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
        log.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first\n");
        log.write(b"last").unwrap();
        drop(log);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first\nlast");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn head_and_tail_are_kept_also_when_reopened() {
        let folder = tempfile::tempdir().unwrap();
        for (name, style, before) in [
            ("a", OmissionStyle::Text, "[omitted] "),
            (
                "b",
                OmissionStyle::Json,
                "{\"type\":\"symphony_omitted\",\"bytes\":",
            ),
        ] {
            let path = folder.path().join(name);
            for start in (0..500).step_by(50) {
                // Each time another process could go on: nothing is remembered but the file.
                let mut log = CappedLog::open(&path, LIMITS, style).unwrap();
                for number in start..start + 50 {
                    log.write(line(number).as_bytes()).unwrap();
                    log.flush().unwrap();
                }
            }
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let head: String = (0..10).map(line).collect();
            assert!(text.starts_with(&head), "{text}");
            let omitted = style.parse(lines[10]).unwrap();
            assert!(lines[10].starts_with(before));
            assert!(text.ends_with(&line(499)), "{text}");
            assert!(text.len() <= 400);
            let kept = text.len() - lines[10].len();
            assert_eq!(omitted, (500 * 10 - kept) as u64);
            assert!(!folder.path().join(format!("{name}.new")).exists());
        }
    }

    #[test]
    fn a_leftover_of_a_crash_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(folder.path().join("log.new"), "torn").unwrap();
        let mut log = CappedLog::open(&path, LIMITS, OmissionStyle::Text).unwrap();
        for number in 0..100 {
            log.write(line(number).as_bytes()).unwrap();
        }
        log.flush().unwrap();
        assert!(fs::read_to_string(&path).unwrap().ends_with(&line(99)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn the_limit_holds_and_nothing_is_miscounted(
            pieces in prop::collection::vec("[a-z\\n]{0,300}", 1..40),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let mut log = CappedLog::open(&path, LIMITS, OmissionStyle::Text).unwrap();
            for piece in &pieces {
                log.write(piece.as_bytes()).unwrap();
                log.flush().unwrap();
                prop_assert!(fs::metadata(&path).unwrap().len() <= LIMITS.bytes_max);
            }
            let all = pieces.concat();
            let text = fs::read_to_string(&path).unwrap();
            if let Some((head, rest)) = text.split_once("[omitted] ") {
                let (count, tail) = rest.split_once(" bytes were left out here\n").unwrap();
                let omitted: usize = count.parse().unwrap();
                prop_assert_eq!(head.len() + omitted + tail.len(), all.len());
                prop_assert!(all.starts_with(head) && all.ends_with(tail));
            } else {
                prop_assert_eq!(text, all);
            }
        }
    }
}
