//! What people's reviews at a forge mean here: points, verdicts, and remarks on points.
//!
//! Text of a forge is untrusted. What strangers to the repository write is left there. Remarks and requested changes of its
//! members become points; a verdict counts from the configured reviewers alone, by the id that no rename changes.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::config::ForgeSettings;
use symphony_core::review_point::{
    Lines, NewPoint, PATH_CHARS_MAX, POINT_CHARS_MAX, Place, PointNumber, Severity,
};
use symphony_core::user::UserName;
use symphony_tracker::change::ChangeId;
use symphony_tracker::remote::{ExternalId, RemoteUser};
use symphony_tracker::{marker, quote};

use crate::remote::{RemoteReview, RemoteReviewComment, ReviewVerdict, Standing};

/// What was read before: which review or comment became which point, and when it was last changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownThreads {
    /// Reviews, by id, with their verdict at that time.
    pub reviews: BTreeMap<ExternalId, ReviewVerdict>,
    /// Comments, by id.
    pub comments: BTreeMap<ExternalId, KnownComment>,
    /// Replies that Symphony decided to write.
    pub ours: BTreeSet<ChangeId>,
}

/// A comment that was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownComment {
    /// When it had been changed last.
    pub updated_at: Timestamp,
    /// The point that it became, if it became one.
    pub point: Option<PointNumber>,
}

/// Who wrote something at the forge, as far as that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// One of the configured reviewers.
    Reviewer(UserName),
    /// A member of the repository, by login.
    Member(String),
}

/// A point that a comment asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The comment at a place of the change; `None` for the text of the review.
    pub comment: Option<ExternalId>,
    /// The point.
    pub point: NewPoint,
}

/// What a review or a comment does here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// It asks for something, and sends the work back if changes were requested.
    Ask {
        /// Who asks.
        by: Who,
        /// What for.
        points: Vec<Asked>,
        /// Whether the pull request is rejected.
        rejects: bool,
    },
    /// It approves a commit.
    Approve {
        /// Who approves.
        by: UserName,
        /// What is said with it.
        text: String,
    },
    /// It says something about a point.
    Remark {
        /// Who says it.
        by: Who,
        /// The point.
        point: PointNumber,
        /// What is said.
        text: String,
    },
    /// It was taken back: its points need nothing more.
    TakeBack {
        /// The points that came of it.
        points: Vec<PointNumber>,
    },
    /// It does nothing, and the log says why.
    Ignore {
        /// Why, as a sentence fragment.
        why: String,
    },
    /// It does nothing.
    Nothing,
}

/// A review or a comment that is read for the first time, or was changed, with what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The review.
    pub review: Option<(ExternalId, ReviewVerdict)>,
    /// Comments that are read with it, with the time of their last change.
    pub comments: Vec<(ExternalId, Timestamp)>,
    /// What it does.
    pub act: Act,
}

/// A conversation about a pull request.
#[derive(Debug, Clone, Copy)]
pub struct Conversation<'a> {
    /// The forge's settings.
    pub settings: &'a ForgeSettings,
    /// The commit that is here.
    pub head: &'a str,
    /// What was read before.
    pub known: &'a KnownThreads,
    /// The reviews, oldest first.
    pub reviews: &'a [RemoteReview],
    /// The comments at places of the change, oldest first.
    pub comments: &'a [RemoteReviewComment],
}

/// Decides what is new in a conversation, in the order in which it was written.
pub fn plan_reviews(conversation: Conversation<'_>) -> Vec<News> {
    let mut news: Vec<(Timestamp, News)> = Vec::new();
    let mut taken: BTreeSet<&ExternalId> = BTreeSet::new();
    for review in conversation.reviews {
        let before = conversation.known.reviews.get(&review.id).copied();
        match before {
            None => {
                let comments = conversation.of_review(&review.id);
                taken.extend(comments.iter().map(|comment| &comment.id));
                news.push((review.at, conversation.new_review(review, &comments)));
            }
            Some(before) if before != review.verdict => {
                news.push((review.at, conversation.changed_review(review)));
            }
            Some(_) => {}
        }
    }
    for comment in conversation.comments {
        if taken.contains(&comment.id) {
            continue;
        }
        if let Some(found) = conversation.comment(comment) {
            news.push((comment.created_at, found));
        }
    }
    news.sort_by_key(|(at, _)| *at);
    news.into_iter().map(|(_, news)| news).collect()
}

impl<'a> Conversation<'a> {
    /// The comments that begin a thread in a review and were not read before. Replies are read by themselves.
    fn of_review(&self, review: &ExternalId) -> Vec<&'a RemoteReviewComment> {
        let is_new = |comment: &&RemoteReviewComment| {
            comment.review.as_ref() == Some(review)
                && comment.reply_to.is_none()
                && !self.known.comments.contains_key(&comment.id)
                && !self.is_ours(&comment.body)
        };
        self.comments.iter().filter(is_new).collect()
    }

    fn new_review(&self, review: &RemoteReview, comments: &[&RemoteReviewComment]) -> News {
        News {
            review: Some((review.id.clone(), review.verdict)),
            comments: comments
                .iter()
                .map(|comment| (comment.id.clone(), comment.updated_at))
                .collect(),
            act: self.act_of(review, comments),
        }
    }

    fn act_of(&self, review: &RemoteReview, comments: &[&RemoteReviewComment]) -> Act {
        let says_something = !review.body.trim().is_empty() || !comments.is_empty();
        let Some(by) = self.who(review.author.as_ref(), review.standing) else {
            if !says_something && review.verdict == ReviewVerdict::Commented {
                return Act::Nothing;
            }
            return ignored(review.author.as_ref(), "is no member of the repository");
        };
        match (review.verdict, &by) {
            (ReviewVerdict::ChangesRequested, _) => Act::Ask {
                points: asked(review, comments, Severity::Must),
                by,
                rejects: true,
            },
            (ReviewVerdict::Approved, Who::Reviewer(name)) => self.approval(review, comments, name),
            (ReviewVerdict::Approved, Who::Member(_)) if comments.is_empty() => ignored(
                review.author.as_ref(),
                "approved it, and is not among `forge.reviewers`",
            ),
            (ReviewVerdict::Commented | ReviewVerdict::Approved, _) if says_something => Act::Ask {
                points: asked(review, comments, Severity::Should),
                by,
                rejects: false,
            },
            _ => Act::Nothing,
        }
    }

    fn approval(
        &self,
        review: &RemoteReview,
        comments: &[&RemoteReviewComment],
        by: &UserName,
    ) -> Act {
        let is_head = review.commit.as_deref() == Some(self.head);
        if is_head && comments.is_empty() {
            return Act::Approve {
                by: by.clone(),
                text: shortened(&review.body),
            };
        }
        if !comments.is_empty() {
            // remarks with an approval: nothing keeps them from being read, and they keep nothing back
            return Act::Ask {
                by: Who::Reviewer(by.clone()),
                points: asked(review, comments, Severity::Note),
                rejects: false,
            };
        }
        ignored(
            review.author.as_ref(),
            "approved another commit than the one that is here",
        )
    }

    fn changed_review(&self, review: &RemoteReview) -> News {
        let act = if review.verdict == ReviewVerdict::Dismissed {
            let of_it = self
                .comments
                .iter()
                .filter(|comment| comment.review.as_ref() == Some(&review.id));
            let points = of_it.filter_map(|comment| self.known.comments.get(&comment.id)?.point);
            Act::TakeBack {
                points: points.collect(),
            }
        } else {
            Act::Nothing
        };
        News {
            review: Some((review.id.clone(), review.verdict)),
            comments: Vec::new(),
            act,
        }
    }

    /// A comment of its own: a reply in a thread, one outside of a review that is new, or one that was edited.
    fn comment(&self, comment: &RemoteReviewComment) -> Option<News> {
        if self.is_ours(&comment.body) {
            return None;
        }
        let act = match self.known.comments.get(&comment.id) {
            Some(known) if known.updated_at >= comment.updated_at => return None,
            Some(_) => Act::Ignore {
                why: "a comment was edited there; here it stays as it was".to_owned(),
            },
            None => self.new_comment(comment),
        };
        Some(News {
            review: None,
            comments: vec![(comment.id.clone(), comment.updated_at)],
            act,
        })
    }

    fn new_comment(&self, comment: &RemoteReviewComment) -> Act {
        let Some(by) = self.who(comment.author.as_ref(), comment.standing) else {
            return ignored(comment.author.as_ref(), "is no member of the repository");
        };
        let root = comment.reply_to.as_ref();
        let point = root.and_then(|root| self.known.comments.get(root)?.point);
        match point {
            Some(point) => Act::Remark {
                by,
                point,
                text: shortened(&comment.body),
            },
            None => Act::Ask {
                by,
                points: vec![asked_by(comment, Severity::Should)],
                rejects: false,
            },
        }
    }

    /// A marker alone is a claim that everyone can copy; with an id that was decided here it is ours.
    fn is_ours(&self, body: &str) -> bool {
        marker::find(body).is_some_and(|id| self.known.ours.contains(&id))
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

fn ignored(author: Option<&RemoteUser>, why: &str) -> Act {
    let name = author.map_or("a deleted user", |author| author.login.as_str());
    Act::Ignore {
        why: format!("{name} {why}"),
    }
}

/// The points of a review: its text, then its comments.
fn asked(
    review: &RemoteReview,
    comments: &[&RemoteReviewComment],
    severity: Severity,
) -> Vec<Asked> {
    let mut points = Vec::new();
    let text = review.body.trim();
    if !text.is_empty() {
        points.push(Asked {
            comment: None,
            point: NewPoint {
                severity,
                text: shortened(text),
                place: None,
            },
        });
    }
    points.extend(comments.iter().map(|comment| asked_by(comment, severity)));
    if points.is_empty() {
        // GitHub lets no one request changes without a text, but other forges do
        points.push(Asked {
            comment: None,
            point: NewPoint {
                severity,
                text: "Changes were requested at the forge, without a text.".to_owned(),
                place: None,
            },
        });
    }
    points
}

fn asked_by(comment: &RemoteReviewComment, severity: Severity) -> Asked {
    let lines = comment
        .lines
        .and_then(|lines| Lines::parse(&format!("{}-{}", lines.first, lines.last)).ok());
    let is_path = !comment.path.is_empty() && comment.path.chars().count() <= PATH_CHARS_MAX;
    Asked {
        comment: Some(comment.id.clone()),
        point: NewPoint {
            severity,
            text: shortened(&comment.body),
            place: is_path.then(|| Place {
                file: comment.path.clone(),
                lines,
            }),
        },
    }
}

fn shortened(text: &str) -> String {
    let text = quote::shortened(text.trim(), POINT_CHARS_MAX);
    if text.is_empty() {
        return "(no text)".to_owned();
    }
    text
}
