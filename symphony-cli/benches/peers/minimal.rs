//! The least that answers an MCP client: reads lines, answers `initialize` and `tools/list` from a file, blocking.

use std::io::{BufRead, Write};

fn main() {
    let file = std::env::args().nth(1).expect("a file with the tools");
    let tools = std::fs::read_to_string(file).expect("the tools");
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in input.lines() {
        let line = line.expect("a line");
        let id = if line.contains("\"id\":1") { 1 } else { 2 };
        let result = if line.contains("\"initialize\"") {
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}"#.to_owned()
        } else if line.contains("\"tools/list\"") {
            format!(r#"{{"tools":{tools}}}"#)
        } else {
            continue;
        };
        writeln!(output, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).expect("an answer");
        output.flush().expect("an answer");
    }
}
