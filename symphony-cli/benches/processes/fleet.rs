//! Many agents at once that wait: the memory of their supervisors and MCP servers, for each agent.
//!
//! The agents are scripted ones, which are the same program, so that a third process for each agent shares its pages. That makes no
//! difference for the pages of their own.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::issues::add_issues;
use super::measure::memory_kib;
use super::project::Project;

const AGENTS: usize = 50;
/// How long all agents may take to start, and each to reach its MCP server.
const DEADLINE: Duration = Duration::from_mins(10);
const LOOK: Duration = Duration::from_millis(100);
/// How long an agent waits, unless it is cancelled.
const WAIT_SECONDS: u64 = 3_600;

/// What all processes of one kind hold, in KiB.
#[derive(Default)]
struct Memory {
    pss: u64,
    own: u64,
}

impl Memory {
    fn add(&mut self, pid: u32) {
        self.pss += memory_kib(pid, "Pss:");
        self.own += memory_kib(pid, "Private_Clean:") + memory_kib(pid, "Private_Dirty:");
    }
}

/// Runs that are cancelled when the value is dropped: a failed check leaves no agent.
struct Fleet<'p> {
    project: &'p Project,
    runs: Vec<String>,
}

impl<'p> Fleet<'p> {
    /// Starts an agent for each issue and waits until all of them have reached their MCP servers.
    fn start(project: &'p Project) -> Self {
        let mut fleet = Self {
            project,
            runs: Vec::new(),
        };
        let begin = Instant::now();
        while fleet.runs.len() < AGENTS {
            let output = project.ok(&["tick", "--json"]);
            let tick: Value = serde_json::from_slice(&output.stdout).unwrap();
            let started = tick["runs"].as_array().into_iter().flatten();
            let ids = started.map(|run| run["id"].as_str().unwrap().to_owned());
            fleet.runs.extend(ids);
            assert!(begin.elapsed() < DEADLINE, "{tick:#}");
        }
        for run in &fleet.runs {
            while !fleet.is_connected(run) {
                assert!(begin.elapsed() < DEADLINE, "{run} has no MCP server");
                std::thread::sleep(LOOK);
            }
        }
        fleet
    }

    /// Says whether an agent reports its MCP server as connected.
    fn is_connected(&self, run: &str) -> bool {
        let stream = self
            .project
            .root
            .join(format!(".symphony/runs/{run}/stream.ndjson"));
        let stream = std::fs::read_to_string(stream).unwrap_or_default();
        let mut events = stream
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let init = events.find(|event: &Value| event["subtype"] == "init");
        init.is_some_and(|init| {
            assert_eq!(init["mcp_servers"][0]["status"], "connected", "{init:#}");
            true
        })
    }

    /// Returns what the supervisors and the MCP servers hold; there is one of each for each run.
    fn memory(&self) -> [Memory; 2] {
        let lines = command_lines();
        let mut kinds = [Memory::default(), Memory::default()];
        for run in &self.runs {
            for (kind, memory) in ["supervise", "mcp"].into_iter().zip(&mut kinds) {
                let is_it = |line: &&Vec<String>| {
                    line.iter().any(|word| word == kind)
                        && line.iter().any(|word| word.contains(run.as_str()))
                };
                let mut found = lines.iter().filter(|(_, line)| is_it(line));
                let (Some((pid, _)), None) = (found.next(), found.next()) else {
                    panic!("not one process `{kind}` of {run}");
                };
                memory.add(*pid);
            }
        }
        kinds
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        for run in &self.runs {
            drop(self.project.symphony(&["runs", "cancel", run]).output());
        }
    }
}

fn command_lines() -> BTreeMap<u32, Vec<String>> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = line.split(|byte| *byte == 0);
        let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
        Some((pid, words.collect()))
    });
    processes.collect()
}

fn prepared() -> Project {
    let project = Project::new();
    let scenario = project.folder.path().join("scenario.json");
    let turn = json!({"content": [{"type": "text", "text": "Done."}], "faults": [{"type": "hang", "seconds": WAIT_SECONDS}]});
    let scenarios = json!({"scenarios": [{"name": "worker", "turns": [turn]}]});
    std::fs::write(&scenario, scenarios.to_string()).unwrap();
    let config = json!({
        "prefix": "BEN",
        "provider": "scripted",
        "providers": {"scripted": {"scenario": scenario}},
        "max_concurrent_agents": AGENTS,
        "sandbox": "off",
    });
    std::fs::write(
        project.root.join("symphony.config.json"),
        config.to_string(),
    )
    .unwrap();
    project
}

pub(crate) fn run() {
    let project = prepared();
    add_issues(&project, AGENTS);
    let fleet = Fleet::start(&project);
    let [supervisors, servers] = fleet.memory();
    drop(fleet);
    let each = |kib: u64| kib / AGENTS as u64;
    println!(
        "{AGENTS} agents at once, each: {} KiB PSS (goal 8,192), {} KiB of its own (goal 3,072)",
        each(supervisors.pss + servers.pss),
        each(supervisors.own + servers.own)
    );
    for (name, memory) in [("supervisor", supervisors), ("MCP server", servers)] {
        println!(
            "  {name}: {} KiB PSS, {} KiB of its own",
            each(memory.pss),
            each(memory.own)
        );
    }
}
