//! The schema and its history.

use rusqlite::{Connection, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use crate::review::point_migration::points_of_last_rejections;

/// The newest schema version that this build knows.
pub const SCHEMA_VERSION: i64 = 53;

/// The schema of a new database: what all migrations together make of an empty one. SQLite reads the whole schema again after each
/// change of it, so that the way through all versions takes many times as long.
const NEW_SCHEMA: &str = include_str!("schema/new.sql");

/// Gives a new database its schema, and an older one the changes that it lacks.
pub(crate) fn migrate(conn: &mut Connection) -> rusqlite_migration::Result<()> {
    create(conn)?;
    migrations().to_latest(conn)
}

/// Gives an empty database its schema. Another process may be about to do the same, so the version is looked at under the lock.
fn create(conn: &mut Connection) -> rusqlite::Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == 0 {
        tx.execute_batch(NEW_SCHEMA)?;
        tx.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    tx.commit()
}

/// Returns all migrations, oldest first.
pub(crate) fn migrations() -> Migrations<'static> {
    Migrations::new(vec![
        M::up(include_str!("schema/0001_base.sql")),
        M::up(include_str!("schema/0002_learnings.sql")),
        M::up(include_str!("schema/0003_subtasks_health_coverage.sql")),
        M::up(include_str!("schema/0004_spending.sql")),
        M::up(include_str!("schema/0005_plans.sql")),
        M::up(include_str!("schema/0006_project_agents.sql")),
        M::up(include_str!("schema/0007_inbox.sql")),
        M::up(include_str!("schema/0008_phase_claims.sql")),
        M::up(include_str!("schema/0009_notices.sql")),
        M::up(include_str!("schema/0010_newest_runs.sql")),
        M::up(include_str!("schema/0011_left_behind.sql")),
        M::up(include_str!("schema/0012_gates.sql")),
        M::up(include_str!("schema/0013_identity.sql")),
        M::up(include_str!("schema/0014_exit_handling.sql")),
        M::up(include_str!("schema/0015_unverified.sql")),
        M::up(include_str!("schema/0016_merges_outside.sql")),
        M::up(include_str!("schema/0017_plan_pull_requests.sql")),
        M::up(include_str!("schema/0018_notices_about_plans.sql")),
        M::up(include_str!("schema/0019_hold_trials.sql")),
        M::up(include_str!("schema/0020_plan_base_head.sql")),
        M::up(include_str!("schema/0021_tried_base.sql")),
        M::up(include_str!("schema/0022_red_gates.sql")),
        M::up(include_str!("schema/0023_merge_intents.sql")),
        M::up(include_str!("schema/0024_tried_gates.sql")),
        M::up(include_str!("schema/0025_clean_up_fault.sql")),
        M::up(include_str!("schema/0026_notices_about_projects.sql")),
        M::up_with_hook(
            include_str!("schema/0027_review_points.sql"),
            points_of_last_rejections,
        ),
        M::up(include_str!("schema/0028_learning_states.sql")),
        M::up(include_str!("schema/0029_project_findings.sql")),
        M::up(include_str!("schema/0030_checklists.sql")),
        M::up(include_str!("schema/0031_issue_cases.sql")),
        M::up(include_str!("schema/0032_done_proposals.sql")),
        M::up(include_str!("schema/0033_failures_past_a_pass.sql")),
        M::up(include_str!("schema/0034_prompt_trials.sql")),
        M::up(include_str!("schema/0035_attribution.sql")),
        M::up(include_str!("schema/0036_sandbox.sql")),
        M::up(include_str!("schema/0037_agent_choice.sql")),
        M::up(include_str!("schema/0038_messages.sql")),
        M::up(include_str!("schema/0039_taken_over.sql")),
        M::up(include_str!("schema/0040_trackers.sql")),
        M::up(include_str!("schema/0041_withdrawn_messages.sql")),
        M::up(include_str!("schema/0042_forges.sql")),
        M::up(include_str!("schema/0043_service.sql")),
        M::up(include_str!("schema/0044_workers.sql")),
        M::up(include_str!("schema/0045_large.sql")),
        M::up(include_str!("schema/0046_worker_clocks.sql")),
        M::up(include_str!("schema/0047_unprepared.sql")),
        M::up(include_str!("schema/0048_run_spending.sql")),
        M::up(include_str!("schema/0049_hosts_lost.sql")),
        M::up(include_str!("schema/0050_idle_dependencies.sql")),
        M::up(include_str!("schema/0051_awaited.sql")),
        M::up(include_str!("schema/0052_slots.sql")),
        M::up(include_str!("schema/0053_worker_folders.sql")),
    ])
}

#[cfg(test)]
mod tests;
