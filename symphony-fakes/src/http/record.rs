//! What was exchanged.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// The variable that names a folder for records, in which CI compares them with the real API's description.
const FOLDER_VARIABLE: &str = "SYMPHONY_FAKES_RECORD";

/// A request, and what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The body of the request.
    pub body: String,
    /// Whether the request had a token.
    pub has_token: bool,
    /// The status of the answer; `None` if the connection was cut.
    pub status: Option<u16>,
    /// The body of the answer, as the fake meant it before a fault changed it.
    pub answer: String,
}

/// Where one server writes its exchanges, if a folder is named.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: Option<PathBuf>,
    name: &'static str,
}

impl Recorder {
    pub(crate) fn new(name: &'static str) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = format!("{name}-{}-{number}.ndjson", std::process::id());
        let path = std::env::var_os(FOLDER_VARIABLE).map(|folder| PathBuf::from(folder).join(file));
        Self { path, name }
    }

    /// Appends an exchange that was answered as the fake means it.
    pub(crate) fn write(&self, exchange: &Exchange) {
        let Some(path) = &self.path else {
            return;
        };
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(json!(text));
        let line = json!({
            "api": self.name,
            "method": exchange.method,
            "target": exchange.target,
            "body": read(&exchange.body),
            "status": exchange.status,
            "answer": read(&exchange.answer),
        });
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .expect("the folder for records exists");
        writeln!(file, "{line}").expect("the folder for records has room");
    }
}
