//! What a project needs: settings, a provider, prompts, gates, a base branch, room for worktrees.

use symphony_core::config::ProjectConfig;
use symphony_runner::installation::Installation;
use symphony_runner::repository::{BaseProblem, open_repository};
use symphony_runner::supervise::read_vault;
use symphony_store::Project;
use symphony_workspace::{Repository, WorktreeState};

use super::check::CheckView;
use super::contents::check_contents;
use crate::output::plural;

pub(super) fn check_project(
    installation: &Installation,
    project: &Project,
    checks: &mut Vec<CheckView>,
) {
    let config = match installation.project_config(project) {
        Ok(config) => config,
        Err(error) => {
            checks.push(CheckView::failed(
                "settings",
                &error,
                "`symphony config check` lists all problems",
            ));
            return;
        }
    };
    checks.push(match installation.provider(&config) {
        Ok(call) => CheckView::ok("provider", call.name().to_string()),
        Err(error) => CheckView::failed("provider", &error, "install an agent's CLI, or `symphony config set provider NAME` chooses another one; `symphony demo` shows everything without any"),
    });
    checks.push(match installation.library(&config) {
        Ok(library) => {
            let phases = library.pipeline.iter().count();
            CheckView::ok("prompts", format!("{phases} phases"))
        }
        Err(error) => CheckView::failed(
            "prompts",
            &error,
            "mend the files, or remove them: the shipped ones are used then",
        ),
    });
    checks.push(check_gates(&config));
    checks.extend(check_vault(&config));
    let repository = match open_repository(project, &config) {
        Ok(repository) => repository,
        Err(error) => {
            let mend = "make a repository with a first commit";
            checks.push(CheckView::failed("base branch", &error, mend));
            return;
        }
    };
    match repository.base() {
        Ok(base) => {
            checks.push(CheckView::ok("base branch", base.branch.to_string()));
            checks.extend(check_contents(&config, &repository, &base.commit));
        }
        Err(error) => {
            let BaseProblem { problem, mend, .. } = BaseProblem::from(&error);
            checks.push(CheckView::failed("base branch", &problem, mend));
        }
    }
    checks.extend(check_worktrees(&repository));
}

/// What stands where worktrees of Symphony go, or has their branches.
fn check_worktrees(repository: &Repository) -> Vec<CheckView> {
    const CHECK: &str = "worktrees";
    let looked = repository
        .list_worktrees()
        .and_then(|listed| Ok((listed, repository.registrations()?)));
    let (listed, registrations) = match looked {
        Ok(found) => found,
        Err(error) => {
            return vec![CheckView::failed(
                CHECK,
                &error,
                "look at `git worktree list`",
            )];
        }
    };
    let mut checks = Vec::new();
    let count = listed.len();
    for worktree in listed {
        let path = worktree.path.display();
        let (detail, mend) = match worktree.state {
            WorktreeState::NotRegistered => (
                format!("{path} is in the way: git knows no worktree there"),
                format!("`mv {path} {path}.old`, after a look at what it holds"),
            ),
            WorktreeState::FolderGone => (
                format!("git has a worktree at {path}, its folder is gone"),
                "`git worktree prune`".to_owned(),
            ),
            WorktreeState::Locked(reason) => (
                format!("{path} is locked: {reason}"),
                format!("`git worktree unlock {path}`"),
            ),
            _ => continue,
        };
        checks.push(CheckView::warning(CHECK, detail, mend));
    }
    let own = repository.workspaces_dir();
    let own = own.canonicalize().unwrap_or(own);
    for registration in registrations {
        let ours = registration
            .reference
            .as_deref()
            .and_then(|reference| reference.strip_prefix("refs/heads/"))
            .filter(|branch| branch.starts_with("symphony/"));
        if let Some(branch) = ours
            && !registration.path.starts_with(&own)
        {
            let path = registration.path.display();
            let detail = format!("{path} has {branch} checked out: no agent can work on it");
            let mend = format!("`git -C {path} switch --detach`");
            checks.push(CheckView::failed(CHECK, &detail, mend));
        }
    }
    if checks.is_empty() {
        checks.push(CheckView::ok(CHECK, format!("{count}, none in the way")));
    }
    checks
}

/// The folder of notes, where one is configured.
fn check_vault(config: &ProjectConfig) -> Option<CheckView> {
    let vault = config.vault.as_ref()?;
    let (notes, problem) = read_vault(&vault.path);
    Some(match problem {
        None => CheckView::ok(
            "vault",
            format!("{} in {}", plural(notes, "note"), vault.path.display()),
        ),
        Some(problem) => CheckView::warning(
            "vault",
            problem,
            "mend it there, or `symphony config set vault.path FOLDER`; agents work without notes meanwhile",
        ),
    })
}

fn check_gates(config: &ProjectConfig) -> CheckView {
    let names: Vec<&str> = config.gates.iter().map(|gate| gate.name.as_str()).collect();
    if names.is_empty() {
        let mend =
            "`symphony config set gates '[{\"name\": \"test\", \"command\": \"make test\"}]'`";
        return CheckView::warning("gates", "none: nothing verifies what agents do", mend);
    }
    CheckView::ok("gates", names.join(", "))
}
