//! One attempt in a process of its own, in front of a scripted app-server and a Linear on loopback.
//!
//! The app-server is a script of bash, to which this file adds a few words. What it hears it writes into the file `heard` of
//! its working directory.

#![expect(clippy::disallowed_methods, reason = "these tests start processes")]

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use symphony_fakes::FakeLinear;
use tempfile::TempDir;

const WORDS: &str = r#"
say() { printf '%s\n' "$1"; }
hear() { IFS= read -r line || exit 0; printf '%s\n' "$line" >>heard; }
initialize() { hear; say '{"id":1,"result":{"userAgent":"x"}}'; hear; }
open() { initialize; hear; say '{"id":2,"result":{"thread":{"id":"t"}}}'; hear; }
begin() { open; say '{"id":3,"result":{"turn":{"id":"u1"}}}'; }
completed() { say '{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"'"$1"'","status":"completed"}}}'; }
"#;

/// One attempt that can be run.
pub(crate) struct Worker {
    pub(crate) linear: FakeLinear,
    pub(crate) ticket: String,
    pub(crate) folder: TempDir,
    /// More lines of the section `codex`.
    pub(crate) codex: Vec<String>,
    /// More sections.
    pub(crate) sections: String,
    pub(crate) stop_after_ms: Option<u64>,
    pub(crate) command: Option<String>,
    pub(crate) workspace: PathBuf,
    pub(crate) token: String,
}

/// What an attempt did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) end: String,
    pub(crate) error: String,
    pub(crate) events: Vec<Value>,
    /// What the app-server heard.
    pub(crate) heard: Vec<Value>,
}

impl Done {
    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| event["event"].as_str())
            .collect()
    }

    /// Returns what the app-server heard as an answer to its request with an id.
    pub(crate) fn answer(&self, id: u64) -> &Value {
        let is_it = |line: &&Value| line["id"] == id && line["method"].is_null();
        let found = self.heard.iter().find(is_it);
        found.unwrap_or_else(|| panic!("{id} is not answered: {:#?}", self.heard))
    }

    /// Returns the parameters of the requests of a method.
    pub(crate) fn asked(&self, method: &str) -> Vec<&Value> {
        let asked = self.heard.iter().filter(|line| line["method"] == method);
        asked.map(|line| &line["params"]).collect()
    }
}

impl Worker {
    pub(crate) fn new() -> Self {
        let linear = FakeLinear::start();
        let ticket = linear.with(|world| {
            let project = world.project();
            let id = world.add_issue("ada", "ENG", "Say hello", "");
            world.edit_issue(&id, |issue| issue.project = Some(project));
            id
        });
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().canonicalize().unwrap().join("root/ENG-1");
        std::fs::create_dir_all(&workspace).unwrap();
        Self {
            linear,
            ticket,
            folder,
            codex: vec!["read_timeout_ms: 60000".to_owned()],
            sections: "agent:\n  max_turns: 1\n".to_owned(),
            stop_after_ms: None,
            command: None,
            workspace,
            token: FakeLinear::TOKEN.to_owned(),
        }
    }

    pub(crate) fn with(mut self, codex: &str) -> Self {
        self.codex.push(codex.to_owned());
        self
    }

    /// Keeps only the line of the section `codex` that was added last.
    pub(crate) fn codex_only_last(mut self) -> Self {
        self.codex = self.codex.pop().into_iter().collect();
        self
    }

    /// Runs the attempt with an app-server that does what a script says.
    pub(crate) fn run(&self, script: &str) -> Done {
        let base = self.folder.path().canonicalize().unwrap();
        let server = base.join("server.sh");
        std::fs::write(&server, format!("{WORDS}\n{script}\n")).unwrap();
        let command = format!("exec bash '{}'", server.display());
        let command = self.command.clone().unwrap_or(command);
        let workflow = format!(
            "---\ntracker:\n  kind: linear\n  project_slug: web-1a2b3c\n  api_key: {}\n  active_states: [Todo]\n{}codex:\n  \
             command: {}\n  {}\n---\nDo it.\n",
            self.token,
            self.sections,
            json!(command),
            self.codex.join("\n  "),
        );
        let order = json!({
            "workflow": workflow, "endpoint": self.linear.endpoint(), "token": self.token, "root": base.join("root"),
            "workspace": self.workspace, "ticket_id": self.ticket, "stop_after_ms": self.stop_after_ms,
        });
        let output = run_probe(&order, &base);
        let mut lines: Vec<Value> = output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let end = lines.pop().unwrap();
        assert_eq!(end["left"], 0, "processes are left: {output}");
        assert!(!output.contains(&self.token), "{output}");
        let heard = std::fs::read_to_string(self.workspace.join("heard")).unwrap_or_default();
        let heard = heard
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        Done {
            end: end["end"]
                .as_str()
                .unwrap_or_else(|| panic!("{output}"))
                .to_owned(),
            error: end["error"].as_str().unwrap().to_owned(),
            events: lines,
            heard: heard.collect(),
        }
    }
}

fn run_probe(order: &Value, home: &std::path::Path) -> String {
    let test = std::env::current_exe().unwrap();
    let probe = test
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/attempt_probe");
    assert!(
        probe.exists(),
        "{} is missing: a whole `cargo test` builds it, one with a filter needs `cargo build --examples` before",
        probe.display()
    );
    let mut child = Command::new(probe)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(order.to_string().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
