//! The log of a run on another host, as far as it was sent.

use symphony_core::id::RunId;
use symphony_runner::output::LastLine;
use symphony_store::Store;

/// Pieces of such a log that are read at once.
const PIECES: u32 = 16;

/// A log that comes in pieces from another host.
#[derive(Debug, Default)]
pub(super) struct SentLog {
    /// How many bytes of it were read.
    next: u64,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
}

impl SentLog {
    /// Says whether anything of it has come.
    pub(super) const fn has_begun(&self) -> bool {
        self.next > 0
    }

    /// Returns the lines that have come since the last call.
    pub(super) fn next_lines(
        &mut self,
        store: &Store,
        run: &RunId,
        last: LastLine,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut lines = Vec::new();
        loop {
            let pieces = store.run_log(run, self.next, PIECES)?;
            if pieces.is_empty() {
                break;
            }
            for piece in pieces {
                let known = usize::try_from(self.next.saturating_sub(piece.seq)).unwrap_or(0);
                let new = piece.bytes.get(known..).unwrap_or_default();
                self.next = piece.seq + piece.bytes.len() as u64;
                self.take_in(new, &mut lines);
            }
        }
        if last == LastLine::IsWhole && !self.begun.is_empty() {
            lines.push(std::mem::take(&mut self.begun));
        }
        Ok(lines)
    }

    fn take_in(&mut self, bytes: &[u8], lines: &mut Vec<Vec<u8>>) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(end) => {
                    self.begun.extend_from_slice(end);
                    lines.push(std::mem::take(&mut self.begun));
                }
                None => self.begun.extend_from_slice(part),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_end_in_another_piece_than_it_begins_in() {
        let (mut sent, mut lines) = (SentLog::default(), Vec::new());
        for piece in ["one\ntw", "", "o", "\n\nthr"] {
            sent.take_in(piece.as_bytes(), &mut lines);
        }
        assert_eq!(lines, [&b"one"[..], b"two", b""]);
        assert_eq!(sent.begun, b"thr");
    }
}
