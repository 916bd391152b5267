//! Holds: global conditions, which use no attempt.

use symphony_core::id::{ProjectId, RunId};
use symphony_core::log::LogEvent;
use symphony_core::retry::{hold_until, is_ahead_of_clock};
use symphony_core::run::Run;
use symphony_core::tick::{Hold, HoldScope};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{count32, parsed, parsed_opt, time};
use crate::db::{Connection, OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::gates::tried::{forget_tried, note_tried};
use crate::run::hold_lift::{LiftCause, lift};
use crate::run::hold_scope::{scope_from, scope_key};
use crate::run::hold_trial::{begin_trials, load_trials};
use crate::run::new_hold::NewHold;

/// Reads all holds.
pub(crate) fn load_holds(conn: &Connection) -> Result<Vec<Hold>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT * FROM hold ORDER BY scope")?;
    let mut rows = statement.query([])?;
    let mut holds = Vec::new();
    while let Some(row) = &rows.next()? {
        let key: String = row.get("scope")?;
        holds.push(Hold {
            trials: load_trials(conn, &key)?,
            scope: scope_from(key)?,
            until: time(row.get("until")?)?,
            placed_at: time(row.get("placed_at")?)?,
            class: parsed("error class", row.get("class")?)?,
            reason: row.get("reason")?,
            probes: count32(row, "probes")?,
            canary: parsed_opt("run id", row.get("canary")?)?,
            tried: row.get("tried")?,
        });
    }
    Ok(holds)
}

/// Places a hold that a run or a person's trial of the gates met, or extends the existing one.
///
/// Only a probe that fails lengthens the wait. Runs that were live when the hold was placed meet the same condition one
/// after the other: they do not count as probes, do not replace the current one, and nothing waits any longer for them,
/// unless the provider tells one of them when it is back.
pub(crate) fn place(
    tx: &Transaction<'_>,
    context: &Context,
    run: Option<&RunId>,
    new: &NewHold,
) -> Result<(), StoreError> {
    if let HoldScope::Gates(project) = &new.scope {
        forget_tried(tx, project)?;
    }
    let key = scope_key(&new.scope);
    let standing: Option<(i64, u32, Option<String>, i64)> = tx
        .prepare_cached("SELECT until, probes, canary, placed_at FROM hold WHERE scope = ?1")?
        .query_row([&key], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let now = context.now.as_millisecond();
    let (earliest, probes, canary, placed_at) = match standing {
        None => (i64::MIN, 0, None, now),
        Some((_, probes, Some(canary), placed_at))
            if run.is_some_and(|run| canary == run.as_str()) =>
        {
            (i64::MIN, probes.saturating_add(1), None, placed_at.min(now))
        }
        // The end of this hold was computed before the clock was set back.
        Some((_, probes, canary, placed_at))
            if is_ahead_of_clock(time(placed_at)?, context.now) =>
        {
            (i64::MIN, probes, canary, now)
        }
        Some((until, probes, canary, placed_at)) => (until, probes, canary, placed_at),
    };
    let is_kept = earliest != i64::MIN && new.until.is_none() && new.scope.provider().is_some();
    let until = if is_kept {
        time(earliest)?
    } else {
        hold_until(context.now, new.until, new.first_ms, probes)
    };
    tx.prepare_cached(
        "INSERT INTO hold (scope, until, class, reason, probes, canary, placed_at, tried) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (scope) DO UPDATE SET until = ?2, class = ?3, reason = ?4, probes = ?5, canary = ?6, placed_at = ?7, tried = ?8",
    )?
    .execute(params![
        key,
        until.as_millisecond().max(earliest),
        new.class.name(),
        new.reason,
        probes,
        canary,
        placed_at,
        new.tried,
    ])?;
    let placed = LogEvent::HoldPlaced {
        scope: new.scope.clone(),
        until,
        class: new.class,
        reason: new.reason.clone(),
    };
    append(tx, context, About::default(), &placed)
}

/// Records which run probes whether the conditions are over.
pub(crate) fn set_canary(
    tx: &Transaction<'_>,
    scopes: &[HoldScope],
    run: &Run,
) -> Result<(), StoreError> {
    for scope in scopes {
        tx.prepare_cached("UPDATE hold SET canary = ?2 WHERE scope = ?1")?
            .execute([scope_key(scope), run.id.to_string()])?;
    }
    begin_trials(tx, scopes, run)
}

/// Frees the holds whose probe is this run, and which it neither lifted nor extended.
pub(crate) fn clear_canary(tx: &Transaction<'_>, run: &RunId) -> Result<(), StoreError> {
    // Without this, a hold whose probe ended without a result would wait for that probe for ever.
    tx.prepare_cached("UPDATE hold SET canary = NULL WHERE canary = ?1")?
        .execute([run.as_str()])?;
    Ok(())
}

impl Store {
    /// Returns all holds.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn holds(&self) -> Result<Vec<Hold>, StoreError> {
        load_holds(&self.conn)
    }

    /// Records the result of a trial of set-up and gates on a project's base. A red result holds the project before an
    /// agent is paid for a change that cannot pass; a green one ends such a hold.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_base_trial(
        &mut self,
        context: &Context,
        project: &ProjectId,
        red: Option<&NewHold>,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            if let Some(hold) = red {
                return place(tx, context, None, hold);
            }
            let scope = HoldScope::Gates(project.clone());
            lift(tx, context, LiftCause::Tried, &scope_key(&scope))
        })
    }

    /// Makes the hold for a project's red base due for its probe at once, because the base has moved.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn probe_gates_now(
        &mut self,
        context: &Context,
        project: &ProjectId,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.prepare_cached("UPDATE hold SET until = min(until, ?2) WHERE scope = ?1")?
                .execute(params![
                    scope_key(&HoldScope::Gates(project.clone())),
                    context.now.as_millisecond()
                ])?;
            Ok(())
        })
    }

    /// Lifts all holds, because a person knows that their causes are over, and returns how many there were. A run that
    /// hits the same condition places its hold again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn lift_holds(&mut self, context: &Context) -> Result<usize, StoreError> {
        self.write(context, |tx| {
            // The person wants agents to run despite red gates, so these gates are not tried again before the next
            // agent.
            for hold in load_holds(tx)? {
                if let (HoldScope::Gates(project), Some(tried)) = (&hold.scope, &hold.tried) {
                    note_tried(tx, context, project, tried)?;
                }
            }
            let lifted = tx.prepare_cached("DELETE FROM hold")?.execute([])?;
            tx.prepare_cached("DELETE FROM hold_trial")?.execute([])?;
            if lifted > 0 {
                let count = lifted as u64;
                let event = LogEvent::HoldsLifted { count };
                append(tx, context, About::default(), &event)?;
            }
            Ok(lifted)
        })
    }
}
