//! Pull requests on GitHub: what is read of them, of their reviews and checks, and what is changed.
//!
//! A pull request is an issue too: its conversation and its labels are the issue's.

mod access;
mod checks;
mod log;
mod pulls;
mod reviews;
mod rules;
mod wire;

use reqwest::Url;
use serde::de::DeserializeOwned;
use symphony_core::config::ForgeMethod;
use symphony_forge::change::{MergeWish, NewPull, PullChange};
use symphony_forge::remote::{
    BranchRules, MergeAnswer, PullNumber, RemoteCheck, RemotePull, RemoteReview,
    RemoteReviewComment,
};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{ExternalId, RemoteComment};

use super::{Asked, Github};
use crate::access::Access;
use crate::forge::Forge;
use crate::http::answer::Answer;
use crate::http::plain::Plain;
use crate::tracker::Answering;

/// Most pages of a list, of [`PAGE_ITEMS`] each; what comes after them is left out.
const PAGES_MAX: u32 = 20;

/// Items of a page: the most that GitHub gives.
const PAGE_ITEMS: usize = 100;

/// The pull requests of one repository on GitHub.
#[derive(Debug)]
pub(crate) struct GithubForge {
    github: Github,
    plain: Plain,
    method: ForgeMethod,
}

impl GithubForge {
    /// Takes the client of a repository, one without a token, and how the project merges.
    pub(crate) const fn new(github: Github, plain: Plain, method: ForgeMethod) -> Self {
        Self {
            github,
            plain,
            method,
        }
    }

    fn asked(&self, action: &'static str, what: &str) -> Asked {
        let (owner, name) = (&self.github.owner, &self.github.name);
        Asked {
            action,
            what: format!("{what} of {owner}/{name}"),
        }
    }

    fn pull_url(&self, number: PullNumber, rest: &[&str]) -> Url {
        let number = number.get().to_string();
        let mut segments = vec!["pulls", number.as_str()];
        segments.extend(rest);
        self.github.repository_url(&segments)
    }

    fn comments_url(&self, number: PullNumber) -> Url {
        let number = number.get().to_string();
        self.github.repository_url(&["issues", &number, "comments"])
    }

    fn read<T: DeserializeOwned>(&self, answer: &Answer, what: &str) -> Result<T, Fault> {
        answer.read(what, self.github.client.token())
    }

    /// Reads all pages of a list; `items` takes the list out of a page's form.
    async fn load_pages<P: DeserializeOwned, T>(
        &self,
        url: &Url,
        asked: &Asked,
        items: fn(P) -> Vec<T>,
    ) -> Result<Vec<T>, Fault> {
        let mut found = Vec::new();
        for page in 1..=PAGES_MAX {
            let mut url = url.clone();
            url.query_pairs_mut()
                .append_pair("per_page", &PAGE_ITEMS.to_string())
                .append_pair("page", &page.to_string());
            let answer = self.github.get(url, None, asked).await?;
            let read: P = self.read(&answer, &asked.what)?;
            let read = items(read);
            // A page can have fewer items than it is large, where GitHub hides some of them.
            let links = answer.header("link").unwrap_or_default();
            let is_last = read.len() < PAGE_ITEMS && !links.contains("rel=\"next\"");
            found.extend(read);
            if is_last {
                break;
            }
        }
        Ok(found)
    }
}

impl Forge for GithubForge {
    fn check(&self) -> Answering<'_, Access> {
        Box::pin(self.load_access())
    }

    fn rules<'a>(&'a self, branch: &'a str) -> Answering<'a, BranchRules> {
        Box::pin(self.load_rules(branch))
    }

    fn find<'a>(
        &'a self,
        head_branch: &'a str,
        base_branch: &'a str,
    ) -> Answering<'a, Option<RemotePull>> {
        Box::pin(self.find_pull(head_branch, base_branch))
    }

    fn pull(&self, number: PullNumber) -> Answering<'_, RemotePull> {
        Box::pin(self.load_pull(number))
    }

    fn open<'a>(&'a self, new: &'a NewPull) -> Answering<'a, RemotePull> {
        Box::pin(self.open_pull(new))
    }

    fn update<'a>(
        &'a self,
        number: PullNumber,
        change: &'a PullChange,
    ) -> Answering<'a, RemotePull> {
        Box::pin(self.update_pull(number, change))
    }

    fn reviews(&self, number: PullNumber) -> Answering<'_, Vec<RemoteReview>> {
        Box::pin(self.load_reviews(number))
    }

    fn review_comments(&self, number: PullNumber) -> Answering<'_, Vec<RemoteReviewComment>> {
        Box::pin(self.load_review_comments(number))
    }

    fn comments(&self, number: PullNumber) -> Answering<'_, Vec<RemoteComment>> {
        Box::pin(self.load_conversation(number))
    }

    fn add_comment<'a>(&'a self, number: PullNumber, body: &'a str) -> Answering<'a, ExternalId> {
        Box::pin(self.write_comment(number, body))
    }

    fn reply<'a>(
        &'a self,
        number: PullNumber,
        thread: &'a ExternalId,
        body: &'a str,
    ) -> Answering<'a, ExternalId> {
        Box::pin(self.write_reply(number, thread, body))
    }

    fn checks<'a>(&'a self, commit: &'a str) -> Answering<'a, Vec<RemoteCheck>> {
        Box::pin(self.load_checks(commit))
    }

    fn log_end<'a>(
        &'a self,
        run: &'a ExternalId,
        bytes_max: usize,
    ) -> Answering<'a, Option<String>> {
        Box::pin(self.load_log_end(run, bytes_max))
    }

    fn run_again<'a>(&'a self, run: &'a ExternalId) -> Answering<'a, ()> {
        Box::pin(self.start_again(run))
    }

    fn merge<'a>(&'a self, number: PullNumber, wish: &'a MergeWish) -> Answering<'a, MergeAnswer> {
        Box::pin(self.merge_pull(number, wish))
    }
}
