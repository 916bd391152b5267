//! Linear, by its GraphQL API.
//!
//! The limit counts requests and the cost of queries, which grows with the sizes of pages that are asked for, whether they
//! are filled or not. A look at a team where nothing happened is therefore a query for two items.

mod apply;
mod changed;
mod check;
mod cursor;
mod fault;
mod labels;
pub mod query;
mod wire;

use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use symphony_tracker::change::{Applied, Outgoing};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{Cursor, ExternalId, Page, RemoteComment, RemoteIssue};

use crate::access::Access;
use crate::http::client::{Client, Headers, Request};
use crate::tracker::{Answering, Tracker};

/// How the tokens begin that act for an installed app; keys of people are sent without `Bearer`.
const OAUTH_PREFIX: &str = "lin_oauth_";

/// The issues of one team on Linear, or of one project in it.
#[derive(Debug)]
pub(crate) struct Linear {
    client: Client,
    team: String,
    project: Option<String>,
}

/// What a query is for, as its errors say it.
#[derive(Debug)]
struct Asked {
    /// What the token needs to be allowed to do, such as `write comments`.
    action: &'static str,
    /// What has to exist, such as `issue 5d0c…`.
    what: String,
}

impl Linear {
    /// The headers of every request.
    pub(crate) const HEADERS: Headers = Headers {
        authorization: |token| {
            if token.starts_with(OAUTH_PREFIX) {
                format!("Bearer {token}")
            } else {
                token.to_owned()
            }
        },
        accept: "application/json",
        own: None,
    };

    /// Takes the client of the API, the key of a team, and the slug id of a project.
    pub(crate) fn new(client: Client, team: &str, project: Option<&str>) -> Self {
        Self {
            client,
            team: team.to_owned(),
            project: project.map(str::to_owned),
        }
    }

    /// Returns the filter of the issues that are mirrored, without a time.
    fn scope(&self) -> Value {
        match &self.project {
            Some(slug) => json!({
                "team": { "key": { "eq": self.team } },
                "project": { "slugId": { "eq": slug } },
            }),
            None => json!({ "team": { "key": { "eq": self.team } } }),
        }
    }

    fn reading_team(&self) -> Asked {
        Asked {
            action: "read the team's issues",
            what: format!("the team {}", self.team),
        }
    }

    /// Asks a query and reads its data.
    async fn ask<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: &Value,
        asked: &Asked,
    ) -> Result<T, Fault> {
        let body = json!({ "query": query, "variables": variables });
        let request = Request {
            method: Method::POST,
            url: self.client.endpoint().clone(),
            body: Some(body.to_string().into_bytes()),
            etag: None,
        };
        let answer = self.client.send(request).await?;
        fault::checked(&answer, asked, &self.client)?;
        let reply: wire::Reply<T> = answer.read("the answer to a query", self.client.token())?;
        Ok(reply.data)
    }

    /// Reads issues by their ids, a page at a time.
    async fn load_issues(&self, ids: &[ExternalId]) -> Result<Vec<RemoteIssue>, Fault> {
        let mut found = Vec::new();
        for ids in ids.chunks(query::ISSUES_PAGE) {
            let variables = json!({ "ids": ids, "first": query::ISSUES_PAGE });
            let reply: wire::IssuesData = self
                .ask(query::ISSUES_BY_ID, &variables, &self.reading_team())
                .await?;
            for issue in reply.issues.nodes {
                if self.is_here(&issue) {
                    found.push(self.complete(issue).await?);
                }
            }
        }
        Ok(found)
    }

    /// Whether an issue is still in the team, and in the project if one is set.
    fn is_here(&self, issue: &wire::WireIssue) -> bool {
        let is_in_project = self
            .project
            .as_ref()
            .is_none_or(|slug| issue.project_slug() == Some(slug));
        issue.team.key == self.team && is_in_project
    }

    /// Adds what did not fit into the lists of an issue: a label that is missing here would look like one that was removed.
    async fn complete(&self, issue: wire::WireIssue) -> Result<RemoteIssue, Fault> {
        if !issue.is_cut() {
            return Ok(issue.issue());
        }
        let asked = Asked {
            action: "read issues",
            what: format!("issue {}", issue.identifier),
        };
        let reply: wire::IssueData = self
            .ask(query::ISSUE_IN_FULL, &json!({ "id": issue.id }), &asked)
            .await?;
        Ok(reply.issue.issue())
    }
}

impl Tracker for Linear {
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
