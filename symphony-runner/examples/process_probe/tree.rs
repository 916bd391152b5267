//! The probe as an agent, and as the processes that an agent leaves behind.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use symphony_runner::process::{RunLock, become_session_leader};
use tokio::signal::unix::{SignalKind, signal};

use crate::Outcome;

/// How long a chain of short-lived processes goes on when nobody ends it.
const RABBIT_HOPS_MAX: u32 = 20_000;

/// How often a swarm doubles.
const SWARM_GENERATIONS: u32 = 7;

/// `agent LEADER NODE…`: starts the nodes, tells of itself last, then behaves.
pub(crate) fn agent(arguments: &[String]) -> Outcome {
    let (leader, nodes) = arguments.split_first().ok_or("agent LEADER NODE…")?;
    if leader == "deaf" {
        become_deaf()?;
    }
    for node in nodes {
        let child = start_node(node, node)?;
        let child = when_ready(child)?;
        // What ends at once is waited for, as a shell would do; the others go on.
        if matches!(node.as_str(), "orphan" | "brief") {
            drop(child.wait_with_output()?);
        }
    }
    announce("leader")?;
    match leader.split_once(':') {
        Some(("exit", code)) => {
            std::io::stdout().flush()?;
            rustix_exit(code.parse()?)
        }
        _ if leader == "stopped" => stop_itself(),
        _ => park(),
    }
}

fn start_node(name: &str, behaviour: &str) -> Result<Child, Box<dyn Error>> {
    Ok(Command::new(std::env::current_exe()?)
        .args(["node", behaviour, name])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?)
}

/// Waits for a node's word that it is what it should be.
pub(crate) fn when_ready(mut child: Child) -> Result<Child, Box<dyn Error>> {
    let stderr = child.stderr.take().ok_or("no stderr")?;
    let mut line = String::new();
    BufReader::new(stderr).read_line(&mut line)?;
    match line.as_str() {
        "ready\n" => Ok(child),
        line => Err(format!("a node says {line:?}").into()),
    }
}

pub(crate) fn node(arguments: &[String]) -> Outcome {
    let behaviour = arguments.first().map_or("", String::as_str);
    let name = arguments.get(1).map_or(behaviour, String::as_str);
    match behaviour {
        "background" | "helper" | "left" => announce(name)?,
        "session" => {
            become_session_leader()?;
            announce(name)?;
        }
        "deaf" => {
            become_session_leader()?;
            become_deaf()?;
            announce(name)?;
        }
        "stopped" => {
            become_session_leader()?;
            announce(name)?;
            return stop_itself();
        }
        "orphan" => {
            // The classic daemon: a session, a child in it, and the parent gone.
            become_session_leader()?;
            drop(when_ready(start_node("left", "left")?)?);
            return announce(name);
        }
        "bare" => {
            // In a session of its own, without any mark in its environment.
            let child = Command::new(std::env::current_exe()?)
                .args(["node", "session", name])
                .env_clear()
                .stdin(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()?;
            drop(when_ready(child)?);
            write_ready()?;
        }
        "brief" => {
            drop(
                Command::new(std::env::current_exe()?)
                    .args(["node", "gone"])
                    .spawn()?,
            );
            return announce(name);
        }
        "gone" => return Ok(()),
        "rabbit" => {
            // The descriptor goes from hop to hop: while the chain goes on the lock is held.
            let input = match std::env::var_os("PROBE_VALUE") {
                Some(path) => RunLock::acquire(path)?.into_stdio(),
                None => Stdio::null(),
            };
            announce(name)?;
            return hop(0, input);
        }
        "swarm" => {
            announce(name)?;
            swarm(0)?;
        }
        "swarm-member" => swarm(name.parse()?)?,
        "hop" => return hop(name.parse()?, Stdio::inherit()),
        other => return Err(format!("unknown node {other}").into()),
    }
    park()
}

/// Goes on as another process in another session, and ends: no number lives for long.
fn hop(count: u32, input: Stdio) -> Outcome {
    become_session_leader()?;
    if count < RABBIT_HOPS_MAX {
        drop(
            Command::new(std::env::current_exe()?)
                .args(["node", "hop", &(count + 1).to_string()])
                .stdin(input)
                .stderr(Stdio::null())
                .spawn()?,
        );
    }
    Ok(())
}

/// Doubles, and doubles again: who kills one by one meets ever new ones.
fn swarm(generation: u32) -> Outcome {
    if generation < SWARM_GENERATIONS {
        for _ in 0..2 {
            drop(
                Command::new(std::env::current_exe()?)
                    .args(["node", "swarm-member", &(generation + 1).to_string()])
                    .stdin(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()?,
            );
        }
    }
    Ok(())
}

fn announce(name: &str) -> Outcome {
    println!("ready {name} {}", std::process::id());
    write_ready()
}

fn write_ready() -> Outcome {
    std::io::stderr().write_all(b"ready\n")?;
    Ok(())
}

fn become_deaf() -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let _entered = runtime.enter();
    for kind in [
        SignalKind::terminate(),
        SignalKind::hangup(),
        SignalKind::interrupt(),
    ] {
        drop(signal(kind)?);
    }
    Ok(())
}

fn stop_itself() -> Outcome {
    rustix::process::kill_process(rustix::process::getpid(), Signal::STOP)?;
    park()
}

fn park() -> Outcome {
    loop {
        std::thread::park();
    }
}

fn rustix_exit(code: i32) -> Outcome {
    #[expect(clippy::exit, reason = "the exit code is what is tested")]
    std::process::exit(code)
}
