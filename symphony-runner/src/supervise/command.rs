//! A command of the configuration (set-up, gate) as a supervised process: time limit, log, no process left.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use symphony_core::config::{CommandLine, Millis};
use symphony_workspace::{LineRedactor, Redactor};

use crate::error::RunnerError;
use crate::output::{BoundedLines, CappedLog, LogLimits, OmissionStyle, Tail, neutralised};
use crate::process::{
    AgentEnd, AgentExit, AgentInput, AgentLaunch, GRACE, Supervision, Trampoline,
};

/// The hidden command through which an agent starts in a session of its own.
pub const TRAMPOLINE_COMMAND: &str = "exec-in-session";

/// Output kept of a command: as much as of an agent (spec: lifecycle, "Streams").
const TAIL_BYTES: usize = 50 * 1024;
/// Output of one command in the log of its run; its own log has more.
const LIVE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What happened to a command.
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
    /// Says whether it did what it should.
    pub(crate) fn passed(&self) -> bool {
        !self.timed_out && self.exit.is_success()
    }

    /// How it ended, in words.
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
    /// What to run.
    pub(crate) line: &'a CommandLine,
    /// Its time limit.
    pub(crate) limit: Millis,
    /// Its whole environment.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// Where it runs.
    pub(crate) directory: &'a Path,
    /// The file it reads as standard input; nothing without.
    pub(crate) input: Option<PathBuf>,
    /// Takes secret values out of its output before anything of it is written down.
    pub(crate) redactor: Option<Arc<Redactor>>,
    /// Where its output goes.
    pub(crate) log: PathBuf,
    /// The log of its run that its output goes to as well, line by line, for who follows it.
    pub(crate) live: Option<LiveLog>,
    /// Whether other commands run beside it.
    pub(crate) company: Company,
    /// What Symphony has to say of the run: its output begins with it.
    pub(crate) remark: Option<String>,
}

/// The log of a run that several commands write to.
#[derive(Debug, Clone)]
pub(crate) struct LiveLog {
    /// The file.
    pub(crate) path: PathBuf,
    /// What each of the command's lines begins with there.
    pub(crate) name: String,
}

/// Whether other commands run beside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// It runs alone: whatever process is left at its end is its own.
    Alone,
    /// Others run beside it: only its own session ends with it. Whoever started them all ends the
    /// rest when the last one is over.
    Others,
}

/// Runs a command to its end, or to that of its time; no process of it is left.
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
    } = call;
    let input = match input {
        None => AgentInput::Empty,
        Some(path) => AgentInput::File(
            File::open(&path).map_err(|error| RunnerError::io("open", path, error))?,
        ),
    };
    // both streams into one, in their order: what a person would see
    let argv = line.to_argv();
    let merged = ["sh", "-c", "exec \"$@\" 2>&1", "sh"]
        .map(str::to_owned)
        .into_iter()
        .chain(argv);
    let mut words = merged.map(OsString::from);
    let program = words.next().unwrap_or_default().into();
    let launch = AgentLaunch {
        trampoline: Trampoline::new(executable, TRAMPOLINE_COMMAND),
        program,
        arguments: words.collect(),
        environment,
        directory: directory.to_owned(),
        input,
    };
    let started = Instant::now();
    let mut child = supervision.spawn(launch)?;
    let log = CappedLog::open(&log, LogLimits::FORMATTED, OmissionStyle::Text)
        .map_err(|error| RunnerError::io("open the log", &log, error))?;
    let mut output = Output {
        lines: LineRedactor::new(redactor),
        logs: Logs::open(log, live),
        tail: Tail::new(TAIL_BYTES),
    };
    if let Some(remark) = remark {
        output.take(remark.as_bytes());
    }
    let mut lines = child.take_stdout().map(BoundedLines::new);
    // nothing comes on it: the shell sends it to standard output
    drop(child.take_stderr());
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
        tokio::pin!(ending);
        loop {
            tokio::select! {
                report = &mut ending => break report?,
                line = next(&mut lines), if lines.is_some() => keep(line, &mut lines, &mut output),
            }
        }
    };
    drain(&mut lines, &mut output).await;
    Ok(CommandOutcome {
        exit: ended.exit,
        timed_out: timed_out && ended.end != AgentEnd::ByItself,
        duration: started.elapsed(),
        output: output.end(),
    })
}

/// What is kept of a command's output.
struct Output {
    lines: LineRedactor,
    logs: Logs,
    tail: Tail,
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
        // a full disk must not end the command: the tail is kept in memory
        let _unwritten = self.logs.write(&clean);
    }

    /// Returns the end of the output.
    fn end(mut self) -> String {
        if let Some(rest) = self.lines.finish() {
            self.write(rest);
        }
        let _unwritten = self.logs.flush();
        self.tail.text()
    }
}

/// The log of a command, and that of its run.
struct Logs {
    own: CappedLog,
    live: Option<(File, String, usize)>,
}

impl Logs {
    /// A log of the run that cannot be opened is done without: nothing but a person's view depends on it.
    fn open(own: CappedLog, live: Option<LiveLog>) -> Self {
        let live = live.and_then(|LiveLog { path, name }| {
            use std::io::Write as _;
            use std::os::unix::fs::OpenOptionsExt as _;
            let mut options = File::options();
            options.append(true).create(true).mode(0o600);
            let mut file = options.open(path).ok()?;
            // many commands are silent for minutes: whoever follows the log sees what it waits for
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
                // one write, so that lines of commands side by side do not mix
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

/// A line of output; none at its end.
async fn next(lines: &mut Lines) -> Option<Vec<u8>> {
    let line = lines.as_mut()?.next_line().await.ok()??;
    Some(line.bytes.to_vec())
}

fn keep(line: Option<Vec<u8>>, lines: &mut Lines, output: &mut Output) {
    match line {
        None => *lines = None,
        Some(line) => output.take(&line),
    }
}

/// Reads what is left in the pipe; its writers are gone.
async fn drain(lines: &mut Lines, output: &mut Output) {
    while lines.is_some() {
        let line = tokio::time::timeout(Duration::from_secs(1), next(lines))
            .await
            .unwrap_or(None);
        keep(line, lines, output);
    }
}
