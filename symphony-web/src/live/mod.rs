//! What changes while a page is open: one stream of server-sent events, and the parts of logs (spec: web, "Live").

mod cursor;
mod log_part;
mod pulse;
mod raw_log;
mod stream;

pub(crate) use log_part::{LogPart, lines_before, lines_from, tail_of};
pub(crate) use pulse::{Pulse, newest_event};
pub(crate) use raw_log::raw_log;
pub(crate) use stream::{LIFE, QUEUE, events, send, stream_of};
