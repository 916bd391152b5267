//! Importing learnings from an export: a backup, or another installation.

use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::learning::{LearningSource, LearningState};
use symphony_core::log::LogEvent;

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::learning::pack::pack_rows;
use crate::learning::row::{LearningRecord, insert_learning};
use crate::learning::state::{add_source, settle_learning, source_of_run};

/// How many learnings are imported in one transaction, which takes about a second, far less than other writers wait.
const IMPORTED_AT_ONCE: usize = 10_000;

/// The result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// Learnings that are new.
    pub added: u64,
    /// Learnings whose id already existed. They were left unchanged.
    pub skipped: u64,
}

impl Store {
    /// Imports learnings into a project, with their authors, times, labels and commits. Issue and run are kept if the
    /// learning was exported from this very project and they exist, since the same name elsewhere is another issue.
    /// Existing learnings are left unchanged, so that an interrupted import can simply be repeated.
    ///
    /// # Errors
    /// When a field of any learning breaks a limit (then nothing is imported), a run calls it, or the project does not
    /// exist.
    pub fn import_learnings(
        &mut self,
        context: &Context,
        project: &ProjectId,
        records: &[LearningRecord],
    ) -> Result<Imported, StoreError> {
        if matches!(context.actor, Actor::Run(_)) {
            return Err(StoreError::OnlyPeople("import learnings"));
        }
        records.iter().try_for_each(LearningRecord::check)?;
        self.project(project)?;
        let mut total = Imported::default();
        for part in records.chunks(IMPORTED_AT_ONCE) {
            let imported = self.write(context, |tx| {
                let imported = import_part(tx, context, project, part)?;
                let about = About {
                    project: Some(project),
                    ..About::default()
                };
                let counts = LogEvent::LearningsImported {
                    added: imported.added,
                    skipped: imported.skipped,
                };
                append(tx, context, about, &counts)?;
                Ok(imported)
            })?;
            total.added += imported.added;
            total.skipped += imported.skipped;
        }
        Ok(total)
    }
}

fn import_part(
    tx: &Transaction<'_>,
    context: &Context,
    project: &ProjectId,
    records: &[LearningRecord],
) -> Result<Imported, StoreError> {
    let mut imported = Imported::default();
    let mut known = tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM learning WHERE id = ?1)")?;
    for record in records {
        if known.query_row([record.learning.id.as_str()], |row| row.get(0))? {
            imported.skipped += 1;
            continue;
        }
        let mut record = record.clone();
        keep_own_provenance(tx, project, &mut record)?;
        record.project = project.clone();
        let work = waits_for(tx, &record)?;
        if record.state == LearningState::Proposed && work.is_none() {
            record.state = LearningState::Accepted;
        }
        insert_learning(tx, context, &record)?;
        if let Some((source, run)) = work {
            add_source(tx, &record.learning.id, &source, &run)?;
            settle_learning(tx, context, &record.learning.id)?;
        }
        imported.added += 1;
    }
    pack_rows(tx, project.as_str())?;
    Ok(imported)
}

/// Returns the work whose end decides on an imported proposal, if it is the project's own. Without such work, the
/// person who imports it accepts it.
fn waits_for(
    tx: &Transaction<'_>,
    record: &LearningRecord,
) -> Result<Option<(LearningSource, RunId)>, StoreError> {
    match &record.run {
        Some(run) if record.state == LearningState::Proposed => {
            Ok(source_of_run(tx, run)?.map(|source| (source, run.clone())))
        }
        _ => Ok(None),
    }
}

/// Removes issue and run unless they are the project's own.
fn keep_own_provenance(
    tx: &Transaction<'_>,
    project: &ProjectId,
    record: &mut LearningRecord,
) -> Result<(), StoreError> {
    let is_own = |sql, id: &str| -> Result<bool, StoreError> {
        let mut statement = tx.prepare_cached(sql)?;
        let exists: bool = statement.query_row([id, project.as_str()], |row| row.get(0))?;
        Ok(exists && record.project == *project)
    };
    let issue = record
        .issue
        .as_ref()
        .map(IssueId::as_str)
        .map_or(Ok(false), |id| {
            is_own(
                "SELECT EXISTS (SELECT 1 FROM issue WHERE id = ?1 AND project = ?2)",
                id,
            )
        })?;
    let run = record
        .run
        .as_ref()
        .map(RunId::as_str)
        .map_or(Ok(false), |id| {
            is_own(
                "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1 AND project = ?2)",
                id,
            )
        })?;
    if !issue {
        record.issue = None;
    }
    if !run {
        record.run = None;
    }
    Ok(())
}
