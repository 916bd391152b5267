//! A child process with its input, bounded output, and a time limit.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open};

use super::idle::Idle;

/// How much error output of one call is kept: enough for git's longest complaint about a merge.
pub(super) const STDERR_BYTES_MAX: usize = 16 * 1024;

/// Time between two checks of a child that closed its output but has not exited, where the system cannot report its exit.
const EXIT_POLL: Duration = Duration::from_millis(2);

/// Time between SIGTERM and SIGKILL. Git removes its locks within milliseconds after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// The result of a child.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its exit status; `None` when a time limit ended it.
    pub(super) status: Option<ExitStatus>,
    /// Whether it was ended because it did nothing any more.
    pub(super) is_stuck: bool,
    /// Its output, up to the limit.
    pub(super) stdout: Vec<u8>,
    /// Whether it printed more than the limit, and was killed for that.
    pub(super) cut: bool,
    /// Its error output, up to [`STDERR_BYTES_MAX`].
    pub(super) stderr: Vec<u8>,
}

enum Stream {
    Out(Vec<u8>, bool),
    Err(Vec<u8>),
}

/// How long a child may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// In all.
    pub(super) whole: Duration,
    /// While neither it nor its helpers do anything; `None` where that is as good a reason to wait as any.
    pub(super) idle: Option<Duration>,
}

/// Runs a command until it ends: writes `stdin` and closes it, and reads at most `stdout_max` bytes.
///
/// # Errors
/// When the process cannot be started or waited for.
pub(super) fn run(
    command: Command,
    stdin: Vec<u8>,
    stdout_max: usize,
    limit: Duration,
) -> io::Result<Ended> {
    let limits = Limits {
        whole: limit,
        idle: None,
    };
    run_within(command, stdin, stdout_max, limits)
}

/// Runs a command as [`run`] does, and ends it also when it does nothing any more.
///
/// # Errors
/// As [`run`].
pub(super) fn run_within(
    mut command: Command,
    stdin: Vec<u8>,
    stdout_max: usize,
    limits: Limits,
) -> io::Result<Ended> {
    let mut deadline = Instant::now() + limits.whole;
    // A call without input needs no pipe, and no thread that fills it.
    let input = if stdin.is_empty() {
        Stdio::null()
    } else {
        Stdio::piped()
    };
    let mut child = command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let (sender, receiver) = mpsc::channel();
    if let Some(pipe) = child.stdin.take() {
        thread::spawn(move || feed(pipe, &stdin));
    }
    if let Some(pipe) = child.stdout.take() {
        let sender = sender.clone();
        thread::spawn(move || read_out(pipe, stdout_max, &sender));
    }
    if let Some(pipe) = child.stderr.take() {
        thread::spawn(move || read_err(pipe, &sender));
    }
    let mut idle = limits.idle.map(|limit| Idle::watch(child.id(), limit));
    let mut ended = Ended {
        status: None,
        is_stuck: false,
        stdout: Vec::new(),
        cut: false,
        stderr: Vec::new(),
    };
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let look = idle.as_ref().map_or(left, Idle::pause);
        match receiver.recv_timeout(left.min(look)) {
            Ok(Stream::Out(bytes, cut)) => {
                ended.stdout = bytes;
                ended.cut = cut;
                if cut {
                    signal(&child, Signal::TERM);
                    deadline = deadline.min(Instant::now() + GRACE);
                }
            }
            Ok(Stream::Err(bytes)) => ended.stderr = bytes,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                ended.is_stuck = look < left;
                if ended.is_stuck && !idle.as_mut().is_some_and(Idle::is_too_long) {
                    continue;
                }
                end(&mut child)?;
                return Ok(ended);
            }
        }
    }
    ended.is_stuck = false;
    ended.status = wait_until(&mut child, deadline)?;
    if ended.status.is_none() {
        end(&mut child)?;
    }
    Ok(ended)
}

/// Waits for the child to exit; `None` when the deadline is reached first.
fn wait_until(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        until_exit(child, left);
    }
}

/// Waits until the child has probably exited. It closes its output a moment before, so almost every call waits here.
#[cfg(target_os = "linux")]
fn until_exit(child: &Child, left: Duration) {
    // The child is not reaped yet, so its pid cannot belong to another process.
    let watched = pid_of(child).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let polled = watched
        .zip(Timespec::try_from(left).ok())
        .map(|(fd, left)| {
            let mut fds = [PollFd::new(&fd, PollFlags::IN)];
            poll(&mut fds, Some(&left))
        });
    if !matches!(polled, Some(Ok(_))) {
        thread::sleep(EXIT_POLL);
    }
}

/// Waits a moment for the child to exit.
#[cfg(not(target_os = "linux"))]
fn until_exit(_child: &Child, left: Duration) {
    thread::sleep(EXIT_POLL.min(left));
}

/// Ends the child and its helpers. Git has time to remove its locks first: killed at once, it would leave a repository
/// that no one can commit to.
fn end(child: &mut Child) -> io::Result<()> {
    signal(child, Signal::TERM);
    let until = Instant::now() + GRACE;
    // The child is not reaped before its helpers are killed too: until then, its process group cannot be another one's.
    while Instant::now() < until && !is_over(child) {
        thread::sleep(EXIT_POLL);
    }
    signal(child, Signal::KILL);
    child.wait()?;
    Ok(())
}

/// Returns whether the child has exited, without reaping it.
fn is_over(child: &Child) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    pid_of(child).is_none_or(|pid| {
        // An error means that there is no child to wait for.
        waitid(WaitId::Pid(pid), options).is_ok_and(|status| status.is_some())
    })
}

/// Sends a signal to the child's group, since git starts helpers, and a hook starts anything.
fn signal(child: &Child, signal: Signal) {
    if let Some(pid) = pid_of(child) {
        // The child is not reaped yet, so its pid cannot belong to another process.
        if let Err(error) = kill_process_group(pid, signal) {
            tracing::debug!(%error, "git was gone before it got a signal");
        }
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn feed(mut pipe: ChildStdin, bytes: &[u8]) {
    // A broken pipe means that the child needs no more input. Its exit code shows the rest.
    if let Err(error) = pipe.write_all(bytes) {
        tracing::debug!(%error, "git closed its input early");
    }
}

fn read_out(mut pipe: impl Read, max: usize, sender: &Sender<Stream>) {
    let mut bytes = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let outcome = pipe.by_ref().take(limit).read_to_end(&mut bytes);
    let cut = bytes.len() > max;
    bytes.truncate(max);
    if let Err(error) = outcome {
        tracing::debug!(%error, "reading git's output ended early");
    }
    // The receiver is gone only after a time-out, when no one needs the output any longer.
    sender.send(Stream::Out(bytes, cut)).ok();
}

fn read_err(mut pipe: impl Read, sender: &Sender<Stream>) {
    let mut bytes = Vec::new();
    let limit = u64::try_from(STDERR_BYTES_MAX).unwrap_or(u64::MAX);
    let kept = pipe.by_ref().take(limit).read_to_end(&mut bytes);
    // The rest is read and dropped, so that the child never blocks on a full pipe.
    if kept.is_ok()
        && let Err(error) = io::copy(&mut pipe, &mut io::sink())
    {
        tracing::debug!(%error, "reading git's complaints ended early");
    }
    sender.send(Stream::Err(bytes)).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the module under test")]
    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_child_is_fed_and_read() {
        let script = shell("cat; echo bad >&2; exit 3");
        let ended = run(script, b"in".to_vec(), 10, Duration::from_secs(20)).unwrap();
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
        assert_eq!((ended.stdout.as_slice(), ended.cut), (&b"in"[..], false));
        assert_eq!(ended.stderr, b"bad\n");
    }

    #[test]
    fn its_time_and_its_output_are_limited() {
        // The grandchild holds the pipe: only the whole group's end frees it.
        let script = shell("sleep 60 & wait");
        let late = run(script, Vec::new(), 10, Duration::from_millis(50)).unwrap();
        assert!(late.status.is_none());
        let loud = run(shell("yes"), Vec::new(), 10, Duration::from_secs(20)).unwrap();
        let cut = (loud.stdout.as_slice(), loud.cut);
        assert_eq!(cut, (&b"y\ny\ny\ny\ny\n"[..], true));
        let script = shell("trap '' TERM; sleep 60 & wait; wait");
        let deaf = run(script, Vec::new(), 10, Duration::from_millis(50)).unwrap();
        assert!(deaf.status.is_none());
        let script = shell("head -c 100000 /dev/zero >&2");
        let ended = run(
            script,
            b"unread".repeat(100_000),
            10,
            Duration::from_secs(20),
        )
        .unwrap();
        assert_eq!(ended.stderr.len(), STDERR_BYTES_MAX);
    }

    #[test]
    fn a_child_that_does_nothing_is_ended_and_one_at_work_is_not() {
        let ended = |script, seconds| {
            let limits = Limits {
                whole: Duration::from_mins(5),
                idle: Some(Duration::from_secs(seconds)),
            };
            run_within(shell(script), Vec::new(), 100, limits).unwrap()
        };
        for stuck in ["sleep 600", "echo 1; sleep 600 & wait", "sleep 600 | cat"] {
            let ended = ended(stuck, 1);
            assert!(ended.is_stuck && ended.status.is_none(), "{stuck}");
        }
        for at_work in [
            // it writes to its helper
            "for n in 1 2 3 4 5 6 7 8 9; do echo $n; sleep 0.5; done | cat >/dev/null",
            "n=0; while [ $n -lt 3000000 ]; do n=$((n + 1)); done",
            "sleep 0.3",
        ] {
            let ended = ended(at_work, 3);
            let code = ended.status.and_then(|status| status.code());
            assert_eq!((ended.is_stuck, code), (false, Some(0)), "{at_work}");
        }
    }

    #[test]
    fn git_removes_its_locks_before_it_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("index.lock");
        let name = lock.display();
        let script = shell(&format!(
            "trap 'rm \"{name}\"; exit' TERM; touch \"{name}\"; sleep 60 & wait"
        ));
        // The limit is long enough for the shell to have set its trap.
        let late = run(script, Vec::new(), 10, Duration::from_millis(500)).unwrap();
        assert!(late.status.is_none());
        assert!(!lock.exists());
    }
}
