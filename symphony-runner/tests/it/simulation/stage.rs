//! Where a course plays: projects, their configuration, and what may go wrong.

use symphony_core::config::{Millis, ProjectConfig};
use symphony_core::contract::Pipeline;
use symphony_core::id::ProjectId;
use symphony_core::tick::{ProjectView, SlotLimits};
use symphony_runner::tick::{KnownProject, project_view};
use symphony_store::{Context, NewProject, Project, Store};

use super::phases::shipped;

/// What may go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Everything.
    Wild,
    /// Nothing: agents succeed, people answer.
    Calm,
}

/// A project of a simulation.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) project: Project,
    pub(super) config: ProjectConfig,
    pub(super) provider: String,
    pub(super) pipeline: Pipeline,
    /// Whether its configuration cannot be read at present.
    pub(super) broken: bool,
}

impl Stage {
    /// Adds a project.
    pub(super) fn new(store: &mut Store, name: &str, provider: &str) -> Self {
        let root = format!("/simulated/{name}");
        let new = NewProject {
            id: ProjectId::parse(name).unwrap(),
            name: name.to_owned(),
            root: root.clone().into(),
            prefix: name.to_uppercase(),
        };
        let begin = symphony_core::Timestamp::UNIX_EPOCH;
        let project = store.add_project(&Context::human(begin), &new).unwrap();
        Self {
            project,
            config: ProjectConfig::defaults(root),
            provider: provider.to_owned(),
            pipeline: shipped(),
            broken: false,
        }
    }

    /// What a tick knows of it.
    pub(super) fn known(&self) -> KnownProject {
        let project = self.project.clone();
        if self.broken {
            return KnownProject {
                project,
                config: None,
                view: ProjectView::broken("a comma is missing".to_owned()),
            };
        }
        KnownProject {
            project,
            config: Some(self.config.clone()),
            view: project_view(&self.config, &self.pipeline, Ok(self.provider.clone())),
        }
    }
}

/// The stages of the wild course: one much as the defaults have it, one without judge and with planner and a limit, one
/// with a low circuit breaker that leaves issues in `todo`, one with all agents that work on the project itself. Limits
/// leave slots to the last one, so that there is time when nothing else is to do.
pub(super) fn four(store: &mut Store) -> Vec<Stage> {
    let mut plain = Stage::new(store, "a", "claude-cli");
    plain.config.planner_enabled = true;
    plain.config.max_retries = 8;
    plain.config.max_concurrency = Some(3);
    let mut limited = Stage::new(store, "b", "claude-cli");
    limited.config.judge_enabled = false;
    limited.config.max_concurrency = Some(2);
    limited.config.max_open_reviews = Some(6);
    limited.config.max_retries = 6;
    let mut quick = Stage::new(store, "c", "codex-cli");
    quick.config.planner_enabled = true;
    quick.config.max_retries = 3;
    quick.config.circuit_breaker_status = symphony_core::issue::BreakerTarget::Todo;
    quick.config.judge_cooldown_ms = Millis::new(60_000);
    quick.config.max_concurrency = Some(2);
    let mut own = Stage::new(store, "d", "codex-cli");
    own.config.wizard_enabled = true;
    own.config.intake_enabled = true;
    own.config.scanner_enabled = true;
    own.config.background_research = true;
    own.config.max_retries = 6;
    vec![plain, limited, quick, own]
}

/// Slots of the wild course.
pub(super) fn slots() -> SlotLimits {
    SlotLimits {
        total: 7,
        by_agent: [(symphony_core::agent::AgentType::Planner, 2)].into(),
        gates: 2,
    }
}
