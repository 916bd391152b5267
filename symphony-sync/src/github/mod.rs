//! GitHub, by its REST API: github.com and enterprise hosts.
//!
//! The limit counts requests, not what they cost; an answer `304 Not Modified` is free. Texts have no condition on writes.

mod apply;
mod changed;
mod check;
mod cursor;
mod fault;
mod forge;
mod issues;
mod wire;

pub(crate) use forge::GithubForge;

use reqwest::{Method, Url};
use serde_json::Value;
use symphony_tracker::change::{Applied, Outgoing};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{Cursor, ExternalId, Page, RemoteComment, RemoteIssue};

use crate::access::Access;
use crate::http::answer::Answer;
use crate::http::client::{Client, Headers, Request};
use crate::tracker::{Answering, Tracker};

/// The version of the API that the forms in this folder are of.
const API_VERSION: &str = "2022-11-28";

/// The issues of one repository on GitHub.
#[derive(Debug)]
pub(crate) struct Github {
    client: Client,
    owner: String,
    name: String,
    /// What the configuration calls the tracker, for the commands in messages; a forge has no name.
    tracker: Option<String>,
}

/// What a request is for, as its errors say it.
#[derive(Debug)]
struct Asked {
    /// What the token needs to be allowed to do, such as `write comments`.
    action: &'static str,
    /// What has to exist, such as `issue 12 of acme/web`.
    what: String,
}

impl Github {
    /// The headers of every request.
    pub(crate) const HEADERS: Headers = Headers {
        authorization: |token| format!("Bearer {token}"),
        accept: "application/vnd.github+json",
        own: Some(("x-github-api-version", API_VERSION)),
    };

    /// Takes the client of an API and the repository.
    pub(crate) fn new(client: Client, owner: &str, name: &str) -> Self {
        Self {
            client,
            owner: owner.to_owned(),
            name: name.to_owned(),
            tracker: None,
        }
    }

    /// Gives it the name that its tracker has in the configuration.
    pub(crate) fn called(self, tracker: &str) -> Self {
        let tracker = Some(tracker.to_owned());
        Self { tracker, ..self }
    }

    /// Returns an address below the API's; each segment is escaped.
    fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.client.endpoint().clone();
        url.path_segments_mut()
            .expect("an endpoint has a host, and with it a path")
            .pop_if_empty()
            .extend(segments);
        url
    }

    /// Returns an address below the repository's.
    fn repository_url(&self, segments: &[&str]) -> Url {
        let mut all = vec!["repos", &self.owner, &self.name];
        all.extend(segments);
        self.url(&all)
    }

    /// Names an issue of the repository as errors do.
    fn issue_named(&self, number: u64) -> String {
        format!("issue {number} of {}/{}", self.owner, self.name)
    }

    fn reading(&self, number: u64) -> Asked {
        Asked {
            action: "read issues",
            what: self.issue_named(number),
        }
    }

    fn reading_repository(&self) -> Asked {
        Asked {
            action: "read the repository's issues",
            what: format!("the repository {}/{}", self.owner, self.name),
        }
    }

    /// Asks for something; with a tag, the answer can be 304.
    async fn get(&self, url: Url, etag: Option<&str>, asked: &Asked) -> Result<Answer, Fault> {
        let request = Request {
            method: Method::GET,
            url,
            body: None,
            etag: etag.map(str::to_owned),
        };
        let answer = self.client.send(request).await?;
        fault::checked(answer, asked, &self.client)
    }

    /// Asks for a change.
    async fn write(
        &self,
        method: Method,
        url: Url,
        body: Option<&Value>,
        asked: &Asked,
    ) -> Result<Answer, Fault> {
        let request = Request {
            method,
            url,
            body: body.map(|body| body.to_string().into_bytes()),
            etag: None,
        };
        let answer = self.client.send(request).await?;
        fault::checked(answer, asked, &self.client)
    }
}

impl Tracker for Github {
    fn clock_ahead_ms(&self) -> i64 {
        self.client.clock_ahead_ms()
    }

    fn check(&self) -> Answering<'_, Access> {
        Box::pin(self.load_access())
    }

    fn may_write(&self) -> Answering<'_, Option<bool>> {
        Box::pin(self.try_to_write())
    }

    fn changed<'a>(&'a self, cursor: &'a Cursor) -> Answering<'a, Page> {
        Box::pin(self.load_page(cursor))
    }

    fn issues<'a>(&'a self, ids: &'a [ExternalId]) -> Answering<'a, Vec<RemoteIssue>> {
        Box::pin(self.load_issues(ids))
    }

    fn comments<'a>(&'a self, issue: &'a ExternalId) -> Answering<'a, Vec<RemoteComment>> {
        Box::pin(self.load_comments(issue))
    }

    fn apply<'a>(&'a self, outgoing: &'a Outgoing) -> Answering<'a, Applied> {
        Box::pin(self.apply_change(outgoing))
    }
}
