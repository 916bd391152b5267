//! One line in, events out, whatever the format.

use super::acp::AcpReader;
use super::app_server::AppServerReader;
use super::event::AgentEvent;
use super::format::StreamFormat;
use super::json::Broken;
use super::text::{TEXT_BYTES_MAX, beginning};
use super::{claude, codex};

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

/// Reads lines of output, whatever their format.
#[derive(Debug, Clone)]
pub struct LineReader(Reader);

#[derive(Debug, Clone)]
enum Reader {
    Claude,
    Codex,
    AppServer(Box<AppServerReader>),
    Acp(Box<AcpReader>),
    Text,
}

impl LineReader {
    /// Begins at the first line.
    pub fn new(format: StreamFormat) -> Self {
        Self(match format {
            StreamFormat::Claude => Reader::Claude,
            StreamFormat::Codex => Reader::Codex,
            StreamFormat::AppServer => Reader::AppServer(Box::default()),
            StreamFormat::Acp(usage) => Reader::Acp(Box::new(AcpReader::new(usage))),
            StreamFormat::Text => Reader::Text,
        })
    }

    /// Parses one line of output (without its line feed) and appends its events.
    ///
    /// Invalid UTF-8 is replaced. The function is total: nothing that an agent writes makes it fail.
    pub fn take_line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) -> LineKind {
        let whole = line.trim_ascii_end();
        let line = whole.trim_ascii_start();
        let Some(first) = line.first() else {
            return LineKind::Empty;
        };
        let is_json = *first == b'{';
        let read = match &mut self.0 {
            Reader::Text => {
                events.push(AgentEvent::Text {
                    text: beginning(whole, TEXT_BYTES_MAX),
                    subagent: false,
                });
                return LineKind::Read;
            }
            _ if !is_json => return LineKind::Broken,
            Reader::Claude => claude::parse(line, events),
            Reader::Codex => codex::parse(line, events),
            Reader::AppServer(reader) => reader.read(line, events),
            Reader::Acp(reader) => reader.read(line, events),
        };
        match read {
            Ok(()) => LineKind::Read,
            Err(Broken) => LineKind::Broken,
        }
    }

    /// Appends the events that were held back, at the end of the output.
    pub fn finish(&mut self, events: &mut Vec<AgentEvent>) {
        if let Reader::Acp(reader) = &mut self.0 {
            reader.finish(events);
        }
    }
}
