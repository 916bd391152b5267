//! The base of open pull requests, when its branch has another name.

use rusqlite::params;
use symphony_core::id::{IssueId, PrId, ProjectId};
use symphony_core::log::LogEvent;

use crate::context::Context;
use crate::error::StoreError;
use crate::event::{About, append};
use crate::open::Store;
use crate::row::parsed;

impl Store {
    /// Returns the base branches of a project's open pull requests.
    ///
    /// # Errors
    /// When the database can not be read.
    pub fn open_bases(&self, project: &ProjectId) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT DISTINCT base FROM pull_request WHERE project = ?1 AND state IN ('open', 'approved') ORDER BY base",
        )?;
        let bases = statement
            .query_map([project.as_str()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(bases)
    }

    /// Lets the open pull requests of a project with one base have another one; returns them. Heads and verdicts stay: the
    /// commits are the same.
    ///
    /// # Errors
    /// When the database can not be written.
    pub fn move_base(
        &mut self,
        context: &Context,
        project: &ProjectId,
        (from, to): (&str, &str),
    ) -> Result<Vec<PrId>, StoreError> {
        self.write(context, |tx| {
            let mut statement = tx.prepare(
                "UPDATE pull_request SET base = ?3, updated_at = ?4
                 WHERE project = ?1 AND base = ?2 AND state IN ('open', 'approved') RETURNING id, issue",
            )?;
            let now = context.now.as_millisecond();
            let moved: Vec<(i64, String)> = statement
                .query_map(params![project.as_str(), from, to, now], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?
                .collect::<Result<_, _>>()?;
            let mut prs = Vec::new();
            for (pr, issue) in moved {
                let (pr, issue): (_, IssueId) = (PrId::new(pr), parsed("issue", issue)?);
                let event = LogEvent::PullRequestBaseMoved {
                    pr,
                    from: from.to_owned(),
                    to: to.to_owned(),
                };
                append(tx, context, About::issue(&issue), &event)?;
                prs.push(pr);
            }
            Ok(prs)
        })
    }
}
