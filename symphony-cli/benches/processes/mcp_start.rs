//! From the start of an MCP server to its answer to `tools/list`, and the memory it holds then.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::measure::{in_turn, memory_kib};
use super::peers;
use super::project::Project;

const ROUNDS: usize = 15;

/// A server that answered; it is ended when the value is dropped.
struct Server {
    child: Child,
    tools: Value,
}

impl Server {
    /// Starts a server and asks for its tools.
    fn start(command: &mut Command) -> Self {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self {
            child,
            tools: Value::Null,
        };
        let input = server.child.stdin.as_mut().unwrap();
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}});
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
        for message in [initialize, initialized, list] {
            writeln!(input, "{message}").unwrap();
        }
        let output = BufReader::new(server.child.stdout.take().unwrap());
        for line in output.lines() {
            let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if answer["id"] == 2 {
                server.tools = answer["result"]["tools"].clone();
                return server;
            }
        }
        panic!("{command:?} ended without its tools");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the memory of a process and everything below it, in KiB.
fn tree_kib(pid: u32) -> u64 {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let below = children
        .split_whitespace()
        .map(|child| tree_kib(child.parse().unwrap()));
    memory_kib(pid, "Pss:") + below.sum::<u64>()
}

pub(crate) fn run() {
    let project = Project::new();
    let mut ours = project.symphony(&["mcp"]);
    let server = Server::start(&mut ours);
    let pss = tree_kib(server.child.id());
    let tools = server.tools.clone();
    drop(server);
    let count = tools.as_array().map_or(0, Vec::len);
    assert!(count > 0, "{tools}");
    let listed = project.folder.path().join("tools.json");
    std::fs::write(&listed, tools.to_string()).unwrap();

    let mut minimal = Command::new(peers::minimal());
    minimal.arg(&listed);
    assert_eq!(Server::start(&mut minimal).tools, tools);
    let [start, least] = in_turn(
        ROUNDS * 3,
        [&mut || drop(Server::start(&mut ours)), &mut || {
            drop(Server::start(&mut minimal));
        }],
    );
    println!(
        "MCP server, start to tools/list with {count} tools {:.2} ms, memory {pss} KiB PSS (goal 5,120)",
        start * 1e3
    );
    println!(
        "  {:.2} times a minimal blocking loop (goal 1.8)",
        start / least
    );
    if let Some(place) = peers::packages() {
        against_node(&mut ours, pss, &place, &listed);
    }
}

fn against_node(ours: &mut Command, pss: u64, place: &PathBuf, listed: &PathBuf) {
    let bundle = place.join("mcp-server.mjs");
    let bundled = Command::new(place.join("node_modules/.bin/esbuild"))
        .args(["mcp-server.ts", "--bundle", "--platform=node", "--format=esm", "--log-level=error"])
        .arg(format!("--outfile={}", bundle.display()))
        .arg("--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);")
        .current_dir(place)
        .status()
        .unwrap();
    assert!(bundled.success());
    let mut tsx = Command::new("npx");
    tsx.args(["tsx", "mcp-server.ts"])
        .arg(listed)
        .current_dir(place);
    let mut node = Command::new("node");
    node.arg(&bundle).arg(listed).current_dir(place);
    let server = Server::start(&mut tsx);
    let tsx_pss = tree_kib(server.child.id());
    let tools: Value = serde_json::from_slice(&std::fs::read(listed).unwrap()).unwrap();
    assert_eq!(server.tools, tools);
    drop(server);
    let [start, with_tsx, bundled] = in_turn(
        ROUNDS,
        [
            &mut || drop(Server::start(ours)),
            &mut || drop(Server::start(&mut tsx)),
            &mut || drop(Server::start(&mut node)),
        ],
    );
    println!(
        "  {:.0} times faster than TypeScript under npx tsx (goal 300)",
        with_tsx / start
    );
    println!(
        "  {:.0} times faster than the same bundled for Node (goal 50)",
        bundled / start
    );
    println!(
        "  memory 1/{:.0} of npx tsx's processes, {tsx_pss} KiB (goal 1/30)",
        tsx_pss as f64 / pss as f64
    );
}
