//! What is open here while the news of a conversation are taken in, one after the other.

use std::collections::BTreeSet;

use symphony_core::review_point::{POINTS_OPEN_MAX, PointNumber};

use crate::act::{Act, Who};
use crate::asked::{Asked, fitted};

/// Where a conversation is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The page of the pull request there.
    pub(crate) url: &'a str,
    /// The issue or plan here, as commands on review points name it.
    pub(crate) of: &'a str,
}

/// The state of a pull request here, after the news that were planned before.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    /// Whether it can still be approved or sent back.
    waits: bool,
    open: BTreeSet<PointNumber>,
    /// Points that were planned, whose numbers the store will give.
    added: usize,
}

impl Room {
    /// Begins with a pull request and the points of people that are open.
    pub(crate) fn of(waits: bool, open: &BTreeSet<PointNumber>) -> Self {
        Self {
            waits,
            open: open.clone(),
            added: 0,
        }
    }

    /// Returns whether a point is open.
    pub(crate) fn is_open(&self, point: PointNumber) -> bool {
        self.open.contains(&point)
    }

    /// Fits an act into what is left by those before it, and counts it.
    pub(crate) fn take(&mut self, act: Act, place: Place<'_>) -> Act {
        match act {
            Act::Approve { by, text, points } if self.waits => {
                // an approval closes what is open
                self.open.clear();
                self.added = 0;
                let points = self.fit(points, place.url);
                Act::Approve { by, text, points }
            }
            Act::Approve { by, points, .. } if points.is_empty() => Act::Ignore {
                why: format!("{by} approved it after the work was sent back"),
            },
            Act::Approve { by, points, .. } => self.ask(Who::Reviewer(by), points, false, place),
            Act::Ask {
                by,
                points,
                rejects,
            } => self.ask(by, points, rejects, place),
            Act::TakeBack { points, approval } => {
                for point in &points {
                    self.open.remove(point);
                }
                Act::TakeBack { points, approval }
            }
            Act::Remark { .. } | Act::Keep { .. } | Act::Ignore { .. } | Act::Nothing => act,
        }
    }

    fn ask(&mut self, by: Who, points: Vec<Asked>, rejects: bool, place: Place<'_>) -> Act {
        let Place { url, of } = place;
        self.waits &= !rejects;
        let points = self.fit(points, place.url);
        let why = format!(
            "{POINTS_OPEN_MAX} review points of people are open on {of}, which is the limit; run `symphony point close {of} NUMBER` for a settled one"
        );
        match (points.is_empty(), rejects) {
            (false, _) => Act::Ask {
                by,
                points,
                rejects,
            },
            (true, true) => Act::Keep {
                why: format!("{} requested changes ({url}): {why}", by.name()),
            },
            (true, false) => Act::Ignore {
                why: format!("remarks of {} are left out: {why}", by.name()),
            },
        }
    }

    fn fit(&mut self, points: Vec<Asked>, url: &str) -> Vec<Asked> {
        let left = POINTS_OPEN_MAX.saturating_sub(self.open.len() + self.added);
        let points = fitted(points, left, url);
        self.added += points.len();
        points
    }
}
