//! The tool `Bash`.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::answer::Answer;
use crate::argument::text_argument;

/// How long a command may run, unless the call says: what the Claude CLI gives it.
const TIMEOUT_MS: u64 = 120_000;
/// How much of a command's output the answer holds, in bytes: what the Claude CLI shows its model.
const OUTPUT_BYTES_MAX: u64 = 30_000;

/// Runs a command with `bash -c`, in a process group of its own, as the real CLIs do: ending the agent's group does not
/// end it. Its output goes to a file, so that a child left behind does not keep the call waiting.
pub(crate) async fn run(cwd: &Path, input: &Value) -> Answer {
    let command = match text_argument("Bash", input, "command") {
        Ok(command) => command,
        Err(answer) => return answer,
    };
    let started = tempfile::tempfile().and_then(|output| {
        let child = spawn(cwd, command, &output)?;
        Ok((child, output))
    });
    let (mut child, output) = match started {
        Ok(started) => started,
        Err(error) => return Answer::error(format!("Error: cannot start bash: {error}")),
    };
    if input.get("run_in_background").and_then(Value::as_bool) == Some(true) {
        let id = child.id().unwrap_or_default();
        return Answer::ok(format!("Command running in background with ID: {id}."));
    }
    let timeout = input
        .get("timeout")
        .and_then(Value::as_u64)
        .unwrap_or(TIMEOUT_MS);
    let waited = tokio::time::timeout(Duration::from_millis(timeout), child.wait()).await;
    match waited {
        Ok(Ok(status)) => answer(status, &shown(output)),
        Ok(Err(error)) => Answer::error(format!("Error: cannot wait for bash: {error}")),
        Err(_) => {
            end(&mut child).await;
            let seconds = Duration::from_millis(timeout).as_secs_f64();
            let text = format!(
                "Exit code 143\n{}\nCommand timed out after {seconds}s",
                shown(output)
            );
            Answer::error(text.replace("\n\n", "\n"))
        }
    }
}

fn spawn(cwd: &Path, command: &str, output: &File) -> io::Result<Child> {
    Command::new("bash")
        .args(["-c", command])
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        .process_group(0)
        .spawn()
}

async fn end(child: &mut Child) {
    let group = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    if let Some(group) = group {
        // A group that is gone already is what is wanted.
        let _ = kill_process_group(group, Signal::KILL);
    }
    drop(child.wait().await);
}

fn answer(status: ExitStatus, output: &str) -> Answer {
    if status.success() {
        return Answer::ok(if output.is_empty() {
            "(Bash completed with no output)"
        } else {
            output
        });
    }
    // A shell's own way to tell a signal.
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    let text = format!("Exit code {code}\n{output}");
    Answer::error(text.trim_end())
}

fn shown(mut output: File) -> String {
    let mut bytes = Vec::new();
    let read = output
        .rewind()
        .and_then(|()| output.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).trim_end().to_owned(),
        Err(error) => format!("(cannot read the output: {error})"),
    }
}
