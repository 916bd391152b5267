//! Lines of a stream, with bounded memory whatever the other side prints.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Longest line that is kept, in bytes without its line feed (reliability, decision 10: 8 MiB).
pub const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Size of one read, in bytes: a pipe's capacity.
const CHUNK_BYTES: usize = 64 * 1024;

/// Size to which the line buffer shrinks after a long line, in bytes.
const BUFFER_KEPT_BYTES: usize = 256 * 1024;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The kept bytes, without the line feed.
    pub bytes: &'a [u8],
    /// How many bytes of the line were dropped at its end; 0 for a whole line.
    pub bytes_cut: u64,
    /// False only for a last line without a line feed.
    pub terminated: bool,
}

/// Reads lines, each cut at a limit; it needs at most the limit and one read of memory.
#[derive(Debug)]
pub struct BoundedLines<R> {
    reader: R,
    chunk: Box<[u8]>,
    filled: std::ops::Range<usize>,
    line: Vec<u8>,
    line_bytes_max: usize,
    bytes_cut: u64,
    /// `line` was returned: the next call begins a new one.
    is_delivered: bool,
    /// Something of the current line was seen, even if nothing of it was kept.
    is_begun: bool,
    lines_cut: u64,
    bytes_read: u64,
}

impl<R: AsyncRead + Unpin> BoundedLines<R> {
    /// Reads lines of at most [`LINE_BYTES_MAX`].
    pub fn new(reader: R) -> Self {
        Self::with_limit(reader, LINE_BYTES_MAX)
    }

    /// Reads lines of at most `line_bytes_max`.
    pub fn with_limit(reader: R, line_bytes_max: usize) -> Self {
        Self {
            reader,
            chunk: vec![0; CHUNK_BYTES].into_boxed_slice(),
            filled: 0..0,
            line: Vec::new(),
            line_bytes_max,
            bytes_cut: 0,
            is_delivered: false,
            is_begun: false,
            lines_cut: 0,
            bytes_read: 0,
        }
    }

    /// Returns the next line, or nothing at the end of the stream.
    ///
    /// Cancel safe: a call that is dropped loses nothing.
    ///
    /// # Errors
    /// When reading fails; what was read of the line is kept for the next call.
    pub async fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.begin_line();
        loop {
            if self.take_from_chunk() {
                return Ok(Some(self.deliver(true)));
            }
            let count = self.reader.read(&mut self.chunk).await?;
            self.filled = 0..count;
            self.bytes_read = self.bytes_read.saturating_add(length(count));
            if count == 0 {
                return Ok(self.is_begun.then(|| self.deliver(false)));
            }
        }
    }

    /// Returns the next line if it was read together with the last one.
    pub fn next_at_hand(&mut self) -> Option<Line<'_>> {
        self.begin_line();
        self.take_from_chunk().then(|| self.deliver(true))
    }

    /// Returns whether a whole line is buffered, so that [`Self::next_line`] would not wait.
    pub fn has_buffered_line(&self) -> bool {
        let rest = self.chunk.get(self.filled.clone()).unwrap_or_default();
        memchr::memchr(b'\n', rest).is_some()
    }

    /// Counts the lines that were cut.
    pub fn lines_cut(&self) -> u64 {
        self.lines_cut
    }

    /// Counts the bytes read from the stream.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    fn begin_line(&mut self) {
        if !self.is_delivered {
            return;
        }
        self.line.clear();
        self.line.shrink_to(BUFFER_KEPT_BYTES);
        self.bytes_cut = 0;
        self.is_delivered = false;
        self.is_begun = false;
    }

    /// Moves the part of the current line that is in the chunk; returns true when the line is complete.
    fn take_from_chunk(&mut self) -> bool {
        let rest = self.chunk.get(self.filled.clone()).unwrap_or_default();
        if rest.is_empty() {
            return false;
        }
        let end = memchr::memchr(b'\n', rest);
        let part = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let room = self.line_bytes_max.saturating_sub(self.line.len());
        let kept = part.get(..room.min(part.len())).unwrap_or_default();
        self.line.extend_from_slice(kept);
        self.bytes_cut = self
            .bytes_cut
            .saturating_add(length(part.len() - kept.len()));
        self.is_begun = true;
        self.filled.start += part.len() + usize::from(end.is_some());
        end.is_some()
    }

    fn deliver(&mut self, terminated: bool) -> Line<'_> {
        self.is_delivered = true;
        self.lines_cut += u64::from(self.bytes_cut > 0);
        Line {
            bytes: &self.line,
            bytes_cut: self.bytes_cut,
            terminated,
        }
    }
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use proptest::prelude::*;
    use tokio::io::ReadBuf;

    use super::*;

    /// A stream that hands out its bytes in given portions.
    struct Portions(std::collections::VecDeque<Vec<u8>>);

    impl AsyncRead for Portions {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if let Some(portion) = self.0.pop_front() {
                buffer.put_slice(&portion);
            }
            Poll::Ready(Ok(()))
        }
    }

    fn lines_of(portions: Vec<Vec<u8>>, line_bytes_max: usize) -> Vec<(Vec<u8>, u64, bool)> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut lines =
                BoundedLines::with_limit(Portions(portions.into_iter().collect()), line_bytes_max);
            let mut result = Vec::new();
            while let Some(line) = lines.next_line().await.unwrap() {
                result.push((line.bytes.to_vec(), line.bytes_cut, line.terminated));
                // as many of them as the reader likes are taken in one go
                while result.len() % 3 != 0
                    && let Some(line) = lines.next_at_hand()
                {
                    result.push((line.bytes.to_vec(), line.bytes_cut, line.terminated));
                }
            }
            let cut = result.iter().filter(|(_, cut, _)| *cut > 0).count();
            assert_eq!(lines.lines_cut(), cut as u64);
            assert!(lines.next_line().await.unwrap().is_none());
            result
        })
    }

    fn naive(bytes: &[u8], line_bytes_max: usize) -> Vec<(Vec<u8>, u64, bool)> {
        let mut parts: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
        let last = parts.pop().unwrap();
        let mut result: Vec<_> = parts.into_iter().map(|part| (part, true)).collect();
        if !last.is_empty() {
            result.push((last, false));
        }
        result
            .into_iter()
            .map(|(part, terminated)| {
                let kept = part.len().min(line_bytes_max);
                (
                    part[..kept].to_vec(),
                    (part.len() - kept) as u64,
                    terminated,
                )
            })
            .collect()
    }

    #[test]
    fn a_line_over_the_limit_is_cut_and_the_next_one_is_whole() {
        let portions = vec![b"12345".to_vec(), b"6789\nabc\n\nend".to_vec()];
        assert_eq!(
            lines_of(portions, 4),
            [
                (b"1234".to_vec(), 5, true),
                (b"abc".to_vec(), 0, true),
                (Vec::new(), 0, true),
                (b"end".to_vec(), 0, false),
            ]
        );
    }

    #[test]
    fn memory_returns_after_a_long_line() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let long = vec![b'x'; 3 * 1024 * 1024];
            let input = [&long[..], b"\nshort\n"].concat();
            let mut lines = BoundedLines::with_limit(&input[..], 2 * 1024 * 1024);
            let first = lines.next_line().await.unwrap().unwrap();
            assert_eq!((first.bytes.len(), first.bytes_cut), (2 << 20, 1 << 20));
            assert!(lines.line.capacity() <= 2 * 2 * 1024 * 1024);
            assert!(lines.has_buffered_line());
            let second = lines.next_line().await.unwrap().unwrap();
            assert_eq!(second.bytes, b"short");
            assert!(lines.line.capacity() <= BUFFER_KEPT_BYTES);
            assert!(!lines.has_buffered_line());
            assert_eq!(lines.bytes_read(), input.len() as u64);
        });
    }

    #[tokio::test]
    async fn a_dropped_call_loses_nothing() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut lines = BoundedLines::new(reader);
        tokio::io::AsyncWriteExt::write_all(&mut writer, b"first ")
            .await
            .unwrap();
        {
            let pending = lines.next_line();
            tokio::pin!(pending);
            assert!(futures_poll_once(pending).is_none());
        }
        tokio::io::AsyncWriteExt::write_all(&mut writer, b"half\n")
            .await
            .unwrap();
        assert_eq!(
            lines.next_line().await.unwrap().unwrap().bytes,
            b"first half"
        );
    }

    fn futures_poll_once<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        match future.poll(&mut context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    proptest! {
        #[test]
        fn it_equals_the_naive_reading(
            portions in prop::collection::vec(
                prop::collection::vec(prop::sample::select(b"ab\n\r\xff".to_vec()), 1..20), 0..12),
            line_bytes_max in 0usize..12,
        ) {
            let expected = naive(&portions.concat(), line_bytes_max);
            prop_assert_eq!(lines_of(portions, line_bytes_max), expected);
        }
    }
}
