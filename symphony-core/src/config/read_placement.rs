//! Reads the settings of workers, and checks what belongs together: the times of the lease, and a pool with its database.

use super::database::Database;
use super::defaults;
use super::layer::{Effective, Source};
use super::path::KeyPath;
use super::placement::{PlacementKind, WorkerSettings};
use super::problem::{ConfigProblem, ProblemKind};
use super::read::ConfigReader;
use super::temporal::{TemporalAddress, TemporalSettings};
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

    /// Reads where the service of `placement: temporal` is. Without an address it is a problem only where the placement needs one.
    pub(super) fn temporal(&mut self) -> Option<TemporalSettings> {
        let is_needed = self.get("placement") == Some(PlacementKind::Temporal);
        let certificate = self.path("temporal.certificate");
        let key = self.path("temporal.key");
        let api_key = self.path("temporal.api_key_file");
        let certificate = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(_), None) => {
                self.missing("temporal.certificate", "temporal.key");
                None
            }
            (None, Some(_)) => {
                self.missing("temporal.key", "temporal.certificate");
                None
            }
        };
        let address: Option<String> = self.get("temporal.address");
        let Some(address) = address.as_deref().and_then(TemporalAddress::parse) else {
            if is_needed && address.is_none() {
                self.missing("placement", "temporal.address");
            }
            return None;
        };
        if !address.is_encrypted() && (certificate.is_some() || api_key.is_some()) {
            let at = KeyPath::of("temporal.address");
            let found = format!("`{}`, which is not encrypted", address.as_str());
            let expected = "`https://`, since a key or a certificate is sent".to_owned();
            self.problem(&at, found, expected);
        }
        Some(TemporalSettings {
            address,
            namespace: self.get_or(
                "temporal.namespace",
                defaults::TEMPORAL_NAMESPACE.to_owned(),
            ),
            authority: self.path("temporal.authority"),
            certificate,
            api_key,
        })
    }

    fn missing(&mut self, set: &str, missing: &str) {
        let found = format!("`{set}` without `{missing}`");
        self.problem(&KeyPath::of(set), found, format!("`{missing}` beside it"));
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
