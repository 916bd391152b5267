//! Issues that repair gates which are red on the base.

use symphony_core::gates::{FIXES_GATE_LABEL, GateRepair, repaired_gates};
use symphony_core::id::ProjectId;

use crate::database::open::Store;
use crate::database::row::{json, parsed};
use crate::error::StoreError;

impl Store {
    /// Returns the open issues of a project that repair gates, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn gate_repairs(&self, project: &ProjectId) -> Result<Vec<GateRepair>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, status, labels FROM issue INDEXED BY issue_status
             WHERE project = ?1 AND status IN ('backlog', 'todo', 'in_progress', 'review', 'blocked') AND instr(labels, ?2) > 0
             ORDER BY number",
        )?;
        let mut rows = statement.query([project.as_str(), FIXES_GATE_LABEL])?;
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
