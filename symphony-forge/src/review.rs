//! What people's reviews at a forge mean here: points, verdicts, and remarks on points.
//!
//! Text of a forge is untrusted. What strangers to the repository write is left there. Remarks and requested changes of its
//! members become points; a verdict counts from the configured reviewers alone, by the id that no rename changes.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::config::ForgeSettings;
use symphony_core::review_point::{PointNumber, Severity};
use symphony_tracker::change::ChangeId;
use symphony_tracker::marker;
use symphony_tracker::remote::{ExternalId, RemoteUser};

pub use crate::act::{Act, Who};
pub use crate::asked::Asked;
use crate::asked::{asked, asked_by, remarks, shortened};
use crate::opinion::Opinions;
use crate::remote::{RemoteReview, RemoteReviewComment, ReviewVerdict, Standing};
use crate::room::{Place, Room};

/// What was read before: which review or comment became which point, and when it was last changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownThreads {
    /// Reviews, by id.
    pub reviews: BTreeMap<ExternalId, KnownReview>,
    /// Comments, by id.
    pub comments: BTreeMap<ExternalId, KnownComment>,
    /// Replies that Symphony decided to write.
    pub ours: BTreeSet<ChangeId>,
}

/// A review that was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownReview {
    /// What it concluded at that time.
    pub verdict: ReviewVerdict,
    /// The point that its text became, if it became one.
    pub point: Option<PointNumber>,
}

/// A comment that was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownComment {
    /// When it had been changed last.
    pub updated_at: Timestamp,
    /// The point that it became, if it became one.
    pub point: Option<PointNumber>,
}

/// A comment that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadComment {
    /// Its id.
    pub id: ExternalId,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The first comment of its thread, if it is not that itself.
    pub thread: Option<ExternalId>,
}

impl ReadComment {
    fn of(comment: &RemoteReviewComment) -> Self {
        Self {
            id: comment.id.clone(),
            updated_at: comment.updated_at,
            thread: comment.reply_to.clone(),
        }
    }
}

/// A review or a comment that is read for the first time, or was changed, with what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The review.
    pub review: Option<(ExternalId, ReviewVerdict)>,
    /// Comments that are read with it.
    pub comments: Vec<ReadComment>,
    /// What it does.
    pub act: Act,
    /// What the log says beside that, as a sentence fragment.
    pub note: Option<String>,
}

/// A conversation about a pull request.
#[derive(Debug, Clone, Copy)]
pub struct Conversation<'a> {
    /// The forge's settings.
    pub settings: &'a ForgeSettings,
    /// The commit that is here.
    pub head: &'a str,
    /// Whether the pull request here waits for a verdict, or has an approval.
    pub is_open: bool,
    /// The page of the pull request there.
    pub url: &'a str,
    /// The issue or plan here, as commands on review points name it.
    pub of: &'a str,
    /// Who Symphony is there, as far as that was asked.
    pub me: Option<&'a ExternalId>,
    /// The points of people that are open here.
    pub open: &'a BTreeSet<PointNumber>,
    /// What was read before.
    pub known: &'a KnownThreads,
    /// The reviews.
    pub reviews: &'a [RemoteReview],
    /// The comments at places of the change, read after the reviews.
    pub comments: &'a [RemoteReviewComment],
}

/// Something in a conversation that was not read before, or not like this.
enum Found<'a> {
    New(&'a RemoteReview, Vec<&'a RemoteReviewComment>),
    Changed(&'a RemoteReview, KnownReview),
    Comment(&'a RemoteReviewComment),
}

/// Decides what is new in a conversation, in the order in which it was written.
pub fn plan_reviews(conversation: Conversation<'_>) -> Vec<News> {
    let opinions = Opinions::of(conversation.reviews);
    let mut found = conversation.found();
    found.sort_by_key(|(at, _)| *at);
    let mut room = Room::of(conversation.is_open, conversation.open);
    let place = Place {
        url: conversation.url,
        of: conversation.of,
    };
    let mut all = Vec::new();
    for (_, found) in found {
        let mut news = conversation.news(&found, &opinions, &room);
        news.act = room.take(news.act, place);
        all.push(news);
    }
    all
}

/// Returns whether a comment has the marker of a reply that is not known here. Then it matters who wrote it.
pub fn has_unknown_marker(known: &KnownThreads, comments: &[RemoteReviewComment]) -> bool {
    let is_unread = |comment: &&RemoteReviewComment| !known.comments.contains_key(&comment.id);
    let markers = comments.iter().filter(is_unread);
    markers
        .filter_map(|comment| marker::find(&comment.body))
        .any(|id| !known.ours.contains(&id))
}

impl<'a> Conversation<'a> {
    fn found(&self) -> Vec<(Timestamp, Found<'a>)> {
        let mut found = Vec::new();
        let mut taken: BTreeSet<&ExternalId> = BTreeSet::new();
        for review in self.reviews {
            match self.known.reviews.get(&review.id) {
                None => {
                    let comments = self.of_review(&review.id);
                    taken.extend(comments.iter().map(|comment| &comment.id));
                    found.push((review.at, Found::New(review, comments)));
                }
                Some(before) if before.verdict != review.verdict => {
                    found.push((review.at, Found::Changed(review, *before)));
                }
                Some(_) => {}
            }
        }
        let comments = self.comments.iter();
        let left = comments.filter(|comment| !taken.contains(&comment.id));
        let left = left.filter(|comment| self.is_news(comment));
        found.extend(left.map(|comment| (comment.created_at, Found::Comment(comment))));
        found
    }

    fn is_news(&self, comment: &RemoteReviewComment) -> bool {
        let known = self.known.comments.get(&comment.id);
        // One whose review came after the list of reviews is for the next look, together with it.
        let is_early = comment.review.as_ref().is_some_and(|id| {
            !self.known.reviews.contains_key(id)
                && !self.reviews.iter().any(|review| review.id == *id)
        });
        let is_read = known.is_some_and(|known| known.updated_at >= comment.updated_at);
        !is_read && !is_early && !self.is_ours(comment)
    }

    /// The comments that begin a thread in a review and were not read before. Replies are read by themselves.
    fn of_review(&self, review: &ExternalId) -> Vec<&'a RemoteReviewComment> {
        let is_new = |comment: &&RemoteReviewComment| {
            comment.review.as_ref() == Some(review)
                && comment.reply_to.is_none()
                && !self.known.comments.contains_key(&comment.id)
                && !self.is_ours(comment)
        };
        self.comments.iter().filter(is_new).collect()
    }

    fn news(&self, found: &Found<'_>, opinions: &Opinions<'_>, room: &Room) -> News {
        match found {
            Found::New(review, comments) => {
                let (act, note) = self.of_new_review(review, comments, opinions);
                News {
                    review: Some((review.id.clone(), review.verdict)),
                    comments: comments.iter().copied().map(ReadComment::of).collect(),
                    act,
                    note,
                }
            }
            Found::Changed(review, before) => News {
                review: Some((review.id.clone(), review.verdict)),
                comments: Vec::new(),
                act: self.of_changed_review(review, *before, opinions),
                note: None,
            },
            Found::Comment(comment) => {
                let (act, note) = self.of_comment(comment, room);
                News {
                    review: None,
                    comments: vec![ReadComment::of(comment)],
                    act,
                    note,
                }
            }
        }
    }

    fn of_new_review(
        &self,
        review: &RemoteReview,
        comments: &[&RemoteReviewComment],
        opinions: &Opinions<'_>,
    ) -> (Act, Option<String>) {
        let says_something = !review.body.trim().is_empty() || !comments.is_empty();
        let Some(by) = self.who(review.author.as_ref(), review.standing) else {
            if !says_something && review.verdict == ReviewVerdict::Commented {
                return (Act::Nothing, None);
            }
            return (
                ignored(review.author.as_ref(), "is not a member of the repository"),
                None,
            );
        };
        let name = login(review.author.as_ref());
        let later = opinions.after(review);
        match review.verdict {
            ReviewVerdict::ChangesRequested => {
                let severity = match later {
                    None | Some(ReviewVerdict::ChangesRequested) => Severity::Must,
                    Some(_) => Severity::Should,
                };
                let act = Act::Ask {
                    points: asked(review, comments, severity),
                    by,
                    rejects: later.is_none(),
                };
                let note = later
                    .map(|_| format!("{name} requested changes, and gave another verdict later"));
                (act, note)
            }
            ReviewVerdict::Approved => self.of_approval(review, comments, by, later),
            ReviewVerdict::Commented if says_something => {
                let points = asked(review, comments, Severity::Should);
                let rejects = false;
                (
                    Act::Ask {
                        by,
                        points,
                        rejects,
                    },
                    None,
                )
            }
            ReviewVerdict::Commented | ReviewVerdict::Dismissed => (Act::Nothing, None),
        }
    }

    /// An approval counts from a reviewer, for the commit that is here, unless its author decided otherwise since. Its remarks
    /// are points in any case.
    fn of_approval(
        &self,
        review: &RemoteReview,
        comments: &[&RemoteReviewComment],
        by: Who,
        later: Option<ReviewVerdict>,
    ) -> (Act, Option<String>) {
        let why = match &by {
            Who::Member(_) => "approved it, but is not in `forge.reviewers`",
            Who::Reviewer(_) if later.is_some() => "approved it, and gave another verdict later",
            Who::Reviewer(name) if review.commit.as_deref() == Some(self.head) => {
                let act = Act::Approve {
                    by: name.clone(),
                    text: words_of(review),
                    points: remarks(comments, Severity::Note),
                };
                return (act, None);
            }
            Who::Reviewer(_) => "approved another commit than the head here",
        };
        if comments.is_empty() {
            return (ignored(review.author.as_ref(), why), None);
        }
        let severity = match by {
            Who::Member(_) => Severity::Should,
            Who::Reviewer(_) => Severity::Note,
        };
        let act = Act::Ask {
            by,
            points: asked(review, comments, severity),
            rejects: false,
        };
        let name = login(review.author.as_ref());
        (act, Some(format!("{name} {why}")))
    }

    fn of_changed_review(
        &self,
        review: &RemoteReview,
        before: KnownReview,
        opinions: &Opinions<'_>,
    ) -> Act {
        if review.verdict != ReviewVerdict::Dismissed {
            return Act::Nothing;
        }
        let of_it = self
            .comments
            .iter()
            .filter(|comment| comment.review.as_ref() == Some(&review.id));
        let of_comments = of_it.filter_map(|comment| self.known.comments.get(&comment.id)?.point);
        let points: BTreeSet<PointNumber> = of_comments.chain(before.point).collect();
        let approved = before.verdict == ReviewVerdict::Approved && self.approves(review);
        let is_approved =
            |other: &RemoteReview| other.verdict == ReviewVerdict::Approved && self.approves(other);
        Act::TakeBack {
            points: points.into_iter().collect(),
            approval: approved && !opinions.all().any(is_approved),
        }
    }

    /// Whether a review is a reviewer's, of the commit that is here.
    fn approves(&self, review: &RemoteReview) -> bool {
        let by = self.who(review.author.as_ref(), review.standing);
        matches!(by, Some(Who::Reviewer(_))) && review.commit.as_deref() == Some(self.head)
    }

    /// A comment of its own: a reply in a thread, one outside of a review that is new, or one that was edited.
    fn of_comment(&self, comment: &RemoteReviewComment, room: &Room) -> (Act, Option<String>) {
        if self.known.comments.contains_key(&comment.id) {
            let why = "a comment was edited there; its first text counts here".to_owned();
            return (Act::Ignore { why }, None);
        }
        let Some(by) = self.who(comment.author.as_ref(), comment.standing) else {
            let why = "is not a member of the repository";
            return (ignored(comment.author.as_ref(), why), None);
        };
        let thread = comment.reply_to.as_ref();
        let point = thread.and_then(|thread| self.point_of_thread(thread));
        if let Some(point) = point.filter(|point| room.is_open(*point)) {
            let text = shortened(&comment.body);
            return (Act::Remark { by, point, text }, None);
        }
        let mut asked = asked_by(comment, Severity::Should);
        let note = point.map(|point| {
            // An objection that comes late is an objection.
            let text = format!(
                "About review point {point}, which is closed: {}",
                comment.body
            );
            asked.point.text = shortened(&text);
            format!("a reply about review point {point}, which is closed, became a new point")
        });
        let act = Act::Ask {
            by,
            points: vec![asked],
            rejects: false,
        };
        (act, note)
    }

    /// The newest point that came of a thread.
    fn point_of_thread(&self, thread: &ExternalId) -> Option<PointNumber> {
        let replies = self
            .comments
            .iter()
            .filter(|comment| comment.reply_to.as_ref() == Some(thread))
            .map(|comment| &comment.id);
        let of_it = replies.chain([thread]);
        of_it
            .filter_map(|id| self.known.comments.get(id)?.point)
            .max()
    }

    /// A marker alone is a claim that everyone can copy. With an id that was decided here, or written by Symphony's own user, it
    /// is ours: a database that was restored does not know its last ids.
    fn is_ours(&self, comment: &RemoteReviewComment) -> bool {
        let author = comment.author.as_ref().map(|author| &author.id);
        let is_mine = self.me.is_some() && author == self.me;
        marker::find(&comment.body).is_some_and(|id| is_mine || self.known.ours.contains(&id))
    }

    fn who(&self, author: Option<&RemoteUser>, standing: Standing) -> Option<Who> {
        let author = author?;
        let mut reviewers = self.settings.reviewers.iter();
        let reviewer = reviewers.find(|(_, id)| id.as_str() == author.id.as_str());
        match reviewer {
            Some((name, _)) => Some(Who::Reviewer(name.clone())),
            None if standing == Standing::Member => Some(Who::Member(author.login.clone())),
            None => None,
        }
    }
}

/// What is said with an approval; nothing has to be.
fn words_of(review: &RemoteReview) -> String {
    if review.body.trim().is_empty() {
        return String::new();
    }
    shortened(&review.body)
}

fn login(author: Option<&RemoteUser>) -> &str {
    author.map_or("a deleted user", |author| author.login.as_str())
}

fn ignored(author: Option<&RemoteUser>, why: &str) -> Act {
    Act::Ignore {
        why: format!("{} {why}", login(author)),
    }
}
