//! Which items met a condition or probed its hold. `symphony_core::hold` decides with these records.

use std::collections::BTreeSet;

use symphony_core::hold::{Fault, ProbeItem, Trial, Trials, own_fault};
use symphony_core::id::RunId;
use symphony_core::run::{Run, RunError};
use symphony_core::tick::HoldScope;

use crate::database::context::Context;
use crate::database::row::{count32, json, parsed_opt, to_json};
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::run::ending::RunFinish;
use crate::run::hold_lift::{LiftCause, lift};
use crate::run::hold_scope::{scope_from, scope_key};

/// Reads the trials of a scope, given its key.
pub(crate) fn load_trials(
    conn: &crate::db::Connection,
    scope: &str,
) -> Result<Vec<Trial>, StoreError> {
    let mut statement =
        conn.prepare_cached("SELECT * FROM hold_trial WHERE scope = ?1 ORDER BY item")?;
    let mut rows = statement.query([scope])?;
    let mut trials = Vec::new();
    while let Some(row) = &rows.next()? {
        trials.push(Trial {
            item: json("item of a hold", &row.get::<_, String>("item")?)?,
            turn: row.get("turn")?,
            failures: count32(row, "failures")?,
            held: count32(row, "held")?,
            alone: count32(row, "alone")?,
            witness: parsed_opt("run id", row.get("witness")?)?,
            doubted: row.get("doubted")?,
        });
    }
    Ok(trials)
}

/// Changes the trials of a scope.
fn change<T>(
    tx: &Transaction<'_>,
    scope: &str,
    change: impl FnOnce(&mut Trials) -> T,
) -> Result<T, StoreError> {
    let before = Trials::new(load_trials(tx, scope)?);
    let mut after = before.clone();
    let answer = change(&mut after);
    if after == before {
        return Ok(answer);
    }
    tx.prepare_cached("DELETE FROM hold_trial WHERE scope = ?1")?
        .execute([scope])?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO hold_trial (scope, item, turn, failures, held, alone, witness, doubted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for trial in after.as_slice() {
        insert.execute(params![
            scope,
            to_json(&trial.item),
            trial.turn,
            trial.failures,
            trial.held,
            trial.alone,
            trial.witness.as_ref().map(RunId::as_str),
            trial.doubted,
        ])?;
    }
    Ok(answer)
}

fn item_of(run: &Run) -> ProbeItem {
    ProbeItem::of(&run.target, &run.project, &run.agent)
}

/// Records that a run probes holds, so that their items take turns.
pub(crate) fn begin_trials(
    tx: &Transaction<'_>,
    scopes: &[HoldScope],
    run: &Run,
) -> Result<(), StoreError> {
    for scope in scopes {
        let begin = |trials: &mut Trials| trials.begin(&item_of(run), run.fence.get());
        change(tx, &scope_key(scope), begin)?;
    }
    Ok(())
}

/// Records that a run met a condition, if it did. When the run's item is at fault itself, returns the error that the
/// run ends with instead: no hold is placed, and the failure counts.
pub(crate) fn meet_condition(
    tx: &Transaction<'_>,
    run: &Run,
    finish: &RunFinish,
) -> Result<Option<RunError>, StoreError> {
    let Some(hold) = &finish.hold else {
        return Ok(None);
    };
    let newest: i64 = tx
        .prepare_cached("SELECT coalesce(max(fence), 0) FROM run")?
        .query_row([], |row| row.get(0))?;
    let fail = |trials: &mut Trials| trials.fail(&item_of(run), newest);
    let fault = change(tx, &scope_key(&hold.scope), fail)?;
    Ok(match (fault, &finish.error) {
        (Fault::Item { witness }, Some(error)) if hold.scope.provider().is_some() => {
            Some(own_fault(error, &witness))
        }
        _ => None,
    })
}

/// Records that a run reached its provider, and lifts the holds that it probed and that cover it.
pub(crate) fn reach(tx: &Transaction<'_>, context: &Context, run: &Run) -> Result<(), StoreError> {
    let item = item_of(run);
    for key in scopes_of_trials(tx)? {
        let scope = scope_from(key.clone())?;
        if scope.covers_model(&run.provider, run.model.as_deref()) {
            let reach = |trials: &mut Trials| trials.reach(&item, &run.id, run.fence.get());
            change(tx, &key, reach)?;
        }
    }
    let probed: Vec<String> = tx
        .prepare_cached("SELECT scope FROM hold WHERE canary = ?1 ORDER BY scope")?
        .query_map([run.id.as_str()], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for key in probed {
        let scope = scope_from(key.clone())?;
        // The run's model may have changed between its claim and its start. Then it proves nothing about the one that
        // it was to probe.
        let is_shown =
            scope.provider().is_none() || scope.covers_model(&run.provider, run.model.as_deref());
        if is_shown {
            lift(tx, context, LiftCause::Probe(run), &key)?;
            change(tx, &key, Trials::lift)?;
        }
    }
    forget(tx, context, |known| {
        Ok(*known == item || is_over(tx, known)?)
    })
}

/// Forgets items that have ended. A hold for which no item waits any longer is dropped, because no run would ever probe
/// it.
pub(crate) fn forget_ended(tx: &Transaction<'_>, context: &Context) -> Result<(), StoreError> {
    forget(tx, context, |known| is_over(tx, known))
}

fn forget(
    tx: &Transaction<'_>,
    context: &Context,
    is_over: impl Fn(&ProbeItem) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    for key in scopes_of_trials(tx)? {
        let mut over = BTreeSet::new();
        for trial in load_trials(tx, &key)? {
            if is_over(&trial.item)? {
                over.insert(trial.item);
            }
        }
        let is_dropped = change(tx, &key, |trials| {
            trials.forget(|item| over.contains(item)) && !trials.is_waited_for()
        })?;
        if is_dropped && scope_from(key.clone())?.provider().is_some() {
            lift(tx, context, LiftCause::NothingWaits, &key)?;
        }
    }
    Ok(())
}

fn scopes_of_trials(tx: &Transaction<'_>) -> Result<Vec<String>, StoreError> {
    let scopes = tx
        .prepare_cached("SELECT DISTINCT scope FROM hold_trial ORDER BY scope")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(scopes)
}

/// Returns whether an item has ended, and so never waits for a hold again.
fn is_over(tx: &Transaction<'_>, item: &ProbeItem) -> Result<bool, StoreError> {
    let (sql, keys) = match item {
        ProbeItem::Issue(issue) => (
            "SELECT 1 FROM issue WHERE id = ?1 AND ?2 = '' AND status NOT IN ('done', 'cancelled')",
            [issue.to_string(), String::new()],
        ),
        ProbeItem::Plan(plan) => (
            "SELECT 1 FROM plan WHERE id = ?1 AND ?2 = '' AND status NOT IN ('completed', 'failed', 'aborted')",
            [plan.to_string(), String::new()],
        ),
        ProbeItem::Phase(plan, phase) => (
            "SELECT 1 FROM plan p JOIN plan_phase f ON f.plan = p.id WHERE p.id = ?1 AND f.phase = ?2
                AND p.status NOT IN ('completed', 'failed', 'aborted') AND f.status NOT IN ('complete', 'failed', 'aborted')",
            [plan.to_string(), phase.to_string()],
        ),
        ProbeItem::Project(project, _) => (
            "SELECT 1 FROM project WHERE id = ?1 AND ?2 = ''",
            [project.to_string(), String::new()],
        ),
    };
    let found: Option<i64> = tx
        .prepare_cached(sql)?
        .query_row(keys, |row| row.get(0))
        .optional()?;
    Ok(found.is_none())
}
