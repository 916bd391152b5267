//! `symphony doctor`: what Symphony needs, checked one by one.

use std::fmt;
use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use symphony_core::config::ProjectConfig;
use symphony_runner::installation::Installation;
use symphony_runner::repository::open_repository;
use symphony_store::Project;
use symphony_workspace::{GitProgram, Repository, RepositoryOptions};

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::{List, Page, View, plural};
use crate::place::existing_store;

/// Free space below which worktrees and logs soon fill the disk.
const FREE_BYTES_MIN: u64 = 1 << 30;
/// A branch of this name leaves no room for `symphony/SYM-1`.
const BLOCKING_BRANCH: &str = "symphony";

/// What `doctor` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony doctor && symphony run")]
pub(crate) struct DoctorArgs {}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Health {
    Ok,
    Warning,
    Failed,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
struct CheckView {
    check: &'static str,
    status: Health,
    /// What was found.
    detail: String,
    /// How to mend it; empty when nothing is to be mended.
    mend: String,
}

impl CheckView {
    fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            check,
            status: Health::Ok,
            detail: detail.into(),
            mend: String::new(),
        }
    }

    fn warning(check: &'static str, detail: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            check,
            status: Health::Warning,
            detail: detail.into(),
            mend: mend.into(),
        }
    }

    fn failed(check: &'static str, detail: &dyn fmt::Display, mend: impl Into<String>) -> Self {
        Self {
            check,
            status: Health::Failed,
            detail: detail.to_string(),
            mend: mend.into(),
        }
    }
}

impl View for List<CheckView> {
    fn write(&self, page: &mut Page) {
        for check in &self.items {
            let word = match check.status {
                Health::Ok => "ok",
                Health::Warning => "warning",
                Health::Failed => "failed",
            };
            page.line(&format!("{word:<8} {}: {}", check.check, check.detail));
            if !check.mend.is_empty() {
                page.line(&format!("         to mend it: {}", check.mend));
            }
        }
    }
}

impl DoctorArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let checks = List {
            items: check_all(app)?,
        };
        app.out.answer(&checks)?;
        let failed = checks
            .items
            .iter()
            .filter(|check| check.status == Health::Failed)
            .count();
        if failed == 0 {
            return Ok(());
        }
        Err(Stop::new(
            Exit::Failed,
            format!(
                "find everything in order: {} failed",
                plural(failed, "check")
            ),
        )
        .into())
    }
}

fn check_all(app: &App) -> anyhow::Result<Vec<CheckView>> {
    let mut checks = vec![match GitProgram::find() {
        Ok(git) => CheckView::ok("git", git.path().display().to_string()),
        Err(error) => CheckView::failed("git", &error, "install git 2.38 or newer"),
    }];
    let root = app.surroundings.root().context("check the repository")?;
    checks.push(check_repository(&root));
    let installation = match app.surroundings.installation_at(root) {
        Ok(installation) => {
            checks.push(CheckView::ok(
                "configuration",
                "the files are right for the installation",
            ));
            installation
        }
        Err(error) => {
            checks.push(CheckView::failed(
                "configuration",
                &format!("{error:#}"),
                "`symphony config check` lists all problems",
            ));
            return Ok(checks);
        }
    };
    checks.push(check_disk(&installation));
    let project = check_database(&installation, &mut checks);
    if let Some(project) = project {
        check_project(&installation, &project, &mut checks);
    }
    Ok(checks)
}

fn check_repository(root: &Path) -> CheckView {
    const CHECK: &str = "repository";
    let looked = Repository::open(root, RepositoryOptions::default())
        .and_then(|repository| Ok((repository.branches()?, repository.default_branch())));
    match looked {
        Err(error) => CheckView::failed(CHECK, &error, "make a repository with a first commit"),
        Ok((branches, _)) if branches.iter().any(|branch| branch == BLOCKING_BRANCH) => {
            CheckView::failed(
                CHECK,
                &format!(
                    "a branch `{BLOCKING_BRANCH}` leaves no room for `{BLOCKING_BRANCH}/SYM-1`"
                ),
                format!("`git branch -m {BLOCKING_BRANCH} {BLOCKING_BRANCH}-old`"),
            )
        }
        Ok((_, Err(error))) => CheckView::warning(
            CHECK,
            error.to_string(),
            "`symphony config set base_branch NAME`",
        ),
        Ok((_, Ok(base))) => {
            CheckView::ok(CHECK, format!("{}, default branch {base}", root.display()))
        }
    }
}

fn check_disk(installation: &Installation) -> CheckView {
    const CHECK: &str = "disk";
    match rustix::fs::statvfs(&installation.root) {
        Err(error) => CheckView::failed(CHECK, &error, "look at the file system"),
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let detail = format!("{} MiB free", free >> 20);
            if free < FREE_BYTES_MIN {
                CheckView::warning(CHECK, detail, "free some space: worktrees and logs need it")
            } else {
                CheckView::ok(CHECK, detail)
            }
        }
    }
}

fn check_database(installation: &Installation, checks: &mut Vec<CheckView>) -> Option<Project> {
    const CHECK: &str = "database";
    let path = installation.config.database.display();
    let store = match existing_store(installation) {
        Ok(Some(store)) => store,
        Ok(None) => {
            checks.push(CheckView::failed(
                CHECK,
                &format!("{path} is not there"),
                "`symphony init`",
            ));
            return None;
        }
        Err(error) => {
            checks.push(CheckView::failed(
                CHECK,
                &format!("{error:#}"),
                "restore a backup, or move the file away and `symphony init`",
            ));
            return None;
        }
    };
    let durability = store.durability();
    checks.push(match durability {
        Ok((mode, _)) => CheckView::ok(CHECK, format!("{path}, journal mode {mode}")),
        Err(error) => CheckView::failed(CHECK, &error, "restore a backup"),
    });
    match store.project_at(&installation.root) {
        Ok(Some(project)) => {
            let detail = format!("{}, prefix {}", project.id, project.prefix);
            checks.push(CheckView::ok("project", detail));
            Some(project)
        }
        Ok(None) => {
            let detail = format!("{} is not registered", installation.root.display());
            checks.push(CheckView::failed("project", &detail, "`symphony init`"));
            None
        }
        Err(error) => {
            checks.push(CheckView::failed("project", &error, "restore a backup"));
            None
        }
    }
}

fn check_project(installation: &Installation, project: &Project, checks: &mut Vec<CheckView>) {
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
        Err(error) => CheckView::failed("provider", &error, "install an agent's CLI, or `symphony config set provider scripted` to try it without a model"),
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
    checks.push(
        match open_repository(project, &config).and_then(|repository| repository.base()) {
            Ok(base) => CheckView::ok("base branch", base.branch.to_string()),
            Err(error) => CheckView::failed(
                "base branch",
                &error,
                "`symphony config set base_branch NAME`",
            ),
        },
    );
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
