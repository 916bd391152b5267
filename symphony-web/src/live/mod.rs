//! What changes while somebody looks: one stream of server-sent events, and the parts of logs (spec: web, "Live").

mod cursor;
mod log_part;
mod pulse;
mod stream;

pub(crate) use log_part::{LogPart, lines_before, raw_log, tail_of};
pub(crate) use pulse::{Pulse, newest_event};
pub(crate) use stream::{PATIENCE, events, stream_of};
