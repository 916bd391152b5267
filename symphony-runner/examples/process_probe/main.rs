//! A program for the tests of `symphony_runner::process`: as one executable it plays the
//! supervisor, the agent, and the processes that an agent leaves behind.
//!
//! What plays an agent's tree prints `ready NAME PID` on the standard output that all of the tree
//! share, so its end of file proves that none of them is left.

#![expect(clippy::print_stdout, reason = "the tests read what is printed")]
#![expect(clippy::disallowed_methods, reason = "it starts processes for tests")]

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use symphony_runner::environment::RUN_MARKER;
use symphony_runner::output::BoundedLines;
use symphony_runner::process::{
    Agent, AgentEnd, AgentInput, AgentLaunch, ProcessIdentity, RunLock, Supervision, Trampoline,
    become_session_leader, descendants, exec_in_session,
};
use tokio::io::AsyncReadExt;

mod tree;

use tree::{agent, node, when_ready};

type Outcome = Result<(), Box<dyn Error>>;

/// How long anything is waited for that has to happen: longer than it takes on the slowest machine.
const PATIENCE: Duration = Duration::from_mins(2);

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().unwrap_or_default();
    if command == "exec-agent" {
        return exec_in_session(arguments);
    }
    let arguments: Vec<String> = arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let result = match command.to_str() {
        Some("trees") => in_runtime(trees(&arguments)),
        Some("hold") => in_runtime(hold(&arguments)),
        Some("run") => in_runtime(run(&arguments)),
        Some("reap") => in_runtime(reap()),
        Some("thread") => begin_on_a_thread(),
        Some("agent") => agent(&arguments),
        Some("node") => node(&arguments),
        Some("hold-lock") => hold_lock(&arguments),
        Some("session") => session(),
        _ => Err("unknown command".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{}", json!({ "error": error.to_string() }));
            ExitCode::from(99)
        }
    }
}

fn in_runtime(future: impl Future<Output = Outcome>) -> Outcome {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(future)
}

// As the supervisor.

fn launch(program: &Path, arguments: &[String]) -> Result<AgentLaunch, Box<dyn Error>> {
    let environment: BTreeMap<OsString, OsString> = std::env::vars_os()
        .filter(|(name, _)| name == "PATH" || name == RUN_MARKER || name == "PROBE_VALUE")
        .collect();
    Ok(AgentLaunch {
        trampoline: Trampoline::new(std::env::current_exe()?, "exec-agent"),
        program: program.to_owned(),
        arguments: arguments.iter().map(OsString::from).collect(),
        environment,
        directory: std::env::current_dir()?,
        input: AgentInput::Empty,
        report: None,
        limits: None,
    })
}

fn spawn_tree(
    supervision: &Supervision,
    leader: &str,
    nodes: &[String],
) -> Result<Agent, Box<dyn Error>> {
    let arguments = [&["agent".to_owned(), leader.to_owned()], nodes].concat();
    Ok(supervision.spawn(launch(&std::env::current_exe()?, &arguments)?)?)
}

/// Reads `ready NAME PID` lines until the leader, which comes last, has told of itself.
async fn read_ready<R: tokio::io::AsyncRead + Unpin>(
    lines: &mut BoundedLines<R>,
) -> Result<BTreeMap<String, i32>, Box<dyn Error>> {
    let mut ready = BTreeMap::new();
    while let Some(line) = lines.next_line().await? {
        let text = std::str::from_utf8(line.bytes)?;
        let mut words = text.split(' ').skip(1);
        if let (Some(name), Some(pid)) = (words.next(), words.next()) {
            ready.insert(name.to_owned(), pid.parse()?);
            if name == "leader" {
                return Ok(ready);
            }
        }
    }
    Err("the agent ended before its tree was ready".into())
}

/// `trees COUNT LEADER GRACE_MS NODE…`: makes and ends so many trees, reports on each.
async fn trees(arguments: &[String]) -> Outcome {
    let [count, leader, grace, nodes @ ..] = arguments else {
        return Err("trees COUNT LEADER GRACE_MS NODE…".into());
    };
    let supervision = Supervision::begin()?;
    let helper = Command::new(std::env::current_exe()?)
        .args(["node", "helper"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut helper = when_ready(helper)?;
    for _ in 0..count.parse::<u32>()? {
        let mut agent = spawn_tree(&supervision, leader, nodes)?;
        let mut lines = BoundedLines::new(agent.take_stdout().ok_or("no stdout")?);
        let ready = read_ready(&mut lines).await?;
        let mut identities = Vec::new();
        for (name, pid) in &ready {
            identities.extend(ProcessIdentity::of(*pid)?.map(|identity| (name, identity)));
        }
        if leader.starts_with("exit") {
            agent.wait().await?;
        }
        let grace = Duration::from_millis(grace.parse()?);
        let report = supervision.end_tree(&mut agent, grace).await?;
        let mut alive = Vec::new();
        for (name, identity) in identities {
            if identity.is_alive()? {
                alive.push(name);
            }
        }
        // Every process of the tree holds this pipe: its end shows that there is none left.
        let end = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let end_of_output = matches!(end, Ok(Ok(None)));
        let helper_lives = helper.try_wait()?.is_none();
        println!(
            "{}",
            json!({
                "ready": ready.keys().collect::<Vec<_>>(),
                "code": report.exit.code,
                "signal": report.exit.signal,
                "end": end_name(report.end),
                "strays": report.strays.count(),
                "alive": alive,
                "end_of_output": end_of_output,
                "helper_lives": helper_lives,
                "zombies": zombie_children()?,
                "descendants": descendants(own_pid()?)?.len(),
            })
        );
    }
    helper.kill()?;
    helper.wait()?;
    Ok(())
}

const fn end_name(end: AgentEnd) -> &'static str {
    match end {
        AgentEnd::ByItself => "by itself",
        AgentEnd::OnRequest => "on request",
        AgentEnd::Killed => "killed",
    }
}

/// `hold NODE…`: makes a tree, passes its lines on, and waits to be killed.
async fn hold(nodes: &[String]) -> Outcome {
    let supervision = Supervision::begin()?;
    let mut agent = spawn_tree(&supervision, "stay", nodes)?;
    let mut lines = BoundedLines::new(agent.take_stdout().ok_or("no stdout")?);
    let ready = read_ready(&mut lines).await?;
    println!("{}", json!(ready));
    std::future::pending().await
}

/// `run PROGRAM ARGUMENT…`: runs one program as the agent, reports all of it.
async fn run(arguments: &[String]) -> Outcome {
    let (program, arguments) = arguments.split_first().ok_or("run PROGRAM …")?;
    let supervision = Supervision::begin()?;
    let mut agent = supervision.spawn(launch(Path::new(program), arguments)?)?;
    let mut stdout = agent.take_stdout().ok_or("no stdout")?;
    let mut stderr = agent.take_stderr().ok_or("no stderr")?;
    let (mut output, mut errors) = (String::new(), String::new());
    tokio::try_join!(
        stdout.read_to_string(&mut output),
        stderr.read_to_string(&mut errors)
    )?;
    let exit = agent.wait().await?;
    let failure = agent.start_failure(exit, &errors);
    supervision.end_tree(&mut agent, Duration::ZERO).await?;
    println!(
        "{}",
        json!({
            "pid": agent.identity().pid,
            "supervisor": own_pid()?,
            "stdout": output,
            "stderr": errors,
            "code": exit.code,
            "failure": failure.map(|failure| {
                let reason = failure.source().map(ToString::to_string);
                format!("{failure}: {}", reason.unwrap_or_default())
            }),
        })
    );
    Ok(())
}

/// Lets an agent orphan processes that end at once, reaps them while it runs.
async fn reap() -> Outcome {
    const ORPHANS: usize = 10;
    let supervision = Supervision::begin()?;
    let nodes = vec!["brief".to_owned(); ORPHANS];
    let mut agent = spawn_tree(&supervision, "exit:7", &nodes)?;
    let mut reaped = 0;
    // The agent's own zombie is among the dead children, and must stay for who waits for it.
    let deadline = Instant::now() + PATIENCE;
    while reaped < ORPHANS && Instant::now() < deadline {
        reaped += supervision.reap_orphans()?;
        tokio::task::yield_now().await;
    }
    let exit = agent.wait().await?;
    let report = supervision.end_tree(&mut agent, PATIENCE).await?;
    println!(
        "{}",
        json!({ "reaped": reaped, "code": exit.code, "strays": report.strays.count(), "zombies": zombie_children()? })
    );
    Ok(())
}

fn begin_on_a_thread() -> Outcome {
    let refusal = std::thread::spawn(|| Supervision::begin().err().map(|error| error.to_string()));
    let message = refusal.join().map_err(|_panic| "the thread panicked")?;
    println!("{}", json!({ "refusal": message }));
    Ok(())
}

fn own_pid() -> Result<i32, Box<dyn Error>> {
    Ok(i32::try_from(std::process::id())?)
}

fn zombie_children() -> Result<usize, Box<dyn Error>> {
    let mut zombies = 0;
    let path = PathBuf::from(format!("/proc/self/task/{}/children", own_pid()?));
    for pid in std::fs::read_to_string(path)?.split_ascii_whitespace() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        zombies += usize::from(stat.contains(") Z "));
    }
    Ok(zombies)
}

// As a supervisor that is handed a lock.

/// `hold-lock PATH`: takes the lock over, starts a child that outlives it, waits for its input's end
/// on a pipe that the test holds (`PROBE_PIPE`), then ends.
fn hold_lock(arguments: &[String]) -> Outcome {
    become_session_leader()?;
    let lock = RunLock::adopt_stdin(arguments.first().ok_or("hold-lock PATH")?)?;
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest)?;
    let child = Command::new(std::env::current_exe()?)
        .args(["node", "left"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let child = when_ready(child)?;
    println!(
        "{}",
        json!({
            "lock": lock.path(),
            "child": child.id(),
            "input_bytes": rest.len(),
            "marker": std::env::var(RUN_MARKER).ok(),
        })
    );
    std::io::stdout().flush()?;
    if let Ok(path) = std::env::var("PROBE_PIPE") {
        // Opening a FIFO waits for the other side, reading for its end.
        std::fs::read(path)?;
    }
    Ok(())
}

fn session() -> Outcome {
    let before = leads_its_session()?;
    become_session_leader()?;
    become_session_leader()?;
    println!(
        "{}",
        json!({ "before": before, "after": leads_its_session()? })
    );
    Ok(())
}

/// From `/proc`: the leader may be outside of this PID namespace, which `rustix` takes for impossible.
fn leads_its_session() -> Result<bool, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("no name in stat")?;
    let session = fields.split(' ').nth(3).ok_or("no session in stat")?;
    Ok(session.parse::<i32>()? == own_pid()?)
}
