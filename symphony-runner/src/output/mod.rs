//! What programs print, in bounded memory and bounded files (spec: lifecycle, "Streams"; reliability, decision 10).
//!
//! - [`BoundedLines`]: lines of a stream, each cut at a limit.
//! - [`Tail`]: the last part of a stream, as text that is safe to show.
//! - [`CappedLog`]: a log file that keeps its head and its tail.
//! - [`neutralised`]: text that cannot control a terminal.
//!
//! Nothing here interprets the lines: `stream` does.

mod lines;
mod log;
mod log_reader;
mod tail;
mod terminal;

pub use lines::{BoundedLines, LINE_BYTES_MAX, Line};
pub use log::{CappedLog, LogLimits, OmissionStyle};
pub use log_reader::{LastLine, LogReader, ReadPart, open_log};
pub use tail::{TAIL_BYTES_MAX, Tail, last_chars};
pub use terminal::neutralised;
pub(crate) use terminal::picture;
