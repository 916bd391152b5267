//! Reads the output of an agent: raw lines go to one log, formatted ones to another, and the end of both is kept in
//! memory.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use symphony_core::Timestamp;
use symphony_core::id::CommentId;
use symphony_workspace::{LineRedactor, Redactor};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::task::JoinHandle;

use super::Job;
use super::prepare::Prepared;
use super::run_log::{RunLog, redact_string};
use super::talk::Talk;
use super::watch::{Stop, TalkPhase, Watch};
use crate::conversation::{Conversation, Letter};
use crate::error::RunnerError;
use crate::output::{BoundedLines, CappedLog, LogLimits, OmissionStyle, Tail};
use crate::process::Agent;
use crate::stream::{
    LOG_LINE_BYTES_MAX, LineKind, StreamFormat, StreamState, push_plain, write_log_line, write_news,
};

/// How much output is kept with the run (spec: lifecycle, "Streams").
const TAIL_BYTES: usize = 50 * 1024;
/// How long output is read after the agent and all its processes have ended. Only what is in the pipe is left then.
const DRAIN: Duration = Duration::from_secs(2);
/// How many characters of the last event `status` shows: a line of a wide terminal.
const NEWS_CHARS_MAX: usize = 200;

/// The streams of an agent, while it runs.
#[derive(Debug)]
pub(super) struct AgentStreams {
    lines: Option<BoundedLines<ChildStdout>>,
    talk: Option<Talk>,
    notes: StreamRecord,
    stderr: Arc<Mutex<Tail>>,
    stderr_reader: Option<JoinHandle<()>>,
    started: Instant,
}

impl AgentStreams {
    pub(super) fn open(
        job: &Job<'_>,
        prepared: &Prepared,
        conversation: Option<Box<dyn Conversation>>,
        agent: &mut Agent,
    ) -> Result<Self, RunnerError> {
        let stderr_log = open_log(job.paths.stderr(), LogLimits::STDERR, OmissionStyle::Text)?;
        let state = StreamState::new(prepared.command.format);
        let stderr = Arc::new(Mutex::new(Tail::new(TAIL_BYTES)));
        let stderr_reader = agent.take_stderr().map(|pipe| {
            let redactor = prepared.redactor.clone();
            tokio::spawn(keep_stderr(pipe, stderr_log, Arc::clone(&stderr), redactor))
        });
        Ok(Self {
            talk: conversation.and_then(|conversation| Talk::begin(conversation, agent)),
            lines: agent.take_stdout().map(BoundedLines::new),
            notes: StreamRecord {
                state: match &prepared.session.resumed {
                    Some(resumed) => state.resuming(&resumed.session, &resumed.used),
                    None => state,
                },
                raw: open_log(job.paths.stream(), LogLimits::STREAM, OmissionStyle::Json)?,
                log: RunLog::new(
                    open_log(job.paths.log(), LogLimits::FORMATTED, OmissionStyle::Text)?,
                    Tail::new(TAIL_BYTES),
                    prepared.redactor.clone(),
                ),
                line: String::new(),
                news: String::new(),
                has_news: false,
                plain: (prepared.command.format == StreamFormat::Text)
                    .then(|| LineRedactor::new(prepared.redactor.clone())),
                redactor: prepared.redactor.clone(),
            },
            stderr,
            stderr_reader,
            started: Instant::now(),
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.lines.is_some()
    }

    /// Asks an agent that takes part in a conversation to stop; returns whether it does.
    pub(super) fn cancel(&mut self) -> bool {
        let Some(talk) = &mut self.talk else {
            return false;
        };
        talk.cancel();
        true
    }

    /// Returns whether all was said to an agent whose exit code means nothing then.
    pub(super) fn has_said_all(&self) -> bool {
        self.talk.as_ref().is_some_and(Talk::has_said_all)
    }

    /// Returns whether the agent can be sent a message.
    pub(super) fn takes_messages(&self) -> bool {
        self.talk.as_ref().is_some_and(|talk| !talk.is_over())
    }

    /// Sends the agent a message, and notes that in the log.
    pub(super) fn say(&mut self, letter: Letter) {
        let Some(talk) = &mut self.talk else {
            return;
        };
        self.notes.said(&letter.text);
        talk.say_letter(letter);
    }

    /// Drops a message that its writer has withdrawn, if the agent was not sent it yet.
    pub(super) fn withdraw(&mut self, message: CommentId) {
        if let Some(talk) = &mut self.talk {
            talk.withdraw(message);
        }
    }

    /// Returns the messages that the agent has got since the last call.
    pub(super) fn take_read(&mut self) -> Vec<CommentId> {
        self.talk.as_mut().map(Talk::take_read).unwrap_or_default()
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns what the stream has shown so far.
    pub(super) fn state(&self) -> &StreamState {
        &self.notes.state
    }

    /// Removes secret values from a text that was made from the stream.
    pub(super) fn without_secrets(&self, mut text: String) -> String {
        redact_string(self.notes.redactor.as_deref(), &mut text);
        text
    }

    /// Returns the end of the log.
    pub(super) fn tail(&self) -> &Tail {
        self.notes.log.tail()
    }

    /// Reads a line, and those that arrived with it. Returns a reason to end the agent if one of them gives it.
    pub(super) async fn next(&mut self, watch: &mut Watch) -> Option<Stop> {
        let lines = self.lines.as_mut()?;
        let Ok(Some(mut line)) = lines.next_line().await else {
            // The end of the output, or a broken pipe: either way no more lines follow.
            self.lines = None;
            return self.notes.end(watch, self.started.elapsed());
        };
        let now = self.started.elapsed();
        watch.heard(now);
        loop {
            let mut stop = self.notes.take(line.bytes, watch, now);
            if let Some(talk) = &mut self.talk {
                let fault = talk.hear(line.bytes);
                stop = stop.or_else(|| fault.map(Stop::Deaf));
                let phase = match (talk.is_over(), talk.is_idle()) {
                    (true, _) => TalkPhase::Over,
                    (false, true) => TalkPhase::Idle,
                    (false, false) => TalkPhase::Working,
                };
                watch.talk_is(phase, now);
            }
            if stop.is_some() {
                return stop;
            }
            line = lines.next_at_hand()?;
        }
    }

    pub(super) fn flush(&mut self) {
        self.notes.flush();
    }

    /// Returns what the agent is doing, if that changed since the last call.
    pub(super) fn take_news(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.notes.has_news) {
            return None;
        }
        // Redacted before it is cut, since the cut could leave the beginning of a value.
        redact_string(self.notes.redactor.as_deref(), &mut self.notes.news);
        Some(self.notes.news.chars().take(NEWS_CHARS_MAX).collect())
    }

    /// Reads what is left in the pipe.
    pub(super) async fn drain(&mut self, watch: &mut Watch) {
        let all = async {
            while self.is_open() {
                let _late = self.next(watch).await;
            }
        };
        let _late = tokio::time::timeout(DRAIN, all).await;
        self.flush();
    }

    pub(super) async fn stderr_text(&mut self) -> String {
        if let Some(reader) = self.stderr_reader.take() {
            let _late = tokio::time::timeout(DRAIN, reader).await;
        }
        self.stderr
            .lock()
            .map(|tail| tail.text())
            .unwrap_or_default()
    }
}

/// What is written of the stream, and what it means.
#[derive(Debug)]
struct StreamRecord {
    state: StreamState,
    raw: CappedLog,
    log: RunLog,
    /// The current line of the log, while it is being formatted.
    line: String,
    /// A few words about what the agent is doing.
    news: String,
    has_news: bool,
    /// Redacts plain text, whose lines may be cut anywhere; `None` for a stream of JSON, in which each line is whole.
    plain: Option<LineRedactor>,
    redactor: Option<Arc<Redactor>>,
}

impl StreamRecord {
    /// Handles a line. Returns a reason to end the agent if the line gives it.
    fn take(&mut self, bytes: &[u8], watch: &mut Watch, now: Duration) -> Option<Stop> {
        if let Some(plain) = &mut self.plain {
            let clean = plain.take(bytes)?;
            return self.note_all(&clean, watch, now);
        }
        let clean = redacted_line(self.redactor.as_deref(), bytes);
        let understood = match &clean {
            Cow::Owned(clean) if is_as_good(clean, bytes) => clean,
            Cow::Owned(_) | Cow::Borrowed(_) => bytes,
        };
        self.note(&clean, understood, watch, now)
    }

    /// Handles what was held back until the end of the output.
    fn end(&mut self, watch: &mut Watch, now: Duration) -> Option<Stop> {
        let rest = self.plain.as_mut().and_then(LineRedactor::finish);
        let stop = rest.and_then(|rest| self.note_all(&rest, watch, now));
        self.state.finish();
        self.note_events(watch, now).or(stop)
    }

    fn note_all(&mut self, lines: &[u8], watch: &mut Watch, now: Duration) -> Option<Stop> {
        let mut stop = None;
        for line in lines.split(|byte| *byte == b'\n') {
            stop = stop.or(self.note(line, line, watch, now));
        }
        stop
    }

    /// Writes a line without its secrets, and handles its meaning.
    fn note(
        &mut self,
        clean: &[u8],
        understood: &[u8],
        watch: &mut Watch,
        now: Duration,
    ) -> Option<Stop> {
        // A full disk must not end the agent. The tail is kept in memory.
        let _unwritten = self.raw.write(clean).and_then(|()| self.raw.write(b"\n"));
        let (kind, _) = self.state.take_line(understood);
        if kind == LineKind::Broken {
            tracing::debug!("a line of the agent's output could not be read");
        }
        self.note_events(watch, now)
    }

    /// Writes what the last line means, and watches it.
    fn note_events(&mut self, watch: &mut Watch, now: Duration) -> Option<Stop> {
        let mut stop = None;
        for event in self.state.events() {
            self.line.clear();
            if write_log_line(&mut self.line, event) {
                self.log.line(&mut self.line, Timestamp::now());
            }
            self.line.clear();
            if write_news(&mut self.line, event) {
                std::mem::swap(&mut self.line, &mut self.news);
                self.has_news = true;
            }
            stop = stop.or_else(|| watch.observe(event, now));
        }
        stop.or_else(|| self.state.is_other_session().then_some(Stop::OtherSession))
            .or_else(|| watch.too_many_searches(self.state.web_searches()))
            .or_else(|| watch.over_budget(&self.state.usage()))
    }

    /// Notes what was said to the agent.
    fn said(&mut self, text: &str) {
        self.line.clear();
        self.line.push_str("[message] ");
        push_plain(&mut self.line, text, LOG_LINE_BYTES_MAX);
        self.log.line(&mut self.line, Timestamp::now());
    }

    fn flush(&mut self) {
        let _unwritten = self.raw.flush();
        self.log.flush();
    }
}

fn open_log(
    path: std::path::PathBuf,
    limits: LogLimits,
    style: OmissionStyle,
) -> Result<CappedLog, RunnerError> {
    CappedLog::open(&path, limits, style)
        .map_err(|error| RunnerError::io("open the log", path, error))
}

/// Removes secret values from a line. Lines are whole here, however many reads of the pipe they took.
fn redacted_line<'l>(redactor: Option<&Redactor>, line: &'l [u8]) -> Cow<'l, [u8]> {
    redactor.map_or(Cow::Borrowed(line), |redactor| redactor.redact(line))
}

/// Returns whether a redacted line still has its meaning. Where a secret is a bare number, the JSON is broken without
/// it: such a line is parsed in its original form, and only what is written is redacted.
fn is_as_good(clean: &[u8], line: &[u8]) -> bool {
    let is_json = |bytes| serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    is_json(clean) || !is_json(line)
}

async fn keep_stderr(
    pipe: ChildStderr,
    mut log: CappedLog,
    tail: Arc<Mutex<Tail>>,
    redactor: Option<Arc<Redactor>>,
) {
    let mut lines = BoundedLines::new(pipe);
    let mut clean_lines = LineRedactor::new(redactor);
    let write = |log: &mut CappedLog, clean: &[u8]| {
        let _unwritten = log.write(clean).and_then(|()| log.write(b"\n"));
        if let Ok(mut tail) = tail.lock() {
            tail.push(clean);
            tail.push(b"\n");
        }
    };
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(clean) = clean_lines.take(line.bytes) {
            write(&mut log, &clean);
        }
        if !lines.has_buffered_line() {
            let _unwritten = log.flush();
        }
    }
    if let Some(rest) = clean_lines.finish() {
        write(&mut log, &rest);
    }
    let _unwritten = log.flush();
}
