//! Reviews, their comments, and the conversation.

use std::collections::BTreeMap;

use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::json;
use symphony_forge::remote::{PullNumber, RemoteReview, RemoteReviewComment};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{ExternalId, RemoteComment};

use super::super::Asked;
use super::super::issues::number as number_of;
use super::super::wire::{WireComment, external};
use super::GithubForge;
use super::wire::{WireReview, WireReviewComment};

impl GithubForge {
    pub(super) async fn load_reviews(
        &self,
        number: PullNumber,
    ) -> Result<Vec<RemoteReview>, Fault> {
        let asked = self.asked("read reviews", &format!("the reviews of {number}"));
        let url = self.pull_url(number, &["reviews"]);
        let found: Vec<WireReview> = self.load_pages(&url, &asked, |page| page).await?;
        let reviews = found.into_iter().filter_map(WireReview::review);
        Ok(by_time(reviews, |review| (review.at, review.id.clone())))
    }

    pub(super) async fn load_review_comments(
        &self,
        number: PullNumber,
    ) -> Result<Vec<RemoteReviewComment>, Fault> {
        let asked = self.asked("read reviews", &format!("the review comments of {number}"));
        let url = self.pull_url(number, &["comments"]);
        let found: Vec<WireReviewComment> = self.load_pages(&url, &asked, |page| page).await?;
        let comments = found.into_iter().map(WireReviewComment::comment);
        Ok(by_time(comments, |comment| {
            (comment.created_at, comment.id.clone())
        }))
    }

    pub(super) async fn load_conversation(
        &self,
        number: PullNumber,
    ) -> Result<Vec<RemoteComment>, Fault> {
        let asked = self.asked("read comments", &format!("the comments of {number}"));
        let url = self.comments_url(number);
        let found: Vec<WireComment> = self.load_pages(&url, &asked, |page| page).await?;
        let comments = found
            .into_iter()
            .map(|comment| comment.comment_on(number.get()));
        Ok(by_time(comments, |comment| {
            (comment.created_at, comment.id.clone())
        }))
    }

    pub(super) async fn write_comment(
        &self,
        number: PullNumber,
        body: &str,
    ) -> Result<ExternalId, Fault> {
        let asked = self.asked("write comments", &format!("pull request {number}"));
        let comment: WireComment = self.post(self.comments_url(number), body, &asked).await?;
        Ok(external(comment.id))
    }

    /// Replies. GitHub takes the first comment of a thread only.
    pub(super) async fn write_reply(
        &self,
        number: PullNumber,
        thread: &ExternalId,
        body: &str,
    ) -> Result<ExternalId, Fault> {
        let asked = self.asked("write comments", &format!("review comment {thread}"));
        let Some(thread) = number_of(thread) else {
            return Err(Fault::NotFound { what: asked.what });
        };
        let url = self.pull_url(number, &["comments", &thread.to_string(), "replies"]);
        let reply: WireReviewComment = self.post(url, body, &asked).await?;
        Ok(external(reply.id))
    }

    async fn post<T: DeserializeOwned>(
        &self,
        url: Url,
        body: &str,
        asked: &Asked,
    ) -> Result<T, Fault> {
        let input = json!({ "body": body });
        let answer = self
            .github
            .write(Method::POST, url, Some(&input), asked)
            .await?;
        self.read(&answer, "the new comment")
    }
}

/// Sorts by time, and keeps one of each: an item can come on two pages when others are removed meanwhile.
fn by_time<T, K: Ord>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let sorted: BTreeMap<K, T> = items.map(|item| (key(&item), item)).collect();
    sorted.into_values().collect()
}
