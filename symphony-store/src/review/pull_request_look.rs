//! The progress of pull requests, for a person who watches them, without their diffs, which are large.

use symphony_core::gates::fixes_gate;
use symphony_core::id::PrId;
use symphony_core::news::{GatesProgress, PrLook, PrProgress, VerdictProgress};
use symphony_core::pull_request::{Verdict, VerifiedGates};
use symphony_core::tick::{Hold, HoldScope, Reason};

use crate::database::open::Store;
use crate::database::row::{json as from_json, parsed};
use crate::db::{Connection, Row};
use crate::error::StoreError;
use crate::review::pull_request_query::source_from;
use crate::run::hold::load_holds;

/// The columns that are read for each pull request.
const COLUMNS: &str = "SELECT id, issue, plan, state, base, head_commit, verified_gates, gates_problem, verdict, \
                       merged_commit, merged_outside IS NOT NULL AS is_merged_outside, proposal IS NOT NULL AS is_proposal, \
                       EXISTS (SELECT 1 FROM run WHERE run.pull_request = pull_request.id AND run.agent = 'gates' \
                       AND run.status IN ('starting', 'running')) AS gates_run, project, \
                       (SELECT labels FROM issue WHERE issue.id = pull_request.issue) AS labels FROM pull_request";
/// The open pull requests, through the index of states.
const OPEN: &str = "WHERE project IN (SELECT id FROM project) AND state IN ('open', 'approved')";

impl Store {
    /// Reads the pull requests that are open, were open at the previous look, or are newer than it, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn look_at_prs(&self, before: Option<&PrLook>) -> Result<PrLook, StoreError> {
        let conn = &self.conn;
        let newest: Option<i64> =
            conn.query_row("SELECT max(id) FROM pull_request", [], |row| row.get(0))?;
        let holds = load_holds(conn)?;
        let read = |sql: &str, value: Option<i64>| match value {
            Some(value) => read(conn, sql, [value], &holds),
            None => read(conn, sql, [], &holds),
        };
        let mut prs = read(&format!("{COLUMNS} {OPEN}"), None)?;
        if let Some(before) = before {
            let since = before.newest.map_or(0, PrId::get);
            prs.extend(read(&format!("{COLUMNS} WHERE id > ?1"), Some(since))?);
            for known in &before.prs {
                let one = Some(known.pr.get());
                prs.extend(read(&format!("{COLUMNS} WHERE id = ?1"), one)?);
            }
        }
        prs.sort_by_key(|pr| pr.pr);
        prs.dedup_by_key(|pr| pr.pr);
        Ok(PrLook {
            newest: newest.map(PrId::new),
            prs,
        })
    }
}

fn read(
    conn: &Connection,
    sql: &str,
    values: impl crate::db::Params,
    holds: &[Hold],
) -> Result<Vec<PrProgress>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut prs = Vec::new();
    while let Some(row) = &rows.next()? {
        prs.push(from_row(row, holds)?);
    }
    Ok(prs)
}

fn from_row(row: &Row<'_>, holds: &[Hold]) -> Result<PrProgress, StoreError> {
    let head: String = row.get("head_commit")?;
    let gates: Option<String> = row.get("verified_gates")?;
    let gates: Option<VerifiedGates> = gates
        .map(|text| from_json("verified gates", &text))
        .transpose()?;
    let verdict: Option<String> = row.get("verdict")?;
    let verdict: Option<Verdict> = verdict
        .map(|text| from_json("verdict", &text))
        .transpose()?;
    let gates = match gates.filter(|gates| gates.commit == head) {
        _ if row.get("gates_run")? => GatesProgress::Running,
        Some(gates) => GatesProgress::of(&gates),
        None => match gates_hold(row, holds)? {
            Some(held) => GatesProgress::Held {
                why: held.to_string(),
            },
            None => GatesProgress::Waiting {
                problem: row.get("gates_problem")?,
            },
        },
    };
    let verdict = verdict.filter(|verdict| verdict.commit == head);
    Ok(PrProgress {
        pr: PrId::new(row.get("id")?),
        of: source_from(row)?,
        state: parsed("pull request state", row.get("state")?)?,
        base: row.get("base")?,
        head,
        gates,
        verdict: verdict.map(|verdict| VerdictProgress {
            kind: verdict.kind,
            by: verdict.author,
            comment: verdict.comment,
        }),
        merged: row.get("merged_commit")?,
        is_merged_outside: row.get("is_merged_outside")?,
        is_proposal: row.get("is_proposal")?,
    })
}

/// Returns the hold for a red base that the gates of a pull request wait for. Pull requests that repair a gate do not
/// wait.
fn gates_hold(row: &Row<'_>, holds: &[Hold]) -> Result<Option<Reason>, StoreError> {
    let scope = HoldScope::Gates(parsed("project id", row.get("project")?)?);
    let Some(hold) = holds.iter().find(|hold| hold.scope == scope) else {
        return Ok(None);
    };
    let labels: Option<String> = row.get("labels")?;
    let labels: Vec<String> = labels
        .map(|text| from_json("labels", &text))
        .transpose()?
        .unwrap_or_default();
    Ok((!fixes_gate(&labels)).then(|| Reason::held(hold)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn a_look_reads_no_pull_request_that_has_ended_long_ago() {
        let store = Store::open_in_memory().unwrap();
        let steps = |wheres: &str| query_plan(&store.conn, &format!("{COLUMNS} {wheres}"));
        let through = |steps: &[String], step: &str| steps.iter().any(|found| found.contains(step));
        let open = steps(OPEN);
        assert!(
            through(
                &open,
                "USING INDEX pull_request_state (project=? AND state=?)"
            ),
            "{open:#?}"
        );
        for wheres in ["WHERE id > 7", "WHERE id = 7"] {
            let steps = steps(wheres);
            assert!(through(&steps, "USING INTEGER PRIMARY KEY"), "{steps:#?}");
            assert!(through(&steps, "USING INDEX run_judge"), "{steps:#?}");
        }
    }
}
