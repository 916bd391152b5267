//! `symphony project remove`.

use clap::Args;
use serde::Serialize;
use symphony_core::id::ProjectId;
use symphony_core::issue::{DependentEffect, DependentsFate};
use symphony_core::listing::list_few;
use symphony_core::pull_request::PullRequest;
use symphony_runner::database::{
    ProjectFates, RemovedProject, WorktreesFate, remove_project, worktrees_of,
};
use symphony_view::text::{Page, View, plural};

use crate::app::App;
use crate::dependents::{choose_fate, fate_in_words};
use crate::failure::{Context as _, Exit, Stop};
use crate::question::{Choice, ask, is_possible};
use crate::value::named;

/// Names that a line lists; the rest is counted.
const NAMES_MAX: usize = 3;

/// What `project remove` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "It refuses while runs or plans of the project are under way, and asks what to do with issues of \
                  other projects that depend on its own. Issues and runs stay recorded, and branches stay in the \
                  repository: `symphony init` there brings the project back.\n\nExample:\n  symphony project remove api --worktrees remove"
)]
pub(crate) struct RemoveArgs {
    /// The project
    project: ProjectId,
    /// What happens to its worktrees: `keep`, or `remove` after saving uncommitted work; if left out, the command asks on a terminal
    #[arg(long, value_name = "WHAT", value_parser = ["keep", "remove"])]
    worktrees: Option<String>,
    /// What happens to issues of other projects that depend on issues of this one: `keep` (they wait for your decision), `cancel` (they are cancelled, too) or `release` (they continue without them); if left out, the command asks on a terminal
    #[arg(long, value_name = "CHOICE", value_parser = named(DependentsFate::NAMES, DependentsFate::parse))]
    dependents: Option<DependentsFate>,
}

fn fate(name: &str) -> Option<WorktreesFate> {
    match name {
        "keep" => Some(WorktreesFate::Keep),
        "remove" => Some(WorktreesFate::Remove),
        _ => None,
    }
}

/// What was removed.
#[derive(Debug, Serialize)]
struct RemovedView {
    project: ProjectId,
    worktrees_removed: Vec<String>,
    /// Refs that hold what was uncommitted.
    rescues: Vec<String>,
    /// Branches that stay.
    branches: Vec<String>,
    /// What happened to the issues of other projects that depended on its own.
    dependents: Vec<DependentEffect>,
    /// Issues whose proposal that nothing is left to do waits on.
    open_proposals: Vec<String>,
}

impl View for RemovedView {
    fn write(&self, page: &mut Page) {
        page.line(&format!(
            "Project {} is no longer part of this installation; its issues and runs stay recorded.",
            self.project
        ));
        let few = |names: &[String]| list_few(names.iter().map(String::as_str), NAMES_MAX);
        if !self.worktrees_removed.is_empty() {
            let count = plural(self.worktrees_removed.len(), "worktree");
            page.line(&format!(
                "Removed {count}: {}.",
                few(&self.worktrees_removed)
            ));
        }
        if !self.rescues.is_empty() {
            page.line(&format!("Saved uncommitted work: {}.", few(&self.rescues)));
        }
        if !self.branches.is_empty() {
            page.line(&format!(
                "Branches that were kept: {}.",
                few(&self.branches)
            ));
        }
        if !self.open_proposals.is_empty() {
            page.line(&format!(
                "The proposal that nothing is left to do on {} was not confirmed. It waits until the project is back.",
                few(&self.open_proposals)
            ));
        }
        if let Some(fate) = fate_in_words(&self.dependents, &format!("project {}", self.project)) {
            page.line(&fate);
        }
    }
}

impl RemoveArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let what = || format!("remove project {}", self.project);
        let project = session.store.project(&self.project).with_context(what)?;
        let worktrees = worktrees_of(&session.installation, &project).with_context(what)?;
        let open = session.store.dependents_on_project(&self.project);
        let direct = open.with_context(what)?.settled(DependentsFate::Keep);
        let on = format!("project {}", self.project);
        let dependents = choose_fate(app, self.dependents, &direct, &on).with_context(what)?;
        let worktrees_fate = match self.worktrees.as_deref().and_then(fate) {
            Some(fate) => fate,
            None if worktrees.is_empty() => WorktreesFate::Keep,
            None => self.asked(app, worktrees.len())?,
        };
        let proposals = session.store.open_proposals(&self.project);
        let proposals = proposals.with_context(what)?;
        let RemovedProject {
            worktrees,
            rescues,
            branches,
            dependents,
        } = remove_project(
            &session.installation,
            &mut session.store,
            &self.project,
            ProjectFates {
                worktrees: worktrees_fate,
                dependents,
            },
        )
        .with_context(what)?;
        app.out.answer(&RemovedView {
            project: self.project.clone(),
            worktrees_removed: worktrees,
            rescues,
            branches,
            dependents,
            open_proposals: proposals.iter().map(PullRequest::reference).collect(),
        })
    }

    fn asked(&self, app: &App, count: usize) -> anyhow::Result<WorktreesFate> {
        let has = format!("project {} has {}", self.project, plural(count, "worktree"));
        let choices = [
            Choice::new('k', "keep", "they stay as they are"),
            Choice::new(
                'r',
                "remove",
                "uncommitted work is saved to refs/symphony/rescue/ first",
            ),
        ];
        let answer = if is_possible(app.out) {
            ask(&format!("{has}. What happens to them?"), &choices)?
        } else {
            None
        };
        answer.and_then(fate).ok_or_else(|| {
            Stop::new(Exit::Usage, has)
                .hint("choose `--worktrees keep` or `--worktrees remove`")
                .into()
        })
    }
}
