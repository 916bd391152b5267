//! Results of runs on other hosts that the control has not brought in yet.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId, RunId};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{Connection, params};
use crate::error::StoreError;

/// How many results are brought in at once. The next tick goes on with the rest.
const RESULTS_MAX: i64 = 500;

/// An ended run whose result no branch of the control has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpromoted {
    /// The run.
    pub run: RunId,
    /// Its issue.
    pub issue: IssueId,
    /// Where it found the branch of its issue; `None` if there was none.
    pub start: Option<String>,
    /// The commit that counts: that of the pull request or the delivery that the run handed in, or else the last one that its host brought to
    /// the hub.
    pub commit: String,
}

impl Store {
    /// Returns the results of a project that are to be brought in, in the order in which the runs began. No one goes on with an issue that has ended,
    /// and its branch may be gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unpromoted(&self, project: &ProjectId) -> Result<Vec<Unpromoted>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT r.id, r.issue, r.start_commit, coalesce(
                 (SELECT p.head_commit FROM pull_request p WHERE p.run = r.id ORDER BY p.id DESC LIMIT 1),
                 (SELECT c.head_commit FROM phase_claim c WHERE c.run = r.id ORDER BY c.id DESC LIMIT 1),
                 r.result_commit) AS accepted
             FROM run r WHERE r.project = ?1 AND r.result_commit IS NOT NULL AND r.promoted IS NULL AND r.issue IS NOT NULL
                 AND r.status NOT IN ('starting', 'running')
                 AND EXISTS (SELECT 1 FROM issue i WHERE i.id = r.issue AND i.status NOT IN ('done', 'cancelled'))
             ORDER BY r.fence LIMIT ?2",
        )?;
        let mut rows = statement.query(params![project.as_str(), RESULTS_MAX])?;
        let mut found = Vec::new();
        while let Some(row) = &rows.next()? {
            found.push(Unpromoted {
                run: parsed("run id", row.get("id")?)?,
                issue: parsed("issue id", row.get("issue")?)?,
                start: row.get("start_commit")?,
                commit: row.get("accepted")?,
            });
        }
        Ok(found)
    }

    /// Records that the branch of a run's issue has its result.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_promotion(&mut self, run: &RunId, commit: &str) -> Result<(), StoreError> {
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write(&context, |tx| {
            tx.prepare_cached("UPDATE run SET promoted = ?2 WHERE id = ?1")?
                .execute(params![run.as_str(), commit])?;
            Ok(())
        })
    }
}

/// Returns the issues whose branch lacks the result of a run, each with the first such run.
pub(crate) fn load_unpromoted(conn: &Connection) -> Result<BTreeMap<IssueId, RunId>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT r.issue, r.id FROM run r WHERE r.result_commit IS NOT NULL AND r.promoted IS NULL AND r.issue IS NOT NULL
             AND r.status NOT IN ('starting', 'running')
                 AND EXISTS (SELECT 1 FROM issue i WHERE i.id = r.issue AND i.status NOT IN ('done', 'cancelled'))
         ORDER BY r.fence DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut found = BTreeMap::new();
    while let Some(row) = &rows.next()? {
        let issue = parsed("issue id", row.get("issue")?)?;
        found.insert(issue, parsed("run id", row.get("id")?)?);
    }
    Ok(found)
}
