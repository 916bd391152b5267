//! Asking a program something: it runs for a short time, and its answer is what it prints.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Polling interval.
const LOOK: Duration = Duration::from_millis(10);

/// A question to a program.
#[derive(Debug)]
pub struct Question<'a> {
    /// The program's file.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [&'a str],
    /// Where it runs.
    pub directory: &'a Path,
    /// Its whole environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// How long it may take.
    pub time_max: Duration,
    /// How much of its answer is read, in bytes. What comes after that is dropped.
    pub answer_bytes_max: usize,
}

impl Question<'_> {
    /// Runs the program and returns how it ended and what it printed. Blocks. It has no input, and what it writes to
    /// standard error is dropped. Its group of processes is ended with it.
    ///
    /// # Errors
    /// When it cannot be started, or does not end in time.
    pub fn ask(&self) -> io::Result<(ExitStatus, Vec<u8>)> {
        #[expect(
            clippy::disallowed_methods,
            reason = "a question to a program, ended below; no agent"
        )]
        let mut command = Command::new(self.program);
        let mut child = command
            .args(self.arguments)
            .current_dir(self.directory)
            .env_clear()
            .envs(&self.environment)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let answer = self.listen(&mut child);
        // A child of it may still be there, and hold the pipe open.
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _gone = kill_process_group(group, Signal::KILL);
        }
        if answer.is_err() {
            child.wait()?;
        }
        answer
    }

    fn listen(&self, child: &mut Child) -> io::Result<(ExitStatus, Vec<u8>)> {
        let begun = Instant::now();
        let mut output = child.stdout.take();
        if let Some(output) = &output {
            rustix::io::ioctl_fionbio(output, true)?;
        }
        let mut answer = Vec::new();
        loop {
            // Before the last read, so that all of its answer is there by then.
            let ended = child.try_wait()?;
            if let Some(output) = &mut output {
                self.read(output, &mut answer)?;
            }
            if let Some(status) = ended {
                return Ok((status, answer));
            }
            if begun.elapsed() > self.time_max {
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Reads what is there. A full pipe would keep the program from ending, so what is too much is read as well.
    fn read(&self, output: &mut ChildStdout, answer: &mut Vec<u8>) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match output.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    let room = self.answer_bytes_max.saturating_sub(answer.len());
                    answer.extend(buffer.iter().take(count.min(room)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(script: &str, time_max: Duration) -> io::Result<(ExitStatus, Vec<u8>)> {
        Question {
            program: Path::new("/bin/sh"),
            arguments: &["-c", script],
            directory: Path::new("/"),
            environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
            time_max,
            answer_bytes_max: 100,
        }
        .ask()
    }

    #[test]
    fn an_answer_is_bounded_in_size_and_time() {
        let long = Duration::from_mins(1);
        let (status, answer) = ask("echo $HOME-$PATH; exit 3", long).unwrap();
        assert_eq!(
            (status.code(), answer.as_slice()),
            (Some(3), &b"-/usr/bin:/bin\n"[..])
        );
        let (status, answer) = ask("head -c 300000 /dev/zero", long).unwrap();
        assert!(status.success());
        assert_eq!(answer.len(), 100);
        // a child that holds the pipe open is ended and not waited for
        let begun = Instant::now();
        let (_, answer) = ask("echo 1; sleep 50 &", long).unwrap();
        assert_eq!(answer, b"1\n");
        let error = ask("sleep 50", Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(25));
    }
}
