//! `symphony learnings retire` and `symphony learnings restore`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::id::LearningId;
use symphony_store::{LearningRecord, Store, StoreError};

use super::person::refuse_agents;
use crate::app::App;
use crate::output::{List, plural};
use crate::view::LearningView;

/// What `learnings retire` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony learnings retire 5f0e19a2c7d4")]
pub(crate) struct RetireArgs {
    /// The learnings: the beginning or the end of their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// What `learnings restore` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony learnings restore 5f0e19a2c7d4")]
pub(crate) struct RestoreArgs {
    /// The learnings: the beginning or the end of their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl RetireArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        refuse_agents(app, "retire learnings")?;
        let mut session = app.session()?;
        let ids = found(&session.store, &self.ids).context("retire the learnings")?;
        let records = session
            .store
            .retire_learnings(&App::as_human(), &ids)
            .context("retire the learnings")?;
        let sentence = format!("Retired {}.", plural(records.len(), "learning"));
        app.out.done(&views(records), &sentence)
    }
}

impl RestoreArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        refuse_agents(app, "restore learnings")?;
        let mut session = app.session()?;
        let ids = found(&session.store, &self.ids).context("restore the learnings")?;
        let records = session
            .store
            .restore_learnings(&App::as_human(), &ids)
            .context("restore the learnings")?;
        app.out.done(
            &views(records),
            &format!("Restored {}.", plural(ids.len(), "learning")),
        )
    }
}

fn found(store: &Store, texts: &[String]) -> Result<Vec<LearningId>, StoreError> {
    texts
        .iter()
        .map(|text| store.find_learning(text).map(|record| record.learning.id))
        .collect()
}

fn views(records: Vec<LearningRecord>) -> List<LearningView> {
    records.into_iter().map(LearningView::from).collect()
}
