//! Reviews of people at the forge, taken in.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::asker::Verification;
use symphony_core::pull_request::{PullRequestOf, VerdictKind};
use symphony_core::review_point::{
    NewPoint, PointChanges, PointMove, PointNumber, PointState, ReviewPoint,
};
use symphony_core::user::{Attribution, Source};
use symphony_forge::reading::is_settled;
use symphony_forge::remote::RemoteState;
use symphony_forge::review::{
    Act, Asked, Conversation, News, Who, has_unknown_marker, plan_reviews,
};
use symphony_mcp::Reviewed;
use symphony_store::{
    Actor, Context, Person, ReviewRefusal, Seen, SeenAct, SeenComment, SeenReview, StoreError,
};
use symphony_workspace::Failpoint;

use super::fault::as_forge;
use super::round::{Mirrored, Round};
use crate::error::RunnerError;
use crate::order::{OrderRefusal, PersonVerdict, RedGates, record_verdict};
use crate::outreach::stop::Stop;

/// What came of something that people wrote.
enum Taken {
    /// It is recorded, with what it does.
    In,
    /// It is not, and the next look tries again. A demand to change something keeps the merge back meanwhile.
    Later { objection: Option<String> },
}

impl Round<'_> {
    /// Reads what people wrote since the last look, and does what it asks for.
    pub(super) async fn hear(&mut self, both: &mut Mirrored) -> Result<(), Stop> {
        let Some(theirs) = &both.theirs else {
            return Ok(());
        };
        let (number, updated, url) = (theirs.number, theirs.updated_at, theirs.url.clone());
        if theirs.state != RemoteState::Open || both.pull.read_at == Some(updated) {
            return Ok(());
        }
        let is_settled = is_settled(updated, theirs.answered_at);
        let reviews = self.client.reviews(number).await?;
        let comments = self.client.review_comments(number).await?;
        let known = self.session.store.known_threads(both.pull.id)?;
        let open = self.open_of_people(both)?;
        let me = if has_unknown_marker(&known, &comments) {
            self.client.user().await?.map(|user| user.id)
        } else {
            None
        };
        let of = match &both.pr.of {
            PullRequestOf::Issue(issue) => issue.to_string(),
            PullRequestOf::Plan(plan) => plan.to_string(),
        };
        let news = plan_reviews(Conversation {
            settings: self.settings,
            head: &both.pr.head_commit,
            is_open: both.pr.state.is_open(),
            url: &url,
            of: &of,
            me: me.as_ref(),
            open: &open,
            known: &known,
            reviews: &reviews,
            comments: &comments,
        });
        let mut objections = Vec::new();
        let mut is_whole = true;
        for one in news {
            let taken = self.take(both, &one)?;
            Failpoint::ForgeHeard.reach();
            // a verdict may have ended it, and with it the run that was at work
            both.pr = self.session.store.pr(both.pr.id)?;
            if let Taken::Later { objection } = taken {
                is_whole = false;
                objections.extend(objection);
            }
        }
        both.pull.objection = (!objections.is_empty()).then(|| objections.join("; "));
        if is_whole && is_settled {
            both.pull.read_at = Some(updated);
        }
        Ok(())
    }

    fn take(&mut self, both: &Mirrored, news: &News) -> Result<Taken, Stop> {
        let mut seen = seen_of(both, news);
        seen.entries
            .extend(news.note.clone().map(|note| self.noted(note)));
        let done = match &news.act {
            Act::Nothing => self.record(&as_forge(), both, &seen, &SeenAct::Nothing),
            Act::Keep { why } => {
                return Ok(Taken::Later {
                    objection: Some(why.clone()),
                });
            }
            Act::Ignore { why } => {
                seen.entries.push(self.noted(why));
                self.record(&as_forge(), both, &seen, &SeenAct::Nothing)
            }
            Act::Ask {
                by,
                points,
                rejects,
            } => self.ask(both, &seen, by, points, *rejects),
            Act::Approve { by, text, points } => {
                self.approve(both, &seen, &Who::Reviewer(by.clone()), points, text)
            }
            Act::Remark { by, point, text } => {
                let act = SeenAct::Remark {
                    point: *point,
                    text: text.clone(),
                };
                self.record(&self.person(by), both, &seen, &act)
            }
            Act::TakeBack { points, approval } => {
                if *approval {
                    let text = "an approval was dismissed at the forge, so it no longer counts";
                    seen.entries.push(self.noted(text));
                }
                self.take_back(both, &seen, points, *approval)
            }
        };
        match done {
            Ok(()) => {
                self.report.taken += 1;
                Ok(Taken::In)
            }
            // The next look plans it for what is here then.
            Err(error) if is_race(&error) => Ok(Taken::Later { objection: None }),
            Err(error) if is_refusal(&error) => self.refused(both, news, seen, &error),
            Err(error) => Err(error.into()),
        }
    }

    /// What cannot be done is in the log, and not tried again for ever. Only a demand to change something must not be forgotten: a
    /// merge would go over it.
    fn refused(
        &mut self,
        both: &Mirrored,
        news: &News,
        mut seen: Seen,
        error: &RunnerError,
    ) -> Result<Taken, Stop> {
        if let Act::Ask {
            by, rejects: true, ..
        } = &news.act
        {
            let by = by.name();
            let objection = format!("{by} requested changes, which could not be taken in: {error}");
            return Ok(Taken::Later {
                objection: Some(objection),
            });
        }
        let text = format!("a review could not be taken in: {error}");
        seen.entries.push(self.noted(text.clone()));
        for comment in &mut seen.comments {
            comment.point = None;
        }
        if let Some(review) = &mut seen.review {
            review.point = None;
        }
        let of = both.pr.of.reference(both.pr.id);
        self.report.problems.push(format!("{of}: {text}"));
        self.record(&as_forge(), both, &seen, &SeenAct::Nothing)?;
        Ok(Taken::In)
    }

    fn record(
        &mut self,
        context: &Context,
        both: &Mirrored,
        seen: &Seen,
        act: &SeenAct,
    ) -> Result<(), RunnerError> {
        let store = &mut self.session.store;
        Ok(store.take_seen(context, &both.pr.of, seen, act)?)
    }

    fn ask(
        &mut self,
        both: &Mirrored,
        seen: &Seen,
        by: &Who,
        points: &[Asked],
        rejects: bool,
    ) -> Result<(), RunnerError> {
        let changes = PointChanges {
            new: new_points(points),
            moved: Vec::new(),
        };
        let context = self.person(by);
        if rejects && both.pr.state.is_open() {
            return self.judge(&context, both, seen, VerdictKind::Rejected, changes, "");
        }
        self.record(&context, both, seen, &SeenAct::Points(changes))
    }

    /// Whoever approves has seen what is open: an approval closes it, as the forge shows it. Its own remarks stay open as notes, so
    /// that they can be answered.
    fn approve(
        &mut self,
        both: &Mirrored,
        seen: &Seen,
        by: &Who,
        points: &[Asked],
        text: &str,
    ) -> Result<(), RunnerError> {
        let open = self.open_points(both)?;
        let numbers = open.clone();
        let changes = PointChanges {
            new: new_points(points),
            ..closing(&open, &numbers, "Approved at the forge.")
        };
        let context = self.person(by);
        self.judge(&context, both, seen, VerdictKind::Approved, changes, text)
    }

    fn take_back(
        &mut self,
        both: &Mirrored,
        seen: &Seen,
        points: &[PointNumber],
        approval: bool,
    ) -> Result<(), RunnerError> {
        let remark = "The review was dismissed at the forge.";
        let points = closing(&self.open_points(both)?, points, remark);
        let act = if approval {
            SeenAct::TakeBack {
                pr: both.pr.id,
                points,
            }
        } else {
            SeenAct::Points(points)
        };
        self.record(&self.someone(), both, seen, &act)
    }

    fn judge(
        &mut self,
        context: &Context,
        both: &Mirrored,
        seen: &Seen,
        kind: VerdictKind,
        points: PointChanges,
        comment: &str,
    ) -> Result<(), RunnerError> {
        let of = both.pr.of.clone();
        let verdict = PersonVerdict {
            kind,
            comment: comment.to_owned(),
            commit: Some(&both.pr.head_commit),
            points,
            // red gates are no reason to ignore that a person rejects it
            red_gates: match kind {
                VerdictKind::Approved => RedGates::Refused,
                VerdictKind::Rejected => RedGates::Allowed,
            },
            subject: Reviewed::of(&both.pr),
        };
        record_verdict(
            self.session,
            context,
            &both.pr,
            &verdict,
            |store, pr, new| {
                let act = SeenAct::Verdict {
                    pr,
                    verdict: Box::new(new.clone()),
                };
                store.take_seen(context, &of, seen, &act)?;
                store.pr(pr)
            },
        )
        .map(drop)
    }

    fn open_points(&self, both: &Mirrored) -> Result<Vec<PointNumber>, RunnerError> {
        let points = self.session.store.review_points(&both.pr.of)?;
        let open = points.into_iter().filter(ReviewPoint::is_open);
        Ok(open.map(|point| point.number).collect())
    }

    fn open_of_people(&self, both: &Mirrored) -> Result<BTreeSet<PointNumber>, RunnerError> {
        let points = self.session.store.review_points(&both.pr.of)?;
        let is_open = |point: &ReviewPoint| point.is_open() && point.is_persons();
        let open = points.into_iter().filter(is_open);
        Ok(open.map(|point| point.number).collect())
    }

    /// Who acts by a review. Symphony cannot tell who uses an account, and records that.
    pub(super) fn person(&self, by: &Who) -> Context {
        let (user, name) = match by {
            Who::Reviewer(name) => (Some(name.clone()), name.as_str()),
            Who::Member(login) => (None, login.as_str()),
        };
        let reason = format!("a review by {name} at {}", self.record.place);
        Context {
            actor: Actor::Human(Person {
                verification: Verification::Unverified(reason),
                attribution: Attribution {
                    source: Some(Source::Tracker),
                    user,
                },
            }),
            now: Timestamp::now(),
        }
    }

    /// Somebody at the forge, where it does not say who.
    pub(super) fn someone(&self) -> Context {
        self.person(&Who::Member("somebody".to_owned()))
    }
}

fn seen_of(both: &Mirrored, news: &News) -> Seen {
    let asked: &[Asked] = match &news.act {
        Act::Ask { points, .. } | Act::Approve { points, .. } => points,
        _ => &[],
    };
    let comments = news.comments.iter().map(|comment| SeenComment {
        point: asked
            .iter()
            .position(|asked| asked.comments.contains(&comment.id)),
        comment: comment.clone(),
    });
    let review = news.review.as_ref().map(|(id, verdict)| SeenReview {
        id: id.clone(),
        verdict: *verdict,
        point: asked.iter().position(|asked| asked.has_text),
    });
    Seen {
        pull: both.pull.id,
        review,
        comments: comments.collect(),
        entries: Vec::new(),
    }
}

fn new_points(points: &[Asked]) -> Vec<NewPoint> {
    points.iter().map(|asked| asked.point.clone()).collect()
}

fn closing(open: &[PointNumber], points: &[PointNumber], remark: &str) -> PointChanges {
    let of_those = points.iter().filter(|point| open.contains(point));
    PointChanges {
        new: Vec::new(),
        moved: of_those
            .map(|number| PointMove {
                number: *number,
                to: PointState::Closed,
                remark: Some(remark.to_owned()),
            })
            .collect(),
    }
}

/// Returns whether something was refused because a person, a judge or a merge was faster.
const fn is_race(error: &RunnerError) -> bool {
    matches!(
        error,
        RunnerError::Order(OrderRefusal::OtherSubject { .. })
            | RunnerError::Store(
                StoreError::MergeBegun { .. }
                    | StoreError::Review(
                        ReviewRefusal::Ended { .. } | ReviewRefusal::OtherCommit { .. }
                    )
            )
    )
}

/// Returns whether something was refused for what it is: another try would be refused too.
pub(super) fn is_refusal(error: &RunnerError) -> bool {
    matches!(
        error,
        RunnerError::Order(_)
            | RunnerError::Store(
                StoreError::Point(_)
                    | StoreError::Review(_)
                    | StoreError::Transition { .. }
                    | StoreError::PlanTransition { .. }
                    | StoreError::Field(_)
            )
    )
}
