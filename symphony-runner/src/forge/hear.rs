//! Reviews of people at the forge, taken in.

use symphony_core::Timestamp;
use symphony_core::asker::Verification;
use symphony_core::pull_request::VerdictKind;
use symphony_core::review_point::{PointChanges, PointMove, PointNumber, PointState, ReviewPoint};
use symphony_core::user::{Attribution, Source};
use symphony_forge::remote::RemoteState;
use symphony_forge::review::{Act, Asked, Conversation, News, Who, plan_reviews};
use symphony_mcp::Reviewed;
use symphony_store::{Actor, Context, Person, Seen, SeenAct, SeenComment, StoreError};
use symphony_workspace::Failpoint;

use super::fault::{Stop, as_forge};
use super::round::{Mirrored, Round};
use crate::error::RunnerError;
use crate::order::{PersonVerdict, RedGates, record_verdict};

/// How often a conversation is read after its last change: changes of one second share a time.
const READS_MIN: u32 = 2;

impl Round<'_> {
    /// Reads what people wrote since the last look, and does what it asks for.
    pub(super) async fn hear(&mut self, both: &mut Mirrored) -> Result<(), Stop> {
        let Some(theirs) = &both.theirs else {
            return Ok(());
        };
        let (number, updated) = (theirs.number, theirs.updated_at);
        let is_same = both.pull.read_at == Some(updated);
        if theirs.state != RemoteState::Open || (is_same && both.pull.reads >= READS_MIN) {
            return Ok(());
        }
        let reviews = self.client.reviews(number).await?;
        let comments = self.client.review_comments(number).await?;
        let known = self.session.store.known_threads(both.pull.id)?;
        let news = plan_reviews(Conversation {
            settings: self.settings,
            head: &both.pr.head_commit,
            known: &known,
            reviews: &reviews,
            comments: &comments,
        });
        for one in news {
            self.take(both, &one)?;
            Failpoint::ForgeHeard.reach();
            // a verdict may have ended it, and with it the run that was at work
            both.pr = self.session.store.pr(both.pr.id)?;
        }
        both.pull.reads = if is_same { both.pull.reads + 1 } else { 1 };
        both.pull.read_at = Some(updated);
        Ok(())
    }

    fn take(&mut self, both: &Mirrored, news: &News) -> Result<(), Stop> {
        let mut seen = seen_of(both, news);
        let done = match &news.act {
            Act::Nothing => self.record(&as_forge(), both, &seen, &SeenAct::Nothing),
            Act::Ignore { why } => {
                seen.entries.push(self.noted(why));
                self.record(&as_forge(), both, &seen, &SeenAct::Nothing)
            }
            Act::Ask {
                by,
                points,
                rejects,
            } => self.ask(both, &seen, by, points, *rejects),
            Act::Approve { by, text } => {
                self.approve(both, &seen, &Who::Reviewer(by.clone()), text)
            }
            Act::Remark { by, point, text } => {
                let act = SeenAct::Remark {
                    point: *point,
                    text: text.clone(),
                };
                self.record(&self.person(by), both, &seen, &act)
            }
            Act::TakeBack { points } => {
                let remark = "The review was taken back at the forge.";
                let act = SeenAct::Points(closing(&self.open_points(both)?, points, remark));
                self.record(&self.someone(), both, &seen, &act)
            }
        };
        match done {
            Ok(()) => {
                self.report.taken += 1;
                Ok(())
            }
            // What cannot be done is in the log, and not tried again for ever.
            Err(error) if is_refusal(&error) => {
                let text = format!("a review could not be taken in: {error}");
                seen.entries.push(self.noted(text.clone()));
                for comment in &mut seen.comments {
                    comment.point = None;
                }
                let of = both.pr.of.reference(both.pr.id);
                self.report.problems.push(format!("{of}: {text}"));
                Ok(self.record(&as_forge(), both, &seen, &SeenAct::Nothing)?)
            }
            Err(error) => Err(error.into()),
        }
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
            new: points.iter().map(|asked| asked.point.clone()).collect(),
            moved: Vec::new(),
        };
        let context = self.person(by);
        if rejects && both.pr.state.is_open() {
            return self.judge(&context, both, seen, VerdictKind::Rejected, changes, "");
        }
        self.record(&context, both, seen, &SeenAct::Points(changes))
    }

    /// Whoever approves has seen what is open: an approval closes it, as the forge shows it.
    fn approve(
        &mut self,
        both: &Mirrored,
        seen: &Seen,
        by: &Who,
        text: &str,
    ) -> Result<(), RunnerError> {
        let open = self.open_points(both)?;
        let numbers = open.clone();
        let changes = closing(&open, &numbers, "Approved at the forge.");
        let context = self.person(by);
        self.judge(&context, both, seen, VerdictKind::Approved, changes, text)
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
            red_gates: RedGates::Refused,
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
        Act::Ask { points, .. } => points,
        _ => &[],
    };
    let comments = news.comments.iter().map(|(id, updated_at)| SeenComment {
        id: id.clone(),
        updated_at: *updated_at,
        point: asked
            .iter()
            .position(|asked| asked.comment.as_ref() == Some(id)),
    });
    Seen {
        pull: both.pull.id,
        review: news.review.clone(),
        comments: comments.collect(),
        entries: Vec::new(),
    }
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
