//! One line in, events out, whatever the format.

use super::event::AgentEvent;
use super::json::Broken;
use super::text::{TEXT_BYTES_MAX, beginning};
use super::{claude, codex};

/// The format of an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFormat {
    /// The Claude CLI's stream of JSON lines.
    Claude,
    /// The Codex CLI's JSON lines.
    Codex,
    /// Plain text.
    Text,
}

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It was parsed.
    Read,
    /// It is empty.
    Empty,
    /// It does not have the format; it is counted and otherwise ignored.
    Broken,
}

/// Parses one line of output (without its line feed) and appends its events.
///
/// Invalid UTF-8 is replaced. The function is total: nothing that an agent writes makes it fail.
pub fn parse_line(format: StreamFormat, line: &[u8], events: &mut Vec<AgentEvent>) -> LineKind {
    let whole = line.trim_ascii_end();
    let line = whole.trim_ascii_start();
    let Some(first) = line.first() else {
        return LineKind::Empty;
    };
    let read = match format {
        StreamFormat::Text => {
            events.push(AgentEvent::Text {
                text: beginning(whole, TEXT_BYTES_MAX),
                subagent: false,
            });
            return LineKind::Read;
        }
        StreamFormat::Claude | StreamFormat::Codex if *first != b'{' => return LineKind::Broken,
        StreamFormat::Claude => claude::parse(line, events),
        StreamFormat::Codex => codex::parse(line, events),
    };
    match read {
        Ok(()) => LineKind::Read,
        Err(Broken) => LineKind::Broken,
    }
}
