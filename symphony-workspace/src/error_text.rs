//! Parts of what the errors of this crate say.

use std::time::Duration;

use symphony_core::listing::list_few;

/// Most names that a message lists; the rest is counted.
const LISTED_MAX: usize = 10;

pub(crate) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    list_few(names.iter().map(String::as_str), LISTED_MAX)
}

pub(crate) fn age_text(age: Duration) -> String {
    match age.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

pub(crate) fn held_by(pids: &[u32]) -> String {
    if pids.is_empty() {
        return String::new();
    }
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    format!(", and git is running (pid {})", list(&pids))
}

pub(crate) fn exit_text(code: Option<i32>) -> String {
    code.map_or_else(
        || "ended by a signal: ".to_owned(),
        |code| format!("exit code {code}: "),
    )
}
