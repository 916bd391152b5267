//! How far base branches were checked for merges made outside, and which pull requests still have to be searched.

use symphony_core::id::{IssueId, PrId, ProjectId};
use symphony_core::outside::{BaseLook, NoticeKind, RewoundBase};
use symphony_core::pull_request::PullRequest;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::review::pull_request_query::{PrFilter, load_pr};

/// How many pull requests one tick searches for, so that a long list costs no more than a short one. The next tick
/// searches for the others.
const LOOKED_FOR_MAX: i64 = 20;

/// Open pull requests into a branch that were not searched for at its head. One that its own agent moved to the base
/// waits for a person, and one whose commits are at the hub only for the tick that brings them in.
const TO_LOOK_FOR_SQL: &str = "SELECT p.id FROM pull_request p
     WHERE p.project = ?1 AND p.state = ?4 AND p.base = ?2 AND p.base_seen IS DISTINCT FROM ?3 AND p.proposal IS NULL
       AND NOT EXISTS (SELECT 1 FROM base_notice n
                       WHERE n.pull_request = p.id AND n.dismissed_at IS NULL AND n.kind IN ('agent_at_work', 'landed'))
       AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = p.run AND r.pool IS NOT NULL AND r.promoted IS NULL)
     ORDER BY p.id LIMIT ?5";

/// The notices about base branches that were moved back.
const REWOUND_SQL: &str = "SELECT commit_id FROM base_notice INDEXED BY base_notice_project
     WHERE project = ?1 AND kind = ?2 AND issue IS NULL AND plan IS NULL ORDER BY id DESC LIMIT ?3";
/// How many such notices are read. Older ones are about commits that no open pull request has.
const REWOUND_MAX: i64 = 20;

impl Store {
    /// Returns the head of a base branch at the last check.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn base_look(
        &self,
        project: &ProjectId,
        branch: &str,
    ) -> Result<Option<String>, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT head FROM base_look WHERE project = ?1 AND branch = ?2")?
            .query_row([project.as_str(), branch], |row| row.get(0))
            .optional()?)
    }

    /// Returns the base branches of a project that were checked, each with its head at that time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn base_looks(&self, project: &ProjectId) -> Result<Vec<(String, String)>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT branch, head FROM base_look WHERE project = ?1 ORDER BY branch",
        )?;
        let looks = statement
            .query_map([project.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(looks)
    }

    /// Returns where a base branch was before it was moved back, newest first, even if a person has dismissed the
    /// notices.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn rewound_heads(
        &self,
        project: &ProjectId,
        branch: &str,
    ) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare_cached(REWOUND_SQL)?;
        let bound = params![project.as_str(), NoticeKind::Rewound.name(), REWOUND_MAX];
        let found = statement
            .query_map(bound, |row| row.get(0))?
            .collect::<Result<Vec<String>, _>>()?;
        let places = found
            .iter()
            .filter_map(|commit| RewoundBase::of_notice(commit));
        let places = places.filter(|(of, _)| *of == branch);
        Ok(places.map(|(_, was)| was.to_owned()).collect())
    }

    /// Returns whether a project has branches of issues whose commits could reach its base, because one of its issues
    /// was in work.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_branches(&self, project: &ProjectId) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM run WHERE project = ?1 AND worktree IS NOT NULL)",
            )?
            .query_row([project.as_str()], |row| row.get(0))?)
    }

    /// Returns the open pull requests into a branch that were not searched for at its current head, oldest first, each
    /// with the head at which it was last searched for.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn prs_to_look_for(
        &self,
        project: &ProjectId,
        branch: &str,
        head: &str,
    ) -> Result<Vec<(PullRequest, Option<String>)>, StoreError> {
        let ids = self.ids_to_look_for(project, branch, head)?;
        let mut seen = self
            .conn
            .prepare_cached("SELECT base_seen FROM pull_request WHERE id = ?1")?;
        ids.into_iter()
            .map(|id| {
                let seen = seen.query_row([id], |row| row.get(0))?;
                Ok((load_pr(&self.conn, PrId::new(id))?, seen))
            })
            .collect()
    }

    /// Returns whether an open pull request was not searched for at this head of its base.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_prs_to_look_for(
        &self,
        project: &ProjectId,
        branch: &str,
        head: &str,
    ) -> Result<bool, StoreError> {
        Ok(!self.ids_to_look_for(project, branch, head)?.is_empty())
    }

    fn ids_to_look_for(
        &self,
        project: &ProjectId,
        branch: &str,
        head: &str,
    ) -> Result<Vec<i64>, StoreError> {
        let mut ids = Vec::new();
        let mut statement = self.conn.prepare_cached(TO_LOOK_FOR_SQL)?;
        for state in ["open", "approved"] {
            let bound = params![project.as_str(), branch, head, state, LOOKED_FOR_MAX];
            let found = statement.query_map(bound, |row| row.get(0))?;
            ids.extend(found.collect::<Result<Vec<i64>, _>>()?);
        }
        Ok(ids)
    }

    /// Returns the newest pull request of an issue.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn newest_pr(&self, issue: &IssueId) -> Result<Option<PullRequest>, StoreError> {
        let filter = PrFilter {
            issue: Some(issue.clone()),
            ..PrFilter::default()
        };
        Ok(self.prs(&filter)?.into_iter().next())
    }

    /// Records how far a base branch was checked. If it has moved, gates that failed on it may pass now, so their hold
    /// is probed at once.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_base_look(
        &mut self,
        context: &Context,
        look: &BaseLook,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.prepare_cached(
                "INSERT INTO base_look (project, branch, head, at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (project, branch) DO UPDATE SET head = ?3, at = ?4",
            )?
            .execute(params![
                look.project.as_str(),
                look.branch,
                look.head,
                context.now.as_millisecond()
            ])?;
            let mut seen =
                tx.prepare_cached("UPDATE pull_request SET base_seen = ?2 WHERE id = ?1")?;
            for pr in &look.prs {
                seen.execute(params![pr.get(), look.head])?;
            }
            Ok(())
        })?;
        match &look.since {
            Some(since) if *since != look.head => self.probe_gates_now(context, &look.project),
            _ => Ok(()),
        }
    }
}

/// Makes a pull request due for another search, because what kept it from counting as merged was dismissed.
pub(crate) fn forget_look(
    tx: &Transaction<'_>,
    kind: NoticeKind,
    pr: Option<PrId>,
) -> Result<(), StoreError> {
    if let (NoticeKind::AgentAtWork | NoticeKind::Landed, Some(pr)) = (kind, pr) {
        tx.execute(
            "UPDATE pull_request SET base_seen = NULL WHERE id = ?1",
            [pr.get()],
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn pull_requests_to_look_for_are_found_through_the_index() {
        let store = Store::open_in_memory().unwrap();
        let plan = query_plan(&store.conn, TO_LOOK_FOR_SQL);
        assert!(plan[0].contains("pull_request_state"), "{plan:#?}");
        assert!(
            plan.iter().all(|line| !line.starts_with("SCAN")),
            "{plan:#?}"
        );
    }
}
