//! A host of the fleet: a home, a folder for clones, a network, and the worker's process.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde_json::Value;

use super::network::HostNetwork;
use crate::support::{kill, kill_all_at_home, on_host, start_worker};

/// The pool of all hosts.
pub(super) const POOL: &str = "linux";

/// What all hosts are given.
#[derive(Debug, Clone)]
pub(super) struct HostSettings {
    /// The configuration of its user.
    pub(super) config: Value,
    pub(super) slots: u32,
    /// Variables of the worker, and so of all that it starts.
    pub(super) variables: Vec<(String, String)>,
    /// The settings of git of its user.
    pub(super) git: String,
}

/// A host with its worker.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) home: PathBuf,
    pub(super) network: HostNetwork,
    settings: HostSettings,
    worker: Option<Child>,
}

impl Host {
    /// Makes a host below a folder, and starts its worker.
    pub(super) fn new(folder: &Path, number: u8, settings: &HostSettings) -> Self {
        let name = format!("host-{number}");
        let home = folder.join(&name);
        let own = home.join(".config/symphony");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("config.json"), settings.config.to_string()).unwrap();
        std::fs::write(home.join(".gitconfig"), &settings.git).unwrap();
        let mut host = Self {
            name,
            home,
            network: HostNetwork::new(number),
            settings: settings.clone(),
            worker: None,
        };
        host.begin();
        host
    }

    /// Starts the worker.
    pub(super) fn begin(&mut self) {
        let called = (self.name.as_str(), POOL, self.settings.slots);
        let mut command = self.symphony();
        let child = start_worker(&mut command, &self.home, called, &self.data(), &[]);
        self.worker = Some(child);
    }

    /// Prepares a command of Symphony on this host.
    fn symphony(&self) -> Command {
        let mut command = self.network.command(env!("CARGO_BIN_EXE_symphony"));
        on_host(&mut command, &self.home).envs(self.settings.variables.iter().cloned());
        command
    }

    /// Does the exit handling of a run, as the worker does when it finds that the supervisor has died: with the run's lock as its input.
    /// Returns what it reported.
    pub(super) fn finish(&self, run: &str) -> String {
        let lock = self
            .clones()
            .map(|clone| clone.join(".symphony/runs").join(run).join("lock"))
            .find(|lock| lock.exists())
            .expect("the run was here");
        let lock = File::options().read(true).write(true).open(lock).unwrap();
        lock.lock().unwrap();
        let mut finish = self.symphony();
        finish.args(["supervise", "--run", run, "--finish", "--worker-data"]);
        let output = finish.arg(self.data()).stdin(lock).output().unwrap();
        let (code, said) = (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr),
        );
        format!("{code:?} {said}")
    }

    fn clones(&self) -> impl Iterator<Item = PathBuf> {
        let clones = std::fs::read_dir(self.data().join("projects"));
        let clones = clones.into_iter().flatten().flatten();
        clones.map(|clone| clone.path())
    }

    /// Returns the files of its runs that have a name: the run, and the text.
    pub(super) fn run_files(&self, name: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for clone in self.clones() {
            let runs = std::fs::read_dir(clone.join(".symphony/runs"));
            for run in runs.into_iter().flatten().flatten() {
                if let Ok(text) = std::fs::read_to_string(run.path().join(name)) {
                    found.push((run.file_name().to_string_lossy().into_owned(), text));
                }
            }
        }
        found
    }

    /// Returns the folder of its clones.
    pub(super) fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    /// Returns the worker's process.
    pub(super) fn worker(&self) -> Option<i32> {
        let worker = self.worker.as_ref()?;
        Some(i32::try_from(worker.id()).unwrap())
    }

    /// Kills the worker. Its supervisors go on.
    pub(super) fn kill_worker(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            kill(i32::try_from(worker.id()).unwrap());
            worker.wait().unwrap();
        }
    }

    /// Returns what the worker reported.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.home.join("worker.log")).unwrap_or_default()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.kill_worker();
        kill_all_at_home(&self.home);
    }
}
