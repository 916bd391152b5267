//! `symphony config show`.

use std::path::Path;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use symphony_core::config::{
    Effective, Entry, FileRole, INSTALLATION_KEYS, KeyPath, Segment, Source,
};
use symphony_view::text::{List, Listed, Page, Table};
use symphony_workspace::config_file::{LoadedConfig, load};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `config show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony config show providers")]
pub(crate) struct ShowArgs {
    /// Show only this key and the keys below it
    key: Option<String>,
    /// Leave out values that are defaults
    #[arg(long = "set")]
    only_set: bool,
}

/// An effective value.
#[derive(Debug, Clone, Serialize)]
struct ValueView {
    key: String,
    value: Value,
    /// `default`, `database` or `file`.
    source: &'static str,
    /// Its state, for a person: `FILE:LINE:COLUMN`.
    origin: String,
}

impl ValueView {
    fn new(key: &KeyPath, entry: &Entry) -> Self {
        let source = match entry.source {
            Source::Default => "default",
            Source::Database => "database",
            Source::File { .. } => "file",
        };
        Self {
            key: key.to_string(),
            value: entry.value.clone(),
            source,
            origin: entry.origin().to_string(),
        }
    }
}

impl Listed for ValueView {
    fn write_all(items: &[Self], page: &mut Page) {
        let mut table = Table::new(["KEY", "VALUE", "FROM"]);
        for value in items {
            table.row([
                value.key.clone(),
                value.value.to_string(),
                value.origin.clone(),
            ]);
        }
        page.table(&table);
    }
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let root = app.surroundings.root()?;
        let loaded =
            load(&app.surroundings.config_paths(), &root).context("load the configuration")?;
        let below = self
            .key
            .as_deref()
            .map(KeyPath::parse)
            .transpose()
            .context("show the configuration")?;
        let items = values(app, &loaded, &root)?;
        let wanted = |path: &KeyPath| below.as_ref().is_none_or(|key| path.below(key).is_some());
        let list: List<ValueView> = items
            .iter()
            .filter(|(path, value)| wanted(path) && !(self.only_set && value.source == "default"))
            .map(|(_, value)| value.clone())
            .collect();
        if list.items.is_empty()
            && let Some(key) = &self.key
            && !items.iter().any(|(path, _)| wanted(path))
        {
            let message = format!("there is no configuration key `{key}`");
            return Err(Stop::new(Exit::NotFound, message)
                .hint("`symphony config show` lists all keys")
                .into());
        }
        if problem_count(&loaded) > 0 {
            app.out.note("Some values are missing because the files have problems: `symphony config check` lists \
                          them.");
        }
        app.out.answer_long(&list)
    }
}

fn problem_count(loaded: &LoadedConfig) -> usize {
    loaded.problems().len()
}

/// Returns what holds for the installation, then what holds for the project.
fn values(
    app: &App,
    loaded: &LoadedConfig,
    root: &Path,
) -> anyhow::Result<Vec<(KeyPath, ValueView)>> {
    let of_installation = loaded.inspect_installation().effective;
    let project = app.surroundings.recorded_project()?;
    let (id, stored) = (
        project.as_ref().map(|p| &p.id),
        project.as_ref().map(|p| &p.settings),
    );
    let (of_project, _) = loaded
        .inspect_project(id, root, stored)
        .context("load the configuration")?;
    let mut values = selected(&of_installation, true);
    values.extend(selected(&of_project.effective, false));
    values.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(values)
}

fn selected(effective: &Effective, installation: bool) -> Vec<(KeyPath, ValueView)> {
    let belongs = |path: &KeyPath| match path.segments().first() {
        Some(Segment::Key(name)) => INSTALLATION_KEYS.contains(&name.as_str()) == installation,
        _ => false,
    };
    effective
        .iter()
        .filter(|(path, _)| belongs(path))
        .map(|(path, entry)| (path.clone(), ValueView::new(path, entry)))
        .collect()
}

/// Says which role a file has: the global one, or a project's.
pub(super) const fn role(global: bool) -> FileRole {
    if global {
        FileRole::Global
    } else {
        FileRole::Project
    }
}
