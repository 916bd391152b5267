//! What a project needs: settings, a provider, prompts, gates, a base branch, room for worktrees.

use symphony_core::config::ProjectConfig;
use symphony_runner::environment::agents_committers;
use symphony_runner::installation::Installation;
use symphony_runner::library::PromptLibrary;
use symphony_runner::repository::{BaseProblem, open_repository};
use symphony_runner::supervise::read_vault;
use symphony_store::Project;
use symphony_workspace::{Identity, Repository, WorktreeState};

use super::check::CheckView;
use super::contents::check_contents;
use super::gates::check_gates;
use super::installation::FIRST_COMMIT;
use super::login::check_login;
use super::root::check_root;
use crate::failure::provider_fix;
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
    let (mut login, mut root) = (None, None);
    checks.push(match installation.provider(&config) {
        Ok(call) => {
            login = check_login(installation, &config, call.name());
            root = check_root(installation, &config, call.name());
            CheckView::ok("provider", format!("{} is found", call.name()))
        }
        Err(error) => CheckView::failed("provider", &error, provider_fix(&error)),
    });
    checks.extend(root);
    checks.extend(login);
    checks.push(match installation.library(&config) {
        Ok(library) => check_prompts(&library),
        Err(error) => CheckView::failed(
            "prompts",
            &error,
            "correct the files, or remove them so that the shipped ones are used; `symphony profile list` reads them again",
        ),
    });
    checks.push(check_gates(installation, &config, &project.id));
    checks.extend(check_vault(&config));
    let repository = match open_repository(project, &config) {
        Ok(repository) => repository,
        Err(error) => {
            checks.push(CheckView::failed("base branch", &error, FIRST_COMMIT));
            return;
        }
    };
    checks.push(check_identity(installation, &config, &repository));
    match repository.base() {
        Ok(base) => {
            checks.push(CheckView::ok("base branch", base.branch.to_string()));
            checks.extend(check_contents(&config, &repository, &base.commit));
        }
        Err(error) => {
            let BaseProblem { problem, fix, .. } = BaseProblem::from(&error);
            checks.push(CheckView::failed("base branch", &problem, fix));
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
                "`git worktree list` shows them",
            )];
        }
    };
    let mut checks = Vec::new();
    let count = listed.len();
    for worktree in listed {
        let path = worktree.path.display();
        let (detail, fix) = match worktree.state {
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
        checks.push(CheckView::warning(CHECK, detail, fix));
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
            let fix = format!("`git -C {path} switch --detach`");
            checks.push(CheckView::failed(CHECK, &detail, fix));
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
            "correct it there, or `symphony config set vault.path FOLDER`; agents work without notes meanwhile",
        ),
    })
}

/// Whose name merges carry, and the commits of agents.
fn check_identity(
    installation: &Installation,
    config: &ProjectConfig,
    repository: &Repository,
) -> CheckView {
    const CHECK: &str = "git identity";
    if let Some(identity) = repository.human_identity() {
        return CheckView::ok(CHECK, format!("{} <{}>", identity.name, identity.email));
    }
    let Identity { name, email } = Identity::symphony();
    let agents = if agents_committers(installation, config, repository.root()).are_refused() {
        format!("commits of agents and merges of yours carry Symphony's name, {name} <{email}>")
    } else {
        format!(
            "merges of yours carry Symphony's name, {name} <{email}>; commits of agents carry the name that git makes up \
             from this machine"
        )
    };
    CheckView::warning(
        CHECK,
        format!("git has no user.name or no user.email: {agents}"),
        "`git config --global user.name 'Your Name'` and `git config --global user.email you@example.com`",
    )
}

/// Says what is wrong with the profiles that could be read.
fn check_prompts(library: &PromptLibrary) -> CheckView {
    let warnings: Vec<String> = library
        .profiles
        .warnings()
        .iter()
        .map(|(agent, warning)| format!("profile `{agent}`: {warning}"))
        .collect();
    if warnings.is_empty() {
        let phases = library.pipeline.iter().count();
        return CheckView::ok("prompts", plural(phases, "phase"));
    }
    CheckView::warning(
        "prompts",
        warnings.join("; "),
        "correct the lists in the profile's file; `symphony profile show TYPE` prints the tools that are left",
    )
}
