//! The naive JavaScript peer: a process that ranks the same input once per line it is sent.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

#[derive(serde::Deserialize)]
pub(crate) struct Answer {
    pub(crate) seconds: f64,
    pub(crate) conventions: Vec<String>,
    pub(crate) tactical: Vec<String>,
}

impl Peer {
    /// Starts the peer on an input of one line; `None` when there is no node.
    pub(crate) fn start(document: &str) -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/naive.mjs");
        let mut command = Command::new("node");
        command
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => panic!("starting node: {error}"),
        };
        let mut input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        writeln!(input, "{document}").expect("the peer reads");
        Some(Self {
            child,
            input,
            output,
        })
    }

    pub(crate) fn round(&mut self) -> Answer {
        writeln!(self.input, "go").expect("the peer reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        serde_json::from_str(&line).expect("the peer answers in JSON")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
