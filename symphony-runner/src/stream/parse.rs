//! One line in, events out, whatever the format.

use super::event::AgentEvent;
use super::text::{TEXT_BYTES_MAX, cut};
use super::{claude, codex};

/// How an agent's output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFormat {
    /// The Claude CLI's stream of JSON lines.
    Claude,
    /// The Codex CLI's JSON lines.
    Codex,
    /// Plain text.
    Text,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It was read.
    Read,
    /// It is empty.
    Empty,
    /// It is no line of its format; it is counted and otherwise ignored.
    Broken,
}

/// Reads one line of output (without its line feed) and appends what it tells.
///
/// Invalid UTF-8 is replaced. The function is total: nothing that an agent writes makes it fail.
pub fn parse_line(format: StreamFormat, line: &[u8], events: &mut Vec<AgentEvent>) -> LineKind {
    let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    if text.trim_ascii().is_empty() {
        return LineKind::Empty;
    }
    if format != StreamFormat::Text && !text.trim_ascii_start().starts_with('{') {
        // An array would be read as the fields of a struct in their order.
        return LineKind::Broken;
    }
    let read = match format {
        StreamFormat::Claude => claude::parse(&text, events),
        StreamFormat::Codex => codex::parse(&text, events),
        StreamFormat::Text => {
            events.push(AgentEvent::Text {
                text: cut(&text, TEXT_BYTES_MAX).to_owned(),
                subagent: false,
            });
            Ok(())
        }
    };
    match read {
        Ok(()) => LineKind::Read,
        Err(_) => LineKind::Broken,
    }
}
