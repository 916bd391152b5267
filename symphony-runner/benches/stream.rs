//! Benchmark of reading a stream: against Node's `JSON.parse` of the same lines, interleaved (A B A B …).
//!
//! `cargo bench -p symphony-runner --bench stream -- [--megabytes 100] [--rounds 5]`
//!
//! Ours is the whole way of a line: split, parse, accumulate, format for the log. The peer only splits and parses:
//! once with the whole file in memory, and once line by line as it comes, as a supervisor has to and ours does. `serde_json`
//! is measured too, at the least that it can do: it splits, checks and skips texts, and builds nothing but the counts.
//! The counts of all are asserted equal before anything is timed. A missing `node` is reported.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark reads clocks and arguments, starts its peer, and prints"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use symphony_runner::stream::{AgentEvent, LineKind, StreamFormat, StreamState, write_log_line};

/// What the goal says: at least so many times faster than the peer.
const GOAL: f64 = 10.0;
/// How the peer reads: see there.
const WAYS: [&str; 2] = ["whole", "stream"];
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/json_parse.mjs");

fn argument(name: &str, default: u64) -> u64 {
    let all: Vec<String> = std::env::args().collect();
    let at = all.iter().position(|argument| argument == name);
    at.map_or(default, |at| {
        let value = all.get(at + 1).map_or("", String::as_str);
        value
            .parse()
            .unwrap_or_else(|error| panic!("{name} `{value}`: {error}; expected a number"))
    })
}

/// A small generator with a fixed seed (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }

    /// Text as agents see it: words, lines, quotes, now and then a letter beyond ASCII.
    fn text(&mut self, bytes: u64) -> String {
        const WORDS: [&str; 12] = [
            "fn ",
            "return ",
            "the quick ",
            "error: ",
            "\n",
            "    ",
            "\"name\"",
            "let value = ",
            "—",
            "src/stream/parse.rs:42 ",
            "\t",
            "assert_eq!(left, right);",
        ];
        let mut text = String::new();
        while u64::try_from(text.len()).unwrap() < bytes {
            let word = usize::try_from(self.below(12)).unwrap();
            text.push_str(WORDS.get(word).unwrap());
        }
        text
    }
}

/// Renders an event as the CLI orders its keys: type, subtype and message first (but a result's type near its end).
fn render(line: &Value) -> String {
    let Value::Object(fields) = line else {
        return line.to_string();
    };
    let first: &[&str] = if line.get("type") == Some(&json!("result")) {
        &[]
    } else {
        &["type", "subtype", "message"]
    };
    let begun = first.iter().filter_map(|key| fields.get_key_value(*key));
    let rest = fields
        .iter()
        .filter(|(key, _)| !first.contains(&key.as_str()));
    let entries: Vec<String> = begun
        .chain(rest)
        .map(|(key, value)| format!("{key:?}:{value}"))
        .collect();
    format!("{{{}}}", entries.join(","))
}

/// Writes a mix of lines as long runs have them; the shares of bytes are roughly half tool answers (which the CLI tells
/// twice), a quarter calls, the rest text, thinking and notices.
fn generate(path: &Path, bytes_min: u64) {
    let mut random = Random(0x5EED_5EED_5EED_5EED);
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut written = 0;
    let mut number = 0_u64;
    let mut put = |line: &Value| {
        let text = render(line);
        writeln!(file, "{text}").unwrap();
        written += u64::try_from(text.len()).unwrap() + 1;
        written
    };
    put(
        &json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m",
        "tools": ["Bash", "Read"], "mcp_servers": [{"name": "symphony", "status": "connected"}]}),
    );
    loop {
        number += 1;
        let id = format!("msg_{number}");
        let usage = json!({"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 5000,
            "cache_creation_input_tokens": 10, "service_tier": "standard"});
        let assistant = |block: Value| {
            json!({"type": "assistant", "message": {"id": id, "type": "message", "role": "assistant",
                "model": "m", "content": [block], "stop_reason": null, "usage": usage},
                "parent_tool_use_id": null, "session_id": "s", "uuid": format!("{number:032x}")})
        };
        if random.below(2) == 0 {
            let length = 100 + random.below(1500);
            put(&assistant(
                json!({"type": "thinking", "thinking": random.text(length), "signature": "c2lnbmVk"}),
            ));
        }
        let length = 50 + random.below(800);
        put(&assistant(
            json!({"type": "text", "text": random.text(length)}),
        ));
        let input = if random.below(4) == 0 {
            let length = 2000 + random.below(6000);
            json!({"file_path": "/w/src/a.rs", "content": random.text(length)})
        } else {
            json!({"command": random.text(120), "description": "Run it"})
        };
        let call = format!("toolu_{number}");
        put(&assistant(
            json!({"type": "tool_use", "id": call, "name": "Bash", "input": input}),
        ));
        let length = if random.below(50) == 0 {
            200_000
        } else {
            100 + random.below(6000)
        };
        let answer = random.text(length);
        put(
            &json!({"type": "user", "message": {"role": "user", "content": [
                {"tool_use_id": call, "type": "tool_result", "content": answer, "is_error": false}]},
            "parent_tool_use_id": null, "session_id": "s", "uuid": format!("{number:032x}"),
            "tool_use_result": {"stdout": answer, "stderr": "", "interrupted": false, "isImage": false}}),
        );
        put(
            &json!({"type": "system", "subtype": "thinking_tokens", "estimated_tokens": number,
            "estimated_tokens_delta": 3, "session_id": "s", "uuid": format!("{number:032x}")}),
        );
        let so_far = put(
            &json!({"type": "system", "subtype": "task_progress", "task_id": "t",
            "description": "Running", "session_id": "s"}),
        );
        if number.is_multiple_of(200) || so_far >= bytes_min {
            let spent = json!({"m": {"inputTokens": 20_000, "outputTokens": 4000, "cacheReadInputTokens": 9,
                "cacheCreationInputTokens": 2, "costUSD": 0.25, "contextWindow": 1_000_000}});
            put(
                &json!({"duration_api_ms": 296, "stop_reason": "end_turn", "session_id": "s",
                "total_cost_usd": 0.25, "usage": usage, "modelUsage": spent, "permission_denials": [],
                "terminal_reason": "completed", "is_error": false, "num_turns": 200, "subtype": "success",
                "api_error_status": null, "result": "Done.", "type": "result",
                "model_usage_since_last_result": spent}),
            );
            if so_far >= bytes_min {
                return;
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Counts {
    lines: u64,
    calls: u64,
    input: u64,
}

/// One pass of ours; the log's length keeps the work from being optimised away.
fn ours(path: &Path) -> (Counts, f64) {
    let begin = Instant::now();
    let mut pass = Pass {
        state: StreamState::new(StreamFormat::Claude),
        log: String::new(),
        log_bytes: 0,
        calls: 0,
    };
    for_each_line(path, |line| pass.take(line));
    black_box(pass.log_bytes);
    let counts = Counts {
        lines: pass.state.lines(),
        calls: pass.calls,
        input: pass.state.usage().input_tokens.get(),
    };
    (counts, begin.elapsed().as_secs_f64())
}

/// Reads a file a buffer of 256 KiB at a time, as a supervisor reads its agent.
fn for_each_line(path: &Path, mut take: impl FnMut(&[u8])) {
    let mut reader = BufReader::with_capacity(256 * 1024, File::open(path).unwrap());
    let mut carried = Vec::new();
    loop {
        let buffer = reader.fill_buf().unwrap();
        if buffer.is_empty() {
            break;
        }
        let mut rest = buffer;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            if carried.is_empty() {
                take(line);
            } else {
                carried.extend_from_slice(line);
                take(&carried);
                carried.clear();
            }
            rest = after.strip_prefix(b"\n").unwrap_or(after);
        }
        carried.extend_from_slice(rest);
        let taken = buffer.len();
        reader.consume(taken);
    }
    assert!(carried.is_empty(), "the last line ends with a line feed");
}

/// A line as `serde_json` reads it: what is counted is borrowed, every text is checked and skipped.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(rename = "modelUsage", borrow)]
    models: Option<BTreeMap<&'a str, ModelUsage>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
}

#[derive(Deserialize)]
struct ModelUsage {
    #[serde(rename = "inputTokens")]
    input: u64,
}

/// One pass of `serde_json`.
fn serde(path: &Path) -> (Counts, f64) {
    let begin = Instant::now();
    let mut counts = Counts {
        lines: 0,
        calls: 0,
        input: 0,
    };
    for_each_line(path, |line| {
        let line: Line<'_> = serde_json::from_slice(line).unwrap();
        counts.lines += 1;
        let blocks = line.message.iter().flat_map(|message| &message.content);
        for block in blocks {
            counts.calls += u64::from(block.kind == "tool_use");
        }
        for spent in line.models.iter().flat_map(BTreeMap::values) {
            counts.input += spent.input;
        }
    });
    (counts, begin.elapsed().as_secs_f64())
}

struct Pass {
    state: StreamState,
    log: String,
    log_bytes: usize,
    calls: u64,
}

impl Pass {
    fn take(&mut self, line: &[u8]) {
        let (kind, events) = self.state.take_line(line);
        assert_eq!(kind, LineKind::Read);
        for event in events {
            self.calls += u64::from(matches!(event, AgentEvent::ToolUse(_)));
            self.log.clear();
            write_log_line(&mut self.log, event);
            self.log_bytes += self.log.len();
        }
    }
}

/// The peer, kept running so that its compiler is warm.
struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Peer {
    fn start(path: &Path) -> Option<Self> {
        let mut child = Command::new("node")
            .arg(PEER)
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        Some(Self {
            stdin: child.stdin.take()?,
            stdout: BufReader::new(child.stdout.take()?),
            child,
        })
    }

    fn pass(&mut self, way: &str) -> (Counts, f64) {
        writeln!(self.stdin, "{way}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let number = |name: &str| answer.get(name).and_then(Value::as_u64).unwrap();
        let counts = Counts {
            lines: number("lines"),
            calls: number("calls"),
            input: number("input"),
        };
        (
            counts,
            answer.get("seconds").and_then(Value::as_f64).unwrap(),
        )
    }

    fn end(mut self) {
        drop(self.stdin);
        self.child.wait().unwrap();
    }
}

/// Median and best: on a busy machine only the best tells what a pass costs.
fn median_and_best(mut seconds: Vec<f64>) -> (f64, f64) {
    seconds.sort_by(f64::total_cmp);
    (
        *seconds.get(seconds.len() / 2).unwrap(),
        *seconds.first().unwrap(),
    )
}

/// The most memory this process ever had, in MiB.
fn memory_mib_max() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib / 1024.0
}

fn main() {
    let megabytes = argument("--megabytes", 100);
    let rounds = argument("--rounds", 5);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("stream.ndjson");
    generate(&path, megabytes * 1_000_000);
    let size = std::fs::metadata(&path).unwrap().len() as f64 / 1e6;

    let (expected, _) = ours(&path);
    let memory = memory_mib_max();
    assert_eq!(serde(&path).0, expected, "both must tell the same");
    let mut peer = Peer::start(&path);
    if let Some(peer) = &mut peer {
        for way in WAYS {
            assert_eq!(peer.pass(way).0, expected, "both must tell the same");
        }
    }
    let mut own = Vec::new();
    let mut library = Vec::new();
    let mut others = WAYS.map(|_| Vec::new());
    for _ in 0..rounds.max(1) {
        own.push(ours(&path).1);
        library.push(serde(&path).1);
        if let Some(peer) = &mut peer {
            for (way, seconds) in WAYS.iter().zip(&mut others) {
                seconds.push(peer.pass(way).1);
            }
        }
    }
    println!(
        "{size:.1} MB, {} lines, {} calls; most memory {memory:.1} MiB",
        expected.lines, expected.calls
    );
    let show = |name: &str, (median, best): (f64, f64)| {
        println!(
            "{name:<18} median {median:.3} s {:.0} MB/s, best {best:.3} s {:.0} MB/s",
            size / median,
            size / best
        );
    };
    let own = median_and_best(own);
    show("ours", own);
    let library = median_and_best(library);
    show("serde_json", library);
    println!(
        "{:<18} median {:.1}, best {:.1}",
        "  ratio",
        library.0 / own.0,
        library.1 / own.1
    );
    let Some(peer) = peer else {
        println!("JSON.parse         not measured: `node` is not installed");
        return;
    };
    peer.end();
    for (way, seconds) in WAYS.iter().zip(others) {
        let other = median_and_best(seconds);
        show(&format!("JSON.parse {way}"), other);
        println!(
            "{:<18} median {:.1}, best {:.1} (goal: at least {GOAL})",
            "  ratio",
            other.0 / own.0,
            other.1 / own.1
        );
    }
}
