//! The host of a worker: a home, a folder for clones, and the worker's process.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use symphony_core::id::RunId;

use super::control::Control;
use crate::support::{kill, kill_all_at_home, on_host, start_worker, until};

/// By how much all times of the lease are shorter.
pub(super) const DIVISOR: &str = "10";

/// A worker's host.
pub(super) struct Host {
    pub(super) name: String,
    pub(super) home: PathBuf,
    pub(super) data: PathBuf,
    pub(super) slots: u32,
    pub(super) divisor: &'static str,
    pub(super) child: Option<Child>,
}

impl Host {
    #[expect(clippy::disallowed_methods, reason = "end-to-end tests start programs")]
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_symphony"));
        on_host(&mut command, &self.home).env("SYMPHONY_TEST_LEASE_DIVISOR", self.divisor);
        command
    }

    /// Starts the worker, with more arguments if there are any, and waits until it says what it does: from then on it listens to signals.
    pub(super) fn begin(&mut self, more: &[&str]) {
        let before = self.times_begun();
        let called = (self.name.as_str(), "linux", self.slots);
        let mut command = self.command();
        let child = start_worker(&mut command, &self.home, called, &self.data, more);
        self.child = Some(child);
        until("the worker has begun", || {
            (self.times_begun() > before).then_some(())
        });
    }

    fn times_begun(&self) -> usize {
        self.log().matches("takes runs of pool").count()
    }

    /// Starts the supervisor of a run, as the worker does: with the run's lock as its input.
    pub(super) fn supervise(&self, control: &Control, run: &RunId) -> Child {
        let clone = self.data.join("projects").join(control.id.as_str());
        let folder = clone.join(".symphony/runs").join(run.as_str());
        std::fs::create_dir_all(&folder).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        lock.lock().unwrap();
        let log = File::create(folder.join("supervisor.log")).unwrap();
        self.command()
            .current_dir(clone)
            .args(["supervise", "--run", run.as_str(), "--worker-data"])
            .arg(&self.data)
            .stdin(lock)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    pub(super) fn pid(&self) -> i32 {
        i32::try_from(self.child.as_ref().unwrap().id()).unwrap()
    }

    pub(super) fn kill_worker(&mut self) {
        kill(self.pid());
        let mut child = self.child.take().unwrap();
        child.wait().unwrap();
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid()).unwrap(), signal).unwrap();
    }

    pub(super) fn until_gone(&mut self) -> i32 {
        let mut child = self.child.take().unwrap();
        let status = until("the worker has ended", || child.try_wait().unwrap());
        status.code().unwrap()
    }

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.home.join("worker.log")).unwrap_or_default()
    }

    pub(super) fn run_file(&self, control: &Control, run: &RunId, name: &str) -> String {
        let folder = self.data.join("projects").join(control.id.as_str());
        let path = folder.join(".symphony/runs").join(run.as_str()).join(name);
        std::fs::read_to_string(path).unwrap_or_default()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _gone = child.kill();
            let _gone = child.wait();
        }
        kill_all_at_home(&self.home);
        if std::thread::panicking() {
            println!("--- {}\n{}", self.name, self.log());
        }
    }
}
