//! The scripted model that real CLIs stand in front of: a server on loopback.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::project::{Project, until};

/// The scripted model, a server on loopback.
#[derive(Debug)]
pub(crate) struct Model {
    process: Child,
    log: PathBuf,
    url: String,
}

impl Model {
    pub(super) fn start(project: &Project, scenarios: &str) -> Self {
        let file = |name: &str| project.beside.join(name);
        let (scenario, log, port) = (file("model.json"), file("model.log"), file("model.port"));
        std::fs::write(&scenario, scenarios).unwrap();
        let process = project
            .program("python3")
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/tools/scripted_model.py"
            ))
            .arg("--scenario")
            .arg(scenario)
            .arg("--log")
            .arg(&log)
            .args(["--port", "0", "--port-file"])
            .arg(&port)
            .stdout(Stdio::null())
            .spawn()
            .expect("python3 is installed");
        let port = until("the model's port", || {
            std::fs::read_to_string(&port)
                .ok()?
                .trim()
                .parse::<u16>()
                .ok()
        });
        Self {
            process,
            log,
            url: format!("http://127.0.0.1:{port}"),
        }
    }

    /// Its address, without a path.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Everything that the model's log has; no record may have an error.
    pub(crate) fn records(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap();
        let records: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for record in &records {
            assert!(record["error"].is_null(), "{}", record["error"]);
        }
        records
    }

    /// Returns what the model dealt out in all whole answers: input, output, read from the cache, written to it.
    pub(crate) fn dealt_out(&self) -> [u64; 4] {
        let records = self.records();
        let is_whole = |seq: &Value| {
            let ends = records.iter().filter(|record| record["event"] == "end");
            ends.into_iter()
                .any(|end| end["seq"] == *seq && end["outcome"] == "ok")
        };
        let answered = records
            .iter()
            .filter(|record| record["usage"].is_object() && is_whole(&record["seq"]));
        answered.fold([0; 4], |sum, record| {
            let mut names = [
                "input_tokens",
                "output_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
            ]
            .into_iter();
            sum.map(|sum| {
                let count = names.next().and_then(|name| record["usage"][name].as_u64());
                sum + count.expect("each record has all counts")
            })
        })
    }

    /// The requests of conversations; every one was answered.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let records = self.records();
        for record in records.iter().filter(|record| record["event"] == "end") {
            assert_eq!(record["outcome"], "ok", "{record:#}");
        }
        records
            .into_iter()
            .filter(|record| record["event"] == "request" && record["scenario"].is_string())
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
    }
}
