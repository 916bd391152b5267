//! Reading a log whose middle may be left out while it is read: by logical offset, the number of bytes that were ever written before.
//!
//! A logical offset stays valid when the middle is left out, so that whoever reads on from one misses nothing that is still there and
//! gets nothing twice. A part is read by its place, never the whole file: a log of a gibibyte opens at its end at once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::OFlags;
use symphony_core::Timestamp;

use super::log::{LogLimits, MARKER_BYTES_MAX, OmissionStyle, length};

/// Bytes that are looked at in one read to find the end of a line, from a place back.
const LOOK_BYTES: u64 = 64 * 1024;

/// A part of a log, in whole lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadPart {
    /// The logical offset of the first line.
    pub start: u64,
    /// The logical offset behind the last line: where to read on.
    pub next: u64,
    /// The lines, without their line feeds.
    pub lines: Vec<Vec<u8>>,
    /// The logical offset of each line.
    pub offsets: Vec<u64>,
}

/// Whether a last line without a line feed counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLine {
    /// Whoever writes is still there: it may go on.
    MayGrow,
    /// The log is complete.
    IsWhole,
}

/// A log that is open for reading. What is written or left out after it was opened is not seen.
#[derive(Debug)]
pub struct LogReader {
    file: File,
    size: u64,
    omission: Option<Omission>,
}

/// Where the middle was left out.
#[derive(Debug, Clone, Copy)]
struct Omission {
    /// Where the line that says so begins, in the file: logical offsets up to here are places in the file.
    at: u64,
    /// Bytes of that line.
    line: u64,
    /// Bytes that it stands for.
    bytes: u64,
}

impl LogReader {
    /// Opens the formatted log of a run, or of its gates; none where there is no file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        Self::open_with(path, LogLimits::FORMATTED, OmissionStyle::Text)
    }

    /// Opens the raw stream of a run's agent; none where there is no file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open_stream(path: &Path) -> io::Result<Option<Self>> {
        Self::open_with(path, LogLimits::STREAM, OmissionStyle::Json)
    }

    fn open_with(path: &Path, limits: LogLimits, style: OmissionStyle) -> io::Result<Option<Self>> {
        let Some(file) = open_log(path)? else {
            return Ok(None);
        };
        let size = file.metadata()?.len();
        let omission = find_omission(&file, size, limits.head_bytes, style)?;
        Ok(Some(Self {
            file,
            size,
            omission,
        }))
    }

    /// Returns how many bytes were ever written.
    pub fn written(&self) -> u64 {
        self.logical(self.size)
    }

    /// Returns when the file was last written.
    ///
    /// # Errors
    /// When the file system does not say so.
    pub fn changed_at(&self) -> io::Result<Timestamp> {
        let time = self.file.metadata()?.modified()?;
        let since_epoch = time
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let ms = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(ms).map_err(io::Error::other)
    }

    /// Reads lines from a logical offset on; those that were left out are missing.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn after(&self, offset: u64, bytes_max: usize, last: LastLine) -> io::Result<ReadPart> {
        let from = self.place(offset);
        let bytes = self.read(from, bytes_max)?;
        let is_end = from + length(bytes.len()) >= self.size;
        Ok(self.part(from, &bytes, is_end && last == LastLine::IsWhole))
    }

    /// Reads lines from a logical offset on as [`Self::after`] does, and never cuts one: a line that is longer than `bytes_min`
    /// is read as a whole.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn whole_after(
        &self,
        offset: u64,
        bytes_min: usize,
        last: LastLine,
    ) -> io::Result<ReadPart> {
        let from = self.place(offset);
        let mut bytes_max = bytes_min.max(1);
        loop {
            let bytes = self.read(from, bytes_max)?;
            let is_end = from + length(bytes.len()) >= self.size;
            if is_end || memchr::memchr(b'\n', &bytes).is_some() {
                return Ok(self.part(from, &bytes, is_end && last == LastLine::IsWhole));
            }
            bytes_max = bytes_max.saturating_mul(2);
        }
    }

    /// Returns the logical offset at which the last lines begin, of which one may have no line feed yet. Only these lines are read,
    /// from the end on, however long the log is.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn begin_of_last(&self, lines: NonZeroUsize) -> io::Result<u64> {
        let mut more = lines.get();
        // a line feed at the very end ends the last line, and begins none
        let mut end = self.size.saturating_sub(1);
        while end > 0 {
            let from = end.saturating_sub(LOOK_BYTES);
            let bytes = self.read(from, usize::try_from(end - from).unwrap_or(0))?;
            for index in memchr::memrchr_iter(b'\n', &bytes) {
                more -= 1;
                if more == 0 {
                    return Ok(self.logical(from + length(index) + 1));
                }
            }
            end = from;
        }
        Ok(0)
    }

    /// Reads the lines before a logical offset, at which a line begins.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn before(&self, offset: u64, bytes_max: usize) -> io::Result<ReadPart> {
        let end = self.place(offset);
        let from = end.saturating_sub(length(bytes_max));
        let mut bytes = self.read(from, usize::try_from(end - from).unwrap_or(bytes_max))?;
        let skipped = if from == 0 { 0 } else { begin_of_line(&bytes) };
        let bytes = bytes.split_off(skipped);
        Ok(self.part(from + length(skipped), &bytes, true))
    }

    /// Reads the last lines.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn tail(&self, bytes_max: usize, last: LastLine) -> io::Result<ReadPart> {
        let from = self.size.saturating_sub(length(bytes_max));
        let mut bytes = self.read(from, bytes_max)?;
        let skipped = if from == 0 { 0 } else { begin_of_line(&bytes) };
        let bytes = bytes.split_off(skipped);
        Ok(self.part(from + length(skipped), &bytes, last == LastLine::IsWhole))
    }

    fn read(&self, from: u64, bytes_max: usize) -> io::Result<Vec<u8>> {
        let wanted = usize::try_from(self.size.saturating_sub(from)).unwrap_or(bytes_max);
        let mut bytes = vec![0; wanted.min(bytes_max)];
        self.file.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }

    fn part(&self, from: u64, bytes: &[u8], with_rest: bool) -> ReadPart {
        let mut at = from;
        let (mut lines, mut offsets) = (Vec::new(), Vec::new());
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let whole = line.strip_suffix(b"\n");
            if whole.is_none() && !with_rest {
                // a line that is longer than what is read at once is cut, or nobody would ever get past it
                if !(lines.is_empty() && from + length(bytes.len()) < self.size) {
                    break;
                }
            }
            offsets.push(self.logical(at));
            at += length(line.len());
            lines.push(whole.unwrap_or(line).to_vec());
        }
        ReadPart {
            start: self.logical(from),
            next: self.logical(at),
            lines,
            offsets,
        }
    }

    /// The logical offset of a place in the file.
    fn logical(&self, place: u64) -> u64 {
        match self.omission {
            Some(omission) if place > omission.at => {
                let behind = place.saturating_sub(omission.at + omission.line);
                omission.at + omission.bytes + behind
            }
            _ => place,
        }
    }

    /// The place in the file of a logical offset: behind what was left out, if that was there.
    fn place(&self, offset: u64) -> u64 {
        let place = match self.omission {
            Some(omission) if offset > omission.at => {
                let behind = offset.saturating_sub(omission.at + omission.bytes);
                omission.at + omission.line + behind
            }
            _ => offset,
        };
        place.min(self.size)
    }
}

/// Opens a log for reading; none where there is no file. An agent may put something else in its place, which must neither hang
/// whoever reads, nor lead to another file.
///
/// # Errors
/// When it cannot be read, or is no regular file.
pub fn open_log(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(Some(file))
}

/// Finds the line that stands for what was left out, behind the last whole line of the head.
fn find_omission(
    mut file: &File,
    size: u64,
    head_bytes: u64,
    style: OmissionStyle,
) -> io::Result<Option<Omission>> {
    if size <= head_bytes {
        return Ok(None);
    }
    let mut end = head_bytes;
    let at = loop {
        let from = end.saturating_sub(LOOK_BYTES);
        let mut bytes = vec![0; usize::try_from(end - from).unwrap_or(0)];
        file.read_exact_at(&mut bytes, from)?;
        match memchr::memrchr(b'\n', &bytes) {
            Some(index) => break from + length(index) + 1,
            None if from == 0 => break 0,
            None => end = from,
        }
    };
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(MARKER_BYTES_MAX).read_to_end(&mut start)?;
    let line = memchr::memchr(b'\n', &start).and_then(|end| start.get(..=end));
    let omitted = line
        .and_then(|line| std::str::from_utf8(line).ok())
        .and_then(|line| style.parse(line));
    Ok(line.zip(omitted).map(|(line, bytes)| Omission {
        at,
        line: length(line.len()),
        bytes,
    }))
}

fn begin_of_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::log::CappedLog;
    use super::*;

    const LIMITS: LogLimits = LogLimits {
        bytes_max: 400,
        head_bytes: 100,
        tail_bytes: 100,
    };

    fn open(path: &Path) -> LogReader {
        LogReader::open_with(path, LIMITS, OmissionStyle::Text)
            .unwrap()
            .unwrap()
    }

    fn texts(part: &ReadPart) -> Vec<String> {
        let lines = part.lines.iter();
        lines
            .map(|line| String::from_utf8(line.clone()).unwrap())
            .collect()
    }

    #[test]
    fn a_log_is_read_on_and_back_by_offset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.txt");
        assert!(LogReader::open(&path).unwrap().is_none());
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        let reader = open(&path);
        let part = reader.after(0, 100, LastLine::MayGrow).unwrap();
        assert_eq!(
            (texts(&part), part.next),
            (vec!["one".into(), "two".into()], 8)
        );
        let part = reader.after(4, 100, LastLine::IsWhole).unwrap();
        assert_eq!(
            (texts(&part), part.next, part.offsets),
            (vec!["two".into(), "thr".into()], 11, vec![4, 8])
        );
        let part = reader.tail(6, LastLine::IsWhole).unwrap();
        assert_eq!((texts(&part), part.start), (vec!["thr".into()], 8));
        let part = reader.before(8, 5).unwrap();
        assert_eq!((texts(&part), part.start), (vec!["two".into()], 4));
        let part = reader.before(4, 100).unwrap();
        assert_eq!((texts(&part), part.start), (vec!["one".into()], 0));
        let beyond = reader.after(900, 10, LastLine::IsWhole).unwrap();
        assert_eq!(beyond.lines, Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_line_that_is_longer_than_a_part_keeps_nobody_from_reading_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.txt");
        std::fs::write(&path, format!("{}\nend\n", "x".repeat(50))).unwrap();
        let reader = open(&path);
        let mut offset = 0;
        let mut read = String::new();
        while offset < reader.written() {
            let part = reader.after(offset, 20, LastLine::MayGrow).unwrap();
            assert!(part.next > offset);
            read.push_str(&texts(&part).concat());
            offset = part.next;
        }
        assert_eq!(read, format!("{}end", "x".repeat(50)));
    }

    proptest! {
        #[test]
        fn the_last_lines_are_those_of_the_whole_text(
            text in "([a-z]{0,9}\n){0,40}[a-z]{0,9}",
            lines in 1_usize..50,
            bytes in 1_usize..40,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log.txt");
            std::fs::write(&path, &text).unwrap();
            let reader = LogReader::open(&path).unwrap().unwrap();
            let lines = NonZeroUsize::new(lines).unwrap();
            let mut offset = reader.begin_of_last(lines).unwrap();
            let mut read = Vec::new();
            while offset < reader.written() {
                let part = reader.whole_after(offset, bytes, LastLine::IsWhole).unwrap();
                prop_assert!(part.next > offset);
                read.extend(texts(&part));
                offset = part.next;
            }
            let all: Vec<&str> = text.lines().collect();
            let skipped = all.len().saturating_sub(lines.get());
            prop_assert_eq!(read, &all[skipped..]);
        }
    }

    #[test]
    fn the_last_lines_may_reach_beyond_what_one_read_takes_and_what_was_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.txt");
        let mut log = CappedLog::open(&path, LIMITS, OmissionStyle::Text).unwrap();
        for number in 0..100 {
            log.write(format!("line {number:04}\n").as_bytes()).unwrap();
        }
        log.flush().unwrap();
        let reader = open(&path);
        let whole = texts(&reader.after(0, 1_000, LastLine::IsWhole).unwrap());
        for lines in 1..=whole.len() + 1 {
            let offset = reader
                .begin_of_last(NonZeroUsize::new(lines).unwrap())
                .unwrap();
            let part = reader.after(offset, 1_000, LastLine::IsWhole).unwrap();
            let skipped = whole.len().saturating_sub(lines);
            assert_eq!(texts(&part), &whole[skipped..], "{lines}");
        }

        let long = "x".repeat(usize::try_from(LOOK_BYTES).unwrap() * 2);
        std::fs::write(&path, format!("first\n{long}\nlast\n")).unwrap();
        let reader = LogReader::open(&path).unwrap().unwrap();
        let offset = reader.begin_of_last(NonZeroUsize::MIN.saturating_add(1));
        assert_eq!(offset.unwrap(), 6);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn who_reads_on_gets_each_line_once_and_in_order(
            bursts in prop::collection::vec(1_usize..30, 1..20),
            reads in prop::collection::vec(20_usize..300, 20),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log.txt");
            let mut log = CappedLog::open(&path, LIMITS, OmissionStyle::Text).unwrap();
            let mut number = 0;
            let mut offset = 0;
            let mut seen = Vec::new();
            for (burst, bytes) in bursts.iter().zip(reads.iter().cycle()) {
                for _ in 0..*burst {
                    log.write(format!("line {number:04}\n").as_bytes()).unwrap();
                    number += 1;
                }
                log.flush().unwrap();
                let reader = open(&path);
                prop_assert_eq!(reader.written(), number * 10);
                let part = reader.after(offset, *bytes, LastLine::MayGrow).unwrap();
                for line in texts(&part) {
                    if let Some(line) = line.strip_prefix("line ") {
                        seen.push(line.parse::<u64>().unwrap());
                    }
                }
                offset = part.next;
            }
            let reader = open(&path);
            loop {
                let part = reader.after(offset, 100, LastLine::IsWhole).unwrap();
                if part.lines.is_empty() {
                    break;
                }
                seen.extend(texts(&part).iter().filter_map(|line| line.strip_prefix("line ")?.parse::<u64>().ok()));
                offset = part.next;
            }
            prop_assert!(seen.windows(2).all(|two| two[0] < two[1]), "{seen:?}");
            prop_assert_eq!(seen.last().copied(), Some(number - 1));
            prop_assert_eq!(offset, number * 10);
        }
    }
}
