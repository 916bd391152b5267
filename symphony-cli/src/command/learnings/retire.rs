//! `symphony learnings retire` and `symphony learnings restore`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::id::LearningId;
use symphony_store::{LearningRecord, Store, StoreError};

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
        let mut session = app.session()?;
        let named = Named::find(&session.store, &self.ids).context("retire the learnings")?;
        let records = session
            .store
            .retire_learnings(&App::as_human(), &named.ids)
            .context("retire the learnings")?;
        let sentence = sentence("Retired", named.active, named.retired, "retired already");
        app.out.done(&views(records), &sentence)
    }
}

impl RestoreArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let named = Named::find(&session.store, &self.ids).context("restore the learnings")?;
        let records = session
            .store
            .restore_learnings(&App::as_human(), &named.ids)
            .context("restore the learnings")?;
        let sentence = sentence("Restored", named.retired, named.active, "not retired");
        app.out.done(&views(records), &sentence)
    }
}

/// Learnings that were named, each once, and how many of them stand and are retired.
struct Named {
    ids: Vec<LearningId>,
    active: usize,
    retired: usize,
}

impl Named {
    fn find(store: &Store, texts: &[String]) -> Result<Self, StoreError> {
        let mut named = Self {
            ids: Vec::new(),
            active: 0,
            retired: 0,
        };
        for text in texts {
            let record = store.find_learning(text)?;
            if named.ids.contains(&record.learning.id) {
                continue;
            }
            if record.retired {
                named.retired += 1;
            } else {
                named.active += 1;
            }
            named.ids.push(record.learning.id);
        }
        Ok(named)
    }
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
