//! A host that takes runs from a pool: a home of its own, and the worker's process.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Prepares a command of Symphony for a host: its home, and nothing else of the machine.
pub(crate) fn on_host<'c>(command: &'c mut Command, home: &Path) -> &'c mut Command {
    command
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("PATH", std::env::var_os("PATH").unwrap())
}

/// Starts the worker of a host, by a command of [`on_host`]. What it says is added to `worker.log` in the host's home.
pub(crate) fn start_worker(
    command: &mut Command,
    home: &Path,
    (host, pool, slots): (&str, &str, u32),
    data: &Path,
    more: &[&str],
) -> Child {
    let output = File::options()
        .append(true)
        .create(true)
        .open(home.join("worker.log"))
        .unwrap();
    command
        .args(["worker", "--pool", pool, "--host", host])
        .args(["--slots", &slots.to_string(), "--data-dir"])
        .arg(data)
        .args(more)
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .spawn()
        .unwrap()
}
