//! An open database, with the project that a request is about.

use symphony_core::config::ProjectConfig;
use symphony_core::gates::ConfiguredGate;
use symphony_store::{Project, Store};

use crate::error::RunnerError;
use crate::gates::shown_gates;
use crate::installation::Installation;

/// An open database with the project that commands are about.
#[derive(Debug)]
pub struct Session {
    /// Where it runs.
    pub installation: Installation,
    /// The database.
    pub store: Store,
    /// The project.
    pub project: Project,
}

impl Session {
    /// Returns what holds for the project.
    ///
    /// # Errors
    /// When anything that concerns the project is wrong in its configuration.
    pub fn config(&self) -> Result<ProjectConfig, RunnerError> {
        self.installation.project_config(&self.project)
    }

    /// Returns the gates that the project has now; none where its configuration is broken, which is reported elsewhere.
    pub fn configured_gates(&self) -> Vec<ConfiguredGate> {
        let config = self.config();
        config.map_or_else(
            |_| Vec::new(),
            |config| shown_gates(&self.installation, &self.project, &config),
        )
    }
}
