//! Issues that repair gates which are red on the base.

use symphony_core::gates::{GateRepair, repaired_gates};
use symphony_core::id::ProjectId;

use crate::database::open::Store;
use crate::database::row::{json, parsed};
use crate::error::StoreError;

/// The label is a part of the index, so it is a part of the statement, too.
const REPAIRS_SQL: &str = "SELECT id, status, labels FROM issue INDEXED BY issue_repairing
     WHERE project = ?1 AND status NOT IN ('done', 'cancelled') AND instr(labels, 'fixes-gate:') > 0 ORDER BY number";

impl Store {
    /// Returns the open issues of a project that repair gates, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn gate_repairs(&self, project: &ProjectId) -> Result<Vec<GateRepair>, StoreError> {
        let mut statement = self.conn.prepare_cached(REPAIRS_SQL)?;
        let mut rows = statement.query([project.as_str()])?;
        let mut repairs = Vec::new();
        while let Some(row) = &rows.next()? {
            let labels: Vec<String> = json("labels", &row.get::<_, String>("labels")?)?;
            for gate in repaired_gates(&labels) {
                repairs.push(GateRepair {
                    gate: gate.to_owned(),
                    issue: parsed("issue id", row.get("id")?)?,
                    status: parsed("issue status", row.get("status")?)?,
                });
            }
        }
        Ok(repairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use symphony_core::gates::FIXES_GATE_LABEL;

    #[test]
    fn the_statement_looks_for_the_label_of_repairs() {
        assert!(REPAIRS_SQL.contains(&format!("instr(labels, '{FIXES_GATE_LABEL}')")));
    }
}
