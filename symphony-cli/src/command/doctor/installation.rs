//! What an installation needs: git, a repository, configuration, space, agents, a database of its own.

use std::path::Path;

use rustix::fs::Access;
use symphony_core::config::{KeyPath, Source};
use symphony_runner::RunnerError;
use symphony_runner::installation::Installation;
use symphony_runner::paths::STATE_DIR;
use symphony_runner::repository::open_repository;
use symphony_store::{Project, SCHEMA_VERSION, Store};
use symphony_view::text::List;
use symphony_workspace::{GIT_VERSION_MIN, GitProgram, Repository, RepositoryOptions};

use super::agents::check_agents;
use super::backups::{check_backups, check_branches, check_mark};
use super::check::{CheckView, Health, fail_with};
use super::configuration::check_configuration;
use super::events::check_events;
use super::forge::check_forge_of;
use super::notify::check_notify;
use super::permissions::check_permissions;
use super::placement::check_service;
use super::project::{check_project, unusable};
use super::protection::{check_cgroups, check_protection};
use super::sandbox::check_sandbox;
use super::server::check_server;
use super::trackers::check_trackers;
use super::workers::check_workers_of;
use crate::app::App;
use crate::failure::{Context as _, database_fix, identity_fix, sentence};

/// Free space below which worktrees and logs soon fill the disk.
const FREE_BYTES_MIN: u64 = 1 << 30;
/// Free space below which nothing can be written safely: a database grows by more at once.
const FULL_BYTES: u64 = 16 << 20;
/// What helps where there is no space.
const FREE_SPACE: &str = "free some space for worktrees and logs: `df -h .` shows how much is left, `symphony clean` \
                          removes what is no longer needed";
pub(super) fn run(app: &App) -> anyhow::Result<()> {
    let checks = List {
        items: check_all(app)?,
    };
    app.out.answer(&checks)?;
    fail_with(&checks.items)
}

fn check_all(app: &App) -> anyhow::Result<Vec<CheckView>> {
    let mut checks = vec![check_git()];
    let root = app.surroundings.root().context("check the repository")?;
    checks.push(check_repository(&root));
    checks.extend(check_writable(&root));
    let (configuration, problems) = check_configuration(app, &root);
    let is_reported = configuration.status == Health::Failed;
    checks.push(configuration);
    let installation = match app.surroundings.installation_at(root) {
        Ok(installation) => installation,
        Err(_repeated) if is_reported => return Ok(checks),
        Err(error) => {
            checks.push(CheckView::failed(
                "configuration",
                &sentence(&error),
                "`symphony config check` lists all problems",
            ));
            return Ok(checks);
        }
    };
    checks.push(check_disk(&installation));
    checks.extend(check_agents(&installation));
    let mut of_database = Vec::new();
    let project = check_database(&installation, &mut of_database);
    let config = project
        .as_ref()
        .and_then(|project| installation.project_config(project).ok());
    let sandbox = &config
        .as_ref()
        .unwrap_or(&installation.config.defaults)
        .sandbox;
    checks.push(check_protection(sandbox));
    checks.push(check_sandbox(&installation, sandbox));
    checks.push(check_cgroups());
    checks.append(&mut of_database);
    if let Some(project) = project {
        check_project(&installation, &project, &problems, &mut checks);
        checks.extend(check_notify(&installation, &project));
        checks.extend(check_trackers(&installation, &project));
        checks.extend(check_forge_of(&installation, &project));
    }
    Ok(checks)
}

fn check_repository(root: &Path) -> CheckView {
    const CHECK: &str = "repository";
    let looked = Repository::open(root, RepositoryOptions::default()).and_then(|repository| {
        repository.require_own_branches()?;
        repository.require_writable()?;
        Ok(repository.default_branch())
    });
    match looked {
        Err(error) => unusable(CHECK, &error),
        Ok(Err(error)) => CheckView::warning(
            CHECK,
            error.to_string(),
            "`symphony config set base_branch NAME`",
        ),
        Ok(Ok(base)) => CheckView::ok(CHECK, format!("{}, default branch {base}", root.display())),
    }
}

/// What Symphony writes to has to let it.
fn check_writable(root: &Path) -> Option<CheckView> {
    let folders = [root.to_owned(), root.join(".git"), root.join(STATE_DIR)];
    let denied = folders
        .iter()
        .filter(|folder| folder.exists())
        .find_map(|folder| {
            let answer = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK);
            answer.err().map(|error| (folder, error))
        });
    let (folder, error) = denied?;
    let folder = folder.display();
    Some(CheckView::failed(
        "root",
        &format!("{folder} cannot be written: {error}"),
        format!("`ls -ld {folder}` shows its owner; `chmod u+rwx {folder}` lets the owner write"),
    ))
}

/// Says whether nothing more can be written.
fn is_full(root: &Path) -> bool {
    rustix::fs::statvfs(root)
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < FULL_BYTES)
}

fn check_disk(installation: &Installation) -> CheckView {
    const CHECK: &str = "disk";
    match rustix::fs::statvfs(&installation.root) {
        Err(error) => CheckView::failed(CHECK, &error, "check the file system with `df -h .`"),
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let detail = format!("{} MiB free", free >> 20);
            if free < FULL_BYTES {
                CheckView::failed(CHECK, &format!("{detail}: it is full"), FREE_SPACE)
            } else if free < FREE_BYTES_MIN {
                CheckView::warning(CHECK, detail, FREE_SPACE)
            } else {
                CheckView::ok(CHECK, detail)
            }
        }
    }
}

fn check_git() -> CheckView {
    const CHECK: &str = "git";
    let fix = format!(
        "install git {}.{} or newer; `git --version` shows what PATH has",
        GIT_VERSION_MIN.0, GIT_VERSION_MIN.1
    );
    let found = GitProgram::find().and_then(|git| Ok((git.version()?, git)));
    match found {
        Ok(((major, minor), git)) => {
            let detail = format!("{} {major}.{minor}", git.path().display());
            if (major, minor) < GIT_VERSION_MIN {
                CheckView::failed(CHECK, &format!("{detail} is too old"), fix)
            } else {
                CheckView::ok(CHECK, detail)
            }
        }
        Err(error) => CheckView::failed(CHECK, &error, fix),
    }
}

/// The file of the database: whole, of a known schema, as durable as it must be.
fn check_file(store: &mut Store, path: &str) -> CheckView {
    const CHECK: &str = "database";
    let looked = store
        .audit_file()
        .and_then(|complaints| Ok((complaints, store.durability()?)));
    match looked {
        Ok((complaints, (mode, _))) => match complaints.first() {
            None => CheckView::ok(
                CHECK,
                format!("{path}, schema {SCHEMA_VERSION}, intact, journal mode {mode}"),
            ),
            Some(first) => {
                let detail = format!("{path}: {} {}", first.subject, first.detail);
                CheckView::failed(
                    CHECK,
                    &detail,
                    "`symphony db check` lists everything that is wrong; restore a backup",
                )
            }
        },
        Err(error) => CheckView::failed(CHECK, &error, database_fix(&error)),
    }
}

fn check_database(installation: &Installation, checks: &mut Vec<CheckView>) -> Option<Project> {
    const CHECK: &str = "database";
    let path = &installation.config.database;
    let mut store = match installation.existing_store() {
        Ok(Some(store)) => store,
        Ok(None) => {
            checks.push(CheckView::failed(
                CHECK,
                &format!("{path} does not exist"),
                if is_full(&installation.root) {
                    FREE_SPACE
                } else {
                    "`symphony init`"
                },
            ));
            return None;
        }
        Err(error) => {
            let fix = match &error {
                RunnerError::Store(error) => database_fix(error).to_owned(),
                RunnerError::Identity { problem, database } => identity_fix(problem, database),
                _ => "`ls -l` shows the owner of that file".to_owned(),
            };
            checks.push(CheckView::failed(CHECK, &error, fix));
            return None;
        }
    };
    match (path.server(), store.server_facts()) {
        (Some(address), Ok(Some(facts))) => {
            checks.extend(check_server(address, &facts));
            if let Ok(of_workers) = check_workers_of(installation, &store, &facts) {
                checks.extend(of_workers);
            }
        }
        (Some(_), Err(error)) => {
            checks.push(CheckView::failed(CHECK, &error, database_fix(&error)));
        }
        _ => checks.push(check_file(&mut store, &path.to_string())),
    }
    checks.extend(check_service(installation));
    checks.extend(check_mark(installation, &store));
    checks.extend(check_events(&store));
    checks.extend(check_permissions(installation));
    if path.file().is_some() {
        checks.push(check_backups(installation, &store));
    }
    match store.project_at(&installation.root) {
        Ok(Some(project)) => {
            checks.push(check_prefix(installation, &project));
            let config = installation.project_config(&project).ok();
            let repository = config.and_then(|config| open_repository(&project, &config).ok());
            checks.extend(repository.and_then(|found| check_branches(&store, &found)));
            Some(project)
        }
        Ok(None) => {
            let detail = format!("{} is not registered", installation.root.display());
            checks.push(CheckView::failed("project", &detail, "`symphony init`"));
            None
        }
        Err(error) => {
            checks.push(CheckView::failed("project", &error, database_fix(&error)));
            None
        }
    }
}

/// The prefix of identifiers was chosen when the project was set up: another one in the configuration has no effect.
fn check_prefix(installation: &Installation, project: &Project) -> CheckView {
    const CHECK: &str = "project";
    let Project { id, prefix, .. } = project;
    let detail = format!("{id}, prefix {prefix}");
    let inspected = installation.loaded().inspect_installation();
    let entry = inspected.effective.get(&KeyPath::of("prefix"));
    let named = entry
        .filter(|entry| entry.source != Source::Default)
        .and_then(|entry| entry.value.as_str());
    match named.filter(|named| named != prefix) {
        None => CheckView::ok(CHECK, detail),
        Some(named) => CheckView::warning(
            CHECK,
            format!(
                "{detail}; the prefix {named} of the configuration has no effect: identifiers of issues do not change"
            ),
            format!("`symphony config set prefix {prefix}`"),
        ),
    }
}
