//! One case: a throwaway project with one issue, as it was recorded, and the prompts of one set.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use symphony_core::config::{INSTALLATION_KEYS, KeyPath, ProjectConfig, ProviderName};
use symphony_core::issue::IssueStatus;
use symphony_core::profile::AgentChoice;
use symphony_core::prompt_trial::{PlannedCase, RecordedIssue};
use symphony_runner::cancel::end_if_live;
use symphony_runner::database::discard_backups;
use symphony_runner::installation::Installation;
use symphony_runner::repository::open_repository;
use symphony_runner::session::Session;
use symphony_store::{NewIssue, Store};
use symphony_workspace::{BranchName, CommitId, WorkspaceError, write_private};

use super::folder::{TrialFolder, remove};
use crate::app::App;
use crate::command::InitArgs;
use crate::failure::{Context as _, Exit, Stop, sentence};

/// The configuration file of a case, beside its repository.
const CONFIG_FILE: &str = "symphony.config.json";
/// What a case never does, whatever the project is configured to do: it reaches no one, and no agent but those on the issue runs.
const OFF: [&str; 7] = [
    "intake_enabled",
    "planner_enabled",
    "scanner_enabled",
    "background_research",
    "wizard_enabled",
    "auto_done",
    // the gates are as new to the database of each case as to the one before
    "try_changed_gates",
];
/// Keys that are left out: commands that reach out, places of the real project, and caps that add up over issues.
const LEFT_OUT: [&str; 10] = [
    "$schema",
    "projects",
    // a case has one set, whatever is tried in real work
    "prompts",
    "publish",
    "notify",
    "state_dir",
    "workspaces_dir",
    "max_open_reviews",
    "spending.project",
    "spending.day",
];

/// A case that can be set up.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) folder: &'a TrialFolder,
    pub(super) planned: &'a PlannedCase,
    pub(super) issue: &'a RecordedIssue,
}

/// How a set-up ended.
#[derive(Debug)]
pub(super) enum SetUp {
    /// It can be driven.
    Ready(Box<Session>),
    /// It cannot be replayed: why, for a person.
    Impossible(String),
}

impl<'a> Case<'a> {
    /// Finds the recorded issue of a case.
    ///
    /// # Errors
    /// When the trial does not have it.
    pub(super) fn of(folder: &'a TrialFolder, planned: &'a PlannedCase) -> anyhow::Result<Self> {
        let mut known = folder.issues.issues.iter();
        let issue = known
            .find(|issue| issue.id == planned.issue)
            .ok_or_else(|| anyhow::anyhow!("the trial has no issue {}", planned.issue))?;
        Ok(Self {
            folder,
            planned,
            issue,
        })
    }

    /// Makes the throwaway project in an empty folder.
    ///
    /// # Errors
    /// When something is wrong that is not about this case.
    pub(super) fn set_up(&self, app: &App, real: &Session) -> anyhow::Result<SetUp> {
        self.clear(app)?;
        let work = self.folder.work(self.planned);
        let root = work.join("project");
        let config = real.config()?;
        let repository = open_repository(&real.project, &config)?;
        let base = repository.base()?.branch;
        let commit = CommitId::parse(&self.issue.base_commit)?;
        if !repository.has_commit(&commit)? {
            return Ok(SetUp::Impossible(format!(
                "its base commit {commit} is no longer in the repository"
            )));
        }
        std::fs::create_dir_all(&work).with_context(|| format!("make {}", work.display()))?;
        match repository.replicate(&root, &base, &commit) {
            Err(WorkspaceError::ObjectsNotFetched { .. }) => {
                return Ok(SetUp::Impossible(format!(
                    "this repository is a partial clone that lacks a part of the history up to {commit}; `git fetch --refetch --no-filter` gets it"
                )));
            }
            other => other?,
        };
        let file = work.join(CONFIG_FILE);
        let text = self.configuration(real, &config, &base)?.to_string();
        write_private(&file, text).with_context(|| format!("write {}", file.display()))?;
        let app = at(app, &work);
        InitArgs::default().set_up(&app)?;
        let mut session = app.session()?;
        self.add_issue(&mut session)?;
        Ok(SetUp::Ready(Box::new(session)))
    }

    /// Ends the agents of an earlier try, and notes what it has spent: agents outlive a trial that was killed, and go on spending.
    ///
    /// # Errors
    /// When an agent cannot be ended, or the note not be written.
    pub(super) fn settle(&self, app: &App) -> anyhow::Result<()> {
        if let Some((installation, mut store)) = self.left(app)? {
            end_all(&installation, &mut store)?;
            self.folder.note_spending(self.planned, &store)?;
        }
        Ok(())
    }

    /// Removes what an earlier try left: first its agents, which would go on writing, then its backups and its folder.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub(super) fn clear(&self, app: &App) -> anyhow::Result<()> {
        self.settle(app)?;
        if let Some((installation, store)) = self.left(app)? {
            discard_backups(&installation, &store)?;
        }
        remove(&self.folder.work(self.planned))
    }

    /// Opens the database that an earlier try left; none where its set-up was cut off before it had one, and no agent.
    fn left(&self, app: &App) -> anyhow::Result<Option<(Installation, Store)>> {
        let work = self.folder.work(self.planned);
        if !work.join(CONFIG_FILE).exists() {
            return Ok(None);
        }
        let what = format!("open what an earlier attempt left in {}", work.display());
        let installation = at(app, &work).surroundings.installation();
        // hints about a configuration are for the project's own
        let installation = installation.map_err(|error| {
            Stop::new(Exit::Failed, format!("cannot {what}: {}", sentence(&error)))
                .hint("end the agents that still work there, if any do, and remove the folder: its case starts over")
        })?;
        let store = installation.existing_store().context(what)?;
        Ok(store.map(|store| (installation, store)))
    }

    fn add_issue(&self, session: &mut Session) -> anyhow::Result<()> {
        let context = App::as_human();
        let (project, issue) = (session.project.id.clone(), self.issue);
        let number = issue.id.number();
        session
            .store
            .number_issues_from(&context, &project, number)?;
        let new = NewIssue {
            project,
            title: issue.title.clone(),
            description: issue.whole_description(),
            status: IssueStatus::Todo,
            priority: issue.priority,
            size: issue.size,
            labels: issue.labels.clone(),
            parent: None,
            depends_on: Vec::new(),
            external_id: None,
            choice: AgentChoice::default(),
        };
        let added = session.store.add_issue(&context, &new)?;
        for comment in &issue.comments {
            session
                .store
                .add_comment(&context, &added.id, &comment.text)?;
        }
        Ok(())
    }

    /// Returns the configuration of the case: what holds for the real project, with paths that mean the same from elsewhere.
    fn configuration(
        &self,
        real: &Session,
        config: &ProjectConfig,
        base: &BranchName,
    ) -> anyhow::Result<Value> {
        let loaded = real.installation.loaded();
        let project = &real.project;
        let settings = loaded.project(Some(&project.id), &project.root, Some(&project.settings))?;
        let mut document = settings.effective.document();
        let whole = loaded.inspect_installation().effective.document();
        for key in INSTALLATION_KEYS {
            if let Some(value) = whole.get(key) {
                KeyPath::of(key).put(&mut document, value.clone());
            }
        }
        let manifest = &self.folder.manifest;
        let mut said = vec![
            ("database".to_owned(), json!(".symphony/symphony.db")),
            ("prefix".to_owned(), json!(self.issue.id.prefix())),
            ("base_branch".to_owned(), json!(base.as_str())),
            ("provider".to_owned(), json!(manifest.provider)),
            ("judge_enabled".to_owned(), json!(true)),
            ("judge_cooldown_ms".to_owned(), json!(0)),
            (
                "prompts_dir".to_owned(),
                json!(self.folder.set(self.planned.set)),
            ),
        ];
        said.extend(OFF.map(|key| (key.to_owned(), json!(false))));
        said.extend(places(config));
        for (key, value) in said {
            KeyPath::of(&key).put(&mut document, value);
        }
        for key in LEFT_OUT {
            remove_key(&mut document, key);
        }
        Ok(document)
    }
}

/// The places that the project's configuration names, absolute.
fn places(config: &ProjectConfig) -> Vec<(String, Value)> {
    let providers = &config.providers;
    let mut places: Vec<(String, &Path)> = ProviderName::ALL
        .iter()
        .filter_map(|provider| {
            let binary = providers.settings(*provider).binary.as_deref()?;
            Some((format!("providers.{provider}.binary"), binary))
        })
        .collect();
    let scenario = providers.scenario.as_deref();
    places.extend(scenario.map(|path| ("providers.scripted.scenario".to_owned(), path)));
    let vault = config.vault.as_ref();
    places.extend(vault.map(|vault| ("vault.path".to_owned(), vault.path.as_path())));
    places
        .into_iter()
        .map(|(key, path)| (key, json!(path)))
        .collect()
}

fn remove_key(document: &mut Value, key: &str) {
    let (above, name) = key.rsplit_once('.').unwrap_or(("", key));
    let place = if above.is_empty() {
        Some(document)
    } else {
        document.get_mut(above)
    };
    if let Some(object) = place.and_then(Value::as_object_mut) {
        object.remove(name);
    }
}

/// Returns the surroundings of a case.
fn at(app: &App, work: &Path) -> App {
    let file: PathBuf = work.join(CONFIG_FILE);
    App {
        surroundings: app.surroundings.within(work.join("project"), file),
        out: app.out,
    }
}

/// Ends all runs of a case.
///
/// # Errors
/// When one cannot be ended.
pub(super) fn end_all(installation: &Installation, store: &mut Store) -> anyhow::Result<()> {
    for run in store.live_runs()? {
        end_if_live(installation, store, &App::as_human(), &run.id)?;
    }
    Ok(())
}
