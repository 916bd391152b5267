//! `symphony plan statusline`: one line for a status bar, as fast as a process can be.
//!
//! It reads what Claude Code gives on standard input and one state file, and nothing else: no configuration, no
//! database. It never fails and never waits for long: a status bar has no place for an error.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use serde_json::Value;
use symphony_core::plan::state_file::STATE_FILE;
use symphony_core::plan::view::{Colour, render_statusline};
use symphony_workspace::plan_file::read_state_file;
use symphony_workspace::{StatuslineInstall, install_statusline};

use crate::app::App;

/// What `--install` writes into Claude Code's settings.
const STATUSLINE_COMMAND: &str = "symphony plan statusline";
/// How long standard input is waited for: Claude Code writes at once.
const STDIN_WAIT_MAX: Duration = Duration::from_millis(500);
/// Most bytes that are taken from standard input: Claude Code sends some hundred.
const STDIN_BYTES_MAX: usize = 1 << 20;

/// What `plan statusline` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Reads .symphony-state.json in the folder that Claude Code passes as JSON on standard input (by default, the \
                  current folder), or in a folder above it in the repository. Prints nothing if there is no \
                  plan. Colours are on unless NO_COLOR is set, because a status bar is not a \
                  terminal.\n\nExample:\n  symphony plan statusline --install"
)]
pub(crate) struct StatuslineArgs {
    /// Make this Claude Code's status line in this folder: write .claude/settings.json
    #[arg(long)]
    install: bool,
}

/// In JSON `{"version", "path", "changed"}`.
#[derive(Debug, Serialize)]
struct Installed {
    path: String,
    changed: bool,
}

impl StatuslineArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let current = &app.surroundings.current;
        if !self.install {
            let is_coloured = match anstream::ColorChoice::global() {
                anstream::ColorChoice::Never => false,
                anstream::ColorChoice::Auto => app.surroundings.variable("NO_COLOR").is_none(),
                _ => true,
            };
            let is_named = std::env::current_dir().is_ok_and(|here| here != *current);
            let named = is_named.then(|| vec![current.clone()]);
            print_line(named, is_coloured);
            return Ok(());
        }
        let (path, done) = install_statusline(current, STATUSLINE_COMMAND)?;
        let changed = done == StatuslineInstall::Written;
        let path = path.display().to_string();
        let sentence = if changed {
            format!("Claude Code now shows the plan in its status line: {path}.")
        } else {
            format!("Claude Code already shows the plan in its status line: {path}.")
        };
        app.out.done(&Installed { path, changed }, &sentence)
    }
}

/// Prints the line for where the process runs, without reading arguments or anything else first.
pub(crate) fn print_statusline() {
    let is_coloured = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    print_line(None, is_coloured);
}

/// Prints the line of the first folder that has one: those that are named, else those on standard input, else the one
/// the process runs in.
fn print_line(named: Option<Vec<PathBuf>>, is_coloured: bool) {
    let colour = if is_coloured { Colour::On } else { Colour::Off };
    let folders = named.or_else(given_folders);
    let folders = folders.unwrap_or_else(|| vec![PathBuf::from(".")]);
    let line = folders.iter().find_map(|folder| {
        let text = read_state_file(&state_file_of(folder)?).ok()?;
        render_statusline(&text, colour)
    });
    if let Some(line) = line {
        // a bar that went away is no error
        let _unwritten = std::io::stdout().write_all(format!("{line}\n").as_bytes());
    }
}

/// Finds the state file of a folder: there, or above it as far as its repository goes.
fn state_file_of(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    for above in folder.ancestors() {
        let file = above.join(STATE_FILE);
        if file.exists() {
            return Some(file);
        }
        if above.join(".git").exists() {
            break;
        }
    }
    None
}

/// The folders that Claude Code names: its current folder, then the project's.
fn given_folders() -> Option<Vec<PathBuf>> {
    let given: Value = given_json()?;
    let text = |pointer: &str| given.pointer(pointer).and_then(Value::as_str);
    let folders: Vec<PathBuf> = ["/workspace/current_dir", "/workspace/project_dir", "/cwd"]
        .into_iter()
        .filter_map(text)
        .filter(|folder| Path::new(folder).is_absolute())
        .map(PathBuf::from)
        .collect();
    (!folders.is_empty()).then_some(folders)
}

/// Reads one JSON value from standard input: until it is whole, until the end, or as long as is waited.
fn given_json() -> Option<Value> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return None;
    }
    let deadline = Instant::now() + STDIN_WAIT_MAX;
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    while bytes.len() < STDIN_BYTES_MAX {
        let left = deadline.checked_duration_since(Instant::now())?;
        let left = Timespec::try_from(left).ok()?;
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut ready, Some(&left)).ok()? == 0 {
            return None;
        }
        let count = rustix::io::read(&stdin, &mut chunk).ok()?;
        bytes.extend_from_slice(chunk.get(..count)?);
        match serde_json::from_slice(&bytes) {
            Ok(value) => return Some(value),
            Err(_) if count == 0 => return None,
            Err(_unfinished) => {}
        }
    }
    None
}
