//! Projects.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::project::WizardState;

use super::notes::FindingView;
use crate::profile_override::OverrideView;
use crate::text::{Listed, Page, Table, View};

/// A project.
#[derive(Debug, Clone, Serialize)]
pub struct ProjectView {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// What the identifiers of its issues begin with.
    pub prefix: String,
    /// The root of its repository.
    pub root: PathBuf,
    /// Whether the setup wizard has configured it.
    pub wizard: WizardState,
    /// Whether the setup wizard runs before anything else; unknown where the configuration is broken.
    pub wizard_enabled: Option<bool>,
    /// Issues that have not ended.
    pub open_issues: u64,
    /// Running agents.
    pub running: usize,
    /// When it was created.
    pub created_at: Timestamp,
}

impl ProjectView {
    /// Returns how far the setup wizard came: one that is off, or that no one asked for, is not waited for.
    fn wizard_word(&self) -> &'static str {
        match (self.wizard, self.wizard_enabled) {
            (WizardState::Pending, Some(false)) => "off",
            (state, _) => state.name(),
        }
    }
}

impl Listed for ProjectView {
    fn write_all(items: &[Self], page: &mut Page) {
        let mut table =
            Table::new(["PROJECT", "PREFIX", "OPEN", "RUNNING", "WIZARD", "ROOT"]).right(2);
        for project in items {
            table.row([
                project.id.to_string(),
                project.prefix.clone(),
                project.open_issues.to_string(),
                project.running.to_string(),
                project.wizard_word().to_owned(),
                project.root.display().to_string(),
            ]);
        }
        page.table(&table);
    }
}

/// A project with its setup.
#[derive(Debug, Serialize)]
pub struct ProjectDetail {
    /// The project.
    #[serde(flatten)]
    pub project: ProjectView,
    /// What is wrong with its configuration.
    pub problem: Option<String>,
    /// What the setup wizard wrote to the database; files override it.
    pub settings: Value,
    /// What the database adds to its agents' profiles.
    pub overrides: Vec<OverrideView>,
    /// What scanners and background researchers found, the newest last.
    pub findings: Vec<FindingView>,
}

impl View for ProjectDetail {
    fn write(&self, page: &mut Page) {
        let project = &self.project;
        page.field("project", project.id.as_str());
        page.field("name", &project.name);
        page.field("prefix", &project.prefix);
        page.field("root", &project.root.display().to_string());
        page.field("open issues", &project.open_issues.to_string());
        page.field("running", &project.running.to_string());
        page.field(
            "setup wizard",
            match project.wizard_word() {
                "off" => "off (`symphony project wizard --again` starts it)",
                word => word,
            },
        );
        if let Some(problem) = &self.problem {
            page.heading("Problem: nothing in it starts");
            page.block(problem);
        }
        if let Value::Object(settings) = &self.settings
            && !settings.is_empty()
        {
            page.heading("Settings in the database (files override them: `symphony config show`)");
            for (key, value) in settings {
                page.field(key, &value.to_string());
            }
        }
        for layer in &self.overrides {
            layer.write(page);
        }
        if !self.findings.is_empty() {
            page.heading("Findings about the project");
            self.findings.iter().for_each(|finding| finding.write(page));
        }
    }
}
