//! A supervisor with its MCP service: memory, and processor time for each event of its agent's stream.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::measure::{median, memory_kib, processor_us};
use super::peers;
use super::project::Project;

const ROUNDS: usize = 5;
const EVENTS: usize = 20_000;
/// How long a run may take to get through its events.
const DEADLINE: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(50);

/// A stream as Claude emits it: thinking, text, calls of tools and their results.
fn stream() -> String {
    let mut lines = String::new();
    let mut line = |value: Value| writeln!(lines, "{value}").unwrap();
    line(
        json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": [],
        "mcp_servers": [{"name": "symphony", "status": "connected"}]}),
    );
    let text =
        "The tests of the parser fail because the fixture is sorted by another locale. ".repeat(4);
    for number in 0..EVENTS {
        let usage = json!({"input_tokens": 10, "output_tokens": 20});
        let block = match number % 4 {
            0 => json!({"type": "thinking", "thinking": text}),
            1 => json!({"type": "text", "text": text}),
            2 => {
                json!({"type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": {"command": format!("cargo test case_{number}")}})
            }
            _ => {
                let result = json!({"type": "tool_result", "tool_use_id": format!("t{}", number - 1), "content": text});
                line(json!({"type": "user", "message": {"role": "user", "content": [result]}}));
                continue;
            }
        };
        line(
            json!({"type": "assistant", "message": {"id": format!("m{number}"), "role": "assistant", "content": [block], "usage": usage}}),
        );
    }
    line(
        json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": "done",
        "usage": {"input_tokens": 1, "output_tokens": 1}, "total_cost_usd": 0.0}),
    );
    lines
}

struct Figures {
    cpu_us: f64,
    pss_kib: f64,
}

/// Runs an issue whose agent prints the stream and waits, and looks at its supervisor then.
fn ours(project: &Project, title: &str) -> Figures {
    let issue = project.ok(&["issue", "add", title, "--json"]);
    let issue: Value = serde_json::from_slice(&issue.stdout).unwrap();
    let issue = issue["identifier"].as_str().unwrap();
    let started = project.ok(&["tick", "--json"]);
    let run = started_run(&started.stdout);
    let log = project.root.join(format!(".symphony/runs/{run}/log.txt"));
    let begin = Instant::now();
    while !std::fs::read_to_string(&log).is_ok_and(|log| log.contains("[result]")) {
        assert!(begin.elapsed() < DEADLINE, "no result in {}", log.display());
        std::thread::sleep(LOOK);
    }
    let pid = supervisor_of(&run);
    let figures = Figures {
        cpu_us: processor_us(pid) as f64,
        pss_kib: memory_kib(pid, "Pss:") as f64,
    };
    project.ok(&["runs", "cancel", &run]);
    project.ok(&["issue", "move", issue, "cancelled"]);
    figures
}

fn started_run(output: &[u8]) -> String {
    let tick: Value = serde_json::from_slice(output).unwrap();
    match tick["runs"].as_array().map(Vec::as_slice) {
        Some([run]) => run["id"].as_str().unwrap().to_owned(),
        _ => panic!("not one run in {tick:#}"),
    }
}

fn supervisor_of(run: &str) -> u32 {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        (line.contains("supervise") && line.contains(run)).then_some(pid)
    });
    processes.min().expect("the run's supervisor")
}

fn node(script: &std::path::Path, folder: &std::path::Path) -> Figures {
    let mut child = Command::new("node")
        .arg(peers::script("supervisor.mjs"))
        .arg(script)
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    let figures: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(figures["events"], EVENTS + 2);
    Figures {
        cpu_us: figures["cpu_us"].as_f64().unwrap(),
        pss_kib: figures["pss_kib"].as_f64().unwrap(),
    }
}

pub(crate) fn run() {
    let project = Project::new();
    let events = project.folder.path().join("events.ndjson");
    std::fs::write(&events, stream()).unwrap();
    let script = project.folder.path().join("agent.sh");
    std::fs::write(
        &script,
        format!("cat '{}'\nexec sleep 600\n", events.display()),
    )
    .unwrap();
    let set = |key: &str, value: &str| drop(project.ok(&["config", "set", key, value]));
    set(
        "providers.command.command",
        &json!(["sh", script]).to_string(),
    );
    set("providers.command.output", "claude-stream");
    set("provider", "command");
    let has_node = peers::has("node");
    let (mut own, mut peer) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        own.push(ours(&project, &format!("Round {round}")));
        if has_node {
            peer.push(node(&script, project.folder.path()));
        }
    }
    let of = |figures: &[Figures], which: fn(&Figures) -> f64| {
        median(figures.iter().map(which).collect())
    };
    let (cpu, pss) = (of(&own, |f| f.cpu_us), of(&own, |f| f.pss_kib));
    println!(
        "supervisor: {pss:.0} KiB PSS (goal 6,144), {:.2} µs of processor for each of {EVENTS} events",
        cpu / EVENTS as f64
    );
    if has_node {
        let (node_cpu, node_pss) = (of(&peer, |f| f.cpu_us), of(&peer, |f| f.pss_kib));
        println!(
            "  processor 1/{:.1} of Node's (goal 1/10), memory 1/{:.1}",
            node_cpu / cpu,
            node_pss / pss
        );
    }
}
