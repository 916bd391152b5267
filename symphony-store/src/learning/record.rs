//! Adding and reading learnings.
//!
//! A learning is never removed. Its state changes (`state`), and a person may change its text (`edit`). What ranking reads of an
//! accepted learning is in a separate table, and made here when it is recorded (`learning_rank`).

use symphony_core::id::{IssueId, LearningId, ProjectId, RunId};
use symphony_core::issue::FieldError;
use symphony_core::learning::{
    Known, Learning, LearningSource, LearningState, LearningType, check_pattern_length,
};
use symphony_core::log::LogEvent;
use symphony_learning::{likeness, normalise};

use crate::database::context::Context;
use crate::database::event::append;
use crate::database::open::Store;
use crate::database::row::{parsed, to_json};
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::note::check_run_limit;
use crate::issue::query::load_issue;
use crate::learning::pack::pack_rows;
use crate::learning::row::{
    COLUMNS, LearningRecord, about, from_row, insert_learning, load_learning,
};
use crate::learning::state::{add_source, settle_learning, source_of_run};
use crate::run::record::several_fit;

/// How many learnings one run may add. A run that adds more is looping.
const RUN_LEARNINGS_MAX: i64 = 50;

/// A learning to be added.
#[derive(Debug, Clone)]
pub struct NewLearning {
    /// Its id, which the caller makes.
    pub id: LearningId,
    /// The project.
    pub project: ProjectId,
    /// The issue that it came from.
    pub issue: Option<IssueId>,
    /// The commit that it was learned at.
    pub commit: Option<String>,
    /// The text.
    pub pattern: String,
    /// Its kind.
    pub learning_type: Option<LearningType>,
    /// The paths that it applies to.
    pub applies_to: Vec<String>,
}

/// What happened to a new learning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LearningAddition {
    /// It was recorded.
    Added(LearningRecord),
    /// This proposed learning already has the text. The new one's work was added to its sources.
    Seconded(LearningRecord),
    /// This learning already has the text. Nothing was written.
    Known(LearningRecord),
}

/// Which learnings to list, newest first.
#[derive(Debug, Clone)]
pub struct LearningFilter {
    /// Only those of this project.
    pub project: Option<ProjectId>,
    /// Only those of this kind.
    pub learning_type: Option<LearningType>,
    /// Only those in one of these states.
    pub states: Vec<LearningState>,
    /// Also those that this issue proposed, which its own runs get.
    pub or_proposed_by: Option<IssueId>,
    /// At most this many.
    pub limit: Option<u32>,
}

impl Default for LearningFilter {
    /// Returns a filter for the accepted ones of all projects.
    fn default() -> Self {
        Self {
            project: None,
            learning_type: None,
            states: vec![LearningState::Accepted],
            or_proposed_by: None,
            limit: None,
        }
    }
}

/// Checks the fields of a learning whose text is new.
pub(super) fn check_new_text(record: &LearningRecord) -> Result<(), FieldError> {
    record.check()?;
    check_pattern_length(&record.learning.pattern)?;
    // A text that is empty after normalisation would never be given to an agent.
    if normalise(&record.learning.pattern).is_empty() {
        return Err(FieldError::NoWord { field: "pattern" });
    }
    Ok(())
}

/// Finds another learning of a project that already has a text: of several, an accepted one, otherwise a proposed one. Also
/// returns what happens to the text.
pub(super) fn find_known(
    tx: &Transaction<'_>,
    project: &ProjectId,
    new: &LearningId,
    pattern: &str,
    source: Option<&LearningSource>,
) -> Result<Option<(LearningId, Known)>, StoreError> {
    let text = normalise(pattern);
    let mut statement = tx.prepare_cached(
        "SELECT id, state, pattern FROM learning WHERE project = ?1 AND id <> ?2
         ORDER BY CASE state WHEN 'accepted' THEN 0 WHEN 'proposed' THEN 1 WHEN 'retired' THEN 2 ELSE 3 END, created_at, id",
    )?;
    let mut rows = statement.query([project.as_str(), new.as_str()])?;
    while let Some(row) = &rows.next()? {
        let Some(likeness) = likeness(&text, row.get_ref(2)?.as_str().unwrap_or_default()) else {
            continue;
        };
        let state: LearningState = parsed("learning state", row.get(1)?)?;
        if let Some(known) = state.meet(likeness, source) {
            return Ok(Some((parsed("learning id", row.get(0)?)?, known)));
        }
    }
    Ok(None)
}

/// Adds the work of a new text to the sources of the learning that already has the text, if that one waits for its
/// work.
fn meet_known(
    tx: &Transaction<'_>,
    context: &Context,
    id: &LearningId,
    known: Known,
    source: Option<&(LearningSource, &RunId)>,
) -> Result<LearningAddition, StoreError> {
    let (Known::Seconded, Some((source, run))) = (known, source) else {
        return Ok(LearningAddition::Known(load_learning(tx, id.as_str())?));
    };
    if add_source(tx, id, source, run)? {
        let record = load_learning(tx, id.as_str())?;
        let learning = id.clone();
        let seconded = LogEvent::LearningSeconded { learning };
        append(tx, context, about(&record), &seconded)?;
        settle_learning(tx, context, id)?;
    }
    Ok(LearningAddition::Seconded(load_learning(tx, id.as_str())?))
}

impl Store {
    /// Adds a learning with the labels of its issue. A run's learning is proposed until its issue or plan is done; all
    /// others are accepted. A text that the project already knows is not recorded again.
    ///
    /// # Errors
    /// When a field breaks a limit, the text has no letter and no digit, the issue does not exist, or the run has added
    /// too many learnings.
    pub fn add_learning(
        &mut self,
        context: &Context,
        new: &NewLearning,
    ) -> Result<LearningAddition, StoreError> {
        let mut record = LearningRecord {
            learning: Learning {
                id: new.id.clone(),
                pattern: new.pattern.clone(),
                learning_type: new.learning_type,
                applies_to: new.applies_to.clone(),
                labels: Vec::new(),
                created_at: context.now,
            },
            project: new.project.clone(),
            issue: new.issue.clone(),
            run: context.actor.run().cloned(),
            commit: new.commit.clone(),
            author: context.actor.author(),
            state: LearningState::Accepted,
            sources: Vec::new(),
        };
        check_new_text(&record)?;
        self.write(context, |tx| {
            check_run_limit(tx, context, "learning", RUN_LEARNINGS_MAX)?;
            let source = match context.actor.run() {
                Some(run) => source_of_run(tx, run)?.map(|source| (source, run)),
                None => None,
            };
            let work = source.as_ref().map(|(source, _)| source);
            if let Some((id, known)) = find_known(tx, &new.project, &new.id, &new.pattern, work)? {
                return meet_known(tx, context, &id, known, source.as_ref());
            }
            if let Some(issue) = &new.issue {
                record.learning.labels = load_issue(tx, issue)?.labels;
            }
            if source.is_some() {
                record.state = LearningState::Proposed;
            }
            insert_learning(tx, context, &record)?;
            append(
                tx,
                context,
                about(&record),
                &LogEvent::LearningAdded {
                    learning: new.id.clone(),
                },
            )?;
            if let Some((source, run)) = &source {
                add_source(tx, &new.id, source, run)?;
                // Its work may have ended while the run continued.
                settle_learning(tx, context, &new.id)?;
            }
            pack_rows(tx, new.project.as_str())?;
            Ok(LearningAddition::Added(load_learning(tx, new.id.as_str())?))
        })
    }

    /// Returns a learning.
    ///
    /// # Errors
    /// When there is no learning with this id.
    pub fn learning(&self, id: &LearningId) -> Result<LearningRecord, StoreError> {
        load_learning(&self.conn, id.as_str())
    }

    /// Finds a learning by the beginning or the end of its id.
    ///
    /// # Errors
    /// When no learning fits, or several do.
    pub fn find_learning(&self, text: &str) -> Result<LearningRecord, StoreError> {
        if LearningId::parse(text).is_err() {
            return Err(StoreError::not_found("learning", text));
        }
        // Compared byte by byte, since an id may contain what is a wildcard elsewhere.
        let mut statement = self.conn.prepare_cached(
            "SELECT id FROM learning WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, length(id) - length(?1) + 1) = ?1
             ORDER BY id <> ?1, id LIMIT 6",
        )?;
        let found: Vec<String> = statement
            .query_map([text], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        match found.as_slice() {
            [] => Err(StoreError::not_found("learning", text)),
            [one, ..] if one == text => load_learning(&self.conn, one),
            [one] => load_learning(&self.conn, one),
            several => Err(several_fit("learnings", text, several)),
        }
    }

    /// Lists learnings, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn learnings(&self, filter: &LearningFilter) -> Result<Vec<LearningRecord>, StoreError> {
        let scope = if filter.project.is_some() {
            "project = ?1"
        } else {
            "CAST(?1 AS TEXT) IS NULL"
        };
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM learning l WHERE {scope} AND (CAST(?2 AS TEXT) IS NULL OR learning_type = ?2)
             AND (state IN (SELECT value FROM json_each(?3)) OR state = 'proposed'
                  AND EXISTS (SELECT 1 FROM learning_source s WHERE s.issue = ?4 AND s.learning = l.id))
             ORDER BY created_at DESC, id DESC LIMIT ?5",
        ))?;
        let mut rows = statement.query(params![
            filter.project.as_ref().map(ProjectId::as_str),
            filter.learning_type.map(LearningType::name),
            to_json(&filter.states),
            filter.or_proposed_by.as_ref().map(IssueId::as_str),
            filter.limit.map_or(i64::MAX, i64::from),
        ])?;
        let mut learnings = Vec::new();
        while let Some(row) = &rows.next()? {
            learnings.push(from_row(row)?);
        }
        Ok(learnings)
    }
}
