//! A merge between its intent and its record.
//!
//! The intent is in the row of the pull request from before the base moves until the merge is recorded or taken back.
//! Meanwhile no one else may change the pull request, its issue or its plan. Whoever wants to must first finish the
//! merge or take it back, depending on the base branch.

use serde::{Deserialize, Serialize};
use symphony_core::asker::Verification;
use symphony_core::id::{PrId, ProjectId};
use symphony_core::log::LogEvent;
use symphony_core::pull_request::PullRequest;
use symphony_core::user::Attribution;

use crate::database::context::{Actor, Context, Person};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{json, to_json};
use crate::db::{Row, params};
use crate::error::StoreError;
use crate::merge::under_way::refuse_under_merge;
use crate::review::pull_request_query::load_pr;
use crate::review::refusal::{ReviewRefusal, refuse_proposal};
use crate::review::state::refuse_not_in_review;

/// Merges of a project that have started and are not recorded.
const BEGUN_SQL: &str = "SELECT id, merge_intent, CAST(unixepoch('subsec') * 1000 AS BIGINT) AS now FROM pull_request INDEXED BY pull_request_merging
     WHERE project = ?1 AND merge_intent IS NOT NULL ORDER BY id";

/// A merge that has started and is not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeIntent {
    /// The pull request.
    pub pr: PrId,
    /// The commit that its base is to move to.
    pub merged: String,
    /// The person who ordered it; `None` in what older versions wrote.
    pub by: Option<Person>,
    /// The repository that it is made in, where the database is on a server: only there the base shows whether it was reached.
    pub place: Option<MergePlace>,
    /// How long ago it started, in milliseconds by the clock of the database; `None` in what older versions wrote.
    pub age_ms: Option<i64>,
}

/// The repository that a merge is made in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergePlace {
    /// Which one it is among all copies.
    pub repository: String,
    /// The host that it is on, for people.
    pub host: String,
}

/// What a merge does to its base.
#[derive(Debug, Clone, Copy)]
pub struct BaseMove<'a> {
    /// The commit that the base is at.
    pub from: &'a str,
    /// The commit that it will be at.
    pub to: &'a str,
    /// Where it is made; `None` with the database in a file.
    pub place: Option<&'a MergePlace>,
}

/// What the row of the pull request has of it.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    #[serde(default)]
    base_before: String,
    merged: String,
    #[serde(default)]
    by: Option<WrittenPerson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<MergePlace>,
    /// When it started, by the clock of the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
}

/// The person who ordered it, so that whoever records an interrupted merge can name them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenPerson {
    #[serde(default)]
    unverified: Option<String>,
    #[serde(flatten)]
    attribution: Attribution,
}

impl WrittenPerson {
    pub(crate) fn of(actor: &Actor) -> Option<Self> {
        let Actor::Human(person) = actor else {
            return None;
        };
        Some(Self {
            unverified: person.verification.reason().map(str::to_owned),
            attribution: person.attribution.clone(),
        })
    }

    pub(crate) fn person(self) -> Person {
        Person {
            verification: self
                .unverified
                .map_or(Verification::Verified, Verification::Unverified),
            attribution: self.attribution,
        }
    }
}

fn from_row(row: &Row<'_>) -> Result<MergeIntent, StoreError> {
    let written: String = row.get("merge_intent")?;
    let written: Written = json("merge intent", &written)?;
    let now: i64 = row.get("now")?;
    Ok(MergeIntent {
        pr: PrId::new(row.get("id")?),
        merged: written.merged,
        by: written.by.map(WrittenPerson::person),
        place: written.place,
        age_ms: written.at.map(|at| now - at),
    })
}

impl Store {
    /// Records that a person is about to merge, and what that does to the base. `seen` is the pull
    /// request as it was when the merge was decided on: gates may have run for an hour since, and someone may have
    /// withdrawn it.
    ///
    /// # Errors
    /// When it does not exist, is no longer open, has another head or base, when its issue or plan is not in review, or
    /// when another merge of it has started.
    pub fn record_merge_intent(
        &mut self,
        context: &Context,
        seen: &PullRequest,
        base: BaseMove<'_>,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let pr = load_pr(tx, seen.id)?;
            let change = if !pr.state.is_open() {
                Some(format!("it is {} now", pr.state))
            } else if pr.head_commit != seen.head_commit {
                Some(format!("its head is {} now", pr.head_commit))
            } else if pr.base != seen.base {
                Some(format!("its base is now `{}`", pr.base))
            } else {
                None
            };
            if let Some(change) = change {
                return Err(ReviewRefusal::ChangedInMerge { pr: pr.id, change }.into());
            }
            refuse_proposal(&pr)?;
            refuse_not_in_review(tx, &pr)?;
            refuse_under_merge(tx, &pr.of)?;
            let now = tx
                .prepare_cached("SELECT CAST(unixepoch('subsec') * 1000 AS BIGINT)")?
                .query_row([], |row| row.get(0))?;
            let written = Written {
                base_before: base.from.to_owned(),
                merged: base.to.to_owned(),
                by: WrittenPerson::of(&context.actor),
                place: base.place.cloned(),
                at: Some(now),
            };
            tx.execute(
                "UPDATE pull_request SET merge_intent = ?2 WHERE id = ?1",
                params![pr.id.get(), to_json(&written)],
            )?;
            let intended = LogEvent::MergeIntended {
                pr: pr.id,
                base_before: base.from.to_owned(),
                merged: base.to.to_owned(),
            };
            append(tx, context, About::of(&pr.of), &intended)
        })
    }

    /// Returns the merge of a pull request that has started and is not recorded.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn merge_intent(&self, pr: PrId) -> Result<Option<MergeIntent>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, merge_intent, CAST(unixepoch('subsec') * 1000 AS BIGINT) AS now FROM pull_request
             WHERE id = ?1 AND merge_intent IS NOT NULL",
        )?;
        let mut rows = statement.query([pr.get()])?;
        rows.next()?.map(|row| from_row(&row)).transpose()
    }

    /// Returns the merges of a project that have started and are not recorded, whether running or interrupted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn merge_intents(&self, project: &ProjectId) -> Result<Vec<MergeIntent>, StoreError> {
        let mut statement = self.conn.prepare_cached(BEGUN_SQL)?;
        let mut rows = statement.query([project.as_str()])?;
        let mut found = Vec::new();
        while let Some(row) = &rows.next()? {
            found.push(from_row(row)?);
        }
        Ok(found)
    }

    /// Takes back a merge that did not reach its base, so that the pull request is as before. One that was recorded or
    /// started again meanwhile is left alone.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn take_back_merge(
        &mut self,
        context: &Context,
        intent: &MergeIntent,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            // The commit is compared, since the intent was read outside this transaction: another process may have
            // settled it and started a new merge, whose intent must stay.
            tx.execute(
                "UPDATE pull_request SET merge_intent = NULL, base_seen = NULL WHERE id = ?1 AND merge_intent ->> '$.merged' = ?2",
                params![intent.pr.get(), intent.merged],
            )?;
            Ok(())
        })
    }
}
