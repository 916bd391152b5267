//! What a project needs: settings, a provider, prompts, gates, a base branch, room for worktrees.

use symphony_core::config::{ConfigProblem, ProjectConfig, ProviderName};
use symphony_prompt::lint::{Finding, Severity};
use symphony_runner::environment::agents_committers;
use symphony_runner::installation::Installation;
use symphony_runner::prompts::lint::lint_project;
use symphony_runner::repository::{BaseProblem, open_repository};
use symphony_runner::supervise::read_vault;
use symphony_store::Project;
use symphony_view::LiveTrialLine;
use symphony_view::text::plural;
use symphony_workspace::{Identity, Repository, WorkspaceError, WorktreeState};

use super::check::CheckView;
use super::command_provider::check_command;
use super::configuration::is_reported;
use super::contents::check_contents;
use super::gates::check_gates;
use super::login::check_login;
use super::root::check_root;
use super::warm::check_warm;
use super::workflow::check_workflow;
use crate::agents_found::UsedProviders;
use crate::failure::provider_fix;
use crate::model_access::{ModelAccess, model_access};

/// What makes a folder something to work in.
const FIRST_COMMIT: &str = "`git init && git commit --allow-empty -m 'first commit'` creates a repository \
                                        with a first commit";

pub(super) fn check_project(
    installation: &Installation,
    project: &Project,
    reported: &[ConfigProblem],
    checks: &mut Vec<CheckView>,
) {
    let config = match installation.project_config(project) {
        Ok(config) => config,
        Err(error) if is_reported(&error, reported) => return,
        Err(error) => {
            checks.push(CheckView::failed(
                "settings",
                &error,
                "`symphony config check` lists all problems",
            ));
            return;
        }
    };
    let (mut login, mut root, mut models) = (None, None, None);
    checks.push(match installation.provider(&config) {
        Ok(call) => {
            login = check_login(installation, &config, call.name());
            root = check_root(installation, &config, call.name());
            models = check_models(installation, &config, call.name());
            check_command(installation, &config, &call)
                .unwrap_or_else(|| check_used(installation, &config, call.name()))
        }
        Err(error) => CheckView::failed("provider", &error, provider_fix(&error)),
    });
    checks.extend(root);
    checks.extend(login);
    checks.extend(models);
    checks.extend(check_prompts(installation, &config, project));
    checks.extend(check_workflow(&project.root));
    checks.push(check_gates(installation, &config, project));
    checks.extend(check_vault(&config));
    let repository = match open_repository(project, &config) {
        Ok(repository) => repository,
        Err(error) => {
            checks.push(unusable("base branch", &error));
            return;
        }
    };
    checks.push(check_identity(installation, &config, &repository));
    match repository.base() {
        Ok(base) => {
            checks.push(CheckView::ok("base branch", base.branch.to_string()));
            checks.extend(check_contents(&config, &repository, &base.commit));
        }
        Err(error) => checks.push(unusable("base branch", &error)),
    }
    checks.extend(check_warm(installation, &config, project, &repository));
    checks.extend(check_worktrees(&repository));
}

/// Says with which provider workers and judges run, and why.
fn check_used(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> CheckView {
    const CHECK: &str = "provider";
    // Prompts that cannot be read are a check of their own.
    let Ok(used) = UsedProviders::of(installation, config) else {
        return CheckView::ok(CHECK, format!("{provider} was found"));
    };
    match (used.in_words(), used.problem()) {
        (Some(words), _) => CheckView::ok(CHECK, words),
        (None, problem) => CheckView::failed(
            CHECK,
            &problem.unwrap_or_default(),
            "install it, or change `agent` in the profile: `symphony profile list` shows the profiles",
        ),
    }
}

/// Says what a run of the provider gets in the sandbox, and what it lacks.
fn check_models(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Option<CheckView> {
    const CHECK: &str = "models";
    const ALLOW: &str =
        "`symphony config set sandbox.hosts '[\"HOST\"]'` with the host of its API allows it";
    match model_access(installation, config, provider) {
        Ok(found) => {
            let ModelAccess { words, warning } = found?;
            Some(match warning {
                None => CheckView::ok(CHECK, format!("in the sandbox, {words}")),
                Some(warning) => {
                    CheckView::warning(CHECK, format!("in the sandbox, {words}\n{warning}"), ALLOW)
                }
            })
        }
        Err(error) => Some(CheckView::failed(
            CHECK,
            &error,
            "correct it in the environment where `symphony` runs, or in the project's `env`",
        )),
    }
}

/// Says why work cannot start in the repository, and what to do.
pub(super) fn unusable(check: &'static str, error: &WorkspaceError) -> CheckView {
    match error {
        WorkspaceError::BranchMissing { .. }
        | WorkspaceError::NoDefaultBranch { .. }
        | WorkspaceError::SymbolicBase { .. }
        | WorkspaceError::BareSetting { .. }
        | WorkspaceError::NotWritable { .. }
        | WorkspaceError::OwnBranchesBlocked => {
            let BaseProblem { problem, fix, .. } = BaseProblem::from(error);
            CheckView::failed(check, &problem, fix)
        }
        WorkspaceError::Git { .. } => CheckView::failed(
            check,
            error,
            "fix what git reports; `git status` there shows whether it worked",
        ),
        _ => CheckView::failed(check, error, FIRST_COMMIT),
    }
}

/// What is in the place of Symphony's worktrees, or has their branches checked out.
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
                format!("check what it contains, then `mv {path} {path}.old`"),
            ),
            WorktreeState::FolderGone => (
                format!("git has a worktree at {path}, but its folder is gone"),
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
            let detail = format!("{path} has {branch} checked out, so no agent can work on it");
            let fix = format!("`git -C {path} switch --detach`");
            checks.push(CheckView::failed(CHECK, &detail, fix));
        }
    }
    if checks.is_empty() {
        let found = match count {
            0 => "none".to_owned(),
            count => format!("{count}, none blocks a run"),
        };
        checks.push(CheckView::ok(CHECK, found));
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
            "fix it there, or run `symphony config set vault.path FOLDER`; until then agents work without notes",
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
        format!("agents' commits and your merges carry Symphony's name, {name} <{email}>")
    } else {
        format!(
            "your merges carry Symphony's name, {name} <{email}>; agents' commits carry the name that git derives \
             from this machine"
        )
    };
    CheckView::warning(
        CHECK,
        format!("git has no user.name or no user.email: {agents}"),
        "`git config --global user.name 'Your Name'` and `git config --global user.email you@example.com`",
    )
}

/// What prompt lint finds: what keeps agents from being started, and what they read in vain.
fn check_prompts(
    installation: &Installation,
    config: &ProjectConfig,
    project: &Project,
) -> Vec<CheckView> {
    const CHECK: &str = "prompts";
    // the database answers, or its own check has reported what is wrong with it
    let store = installation.existing_store().ok().flatten();
    let recorded = store.as_ref().map(|store| (store, project));
    let findings = match lint_project(installation, config, &project.root, recorded) {
        Ok(findings) => findings,
        Err(error) => {
            let fix = "`symphony prompt lint` checks them again";
            return vec![CheckView::failed(CHECK, &error, fix)];
        }
    };
    let (errors, warnings): (Vec<&Finding>, Vec<&Finding>) = findings
        .iter()
        .partition(|finding| finding.severity == Severity::Error);
    let mut checks = Vec::new();
    if !errors.is_empty() {
        checks.push(CheckView::failed(CHECK, &lines(&errors), fix_of(&errors)));
    }
    if !warnings.is_empty() {
        checks.push(CheckView::warning(
            CHECK,
            lines(&warnings),
            fix_of(&warnings),
        ));
    }
    if checks.is_empty() {
        let library = installation.library(config);
        let phases = library.map_or(0, |library| library.pipeline.iter().count());
        checks.push(CheckView::ok(CHECK, plural(phases, "phase")));
    }
    // with broken prompts no agent starts, and no issue is given a set
    if errors.is_empty()
        && let Some((store, trial)) = store.as_ref().zip(config.prompt_trial.as_ref())
        && let Ok(line) = LiveTrialLine::load(store, project, trial)
    {
        checks.push(CheckView::ok("prompts", line.text()));
    }
    checks
}

fn lines(findings: &[&Finding]) -> String {
    let lines = findings.iter().map(ToString::to_string);
    lines.collect::<Vec<_>>().join("\n")
}

fn fix_of(findings: &[&Finding]) -> String {
    match findings {
        [only] => format!("{}; `symphony prompt lint` checks again", only.advice),
        _ => "`symphony prompt lint` suggests a fix for each".to_owned(),
    }
}
