//! Runs a session: starts the app-server, carries lines between it and [`Session`], and ends all of its processes.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use symphony_runner::InputWriter;
use symphony_runner::output::BoundedLines;
use symphony_runner::process::{Agent, AgentInput, AgentLaunch, ProcessError};
use symphony_workflow::Ticket;
use symphony_workflow::eligible::{NextTurn, Rules, after_turn};
use symphony_workflow::template::continuation_prompt;
use tokio::io::AsyncRead;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::connection::Connection;
use super::diagnostics::Diagnostics;
use super::end::{AttemptEnd, FailureClass};
use super::event::{AttemptEvent, EventKind};
use super::input::AttemptInput;
use super::opening::Opening;
use super::place;
use super::session::{Session, Step, Waiting};
use super::sink::Sink;
use super::summary::one_line;
use super::tool::ToolAnswer;

/// The shell that starts the app-server (section 10.1).
const SHELL: &str = "bash";
/// Longest line of the app-server that is read, in bytes. The specification wants 10 MB at least.
const LINE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long an app-server has to end by itself once its input is closed, and after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);
/// How long the end of a process is waited for once it closed its output.
const EXIT_TIME_MAX: Duration = Duration::from_secs(1);
/// How long the rest of its standard error is waited for then.
const SETTLE_TIME_MAX: Duration = Duration::from_millis(500);
/// Time between two looks at a process that is about to end.
const LOOK: Duration = Duration::from_millis(20);
/// What a shell exits with when it does not find a command.
const NOT_FOUND: i32 = 127;

/// Runs one session on a ticket, to its end. Whatever happens, no process of it is left.
pub async fn run(input: AttemptInput<'_>, events: &mut dyn FnMut(AttemptEvent)) -> AttemptEnd {
    let mut sink = Sink::new(events, input.config.tracker.api_key.as_ref());
    match start(&input) {
        Ok(agent) => Running::new(&input, agent, &mut sink).run().await,
        Err((class, text)) => {
            let text = sink.clean(&text);
            sink.report(EventKind::StartupFailed, &text, None);
            AttemptEnd::Failed { class, error: text }
        }
    }
}

fn start(input: &AttemptInput<'_>) -> Result<Agent, (FailureClass, String)> {
    let folder = place::checked(&input.workspace, &input.root)
        .map_err(|fault| (FailureClass::InvalidWorkspaceCwd, fault))?;
    let launch = AgentLaunch {
        trampoline: input.trampoline.clone(),
        program: SHELL.into(),
        arguments: vec!["-lc".into(), input.config.codex.command.clone().into()],
        environment: input.environment.clone(),
        directory: folder,
        input: AgentInput::Pipe,
        report: None,
        limits: None,
    };
    input.supervision.spawn(launch).map_err(|error| {
        let class = match error {
            ProcessError::ProgramNotFound { .. } => FailureClass::CodexNotFound,
            _ => FailureClass::System,
        };
        (class, described(&error))
    })
}

/// A session whose app-server runs.
struct Running<'a, 'e> {
    input: &'a AttemptInput<'a>,
    agent: Agent,
    session: Session,
    sink: &'a mut Sink<'e>,
    writer: Option<InputWriter>,
    lines: Option<BoundedLines<Box<dyn AsyncRead + Send + Unpin>>>,
    /// Why a connection to an app-server that runs already ended; `None` where the attempt has one of its own.
    shared: Option<Arc<OnceLock<String>>>,
    diagnostics: Option<Diagnostics>,
    calls: JoinSet<(Value, ToolAnswer)>,
    waiting: (Waiting, Instant),
}

/// What happened next.
enum Next {
    Stopped,
    Steps(Vec<Step>),
    TimedOut,
    OutputClosed,
}

impl<'a, 'e> Running<'a, 'e> {
    fn new(input: &'a AttemptInput<'a>, mut agent: Agent, sink: &'a mut Sink<'e>) -> Self {
        let folder = input.workspace.canonicalize();
        let folder = folder.as_deref().unwrap_or(&input.workspace);
        let opening = Opening::new(&input.config, &input.ticket, folder);
        let command = &input.config.codex.command;
        let connection = Connection::new(&mut agent, command, LINE_BYTES_MAX);
        Self {
            input,
            session: Session::new(opening, input.prompt.clone()),
            writer: connection.writer,
            lines: connection
                .lines
                .map(|output| BoundedLines::with_limit(output, LINE_BYTES_MAX)),
            shared: connection.shared,
            diagnostics: agent.take_stderr().map(Diagnostics::read),
            agent,
            sink,
            calls: JoinSet::new(),
            waiting: (Waiting::Nothing, Instant::now()),
        }
    }

    async fn run(mut self) -> AttemptEnd {
        let pid = self.agent.identity().pid;
        self.sink.set_pid(pid);
        let begun = self.session.begin();
        let end = match self.apply(begun).await {
            Some(end) => end,
            None => self.talk().await,
        };
        // No answer to a tool call may come later than the end.
        self.calls.abort_all();
        if self.shared.is_some() {
            self.interrupt().await;
        }
        self.report_failure(&end);
        let is_completed = matches!(end, AttemptEnd::Completed { .. });
        match self.end_processes(is_completed).await {
            Ok(()) => end,
            Err(error) => AttemptEnd::Failed {
                class: FailureClass::System,
                error: self.sink.clean(&described(&error)),
            },
        }
    }

    /// Stops the turn of an app-server that does not end with this attempt.
    async fn interrupt(&mut self) {
        let Some(message) = self.session.interrupt() else {
            return;
        };
        let is_said = self.say(&message);
        if let (true, Some(lines)) = (is_said, &mut self.lines) {
            let session = &mut self.session;
            let stops = async {
                while session.waiting() != Waiting::Nothing {
                    match lines.next_line().await {
                        Ok(Some(line)) => drop(session.take(line.bytes)),
                        Ok(None) | Err(_) => return,
                    }
                }
            };
            let _it_goes_on = timeout(GRACE / 3, stops).await;
        }
    }

    async fn talk(&mut self) -> AttemptEnd {
        loop {
            let steps = match self.next().await {
                Next::Stopped => return AttemptEnd::Stopped,
                Next::TimedOut => return self.timed_out(),
                Next::OutputClosed => return self.output_closed().await,
                Next::Steps(steps) => steps,
            };
            if let Some(end) = self.apply(steps).await {
                return end;
            }
        }
    }

    async fn next(&mut self) -> Next {
        let Some(lines) = &mut self.lines else {
            return Next::OutputClosed;
        };
        let deadline = self.waiting.1;
        let waits = self.waiting.0 != Waiting::Nothing;
        tokio::select! {
            // In this order: an app-server that floods its output must neither outlive its time nor a wish to stop it.
            biased;
            () = self.input.stop.cancelled() => Next::Stopped,
            () = sleep_until(deadline), if waits => Next::TimedOut,
            Some(done) = self.calls.join_next(), if !self.calls.is_empty() => match done {
                Ok((id, answer)) => Next::Steps(self.session.called(&id, &answer)),
                Err(_aborted) => Next::Steps(Vec::new()),
            },
            line = lines.next_line() => match line {
                Ok(Some(line)) if line.bytes_cut > 0 || !line.terminated => {
                    let text = if line.terminated { "a line is too long" } else { "the last line does not end" };
                    Next::Steps(vec![Step::Report(EventKind::Malformed, text.to_owned())])
                }
                Ok(Some(line)) => Next::Steps(self.session.take(line.bytes)),
                Ok(None) | Err(_) => Next::OutputClosed,
            },
        }
    }

    /// Does what the session wants. Returns how the attempt ended, if it did.
    async fn apply(&mut self, steps: Vec<Step>) -> Option<AttemptEnd> {
        let mut to_do = steps;
        while !to_do.is_empty() {
            let mut more = Vec::new();
            for step in to_do {
                match step {
                    Step::Say(message) => {
                        if !self.say(&message) {
                            let text = "the app-server does not read its input".to_owned();
                            return Some(failed(FailureClass::PortExit, text));
                        }
                    }
                    Step::Report(kind, text) => {
                        self.sink.report(kind, &text, Some(&self.session));
                    }
                    Step::Ask(id, question) => {
                        let polls = self.input.polls.clone();
                        self.calls.spawn(async move {
                            let answer = polls.graphql(&question.query, &question.variables).await;
                            (id, ToolAnswer::of(answer))
                        });
                    }
                    Step::Fail(class, text) => {
                        return Some(failed(class, self.sink.clean(&text)));
                    }
                    Step::TurnEnded => match self.after_turn().await {
                        Ok(steps) => more = steps,
                        Err(end) => return Some(end),
                    },
                }
            }
            to_do = more;
        }
        self.rearm();
        None
    }

    fn say(&self, message: &Value) -> bool {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        self.writer.as_ref().is_none_or(|writer| writer.write(line))
    }

    /// Asks for the ticket, and begins the next turn if it is still to be worked on (section 16.5).
    async fn after_turn(&mut self) -> Result<Vec<Step>, AttemptEnd> {
        let ids = [self.input.ticket.id.clone()];
        let refreshed = tokio::select! {
            () = self.input.stop.cancelled() => return Err(AttemptEnd::Stopped),
            refreshed = self.input.polls.states_by_ids(&ids) => refreshed,
        };
        let found = refreshed.map_err(|error| {
            let text = format!("{}: {error}", error.class());
            failed(FailureClass::TicketRefresh, self.sink.clean(&text))
        })?;
        let own = |ticket: &Ticket| ticket.id == self.input.ticket.id;
        let ticket = found.into_iter().find(own);
        let ticket = ticket.unwrap_or_else(|| self.input.ticket.clone());
        let rules = Rules::of(&self.input.config);
        let (turns, turns_max) = (self.session.turns(), self.input.config.agent.turns_max);
        if after_turn(&ticket, turns, &rules) == NextTurn::End {
            let ticket = Box::new(ticket);
            return Err(AttemptEnd::Completed { ticket });
        }
        let text = continuation_prompt(&ticket, turns.saturating_add(1), turns_max);
        Ok(self.session.start_turn(&text))
    }

    /// Sets the time limit of what is waited for now.
    fn rearm(&mut self) {
        let waiting = self.session.waiting();
        if waiting == self.waiting.0 {
            return;
        }
        let codex = &self.input.config.codex;
        let limit = match waiting {
            Waiting::Answer(_) => codex.read_timeout,
            Waiting::Turn(_) => codex.turn_timeout,
            Waiting::Nothing => Duration::ZERO,
        };
        self.waiting = (waiting, Instant::now() + limit);
    }

    fn timed_out(&self) -> AttemptEnd {
        let codex = &self.input.config.codex;
        match self.waiting.0 {
            Waiting::Turn(turn) => failed(
                FailureClass::TurnTimeout,
                format!(
                    "turn {turn} took longer than {} ms",
                    codex.turn_timeout.as_millis()
                ),
            ),
            _ => failed(
                FailureClass::ResponseTimeout,
                format!(
                    "the app-server did not answer within {} ms",
                    codex.read_timeout.as_millis()
                ),
            ),
        }
    }

    /// Says why the output ended.
    async fn output_closed(&mut self) -> AttemptEnd {
        let mut exit = None;
        let deadline = Instant::now() + EXIT_TIME_MAX;
        while exit.is_none() && Instant::now() < deadline {
            exit = self.agent.try_wait().ok().flatten();
            if exit.is_none() {
                sleep(LOOK).await;
            }
        }
        if let (Some(_), Some(diagnostics)) = (exit, &mut self.diagnostics) {
            diagnostics.settle(SETTLE_TIME_MAX).await;
        }
        let diagnostics = self.diagnostics.as_ref();
        let last = diagnostics.and_then(Diagnostics::last_line);
        let is_start = self.session.thread().is_none();
        if let Some(exit) = exit {
            let errors = diagnostics.map(Diagnostics::text).unwrap_or_default();
            if let Some(error) = self.agent.start_failure(exit, &errors) {
                return failed(FailureClass::System, self.sink.clean(&described(&error)));
            }
        }
        let what = match exit {
            None => "the app-server closed its output but keeps running".to_owned(),
            Some(exit) => match (exit.code, exit.signal) {
                (Some(code), _) => format!("the app-server exited with code {code}"),
                (None, Some(signal)) => format!("the app-server was ended by signal {signal}"),
                (None, None) => "the app-server ended".to_owned(),
            },
        };
        let class = if is_start && exit.and_then(|exit| exit.code) == Some(NOT_FOUND) {
            FailureClass::CodexNotFound
        } else {
            FailureClass::PortExit
        };
        let fault = self.shared.as_ref().and_then(|fault| fault.get());
        let last = last.or_else(|| Some(format!("its WebSocket: {}", fault?)));
        let mut text = last.map_or_else(|| what.clone(), |last| format!("{what}: {last}"));
        if class == FailureClass::CodexNotFound {
            text.push_str(
                "; `codex.command` is run by `bash -lc`: the PATH of a login shell has to find it",
            );
        }
        failed(class, self.sink.clean(&text))
    }

    fn report_failure(&mut self, end: &AttemptEnd) {
        let AttemptEnd::Failed { error, .. } = end else {
            return;
        };
        let kind = if self.session.turn().is_some() {
            EventKind::TurnEndedWithError
        } else {
            EventKind::StartupFailed
        };
        self.sink.report(kind, error, Some(&self.session));
    }

    async fn end_processes(&mut self, may_end_itself: bool) -> Result<(), ProcessError> {
        if let Some(writer) = &mut self.writer {
            writer.close();
        }
        if let (true, Some(lines)) = (may_end_itself, &mut self.lines) {
            // It writes its records, and exits once its input ends.
            let rest = async { while let Ok(Some(_)) = lines.next_line().await {} };
            let _it_goes_on = timeout(GRACE, rest).await;
        }
        if let Some(writer) = &self.writer {
            writer.abort();
        }
        // A process that waits until its output is read would not end.
        self.lines = None;
        let grace = if may_end_itself { GRACE } else { GRACE / 3 };
        let supervision = self.input.supervision;
        if supervision.end_tree(&mut self.agent, grace).await.is_ok() {
            return Ok(());
        }
        supervision
            .end_tree(&mut self.agent, Duration::ZERO)
            .await
            .map(drop)
    }
}

fn failed(class: FailureClass, error: String) -> AttemptEnd {
    AttemptEnd::Failed { class, error }
}

/// Returns an error with its causes, on one line.
fn described(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    one_line(&text)
}
