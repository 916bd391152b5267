//! Reading phase deliveries.

use symphony_core::contract::{
    ANCESTORS_MAX, Delivery, DeliveryState, NeededDocument, TicketDeliveries,
};
use symphony_core::id::{DeliveryId, IssueId, PhaseName, ProjectId};
use symphony_core::issue::Issue;

use crate::database::open::Store;
use crate::database::row::{json, parsed, parsed_opt, time};
use crate::db::{Connection, OptionalExtension, Row, params};
use crate::error::StoreError;

/// How many deliveries of one issue are searched for documents: as many as one run may make.
const TICKET_DELIVERIES_MAX: u32 = 50;

/// The deliveries whose documents later agents still need: of open issues, and of what open issues are parts of. These
/// are found from the wholes, so that parts that have delivered nothing are not read.
const NEEDED_DOCUMENTS: &str = "
    WITH RECURSIVE needed (id) AS (
        SELECT id FROM (
            SELECT id FROM issue INDEXED BY issue_delivered WHERE project = ?1 AND has_delivery = 1 AND status NOT IN ('done', 'cancelled')
            UNION ALL SELECT id FROM issue INDEXED BY issue_delivered_whole WHERE project = ?1 AND has_delivery = 1 AND open_subtasks > 0
            UNION ALL SELECT id FROM issue INDEXED BY issue_nested_whole WHERE project = ?1 AND parent IS NOT NULL AND open_subtasks > 0) AS begun
        UNION SELECT i.parent FROM needed JOIN issue i ON i.id = needed.id WHERE i.parent IS NOT NULL)
    SELECT c.* FROM needed CROSS JOIN phase_claim c ON c.issue = needed.id
    WHERE c.head_commit IS NOT NULL
        AND (c.open = 1 OR c.state = 'accepted' AND NOT EXISTS (
            SELECT 1 FROM phase_claim newer WHERE newer.issue = c.issue AND newer.phase = c.phase
                AND newer.state = 'accepted' AND newer.id > c.id))
    ORDER BY c.id";

fn from_row(row: &Row<'_>) -> Result<Delivery, StoreError> {
    let verdict: Option<String> = row.get("verdict")?;
    Ok(Delivery {
        id: DeliveryId::new(row.get("id")?),
        project: parsed("project id", row.get("project")?)?,
        issue: parsed("issue id", row.get("issue")?)?,
        phase: parsed("phase", row.get("phase")?)?,
        artifact_path: row.get("artifact_path")?,
        summary: row.get("summary")?,
        skip_to: parsed_opt("phase", row.get("skip_to")?)?,
        next_phase: parsed_opt("phase", row.get("next_phase")?)?,
        run: parsed_opt("run id", row.get("run")?)?,
        author: parsed("author", row.get("author")?)?,
        state: parsed("claim state", row.get("state")?)?,
        reasons: json("reasons", &row.get::<_, String>("reasons")?)?,
        verdict: verdict.map(|text| json("verdict", &text)).transpose()?,
        head_commit: row.get("head_commit")?,
        open: row.get("open")?,
        created_at: time(row.get("created_at")?)?,
    })
}

/// Reads one delivery, inside or outside a transaction.
pub(crate) fn load_delivery(conn: &Connection, id: DeliveryId) -> Result<Delivery, StoreError> {
    conn.prepare_cached("SELECT * FROM phase_claim WHERE id = ?1")?
        .query_row([id.get()], |row| Ok(from_row(row)))
        .optional()?
        .ok_or_else(|| StoreError::not_found("delivery", id))?
}

/// Reads the open delivery of an issue.
pub(crate) fn load_open_delivery(
    conn: &Connection,
    issue: &IssueId,
) -> Result<Option<Delivery>, StoreError> {
    conn.prepare_cached("SELECT * FROM phase_claim WHERE issue = ?1 AND open = 1")?
        .query_row([issue.as_str()], |row| Ok(from_row(row)))
        .optional()?
        .transpose()
}

impl Store {
    /// Returns a delivery.
    ///
    /// # Errors
    /// When there is no delivery with this id.
    pub fn delivery(&self, id: DeliveryId) -> Result<Delivery, StoreError> {
        load_delivery(&self.conn, id)
    }

    /// Returns the delivery of an issue that waits for a verdict, or for the issue to move to the next phase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_delivery(&self, issue: &IssueId) -> Result<Option<Delivery>, StoreError> {
        load_open_delivery(&self.conn, issue)
    }

    /// Returns the last deliveries of an issue, oldest first, optionally of one phase only.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn deliveries(
        &self,
        issue: &IssueId,
        phase: Option<&PhaseName>,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM (SELECT * FROM phase_claim WHERE issue = ?1 AND (CAST(?2 AS TEXT) IS NULL OR phase = ?2)
             ORDER BY id DESC LIMIT ?3) AS newest ORDER BY id",
        )?;
        let mut rows =
            statement.query(params![issue.as_str(), phase.map(PhaseName::as_str), limit])?;
        let mut deliveries = Vec::new();
        while let Some(row) = &rows.next()? {
            deliveries.push(from_row(row)?);
        }
        Ok(deliveries)
    }

    /// Returns the last deliveries of an issue and of all issues above it, which show where their documents are.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ticket_deliveries(&self, issue: &Issue) -> Result<TicketDeliveries, StoreError> {
        let mut ancestors: Vec<(IssueId, Vec<Delivery>)> = Vec::new();
        let mut above = issue.parent.clone();
        while let Some(id) = above.take_if(|_| ancestors.len() < ANCESTORS_MAX) {
            let deliveries = self.deliveries(&id, None, TICKET_DELIVERIES_MAX)?;
            above = self.issue(&id)?.parent;
            ancestors.push((id, deliveries));
        }
        Ok(TicketDeliveries {
            own: self.deliveries(&issue.id, None, TICKET_DELIVERIES_MAX)?,
            ancestors,
        })
    }

    /// Returns the documents of a project that agents still need: those of open issues and of the issues above them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn needed_documents(&self, project: &ProjectId) -> Result<Vec<NeededDocument>, StoreError> {
        let mut statement = self.conn.prepare_cached(NEEDED_DOCUMENTS)?;
        let mut rows = statement.query([project.as_str()])?;
        let mut needed = Vec::new();
        while let Some(row) = &rows.next()? {
            let delivery = from_row(row)?;
            needed.extend(delivery.head_commit.map(|commit| NeededDocument {
                issue: delivery.issue,
                phase: delivery.phase,
                path: delivery.artifact_path,
                commit,
                is_accepted: delivery.state == DeliveryState::Accepted,
                since: delivery.created_at,
            }));
        }
        Ok(needed)
    }

    /// Returns whether an issue has anything open for review: a pull request or a delivery.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_open_review(&self, issue: &IssueId) -> Result<bool, StoreError> {
        Ok(self.open_pr(issue)?.is_some() || self.open_delivery(issue)?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// What the statement replaced: it begins with every open part.
    fn from_the_parts() -> String {
        let (whole, part) = (
            "SELECT id FROM issue INDEXED BY issue_delivered_whole WHERE project = ?1 AND has_delivery = 1 AND open_subtasks > 0
            UNION ALL SELECT id FROM issue INDEXED BY issue_nested_whole WHERE project = ?1 AND parent IS NOT NULL AND open_subtasks > 0",
            "SELECT id FROM issue WHERE project = ?1 AND parent IS NOT NULL AND status NOT IN ('done', 'cancelled')",
        );
        assert!(NEEDED_DOCUMENTS.contains(whole));
        NEEDED_DOCUMENTS.replace(whole, part)
    }

    /// Issues of two projects: each with its status, its parent among the previous ones, and the states of its deliveries.
    fn issues() -> impl Strategy<Value = Vec<(&'static str, Option<usize>, Vec<&'static str>)>> {
        let status = vec!["backlog", "todo", "review", "done", "done", "cancelled"];
        let state = vec!["accepted", "accepted", "awaiting_judge", "rejected"];
        let parent = proptest::option::weighted(0.8, 0_usize..8);
        let deliveries = proptest::collection::vec(select(state), 0..3);
        proptest::collection::vec((select(status), parent, deliveries), 1..24)
    }

    proptest! {
        #[test]
        fn documents_are_found_from_the_wholes_as_from_the_parts(issues in issues()) {
            let store = Store::open_in_memory().unwrap();
            for project in ["a", "b"] {
                store.conn.execute(
                    "INSERT INTO project (id, name, root, prefix, created_at) VALUES (?1, ?1, ?1, ?1, 0)",
                    [project],
                ).unwrap();
            }
            for (number, (status, parent, deliveries)) in issues.iter().enumerate() {
                let project = if number % 2 == 0 { "a" } else { "b" };
                // an issue and its parent are of one project
                let parent = parent.map(|back| 2 * (back + 1)).filter(|back| *back <= number);
                let parent = parent.map(|back| format!("I-{}", number - back));
                let number = i64::try_from(number).unwrap();
                store.conn.execute(
                    "INSERT INTO issue (id, project, number, title, title_key, description, status, priority, parent, created_at, updated_at)
                     VALUES ('I-' || ?1, ?2, ?1, 't', 't', '', ?3, 0, ?4, 0, 0)",
                    params![number, project, status, parent],
                ).unwrap();
                for state in deliveries {
                    store.conn.execute(
                        "INSERT INTO phase_claim (project, issue, phase, summary, author, state, head_commit, open, created_at)
                         VALUES (?1, 'I-' || ?2, 'research', 's', 'researcher', ?3, 'c', ?3 = 'awaiting_judge', 0) ON CONFLICT DO NOTHING",
                        params![project, number, state],
                    ).unwrap();
                }
            }
            let found = |sql: &str, project: &str| -> Vec<i64> {
                let mut statement = store.conn.prepare(sql).unwrap();
                let rows = statement.query_map([project], |row| row.get("id")).unwrap();
                rows.map(Result::unwrap).collect()
            };
            for project in ["a", "b"] {
                prop_assert_eq!(found(NEEDED_DOCUMENTS, project), found(&from_the_parts(), project));
            }
        }
    }
}
