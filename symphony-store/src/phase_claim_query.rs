//! Reading phase claims.

use rusqlite::{Connection, OptionalExtension, Row, params};
use symphony_core::contract::{PhaseClaim, TicketClaims};
use symphony_core::id::{ClaimId, IssueId, PhaseName};
use symphony_core::issue::Issue;

use crate::error::StoreError;
use crate::open::Store;
use crate::row::{json, parsed, parsed_opt, time};

/// Claims of one issue that are looked at for its documents: as many as a run may make.
const TICKET_CLAIMS_MAX: u32 = 50;

fn from_row(row: &Row<'_>) -> Result<PhaseClaim, StoreError> {
    let verdict: Option<String> = row.get("verdict")?;
    Ok(PhaseClaim {
        id: ClaimId::new(row.get("id")?),
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

/// Reads one claim, inside or outside a transaction.
pub(crate) fn load_claim(conn: &Connection, id: ClaimId) -> Result<PhaseClaim, StoreError> {
    conn.prepare_cached("SELECT * FROM phase_claim WHERE id = ?1")?
        .query_row([id.get()], |row| Ok(from_row(row)))
        .optional()?
        .ok_or_else(|| StoreError::not_found("phase claim", id))?
}

/// Reads the open claim of an issue.
pub(crate) fn load_open_claim(
    conn: &Connection,
    issue: &IssueId,
) -> Result<Option<PhaseClaim>, StoreError> {
    conn.prepare_cached("SELECT * FROM phase_claim WHERE issue = ?1 AND open = 1")?
        .query_row([issue.as_str()], |row| Ok(from_row(row)))
        .optional()?
        .transpose()
}

impl Store {
    /// Returns a claim.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn phase_claim(&self, id: ClaimId) -> Result<PhaseClaim, StoreError> {
        load_claim(&self.conn, id)
    }

    /// Returns the claim of an issue that still waits for a verdict, or for the issue's step to the next phase.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_claim(&self, issue: &IssueId) -> Result<Option<PhaseClaim>, StoreError> {
        load_open_claim(&self.conn, issue)
    }

    /// Returns the last claims of an issue, oldest first; of one phase when one is named.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn claims(
        &self,
        issue: &IssueId,
        phase: Option<&PhaseName>,
        limit: u32,
    ) -> Result<Vec<PhaseClaim>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM (SELECT * FROM phase_claim WHERE issue = ?1 AND (?2 IS NULL OR phase = ?2)
             ORDER BY id DESC LIMIT ?3) ORDER BY id",
        )?;
        let mut rows =
            statement.query(params![issue.as_str(), phase.map(PhaseName::as_str), limit])?;
        let mut claims = Vec::new();
        while let Some(row) = rows.next()? {
            claims.push(from_row(row)?);
        }
        Ok(claims)
    }

    /// Returns the last claims of an issue and of its parent, which say where their documents are.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ticket_claims(&self, issue: &Issue) -> Result<TicketClaims, StoreError> {
        let parent = match &issue.parent {
            Some(parent) => {
                let claims = self.claims(parent, None, TICKET_CLAIMS_MAX)?;
                Some((parent.clone(), claims))
            }
            None => None,
        };
        Ok(TicketClaims {
            own: self.claims(&issue.id, None, TICKET_CLAIMS_MAX)?,
            parent,
        })
    }

    /// Says whether an issue has something open to be reviewed: a pull request, or a phase claim.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_open_review(&self, issue: &IssueId) -> Result<bool, StoreError> {
        Ok(self.open_pr(issue)?.is_some() || self.open_claim(issue)?.is_some())
    }
}
