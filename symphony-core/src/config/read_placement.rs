//! Reads the settings of workers, and checks what belongs together: the times of the lease, and a pool with its database.

use super::database::Database;
use super::defaults;
use super::layer::{Effective, Source};
use super::path::KeyPath;
use super::placement::WorkerSettings;
use super::problem::{ConfigProblem, ProblemKind};
use super::read::ConfigReader;
use crate::placement::Lease;

impl ConfigReader<'_> {
    /// Reads the times of the lease; the default takes the place of those that do not fit together.
    pub(super) fn lease(&mut self) -> Lease {
        let otherwise = Lease::default();
        let beat = self.get_or("lease.beat_ms", otherwise.beat_ms());
        let fence = self.get_or("lease.fence_ms", otherwise.fence_ms());
        let dead = self.get_or("lease.dead_ms", otherwise.dead_ms());
        match Lease::new(beat, fence, dead) {
            Ok(lease) => lease,
            Err(problem) => {
                // Where only the other time is in a file, that is what a person changes.
                let named = KeyPath::of(problem.key());
                let is_set = |at: &KeyPath| {
                    let entry = self.effective.get(at);
                    entry.is_some_and(|entry| entry.source != Source::Default)
                };
                let at = if is_set(&named) {
                    named
                } else {
                    self.first_set("lease").unwrap_or(named)
                };
                let found = format!("`{}` {}", problem.key(), problem.found());
                self.problem(&at, found, problem.expected());
                otherwise
            }
        }
    }

    /// Reads the folders of a worker.
    pub(super) fn worker(&mut self) -> WorkerSettings {
        let home = self.effective.place.home.as_ref();
        let below_home = home.map(|home| home.join(defaults::WORKER_DATA_DIR));
        WorkerSettings {
            data_dir: self.path("worker.data_dir").or(below_home),
            secrets_dir: self.path("worker.secrets_dir"),
        }
    }
}

impl Effective {
    /// Returns what is wrong with the pool of a project whose installation has this database: other hosts cannot open a file.
    pub fn pool_problem(&self, database: &Database) -> Option<ConfigProblem> {
        let path = KeyPath::of("pool");
        let entry = self.get(&path).filter(|entry| !entry.value.is_null())?;
        let file = database.file()?;
        Some(ConfigProblem {
            path: entry.written.clone(),
            kind: ProblemKind::WrongValue {
                found: format!("the file {}", file.display()),
                expected: "a database that workers on other hosts can reach: set `database` to `postgres://USER@HOST/DATABASE`, or remove `pool`".to_owned(),
            },
            file: match &entry.source {
                Source::File { path, .. } => Some(path.display().to_string()),
                Source::Database => Some("database".to_owned()),
                Source::Default => None,
            },
            position: entry.position,
        })
    }
}
