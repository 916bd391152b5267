//! What a run's stream has reported so far.

use symphony_core::failure::ErrorClass;
use symphony_core::run::Usage;
use symphony_core::session::SessionId;
use symphony_core::unit::Tokens;

use super::event::{AgentEvent, ApiError, ApiRetry, McpServer, RateLimit, RunResult};
use super::format::{MCP_SERVER_NAME, StreamFormat};
use super::parse::{LineKind, LineReader};
use super::usage::UsageMeter;

/// Returns the error class of an event after which the run must be ended at once; `None` for all others.
///
/// Two do: a start-up event in which Symphony's MCP server is not connected (the agent would work without its tools and
/// report success), and a retry after refused credentials (the Claude CLI would go on for three minutes). A format that
/// does not list MCP servers is not checked for them.
pub fn must_end(event: &AgentEvent) -> Option<ErrorClass> {
    match event {
        AgentEvent::Init(init) => {
            let servers = init.mcp_servers.as_ref()?;
            let connected = servers
                .iter()
                .any(|server| server.name == MCP_SERVER_NAME && server.status == "connected");
            (!connected).then_some(ErrorClass::McpUnavailable)
        }
        AgentEvent::ApiRetry(retry) => {
            (retry.error == "authentication_failed").then_some(ErrorClass::AuthFailed)
        }
        _ => None,
    }
}

/// Accumulates a run's stream: lines go in; usage, facts and finally a conclusion come out.
#[derive(Debug, Clone)]
pub struct StreamState {
    format: StreamFormat,
    reader: LineReader,
    events: Vec<AgentEvent>,
    lines: u64,
    broken_lines: u64,
    meter: UsageMeter,
    session: Option<String>,
    /// The session that the CLI was to resume.
    expected: Option<SessionId>,
    tool_uses: u64,
    model: Option<String>,
    mcp_servers: Option<Vec<McpServer>>,
    last_text: String,
    results: u64,
    web_searches: u32,
    denied_events: u64,
    denied_results: u64,
    must_end: Option<ErrorClass>,
    pub(super) last_result: Option<RunResult>,
    pub(super) open_retry: Option<ApiRetry>,
    pub(super) open_error: Option<ApiError>,
    pub(super) rate_limit: Option<RateLimit>,
}

impl StreamState {
    /// Starts empty.
    pub fn new(format: StreamFormat) -> Self {
        Self {
            format,
            reader: LineReader::new(format),
            events: Vec::new(),
            lines: 0,
            broken_lines: 0,
            meter: UsageMeter::default(),
            session: None,
            expected: None,
            tool_uses: 0,
            model: None,
            mcp_servers: None,
            last_text: String::new(),
            results: 0,
            web_searches: 0,
            denied_events: 0,
            denied_results: 0,
            must_end: None,
            last_result: None,
            open_retry: None,
            open_error: None,
            rate_limit: None,
        }
    }

    /// Expects that the CLI resumes a session, in which earlier runs used something.
    #[must_use]
    pub fn resuming(mut self, session: &SessionId, used: &Usage) -> Self {
        self.expected = Some(session.clone());
        self.meter.resume(used);
        self
    }

    /// Processes a line of output, without its line feed; returns its events, to be logged and watched.
    pub fn take_line(&mut self, line: &[u8]) -> (LineKind, &[AgentEvent]) {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let kind = self.reader.take_line(line, &mut events);
        match kind {
            LineKind::Empty => {}
            LineKind::Read => self.lines += 1,
            LineKind::Broken => {
                self.lines += 1;
                self.broken_lines += 1;
            }
        }
        (kind, self.observe_all(events))
    }

    /// Processes the end of the output; returns the events that were held back.
    pub fn finish(&mut self) -> &[AgentEvent] {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        self.reader.finish(&mut events);
        self.observe_all(events)
    }

    /// Returns the events of the last line.
    pub fn events(&self) -> &[AgentEvent] {
        &self.events
    }

    fn observe_all(&mut self, events: Vec<AgentEvent>) -> &[AgentEvent] {
        for event in &events {
            self.observe(event);
        }
        self.events = events;
        &self.events
    }

    fn observe(&mut self, event: &AgentEvent) {
        self.must_end = self.must_end.or_else(|| must_end(event));
        match event {
            AgentEvent::Init(init) => {
                // The first one counts: it comes before the agent could have a word in it.
                if self.session.is_none() {
                    self.session.clone_from(&init.session);
                }
                self.model.clone_from(&init.model);
                self.mcp_servers.clone_from(&init.mcp_servers);
            }
            AgentEvent::Text { text, subagent } => {
                if !subagent && self.open_error.is_none() {
                    self.last_text.clone_from(text);
                }
            }
            AgentEvent::MessageUsage(usage) => {
                // The model answered: an earlier retry is over.
                self.open_retry = None;
                self.open_error = None;
                self.meter.message(usage);
            }
            AgentEvent::ApiRetry(retry) => self.open_retry = Some(retry.clone()),
            AgentEvent::ApiError(error) => self.open_error = Some(error.clone()),
            AgentEvent::PermissionDenied { .. } => self.denied_events += 1,
            AgentEvent::RateLimit(limit) => self.rate_limit = Some(limit.clone()),
            AgentEvent::Result(result) => self.observe_result(result),
            AgentEvent::ToolUse(call) => {
                self.tool_uses = self.tool_uses.saturating_add(1);
                if call.is_web_search() {
                    self.web_searches = self.web_searches.saturating_add(1);
                }
            }
            AgentEvent::Thinking { .. } | AgentEvent::ToolResult(_) | AgentEvent::Other { .. } => {}
        }
    }

    fn observe_result(&mut self, result: &RunResult) {
        self.results += 1;
        self.meter.result(result, self.format);
        self.denied_results += result.permission_denials;
        if !result.is_error && !result.text.is_empty() {
            self.last_text.clone_from(&result.text);
        }
        self.last_result = Some(result.clone());
    }

    /// Returns the error class if the run must be ended at once.
    pub fn must_end(&self) -> Option<ErrorClass> {
        self.must_end
    }

    /// Returns the format.
    pub fn format(&self) -> StreamFormat {
        self.format
    }

    /// Returns what the run has used so far.
    pub fn usage(&self) -> Usage {
        self.meter.usage()
    }

    /// Returns the number of non-empty lines.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns how many of them could not be parsed.
    pub fn broken_lines(&self) -> u64 {
        self.broken_lines
    }

    /// Returns the number of results. The process's exit ends a run, but a deadline starts with the last result.
    pub fn results(&self) -> u64 {
        self.results
    }

    /// Returns how often the agent and its subagents searched the web.
    pub fn web_searches(&self) -> u32 {
        self.web_searches
    }

    /// Returns how many tool calls were denied.
    pub fn permission_denials(&self) -> u64 {
        self.denied_events.max(self.denied_results)
    }

    /// Returns the session's id, if reported.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Returns whether the CLI began another session than the one that it was to resume.
    pub fn is_other_session(&self) -> bool {
        let both = self.expected.as_ref().zip(self.session.as_ref());
        both.is_some_and(|(expected, session)| expected.as_str() != session)
    }

    /// Returns whether the model answered or called a tool.
    pub fn has_worked(&self) -> bool {
        let usage = self.usage();
        let tokens = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens;
        self.tool_uses > 0 || tokens > Tokens::ZERO
    }

    /// Returns the model, if reported.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the MCP servers of the last start-up event that listed them; `None` if none did.
    pub fn mcp_servers(&self) -> Option<&[McpServer]> {
        self.mcp_servers.as_deref()
    }

    /// Returns the agent's last text (its final answer, after a result), cut at 64 KiB.
    pub fn last_text(&self) -> &str {
        &self.last_text
    }
}
