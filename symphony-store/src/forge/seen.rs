//! What was read of the conversations at a forge, written together with what it did here: nothing is taken twice, whoever dies.

use std::collections::BTreeMap;

use symphony_core::id::PrId;
use symphony_core::log::TrackerEntry;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::review_point::{AnswerKind, PointChanges, PointNumber};
use symphony_forge::remote::ReviewVerdict;
use symphony_forge::review::{KnownComment, KnownReview, KnownThreads, ReadComment};
use symphony_tracker::change::ChangeId;
use symphony_tracker::remote::ExternalId;

use super::pull::{ForgePullId, SAME_PULL, write_entries};
use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{json, time, to_json};
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::review::point::load_points;
use crate::review::point_judge::{NewAnswer, NewVerdict};
use crate::review::point_write::{answer_point_in, change_points_in};
use crate::review::pull_request::record_review_in;
use crate::review::taken_back::take_back_approval;

/// A comment that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenComment {
    /// The comment.
    pub comment: ReadComment,
    /// Which of the new points it became, by its place in their list.
    pub point: Option<usize>,
}

/// A review that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenReview {
    /// Its id.
    pub id: ExternalId,
    /// What it concludes.
    pub verdict: ReviewVerdict,
    /// Which of the new points its text became, by its place in their list.
    pub point: Option<usize>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The pull request that it is about.
    pub pull: ForgePullId,
    /// A review.
    pub review: Option<SeenReview>,
    /// Comments.
    pub comments: Vec<SeenComment>,
    /// What goes into the log.
    pub entries: Vec<TrackerEntry>,
}

/// What it does to the points of its issue or plan.
#[derive(Debug, Clone)]
pub enum SeenAct {
    /// Nothing.
    Nothing,
    /// It gives a verdict.
    Verdict {
        /// The pull request.
        pr: PrId,
        /// The verdict, with its points.
        verdict: Box<NewVerdict>,
    },
    /// It adds points, and closes others.
    Points(PointChanges),
    /// It closes points, and an approval that was given at the forge counts no more.
    TakeBack {
        /// The pull request.
        pr: PrId,
        /// The points.
        points: PointChanges,
    },
    /// It says something about a point.
    Remark {
        /// The point.
        point: PointNumber,
        /// What is said.
        text: String,
    },
}

impl Store {
    /// Returns what was read before of a pull request's conversation.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn known_threads(&self, pull: ForgePullId) -> Result<KnownThreads, StoreError> {
        let mut known = KnownThreads::default();
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT * FROM forge_seen WHERE pull IN ({SAME_PULL}) ORDER BY pull"
        ))?;
        let mut rows = statement.query([pull.0])?;
        while let Some(row) = &rows.next()? {
            let id = ExternalId::new(row.get::<_, String>("external_id")?);
            let verdict: Option<String> = row.get("verdict")?;
            let updated: Option<i64> = row.get("updated_at")?;
            let point: Option<u32> = row.get("point")?;
            // a later row has what was read last, and the first one what came of it
            let earlier = known.comments.get(&id).and_then(|known| known.point);
            let earlier = earlier.or_else(|| known.reviews.get(&id).and_then(|known| known.point));
            let point = point.map(PointNumber::new).or(earlier);
            if let Some(verdict) = verdict {
                let verdict = json("verdict of a review", &verdict)?;
                known.reviews.insert(id, KnownReview { verdict, point });
            } else if let Some(updated) = updated {
                let comment = KnownComment {
                    updated_at: time(updated)?,
                    point,
                };
                known.comments.insert(id, comment);
            }
        }
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT id FROM forge_reply WHERE pull IN ({SAME_PULL})"
        ))?;
        let mut rows = statement.query([pull.0])?;
        while let Some(row) = &rows.next()? {
            known.ours.insert(ChangeId::new(row.get::<_, String>(0)?));
        }
        Ok(known)
    }

    /// Returns the first comment of the thread at the forge that each point of a pull request has there.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn threads_of_points(
        &self,
        pull: ForgePullId,
    ) -> Result<BTreeMap<PointNumber, ExternalId>, StoreError> {
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT point, coalesce(thread, external_id) FROM forge_seen
             WHERE pull IN ({SAME_PULL}) AND kind = 'comment' AND point IS NOT NULL ORDER BY pull, external_id",
        ))?;
        let mut rows = statement.query([pull.0])?;
        let mut threads = BTreeMap::new();
        while let Some(row) = &rows.next()? {
            let point = PointNumber::new(row.get(0)?);
            threads.insert(point, ExternalId::new(row.get::<_, String>(1)?));
        }
        Ok(threads)
    }

    /// Records what was read together with what it does, in one transaction.
    ///
    /// # Errors
    /// As [`Store::record_review`], [`Store::change_points`] and [`Store::answer_point`]; nothing is recorded then.
    pub fn take_seen(
        &mut self,
        context: &Context,
        of: &PullRequestOf,
        seen: &Seen,
        act: &SeenAct,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let before = last_point(tx, of)?;
            match act {
                SeenAct::Nothing => {}
                SeenAct::Verdict { pr, verdict } => {
                    record_review_in(tx, context, *pr, verdict)?;
                }
                SeenAct::Points(changes) => {
                    change_points_in(tx, context, of, changes)?;
                }
                SeenAct::TakeBack { pr, points } => {
                    change_points_in(tx, context, of, points)?;
                    take_back_approval(tx, context, *pr)?;
                }
                SeenAct::Remark { point, text } => {
                    let answer = NewAnswer {
                        point: *point,
                        kind: AnswerKind::Remark,
                        commit: None,
                        text: text.clone(),
                    };
                    answer_point_in(tx, context, of, &answer)?;
                }
            }
            write_seen(tx, seen, before)?;
            write_entries(tx, context, of, &seen.entries)
        })
    }
}

/// New points are numbered one after the other, so the last number before them says which one is which.
fn last_point(tx: &Transaction<'_>, of: &PullRequestOf) -> Result<u32, StoreError> {
    let points = load_points(tx, of)?;
    Ok(points.last().map_or(0, |point| point.number.get()))
}

fn write_seen(tx: &Transaction<'_>, seen: &Seen, last: u32) -> Result<(), StoreError> {
    let number = |index: Option<usize>| {
        let index = index.and_then(|index| u32::try_from(index).ok());
        index.map(|index| last + 1 + index)
    };
    if let Some(review) = &seen.review {
        tx.execute(
            "INSERT INTO forge_seen (pull, kind, external_id, verdict, point) VALUES (?1, 'review', ?2, ?3, ?4)
             ON CONFLICT (pull, kind, external_id) DO UPDATE SET verdict = ?3",
            params![
                seen.pull.0,
                review.id.as_str(),
                to_json(&review.verdict),
                number(review.point)
            ],
        )?;
    }
    for SeenComment { comment, point } in &seen.comments {
        tx.execute(
            "INSERT INTO forge_seen (pull, kind, external_id, updated_at, point, thread) VALUES (?1, 'comment', ?2, ?3, ?4, ?5)
             ON CONFLICT (pull, kind, external_id) DO UPDATE SET updated_at = ?3",
            params![
                seen.pull.0,
                comment.id.as_str(),
                comment.updated_at.as_millisecond(),
                number(*point),
                comment.thread.as_ref().map(ExternalId::as_str),
            ],
        )?;
    }
    Ok(())
}
