//! Texts of a person that agents will read: one that holds the value of a secret is refused before anything is recorded.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use symphony_store::Project;
use symphony_workspace::Redactor;

use super::OrderRefusal;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::redaction::redactor_for_person;
use crate::repository::open_repository;
use crate::session::Session;

/// What finds the project's secret values in a text.
#[derive(Debug, Default)]
pub struct SecretCheck {
    /// None where there is no secret, or no project.
    redactor: Option<Redactor>,
}

impl SecretCheck {
    /// Reads the secrets of the session's project, as [`SecretCheck::of`] does.
    ///
    /// # Errors
    /// When the project's files cannot be listed.
    pub fn load(
        session: &Session,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Self, RunnerError> {
        Self::of(&session.installation, &session.project, environment)
    }

    /// Reads the secrets of a project, and those of an environment. A repository or a configuration that is broken has none: the order
    /// itself reports that.
    ///
    /// # Errors
    /// When the project's files cannot be listed.
    pub fn of(
        installation: &Installation,
        project: &Project,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Self, RunnerError> {
        let config = installation.project_config(project).ok();
        let repository = config.and_then(|config| open_repository(project, &config).ok());
        let redactor = match repository {
            Some(repository) => redactor_for_person(&repository, environment)?,
            None => None,
        };
        Ok(Self { redactor })
    }

    /// Returns what takes the values out of the words of a person's own MCP client.
    pub fn into_redactor(self) -> Option<Arc<Redactor>> {
        self.redactor.map(Arc::new)
    }

    /// Names the secret values in a text; none when it has none.
    pub fn named_in(&self, text: &str) -> Option<String> {
        let held = self.redactor.as_ref()?.sources_in(text.as_bytes());
        (!held.is_empty()).then(|| held.join(", "))
    }

    /// Refuses a text with a secret value.
    ///
    /// # Errors
    /// When it has one; the value is not in the error.
    pub fn check(&self, text: &str) -> Result<(), OrderRefusal> {
        match self.named_in(text) {
            None => Ok(()),
            Some(held) => Err(OrderRefusal::Secret { held }),
        }
    }
}
