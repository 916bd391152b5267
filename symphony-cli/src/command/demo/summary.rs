//! What happened in a demo, and where to look.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use symphony_core::command_line::shell_quoted;
use symphony_core::config::{Database, ProviderName, SandboxLevel};
use symphony_core::issue::IssueStatus;
use symphony_core::learning::LearningState;
use symphony_runner::installation::Installation;
use symphony_runner::paths::RunPaths;
use symphony_runner::provider::detect::find_program;
use symphony_runner::session::Session;
use symphony_store::{IssueFilter, LearningFilter, PrFilter, RunFilter};
use symphony_view::text::{List, Page, View, plural};
use symphony_view::{IssueView, LearningView, PrView, RunView};

use super::leftovers::Leftovers;
use super::project::Files;

/// What happened.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DemoView {
    pub(super) dir: PathBuf,
    pub(super) config: PathBuf,
    database: Database,
    issues: Vec<IssueView>,
    pull_requests: Vec<PrView>,
    runs: Vec<RunView>,
    learnings: Vec<LearningView>,
    leftovers: Leftovers,
    #[serde(skip)]
    log: Option<PathBuf>,
    /// Whether its agents play a script.
    #[serde(skip)]
    is_scripted: bool,
    /// This program, where the shell does not find it as `symphony`.
    #[serde(skip)]
    program: Option<PathBuf>,
}

impl DemoView {
    /// Reads what is recorded.
    pub(super) fn load(
        session: &Session,
        files: &Files,
        leftovers: Leftovers,
    ) -> anyhow::Result<Self> {
        let store = &session.store;
        let project = Some(session.project.id.clone());
        let issues = IssueFilter {
            project: project.clone(),
            ..IssueFilter::default()
        };
        let prs = PrFilter {
            project: project.clone(),
            ..PrFilter::default()
        };
        let runs = RunFilter {
            project: project.clone(),
            ..RunFilter::default()
        };
        let learnings = LearningFilter {
            project: project.clone(),
            states: LearningState::ALL.to_vec(),
            ..LearningFilter::default()
        };
        let mut runs: Vec<RunView> = store.runs(&runs)?.into_iter().map(RunView::from).collect();
        runs.reverse();
        let mut pull_requests: Vec<PrView> =
            store.prs(&prs)?.into_iter().map(PrView::from).collect();
        pull_requests.reverse();
        Ok(Self {
            dir: session.project.root.clone(),
            config: files.config.clone(),
            database: session.installation.config.database.clone(),
            issues: store
                .list_issues(&issues)?
                .items
                .into_iter()
                .map(IssueView::from)
                .collect(),
            program: unless_found(&session.installation),
            log: runs
                .first()
                .map(|run| RunPaths::new(&session.project.root, &run.id).log()),
            pull_requests,
            runs,
            learnings: store
                .learnings(&learnings)?
                .into_iter()
                .map(LearningView::from)
                .collect(),
            leftovers,
            is_scripted: files.provider == ProviderName::Scripted,
        })
    }

    /// Says how the agents were confined; `None` where none started.
    fn confined(&self) -> Option<String> {
        let levels = self.runs.iter().filter_map(|run| Some(run.sandbox?.level));
        let levels: BTreeSet<&str> = levels.map(SandboxLevel::name).collect();
        let levels: Vec<&str> = levels.into_iter().collect();
        (!levels.is_empty()).then(|| {
            let levels = levels.join("` and `");
            format!("The agents ran at the sandbox level `{levels}`.")
        })
    }

    /// Says whether nothing was left behind.
    pub(super) const fn is_clean(&self) -> bool {
        self.leftovers.processes == 0 && self.leftovers.worktrees == 0
    }
}

/// Returns the program that runs, unless a shell finds it by the name `symphony`.
fn unless_found(installation: &Installation) -> Option<PathBuf> {
    let search_path = installation.variable("PATH").unwrap_or_default();
    let found = find_program(Path::new("symphony"), search_path);
    let is_it = found.and_then(|found| found.canonicalize().ok())
        == installation.executable.canonicalize().ok();
    (!is_it).then(|| installation.executable.clone())
}

impl View for DemoView {
    fn write(&self, page: &mut Page) {
        page.heading("What happened");
        let done = self
            .issues
            .iter()
            .filter(|issue| issue.status == IssueStatus::Done)
            .count();
        page.line(&format!(
            "{done} of {} done, in {} of agents and gates, each with its own supervisor:",
            plural(self.issues.len(), "issue"),
            plural(self.runs.len(), "run")
        ));
        self.runs
            .iter()
            .for_each(|run| page.line(&format!("  {}", run.outcome())));
        if let Some(sentence) = self.confined() {
            page.line(&sentence);
        }
        for pr in &self.pull_requests {
            let verdict = pr
                .verdict
                .as_ref()
                .map(|verdict| format!(", {} by the {}", verdict.kind, verdict.author));
            let (state, gates) = (pr.state, pr.gate_summary());
            page.line(&format!(
                "  {}: gates {gates}{}, {state}",
                pr.subject(),
                verdict.unwrap_or_default()
            ));
        }
        page.line(&format!(
            "Not cleaned up: {}, {}.",
            plural(self.leftovers.processes, "process"),
            plural(self.leftovers.worktrees, "worktree")
        ));
        if !self.learnings.is_empty() {
            page.heading("What the agents learned");
            List {
                items: self.learnings.clone(),
            }
            .write(page);
        }
        page.heading("Where to look");
        page.field("project", &self.dir.display().to_string());
        page.field("configuration", &self.config.display().to_string());
        page.field("database", &self.database.to_string());
        if let Some(log) = &self.log {
            page.field("first log", &log.display().to_string());
        }
        page.heading("What to try");
        if let Some(program) = &self.program {
            let program = shell_quoted(&program.display().to_string());
            page.line(&format!("  alias symphony={program}"));
        }
        let folder = shell_quoted(&self.dir.display().to_string());
        page.line(&format!("  cd {folder}"));
        if let Some(issue) = self.issues.first() {
            let id = &issue.identifier;
            page.line("  git log --graph --stat");
            page.line(&format!("  symphony issue show {id}"));
            page.line(&format!("  symphony pr show {id}"));
            page.line(&format!("  symphony runs logs {id}"));
        }
        page.line("  symphony learnings list");
        page.line("  symphony issue add 'Greet in Latin' && symphony run --until-idle");
        if self.is_scripted {
            let ids: Vec<&str> = self.issues.iter().map(|i| i.identifier.as_str()).collect();
            page.line(&format!(
                "The scripted agent can do {} only. For any other issue it adds a note, which shows the same steps. \
                 `symphony demo --provider claude-cli` makes a project whose agents can do any issue; that costs \
                 tokens.",
                ids.join(" and ")
            ));
        }
    }
}
