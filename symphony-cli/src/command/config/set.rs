//! `symphony config set`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use symphony_core::config::ConfigProblem;
use symphony_runner::repository::open_repository;
use symphony_view::text::plural;
use symphony_workspace::config_file::{
    CONFIG_FILE_NAME, ConfigFileError, Edit, load, load_edited, prepare_over,
};
use symphony_workspace::{BranchName, Repository};

use super::check::{key_hint, problems_of, scenario_problem};
use super::list::ListElsewhere;
use super::show::role;
use crate::app::App;
use crate::command::doctor::{INSTALL, missing_programs};
use crate::failure::{Context as _, Exit, Stop, provider_fix};
use crate::json::from_json;

/// What `config set` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony config set max_concurrency 2\n  symphony config set gates '[{\"name\": \"test\", \"command\": \"make test\"}]'"
)]
pub(crate) struct SetArgs {
    /// The key: a dotted path such as `worktree.setup` or `gates[0].command`
    key: String,
    /// The value, as JSON or plain text
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// Write to the file for all projects, `~/.config/symphony/config.json`
    #[arg(long)]
    global: bool,
}

/// What was set.
#[derive(Debug, Serialize)]
struct ChangeView {
    key: String,
    value: Value,
    file: PathBuf,
}

impl SetArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let paths = app.surroundings.config_paths();
        let file = if self.global {
            paths.global.ok_or_else(|| {
                Stop::new(Exit::Failed, "HOME is not set, so there is no global file")
                    .hint("set HOME, or leave out --global")
            })?
        } else {
            match paths.explicit {
                Some(file) => file,
                None => app.surroundings.root()?.join(CONFIG_FILE_NAME),
            }
        };
        let what = || format!("set `{}`", self.key);
        let list = if self.global {
            None
        } else {
            ListElsewhere::find(app, &file, &self.key).with_context(what)?
        };
        let key = list.as_ref().map_or(&self.key, |list| &list.key);
        let whole = list.as_ref();
        let whole = whole.and_then(|list| Some((&list.path, list.value.as_ref()?)));
        let edit = prepare_over(&file, role(self.global), key, &self.value, whole)
            .map_err(|error| refusal(error, &self.value))
            .with_context(what)?;
        // a value that is valid alone can contradict others
        let (before, after) = problems_around(app, &edit).with_context(what)?;
        let new: Vec<String> = after
            .iter()
            .filter(|problem| !is_known(&before, problem))
            .map(|problem| in_no_file(problem).to_string())
            .collect();
        if !new.is_empty() {
            let hint = "set both together as one JSON object, or change both in the file";
            return Err(Stop::new(Exit::Failed, new.join("; ")).hint(hint)).with_context(what);
        }
        let change = edit.commit().with_context(what)?;
        let change_of_base = is_base_branch(&change.path.to_string());
        let view = ChangeView {
            key: change.path.to_string(),
            value: change.value,
            file,
        };
        let sentence = format!("{} is {} in {}.", view.key, view.value, view.file.display());
        app.out.done(&view, &sentence)?;
        if let Some(note) = list.as_ref().and_then(ListElsewhere::note) {
            app.out.note(&note);
        }
        if change_of_base {
            follow_base(app).context("change the base branch of the open pull requests")?;
        }
        for problem in &after {
            app.out.warn(&problem.to_string());
        }
        if decides_on_provider(&view.key)
            && after.is_empty()
            && let Some(error) = scenario_problem(app)?
        {
            app.out.warn(&format!("{error}; {}", provider_fix(&error)));
        }
        if decides_on_gates(&view.key) {
            warn_of_missing_programs(app)?;
        }
        Ok(())
    }
}

fn is_base_branch(key: &str) -> bool {
    key == "base_branch" || key.ends_with(".base_branch")
}

/// Says whether a key decides which agent runs, or what the scripted one plays.
fn decides_on_provider(key: &str) -> bool {
    key.split(['.', '['])
        .any(|part| part == "provider" || part == "providers")
}

/// Says whether a key decides which commands gates and set-up are, or where their programs are looked for.
fn decides_on_gates(key: &str) -> bool {
    let parts = || key.split(['.', '[']);
    let has = |name: &str| parts().any(|part| part == name);
    has("gates") || has("setup") || has("worktree") || has("env")
}

/// Warns at once of what `doctor` would find: a program of a gate that is not there.
fn warn_of_missing_programs(app: &App) -> anyhow::Result<()> {
    // a repository that is not set up runs no gates
    if app.surroundings.recorded_project()?.is_none() {
        return Ok(());
    }
    let session = app.session()?;
    // problems of the configuration were reported above
    let Ok(config) = session.config() else {
        return Ok(());
    };
    if let Some(missing) = missing_programs(&session.installation, &config) {
        app.out.warn(&format!("{missing}: {INSTALL}"));
    }
    Ok(())
}

/// Leads open pull requests and the work of plans to the base branch when theirs is gone: it was renamed. What goes to a
/// branch that still exists stays with it.
fn follow_base(app: &App) -> anyhow::Result<()> {
    // a repository that is not set up has no pull requests
    let Some(project) = app.surroundings.recorded_project()? else {
        return Ok(());
    };
    let mut session = app.session()?;
    let repository = open_repository(&project, &session.config()?)?;
    // a base that does not exist is reported by the next tick, and nothing follows it
    let Ok(base) = repository.base() else {
        return Ok(());
    };
    let store = &mut session.store;
    let (to, context) = (base.branch.as_str(), App::as_human());
    for old in store.open_bases(&project.id)? {
        if is_gone(&repository, &old)? {
            let moved = store.move_base(&context, &project.id, &old, to)?;
            let count = plural(moved.len(), "open pull request");
            app.out.note(&format!(
                "{count} had the base `{old}`, which no longer exists: the base is now `{to}`."
            ));
        }
    }
    for old in store.plan_targets(&project.id)? {
        if is_gone(&repository, &old)? {
            let moved = store.move_plan_targets(&context, &project.id, &old, to)?;
            let count = plural(moved.len(), "plan");
            app.out.note(&format!(
                "{count} had work for `{old}`, which no longer exists: the work now goes to `{to}`."
            ));
        }
    }
    Ok(())
}

fn is_gone(repository: &Repository, branch: &str) -> anyhow::Result<bool> {
    match BranchName::parse(branch) {
        Ok(branch) => Ok(repository.branch_head(&branch)?.is_none()),
        Err(_) => Ok(true),
    }
}

/// Returns what is wrong with the configuration now, and what would be after an edit. Where nothing would be, what is wrong
/// now is of no interest, and is not looked for.
fn problems_around(
    app: &App,
    edit: &Edit,
) -> anyhow::Result<(Vec<ConfigProblem>, Vec<ConfigProblem>)> {
    // the file of all projects can be edited outside of any repository
    let root = match app.surroundings.root() {
        Ok(root) => root,
        Err(_) => app.surroundings.current.clone(),
    };
    let paths = app.surroundings.config_paths();
    let after = problems_of(&load_edited(&paths, &root, edit)?, &root)?;
    if after.is_empty() {
        return Ok((Vec::new(), after));
    }
    // a file that `--config` names need not exist before its first key is set
    let before = match load(&paths, &root) {
        Ok(loaded) => problems_of(&loaded, &root)?,
        Err(ConfigFileError::NotFound { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    Ok((before, after))
}

/// Says whether a problem was there before, wherever it is now: lines move as the file is edited.
fn is_known(before: &[ConfigProblem], problem: &ConfigProblem) -> bool {
    before
        .iter()
        .any(|known| known.path == problem.path && known.kind == problem.kind)
}

/// Takes file and line off a problem of a text that was not written.
fn in_no_file(problem: &ConfigProblem) -> ConfigProblem {
    ConfigProblem {
        file: None,
        position: None,
        ..problem.clone()
    }
}

/// Names what is wrong with a value: the file has it not yet, so that checking the file would find nothing.
fn refusal(error: ConfigFileError, value: &str) -> anyhow::Error {
    let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
    if problems.is_empty() {
        return error.into();
    }
    if let Some(broken) = broken_json(value) {
        return Stop::new(
            Exit::Failed,
            format!("the value is not valid JSON: {broken}"),
        )
        .hint("put the value in single quotes, so that the shell leaves its double quotes alone")
        .into();
    }
    let stop = Stop::new(Exit::Failed, problems.join("; "));
    match key_hint(error.problems()) {
        Some(hint) => stop.hint(hint).into(),
        None => stop.into(),
    }
}

/// Returns what is wrong with a value that was meant as JSON: it begins as an object, a list or a quoted text.
fn broken_json(value: &str) -> Option<String> {
    let is_meant = value.trim_start().starts_with(['{', '[', '"']);
    let broken = from_json::<Value>(value.as_bytes()).err()?;
    is_meant.then(|| broken.to_string())
}
