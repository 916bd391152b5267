//! Merges that were made outside Symphony, and notices about base branches.

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PlanId, PrId, ProjectId};
use symphony_core::issue::IssueEvent;
use symphony_core::log::LogEvent;
use symphony_core::outside::{BaseNotice, Evidence, FoundMerge};
use symphony_core::pull_request::{PrState, PullRequest, PullRequestOf};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{parsed, time, to_json};
use crate::db::{Row, Transaction, params};
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::merge::base_look::forget_look;
use crate::merge::notice::{about, insert_notice};
use crate::merge::under_way::begun_merge_of;
use crate::plan::review_end::end_merged_plan;
use crate::review::pull_request_query::{load_pr, source_or_project_from};
use crate::review::state::set_pr_state;

/// How many notices of a project are read, more than a person would.
const NOTICES_MAX: i64 = 1_000;

/// Notices that a person has not dismissed. One about a merge ends when the issue is in work again, one about a pull
/// request that its agent moved when that is no longer open, and any other when the issue is done or the plan
/// completed.
const OPEN_SQL: &str = "SELECT n.*, coalesce(i.title, 'plan ' || l.id || ' (' || l.path || ')', '') AS title
     FROM base_notice n INDEXED BY base_notice_open
     LEFT JOIN issue i ON i.id = n.issue LEFT JOIN plan l ON l.id = n.plan LEFT JOIN pull_request p ON p.id = n.pull_request
     WHERE n.project = ?1 AND n.dismissed_at IS NULL AND CASE n.kind
           WHEN 'unreviewed' THEN i.status = 'done' OR n.plan IS NOT NULL
           WHEN 'agent_at_work' THEN p.state IN ('open', 'approved')
           WHEN 'landed' THEN p.state IN ('open', 'approved')
           WHEN 'conflict' THEN p.state IN ('open', 'approved')
           WHEN 'beyond' THEN 1 = 1
           WHEN 'settings' THEN 1 = 1
           WHEN 'configuration' THEN 1 = 1
           WHEN 'submodules' THEN 1 = 1
           WHEN 'refs' THEN 1 = 1
           ELSE coalesce(i.status <> 'done', l.status <> 'completed', 1 = 1) END
     ORDER BY n.id LIMIT ?2";

/// A notice that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenNotice {
    /// Its number.
    pub id: i64,
    /// The notice.
    pub notice: BaseNotice,
    /// The title of the issue, or the plan with its file; empty for a project.
    pub title: String,
    /// Since when it has been waiting.
    pub since: Timestamp,
}

fn from_row(row: &Row<'_>) -> Result<OpenNotice, StoreError> {
    Ok(OpenNotice {
        id: row.get("id")?,
        notice: notice_from_row(row)?,
        title: row.get("title")?,
        since: time(row.get("at")?)?,
    })
}

fn notice_from_row(row: &Row<'_>) -> Result<BaseNotice, StoreError> {
    Ok(BaseNotice {
        project: parsed("project id", row.get("project")?)?,
        of: source_or_project_from(row)?,
        pr: row.get::<_, Option<i64>>("pull_request")?.map(PrId::new),
        kind: parsed("notice", row.get("kind")?)?,
        commit: row.get("commit_id")?,
        text: row.get("text")?,
    })
}

impl Store {
    /// Records that the base has the change of a pull request that Symphony did not merge: it is merged, its issue is
    /// done, and a live run on it is asked to end. A repetition changes nothing. Returns whether it was recorded now.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_outside_merge(
        &mut self,
        context: &Context,
        found: &FoundMerge,
    ) -> Result<bool, StoreError> {
        self.write(context, |tx| {
            let pr = load_pr(tx, found.pr)?;
            // It was settled meanwhile, or its agent has delivered something else.
            if pr.head_commit != found.head || !may_be_merged(tx, &pr, found)? {
                return Ok(false);
            }
            // A merge by Symphony put it there, and is about to be recorded.
            if begun_merge_of(tx, &pr.of)?.is_some() {
                return Ok(false);
            }
            let merge = &found.merge;
            tx.execute(
                "UPDATE pull_request SET merged_commit = ?2, merged_outside = ?3 WHERE id = ?1",
                params![pr.id.get(), merge.commit, to_json(merge)],
            )?;
            let event = LogEvent::PullRequestMergedOutside {
                pr: pr.id,
                commit: merge.commit.clone(),
                evidence: merge.evidence,
                by: merge.by.clone(),
            };
            append(tx, context, About::of(&pr.of), &event)?;
            set_pr_state(tx, context, &pr.of, pr.id, PrState::Merged)?;
            match &pr.of {
                PullRequestOf::Issue(issue) => {
                    move_in(tx, context, issue, &IssueEvent::MergedOutside)?;
                }
                PullRequestOf::Plan(plan) => end_merged_plan(tx, context, plan, &merge.commit)?,
            }
            if let Some(notice) = BaseNotice::of_merge(found) {
                insert_notice(tx, context, &notice)?;
            }
            Ok(true)
        })
    }

    /// Adds a notice for a person, once, however often its cause is seen. Returns whether it is new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_base(
        &mut self,
        context: &Context,
        notice: &BaseNotice,
    ) -> Result<bool, StoreError> {
        self.write(context, |tx| insert_notice(tx, context, notice))
    }

    /// Returns the notices of a project that wait for a person, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn base_notices(&self, project: &ProjectId) -> Result<Vec<OpenNotice>, StoreError> {
        let mut statement = self.conn.prepare_cached(OPEN_SQL)?;
        let mut rows = statement.query(params![project.as_str(), NOTICES_MAX])?;
        let mut found = Vec::new();
        while let Some(row) = &rows.next()? {
            found.push(from_row(row)?);
        }
        Ok(found)
    }

    /// Records that a person dismissed a notice, and returns it.
    ///
    /// # Errors
    /// When there is no such open notice.
    pub fn dismiss_base_notice(
        &mut self,
        context: &Context,
        id: i64,
    ) -> Result<BaseNotice, StoreError> {
        self.write(context, |tx| {
            let mut statement = tx.prepare_cached(
                "UPDATE base_notice SET dismissed_at = ?2 WHERE id = ?1 AND dismissed_at IS NULL
                 RETURNING project, issue, plan, pull_request, kind, commit_id, text",
            )?;
            let mut rows = statement.query(params![id, context.now.as_millisecond()])?;
            let Some(row) = rows.next()? else {
                return Err(StoreError::not_found("notice", format!("notice:{id}")));
            };
            let notice = notice_from_row(&row)?;
            drop(rows);
            forget_look(tx, notice.kind, notice.pr)?;
            let event = LogEvent::BaseNoticeDismissed { kind: notice.kind };
            append(tx, context, about(&notice), &event)?;
            Ok(notice)
        })
    }
}

/// Returns whether a merge that was made outside can be that of a pull request. What was sent back counts only at a forge's word, and
/// only while nothing else was handed in: the base having its commits does not say that anyone wanted them as they were.
fn may_be_merged(
    tx: &Transaction<'_>,
    pr: &PullRequest,
    found: &FoundMerge,
) -> Result<bool, StoreError> {
    if pr.state.is_open() {
        return Ok(true);
    }
    if pr.state != PrState::Rejected || found.merge.evidence != Evidence::Forge {
        return Ok(false);
    }
    let has_newer: bool = tx
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM pull_request WHERE (issue = ?1 OR plan = ?2) AND id > ?3)",
        )?
        .query_row(
            params![
                pr.of.issue().map(IssueId::as_str),
                pr.of.plan().map(PlanId::as_str),
                pr.id.get()
            ],
            |row| row.get(0),
        )?;
    Ok(!has_newer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn open_notices_are_found_without_reading_the_others() {
        let store = Store::open_in_memory().unwrap();
        let plan = query_plan(&store.conn, OPEN_SQL);
        assert!(plan[0].contains("base_notice_open"), "{plan:#?}");
        assert!(
            plan.iter().all(|line| !line.starts_with("SCAN")),
            "{plan:#?}"
        );
    }
}
