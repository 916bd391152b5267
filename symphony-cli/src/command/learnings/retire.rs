//! What people decide about learnings: `symphony learnings accept`, `retire` and `restore`.

use clap::Args;
use symphony_core::id::LearningId;
use symphony_core::learning::LearningState;
use symphony_store::{LearningRecord, Store, StoreError};
use symphony_view::LearningView;
use symphony_view::text::{List, plural};

use crate::app::App;
use crate::failure::Context as _;

/// What `learnings accept` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "A learning that a run proposed is accepted automatically once its issue or plan is \
                  done.\n\nExample:\n  symphony learnings accept 5f0e19a2c7d4"
)]
pub(crate) struct AcceptArgs {
    /// The learnings: the beginning or the end of their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

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

impl AcceptArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let what = "accept the learnings";
        let mut session = app.session()?;
        let named = find(&session.store, &self.ids).context(what)?;
        let (changed, same) = split(&named, |state| state != LearningState::Accepted);
        let accepted = session
            .store
            .accept_learnings(&App::as_human(), &ids(&named));
        let sentence = sentence("Accepted", changed, same, "accepted already");
        app.out.done(&views(accepted.context(what)?), &sentence)
    }
}

impl RetireArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let what = "retire the learnings";
        let mut session = app.session()?;
        let named = find(&session.store, &self.ids).context(what)?;
        let (changed, same) = split(&named, |state| state != LearningState::Retired);
        let retired = session
            .store
            .retire_learnings(&App::as_human(), &ids(&named));
        let sentence = sentence("Retired", changed, same, "retired already");
        app.out.done(&views(retired.context(what)?), &sentence)
    }
}

impl RestoreArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let what = "restore the learnings";
        let mut session = app.session()?;
        let named = find(&session.store, &self.ids).context(what)?;
        // one that is proposed waits for its issue, and was not asked about
        let (changed, same) = split(&named, |state| state == LearningState::Retired);
        let (retired, mut others): (Vec<_>, Vec<_>) = named
            .into_iter()
            .partition(|record| record.state == LearningState::Retired);
        let restored = session
            .store
            .accept_learnings(&App::as_human(), &ids(&retired));
        let mut records = restored.context(what)?;
        records.append(&mut others);
        let sentence = sentence("Restored", changed, same, "not retired");
        app.out.done(&views(records), &sentence)
    }
}

/// Finds learnings that were named, each once.
fn find(store: &Store, texts: &[String]) -> Result<Vec<LearningRecord>, StoreError> {
    let mut named: Vec<LearningRecord> = Vec::new();
    for text in texts {
        let record = store.find_learning(text)?;
        if !named.contains(&record) {
            named.push(record);
        }
    }
    Ok(named)
}

fn ids(records: &[LearningRecord]) -> Vec<LearningId> {
    records
        .iter()
        .map(|record| record.learning.id.clone())
        .collect()
}

/// Counts those that a command changes, and those that are so already.
fn split(named: &[LearningRecord], changes: fn(LearningState) -> bool) -> (usize, usize) {
    let changed = named.iter().filter(|record| changes(record.state)).count();
    (changed, named.len() - changed)
}

/// Says how many were changed, and how many were so before: `Retired 2 learnings; 1 was retired already.`
fn sentence(done: &str, changed: usize, unchanged: usize, so_before: &str) -> String {
    let changed = plural(changed, "learning");
    match unchanged {
        0 => format!("{done} {changed}."),
        1 => format!("{done} {changed}; 1 was {so_before}."),
        n => format!("{done} {changed}; {n} were {so_before}."),
    }
}

fn views(records: Vec<LearningRecord>) -> List<LearningView> {
    records.into_iter().map(LearningView::from).collect()
}
