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
    RemoteReviewComment, RerunAnswer,
};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{ExternalId, RemoteComment, RemoteUser};

use super::{Asked, Github};
use crate::access::Access;
use crate::forge::Forge;
use crate::http::answer::Answer;
use crate::http::plain::Plain;
use crate::tracker::Answering;

/// Most pages of a list, of [`PAGE_ITEMS`] each. Of a longer one, what comes after the first page is left out until its last pages.
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

    /// Reads all pages of a list, or the first one and the last ones; `items` takes the list out of a page's form.
    async fn load_pages<P: DeserializeOwned, T>(
        &self,
        url: &Url,
        asked: &Asked,
        items: fn(P) -> Vec<T>,
    ) -> Result<Vec<T>, Fault> {
        let mut found = Vec::new();
        let mut page = 1;
        for _ in 0..PAGES_MAX {
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
            page = page_after(page, links);
        }
        Ok(found)
    }
}

/// Returns the page to read next. GitHub lists the oldest first: strangers' words at the beginning of a long list must not keep the
/// newest ones from being read.
fn page_after(page: u32, links: &str) -> u32 {
    if page > 1 {
        return page + 1;
    }
    let last = links.split(',').find(|link| link.contains("rel=\"last\""));
    let last = last.and_then(|link| {
        let (_, query) = link.split_once('?')?;
        let query = query.split('>').next()?;
        let page = query.split('&').find_map(|pair| pair.strip_prefix("page="));
        page?.parse::<u32>().ok()
    });
    last.map_or(2, |last| 2.max(last.saturating_sub(PAGES_MAX - 2)))
}

impl Forge for GithubForge {
    fn check(&self) -> Answering<'_, Access> {
        Box::pin(self.load_access())
    }

    fn repository(&self) -> Answering<'_, ExternalId> {
        Box::pin(self.load_identity())
    }

    fn user(&self) -> Answering<'_, Option<RemoteUser>> {
        Box::pin(self.load_user())
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

    fn run_again<'a>(&'a self, run: &'a ExternalId) -> Answering<'a, RerunAnswer> {
        Box::pin(self.start_again(run))
    }

    fn merge<'a>(&'a self, number: PullNumber, wish: &'a MergeWish) -> Answering<'a, MergeAnswer> {
        Box::pin(self.merge_pull(number, wish))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pages_of_a_long_list_are_read() {
        let links = |last: u32| {
            format!(
                "<https://api.github.com/repositories/1/pulls/7/reviews?per_page=100&page=2>; rel=\"next\", \
                 <https://api.github.com/repositories/1/pulls/7/reviews?per_page=100&page={last}>; rel=\"last\""
            )
        };
        for (page, links, expected) in [
            (1, String::new(), 2),
            (
                1,
                "<https://api.github.com/x?page=2>; rel=\"next\"".to_owned(),
                2,
            ),
            (1, links(2), 2),
            (1, links(20), 2),
            (1, links(21), 3),
            (1, links(50), 32),
            (32, links(50), 33),
            (
                1,
                "<https://api.github.com/x?page=x>; rel=\"last\"".to_owned(),
                2,
            ),
        ] {
            assert_eq!(page_after(page, &links), expected, "{page} {links}");
        }
        // the pages from there to the last one, and the first one
        assert_eq!(50 - page_after(1, &links(50)) + 1 + 1, PAGES_MAX);
    }
}
