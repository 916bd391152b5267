//! `symphony clean`.

use clap::Args;
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PlanId, PlanPhaseId, RunId};
use symphony_runner::plan::{clean_up_phase, ended_phase_worktrees};
use symphony_runner::repository::open_repository;
use symphony_runner::session::Session;
use symphony_runner::upkeep::clean_up::clean_up;
use symphony_runner::upkeep::left_worktrees::{clear_left_worktree, left_worktrees};
use symphony_runner::upkeep::retention::{old_logs, remove_logs};
use symphony_view::text::{Page, View, plural};
use symphony_workspace::LeftLock;

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `clean` takes.
#[derive(Debug, Args)]
#[command(after_help = "Removes:\n  \
                  - worktrees of ended issues, and logs older than `log_retention_days` (ticks do this, too)\n  \
                  - temporary worktrees of ended runs\n  \
                  - worktrees of phases of ended plans; their unmerged branches stay\n  \
                  - lock files that a killed git command left behind for branches that no longer exist\n\n\
                  Uncommitted and unmerged work is saved to refs/symphony/rescue/ first. When in doubt, nothing is \
                  removed.\n\nExample:\n  symphony clean --dry-run")]
pub(crate) struct CleanArgs {
    /// Print what would be removed
    #[arg(long = "dry-run")]
    dry_run: bool,
}

/// What was removed, or would be.
#[derive(Debug, Default, Serialize)]
struct CleanView {
    dry_run: bool,
    /// Issues whose worktree it is.
    worktrees: Vec<IssueId>,
    /// Temporary worktrees of runs that have ended.
    temporary_worktrees: Vec<String>,
    /// Phases of plans whose worktree it is.
    plan_worktrees: Vec<PlanWorktree>,
    /// Locks that a killed git left when it deleted a branch.
    git_locks: Vec<String>,
    /// Runs whose logs they are.
    logs: Vec<RunId>,
    /// What was done, in words.
    done: Vec<String>,
    /// What could not be removed, and why.
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PlanWorktree {
    plan: PlanId,
    phase: PlanPhaseId,
}

impl View for CleanView {
    fn write(&self, page: &mut Page) {
        if self.worktrees.is_empty()
            && self.temporary_worktrees.is_empty()
            && self.plan_worktrees.is_empty()
            && self.git_locks.is_empty()
            && self.logs.is_empty()
        {
            page.line("Nothing to remove.");
            return;
        }
        if self.dry_run {
            for issue in &self.worktrees {
                page.line(&format!("Would remove the worktree of {issue}."));
            }
            for path in &self.temporary_worktrees {
                page.line(&format!("Would remove the temporary worktree {path}."));
            }
            for PlanWorktree { plan, phase } in &self.plan_worktrees {
                page.line(&format!(
                    "Would remove the worktree of phase {phase} of plan {plan}."
                ));
            }
            for lock in &self.git_locks {
                page.line(&format!(
                    "Would remove {lock}, which a killed git command left behind."
                ));
            }
            if !self.logs.is_empty() {
                page.line(&format!(
                    "Would remove the logs of {}.",
                    plural(self.logs.len(), "run")
                ));
            }
        }
        for line in &self.done {
            page.line(&format!("{line}."));
        }
    }
}

impl CleanArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let view = self.carry_out(&mut session).context("clean up")?;
        app.out.answer(&view)?;
        view.problems
            .iter()
            .for_each(|problem| app.out.warn(problem));
        if view.problems.is_empty() {
            return Ok(());
        }
        let message = format!(
            "{} could not be removed",
            plural(view.problems.len(), "thing")
        );
        Err(Stop::new(Exit::Failed, message).into())
    }

    fn carry_out(&self, session: &mut Session) -> anyhow::Result<CleanView> {
        let config = session.config()?;
        let (project, days) = (
            session.project.clone(),
            session.installation.config.log_retention_days,
        );
        let old = old_logs(&session.store, &project, days, Timestamp::now())?;
        let phases = ended_phase_worktrees(&mut session.store, &project, &config)?;
        let phases = phases.into_iter();
        let left = left_worktrees(&session.store, &project, &config)?;
        let repository = open_repository(&project, &config)?;
        let locks = repository.left_locks()?;
        let mut view = CleanView {
            dry_run: self.dry_run,
            plan_worktrees: phases
                .map(|(plan, phase)| PlanWorktree { plan, phase })
                .collect(),
            worktrees: session.store.ended_worktrees(&project.id)?,
            temporary_worktrees: left.iter().map(|left| left.path.clone()).collect(),
            git_locks: locks
                .iter()
                .map(|lock| lock.path.display().to_string())
                .collect(),
            logs: old.iter().map(|logs| logs.run.clone()).collect(),
            ..CleanView::default()
        };
        if self.dry_run {
            return Ok(view);
        }
        for issue in &view.worktrees {
            match clean_up(&mut session.store, &project, &config, issue) {
                Ok(line) => view.done.push(line),
                Err(error) => view
                    .problems
                    .push(format!("{issue}: its worktree was not removed: {error}")),
            }
        }
        for left in &left {
            match clear_left_worktree(&project, &config, left) {
                Ok(line) => view.done.push(line),
                Err(error) => view
                    .problems
                    .push(format!("{}: it was not removed: {error}", left.path)),
            }
        }
        for PlanWorktree { plan, phase } in &view.plan_worktrees {
            match clean_up_phase(&mut session.store, &project, &config, plan, phase) {
                Ok(line) => view.done.extend(line),
                Err(error) => view.problems.push(format!(
                    "{plan}, {phase}: its worktree was not removed: {error}"
                )),
            }
        }
        match repository.clear_left_locks() {
            Ok(removed) => view.done.extend(removed.iter().map(removed_lock)),
            Err(error) => view
                .problems
                .push(format!("git's locks were not removed: {error}")),
        }
        let (removed, problems) = remove_logs(&old);
        if removed > 0 {
            view.done
                .push(format!("removed the logs of {}", plural(removed, "run")));
        }
        view.problems.extend(problems);
        Ok(view)
    }
}

fn removed_lock(lock: &LeftLock) -> String {
    format!(
        "removed {}, which a killed git command left behind",
        lock.path.display()
    )
}
