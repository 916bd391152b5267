//! The demo's project: files, first commit, registration, issues.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{IndexAddOption, RepositoryInitOptions, Signature};
use symphony_core::config::{FileRole, ProviderName};
use symphony_core::issue::{Issue, IssueStatus, Priority, Size};
use symphony_core::profile::AgentChoice;
use symphony_runner::session::Session;
use symphony_store::NewIssue;
use symphony_workspace::config_file::{CONFIG_FILE_NAME, set};

use super::pace::slowed_down;
use crate::app::App;
use crate::command::InitArgs;
use crate::failure::{Context as _, Exit, Stop};

/// Folders of one name that a number distinguishes.
const SAME_NAME_MAX: u32 = 1000;

/// The files of the project before any agent came.
const FILES: &[(&str, &str)] = &[
    (
        "README.md",
        include_str!("../../../../examples/demo/project/README.md"),
    ),
    (
        "greet.sh",
        include_str!("../../../../examples/demo/project/greet.sh"),
    ),
    (
        "tests/run.sh",
        include_str!("../../../../examples/demo/project/tests/run.sh"),
    ),
    (
        "tests/world.test.sh",
        include_str!("../../../../examples/demo/project/tests/world.test.sh"),
    ),
];
const CONFIG: &str = include_str!("../../../../examples/demo/symphony.config.json");
const SCENARIO: &str = include_str!("../../../../examples/demo/scenario.json");
/// Where the configuration looks for the scenario.
const SCENARIO_FILE: &str = ".symphony/demo-scenario.json";

/// What is asked for.
const ISSUES: [(&str, &str); 2] = [
    (
        "Greet a person by name",
        "`sh greet.sh Ada` prints `Hello, Ada!`. Without a name it greets the world, as before. A test shows the new behaviour.",
    ),
    (
        "Say goodbye",
        "`sh greet.sh --bye Ada` prints `Goodbye, Ada!`, and `sh greet.sh --bye` prints `Goodbye, world!`. Greetings stay as they are. A test shows both.",
    ),
];

/// The demo's files on disk.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) config: PathBuf,
    /// What runs the agents.
    pub(super) provider: ProviderName,
}

/// Chooses the folder: a new one, or the wanted one, with a number after its name if it is not empty.
pub(super) fn choose_folder(wanted: Option<&Path>) -> anyhow::Result<PathBuf> {
    let Some(wanted) = wanted else {
        let folder = tempfile::Builder::new()
            .prefix("symphony-demo-")
            .tempdir()
            .context("create a folder")?;
        return Ok(folder.keep());
    };
    let numbered = (2..SAME_NAME_MAX).map(|n| {
        let mut name = wanted.as_os_str().to_owned();
        name.push(format!("-{n}"));
        PathBuf::from(name)
    });
    let folder = std::iter::once(wanted.to_path_buf())
        .chain(numbered)
        .find(|folder| is_free(folder))
        .ok_or_else(|| {
            Stop::new(
                Exit::Refused,
                format!(
                    "the folder {} is not empty, and neither are the folders with this name and a number",
                    wanted.display()
                ),
            )
            .hint("choose another one with --dir")
        })?;
    fs::create_dir_all(&folder)
        .with_context(|| format!("create the folder {}", folder.display()))?;
    Ok(folder)
}

fn is_free(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

impl Files {
    /// Writes the project and commits it.
    pub(super) fn write(folder: &Path, provider: ProviderName) -> anyhow::Result<Self> {
        for (path, text) in FILES {
            write(&folder.join(path), text)?;
        }
        commit(folder).context("create a git repository")?;
        let config = folder.join(CONFIG_FILE_NAME);
        write(&config, CONFIG)?;
        write(&folder.join(SCENARIO_FILE), SCENARIO)?;
        if provider != ProviderName::Scripted {
            set(&config, FileRole::Project, "provider", provider.name())?;
        }
        Ok(Self { config, provider })
    }

    /// Lets the scripted agents pause between their turns, for a person who watches.
    pub(super) fn slow_down(folder: &Path) -> anyhow::Result<()> {
        write(&folder.join(SCENARIO_FILE), &slowed_down(SCENARIO))
    }

    /// Adds the issues, each depending on the one before.
    #[expect(
        clippy::unused_self,
        reason = "there are no issues without the files they are about"
    )]
    pub(super) fn add_issues(&self, session: &mut Session) -> anyhow::Result<Vec<Issue>> {
        let mut added: Vec<Issue> = Vec::new();
        for (title, description) in ISSUES {
            let new = NewIssue {
                project: session.project.id.clone(),
                title: title.to_owned(),
                description: description.to_owned(),
                status: IssueStatus::Todo,
                priority: Priority::Medium,
                size: Some(Size::Small),
                labels: vec!["demo".to_owned()],
                parent: None,
                depends_on: added
                    .last()
                    .map(|issue| issue.id.clone())
                    .into_iter()
                    .collect(),
                external_id: None,
                choice: AgentChoice::default(),
            };
            added.push(
                session
                    .store
                    .add_issue(&App::as_human(), &new)
                    .context("add an issue")?,
            );
        }
        Ok(added)
    }
}

/// Registers the project, as `symphony init` does. Returns it,
/// and says how its agents are confined.
pub(super) fn create(demo: &App) -> anyhow::Result<(Session, String)> {
    let set_up = InitArgs::default().set_up(demo)?;
    let sandbox = set_up.sandbox.sentence(set_up.sandbox_level);
    Ok((demo.session()?, sandbox))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let what = || format!("write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(what)?;
    }
    fs::write(path, text).with_context(what)
}

/// Creates a repository with a first commit, without the user's templates and commit signing.
fn commit(folder: &Path) -> Result<(), git2::Error> {
    let mut options = RepositoryInitOptions::new();
    options
        .initial_head("main")
        .no_reinit(true)
        .external_template(false);
    let repository = git2::Repository::init_opts(folder, &options)?;
    let mut config = repository.config()?;
    config.set_str("user.name", "Symphony demo")?;
    config.set_str("user.email", "demo@localhost")?;
    config.set_bool("commit.gpgsign", false)?;
    let mut index = repository.index()?;
    index.add_all(["*"], IndexAddOption::FORCE, None)?;
    index.write()?;
    let tree = repository.find_tree(index.write_tree()?)?;
    let author = Signature::now("Symphony demo", "demo@localhost")?;
    repository.commit(
        Some("HEAD"),
        &author,
        &author,
        "A greeter with a test",
        &tree,
        &[],
    )?;
    Ok(())
}
