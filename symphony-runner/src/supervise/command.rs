//! A configured command (set-up, gate) as a supervised process with a time limit and a log, which leaves no process
//! behind.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use symphony_core::config::{CommandLine, Millis};
use symphony_workspace::{LineRedactor, Redactor};
use tokio::io::AsyncReadExt as _;

use crate::error::RunnerError;
use crate::output::{BoundedLines, CappedLog, LogLimits, OmissionStyle, Tail, neutralised};
use crate::process::{
    AgentEnd, AgentExit, AgentInput, AgentLaunch, GRACE, Supervision, Trampoline,
};
use crate::sandbox::{RunSandbox, Start, Wrapped};

/// The hidden command through which an agent starts in a session of its own.
pub const TRAMPOLINE_COMMAND: &str = "exec-in-session";

/// How much output of a command is kept: as much as for an agent (spec: lifecycle, "Streams").
const TAIL_BYTES: usize = 50 * 1024;
/// How much output of one command the log of its run gets. The command's own log has more.
const LIVE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The most time for a pipe whose writers are gone.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(1);

/// The outcome of a command.
#[derive(Debug)]
pub(crate) struct CommandOutcome {
    /// How it ended.
    pub(crate) exit: AgentExit,
    /// Whether its time limit ended it.
    pub(crate) timed_out: bool,
    /// How long it took.
    pub(crate) duration: Duration,
    /// The end of its output, standard error included.
    pub(crate) output: String,
}

impl CommandOutcome {
    /// Returns whether it succeeded within its time limit.
    pub(crate) fn passed(&self) -> bool {
        !self.timed_out && self.exit.is_success()
    }

    /// Describes how it ended.
    pub(crate) fn how(&self, limit: Millis) -> String {
        match (self.timed_out, self.exit.code, self.exit.signal) {
            (true, ..) => format!("it did not end within {limit}"),
            (_, Some(code), _) => format!("exit code {code}"),
            (_, None, Some(signal)) => format!("ended by signal {signal}"),
            (_, None, None) => "it ended".to_owned(),
        }
    }
}

/// A command of the configuration, to be run.
#[derive(Debug)]
pub(crate) struct CommandCall<'a> {
    /// Symphony's own executable.
    pub(crate) executable: &'a Path,
    /// The command line.
    pub(crate) line: &'a CommandLine,
    /// Its time limit.
    pub(crate) limit: Millis,
    /// Its whole environment.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// Its working directory.
    pub(crate) directory: &'a Path,
    /// The file that it reads as standard input; `None` for none.
    pub(crate) input: Option<PathBuf>,
    /// Removes secret values from its output before any of it is written.
    pub(crate) redactor: Option<Arc<Redactor>>,
    /// The file of its own log.
    pub(crate) log: PathBuf,
    /// The log of its run, which also gets its output line by line for anyone who follows it.
    pub(crate) live: Option<LiveLog>,
    /// Whether other commands run at the same time.
    pub(crate) company: Company,
    /// What Symphony reports about the checkout. It comes first in the output.
    pub(crate) remark: Option<String>,
    /// What confines it; `None` for a command that runs for the user, such as a notification.
    pub(crate) sandbox: Option<&'a RunSandbox>,
}

/// The log of a run, which several commands write to.
#[derive(Debug, Clone)]
pub(crate) struct LiveLog {
    /// The file.
    pub(crate) path: PathBuf,
    /// The prefix of each of the command's lines.
    pub(crate) name: String,
}

/// Whether other commands run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// It runs alone, so any process that is left at its end is its own.
    Alone,
    /// Others run at the same time, so only its own session ends with it. The caller ends all other processes after the
    /// last command.
    Others,
}

/// Runs a command until it ends or its time limit does. No process of it is left.
pub(crate) async fn run_command(
    supervision: &Supervision,
    call: CommandCall<'_>,
) -> Result<CommandOutcome, RunnerError> {
    let CommandCall {
        executable,
        line,
        limit,
        environment,
        directory,
        input,
        redactor,
        log,
        live,
        company,
        remark,
        sandbox,
    } = call;
    let input = match input {
        None => AgentInput::Empty,
        Some(path) => AgentInput::File(
            File::open(&path).map_err(|error| RunnerError::io("open", path, error))?,
        ),
    };
    // Both streams are merged in their order, as a person would see them.
    let argv = line.to_argv();
    let merged = ["sh", "-c", "exec \"$@\" 2>&1", "sh"]
        .map(str::to_owned)
        .into_iter()
        .chain(argv);
    let mut words = merged.map(OsString::from);
    let program = PathBuf::from(words.next().unwrap_or_default());
    let arguments: Vec<OsString> = words.collect();
    let Wrapped {
        program,
        arguments,
        environment,
        start,
        limits,
    } = match sandbox {
        Some(sandbox) => sandbox.wrap(&program, &arguments, environment)?,
        None => Wrapped {
            program,
            arguments,
            environment,
            start: None,
            limits: None,
        },
    };
    let launch = AgentLaunch {
        trampoline: Trampoline::new(executable, TRAMPOLINE_COMMAND),
        program,
        arguments,
        environment,
        directory: directory.to_owned(),
        input,
        report: start.as_ref().and_then(Start::report).map(Path::to_owned),
        limits,
    };
    let started = Instant::now();
    let mut child = supervision.spawn(launch)?;
    let log = CappedLog::open(&log, LogLimits::FORMATTED, OmissionStyle::Text)
        .map_err(|error| RunnerError::io("open the log", &log, error))?;
    let mut output = Output {
        lines: LineRedactor::new(redactor),
        logs: Logs::open(log, live),
        tail: Tail::new(TAIL_BYTES),
        has_lines: false,
    };
    if let Some(remark) = remark {
        output.take(remark.as_bytes());
    }
    let mut lines = child.take_stdout().map(BoundedLines::new);
    // The shell redirects standard error to standard output, so only what makes a sandbox writes to it.
    let messages = messages(child.take_stderr());
    let deadline = tokio::time::sleep(limit.duration());
    tokio::pin!(deadline);
    let mut timed_out = false;
    let mut exited = false;
    while !exited && !timed_out {
        tokio::select! {
            line = next(&mut lines), if lines.is_some() => keep(line, &mut lines, &mut output),
            exit = child.wait() => { exit?; exited = true; }
            () = &mut deadline => timed_out = true,
        }
    }
    let ended = {
        let ending = async {
            match company {
                Company::Alone => supervision.end_tree(&mut child, GRACE).await,
                Company::Others => supervision.end_session(&mut child, GRACE).await,
            }
        };
        // The output is read meanwhile: a process that writes into a full pipe could not react to SIGTERM.
        tokio::pin!(ending);
        loop {
            tokio::select! {
                report = &mut ending => break report?,
                line = next(&mut lines), if lines.is_some() => keep(line, &mut lines, &mut output),
            }
        }
    };
    drain(&mut lines, &mut output).await;
    if let Some(start) = &start
        && ended.end == AgentEnd::ByItself
    {
        let read = tokio::time::timeout(DRAIN_TIME_MAX, messages).await;
        let messages = read.ok().and_then(Result::ok).unwrap_or_default();
        if let Some(fault) = start.fault(ended.exit, &messages, !output.has_lines) {
            return Err(fault.into());
        }
    }
    Ok(CommandOutcome {
        exit: ended.exit,
        timed_out: timed_out && ended.end != AgentEnd::ByItself,
        duration: started.elapsed(),
        output: output.end(),
    })
}

/// Reads what is printed before the command runs. The end of it is kept.
fn messages(pipe: Option<tokio::process::ChildStderr>) -> tokio::task::JoinHandle<String> {
    tokio::spawn(async move {
        let mut tail = Tail::new(TAIL_BYTES);
        let mut pipe = pipe;
        let mut buffer = [0; 4096];
        while let Some(pipe) = &mut pipe
            && let Ok(read) = pipe.read(&mut buffer).await
            && let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty())
        {
            tail.push(bytes);
        }
        tail.text()
    })
}

/// Where a command's output goes.
struct Output {
    lines: LineRedactor,
    logs: Logs,
    tail: Tail,
    /// Whether the command printed anything.
    has_lines: bool,
}

impl Output {
    fn take(&mut self, line: &[u8]) {
        if let Some(clean) = self.lines.take(line) {
            self.write(clean.into_owned());
        }
    }

    fn write(&mut self, mut clean: Vec<u8>) {
        clean.push(b'\n');
        self.tail.push(&clean);
        // A full disk must not end the command. The tail is kept in memory.
        let _unwritten = self.logs.write(&clean);
    }

    /// Returns the end of the output as text.
    fn end(mut self) -> String {
        if let Some(rest) = self.lines.finish() {
            self.write(rest);
        }
        let _unwritten = self.logs.flush();
        self.tail.text()
    }
}

/// The log of a command, and the log of its run.
struct Logs {
    own: CappedLog,
    live: Option<(File, String, usize)>,
}

impl Logs {
    /// If the log of the run cannot be opened, the command runs without it: it is only for people to follow.
    fn open(own: CappedLog, live: Option<LiveLog>) -> Self {
        let live = live.and_then(|LiveLog { path, name }| {
            use std::io::Write as _;
            use std::os::unix::fs::OpenOptionsExt as _;
            let mut options = File::options();
            options.append(true).create(true).mode(0o600);
            let mut file = options.open(path).ok()?;
            // Many commands print nothing for minutes. This line shows people what the run is waiting for.
            let _unwritten = writeln!(file, "[{name}] started");
            Some((file, format!("[{name}] "), LIVE_BYTES_MAX))
        });
        Self { own, live }
    }

    fn write(&mut self, line: &[u8]) -> std::io::Result<()> {
        use std::io::Write as _;
        if let Some((file, begin, left)) = &mut self.live {
            let text = String::from_utf8_lossy(line);
            let lines = text.lines().map(|line| {
                let line = neutralised(line);
                format!("{begin}{}\n", line.trim_end())
            });
            let whole: String = lines.collect();
            if *left >= whole.len() {
                *left -= whole.len();
                // One write, so that lines of commands that run at the same time do not mix.
                let _unwritten = file.write_all(whole.as_bytes());
            }
        }
        self.own.write(line)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.own.flush()
    }
}

type Lines = Option<BoundedLines<tokio::process::ChildStdout>>;

/// Returns the next line of output, or `None` at its end.
async fn next(lines: &mut Lines) -> Option<Vec<u8>> {
    let line = lines.as_mut()?.next_line().await.ok()??;
    Some(line.bytes.to_vec())
}

fn keep(line: Option<Vec<u8>>, lines: &mut Lines, output: &mut Output) {
    match line {
        None => *lines = None,
        Some(line) => {
            output.has_lines = true;
            output.take(&line);
        }
    }
}

/// Reads what is left in the pipe. Its writers are gone.
async fn drain(lines: &mut Lines, output: &mut Output) {
    while lines.is_some() {
        let line = tokio::time::timeout(DRAIN_TIME_MAX, next(lines))
            .await
            .unwrap_or(None);
        keep(line, lines, output);
    }
}
