//! What the service for openai/symphony's `WORKFLOW.md` asks Linear (sections 11.1 to 11.4 of its specification): candidates
//! of a project, tickets by their ids, tickets by their states, and what an agent asks itself.

mod error;
mod read;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_workflow::Ticket;

pub use self::error::PollError;
use self::read::{Page, page_of};
use crate::error::SyncError;
use crate::http::answer::Answer;
use crate::http::client::{Client, Request};
use crate::http::limits::Options;
use crate::http::rate::{UNNAMED_WAIT_MS, retry_after};
use crate::linear::Linear;
use crate::linear::query::{POLL_BY_IDS, POLL_BY_STATES};
use crate::token::Token;

/// Issues of a page, as the specification has it.
const PAGE: usize = 50;
/// Most pages of one question: 10,000 tickets.
const PAGES_MAX: usize = 200;
/// Longest wait for an answer, as the specification has it.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);

/// The questions about the tickets of one project. Its `Debug` shows no token.
#[derive(Debug, Clone)]
pub struct LinearPolls {
    client: Arc<Client>,
    slug: String,
}

impl LinearPolls {
    /// Prepares questions about a project, by its slug id; sends none.
    ///
    /// # Errors
    /// [`SyncError`] if the address, the certificates or a proxy of the environment cannot be used.
    pub fn connect(
        endpoint: &str,
        token: Token,
        slug: &str,
        options: &Options,
    ) -> Result<Self, SyncError> {
        let options = Options {
            answer_time_max: options.answer_time_max.min(ANSWER_TIME_MAX),
            ..options.clone()
        };
        let client = Client::new(endpoint, token, Linear::HEADERS, &options)?;
        Ok(Self {
            client: Arc::new(client),
            slug: slug.to_owned(),
        })
    }

    /// Returns the tickets of the project in these states, in the order of the tracker.
    ///
    /// # Errors
    /// [`PollError`], by the specification's classes.
    pub async fn candidates(&self, active_states: &[String]) -> Result<Vec<Ticket>, PollError> {
        self.by_states(active_states).await
    }

    /// Returns the tickets of the project in these states, in the order of the tracker. For no states nothing is asked.
    ///
    /// # Errors
    /// As [`Self::candidates`].
    pub async fn by_states(&self, states: &[String]) -> Result<Vec<Ticket>, PollError> {
        if states.is_empty() {
            return Ok(Vec::new());
        }
        let variables = json!({ "projectSlug": self.slug, "stateNames": states, "first": PAGE });
        self.pages(POLL_BY_STATES, variables).await
    }

    /// Returns the tickets with these ids, as far as the tracker still shows them. For no ids nothing is asked.
    ///
    /// # Errors
    /// As [`Self::candidates`].
    pub async fn states_by_ids(&self, ids: &[String]) -> Result<Vec<Ticket>, PollError> {
        let mut tickets = Vec::new();
        for some in ids.chunks(PAGE) {
            let variables = json!({ "ids": some, "first": PAGE });
            tickets.extend(self.pages(POLL_BY_IDS, variables).await?);
        }
        Ok(tickets)
    }

    /// Sends a question of an agent as it is, and returns the whole answer, errors of GraphQL included.
    ///
    /// # Errors
    /// When there is no answer, its status is none of success, or it is no JSON.
    pub async fn graphql(&self, query: &str, variables: &Value) -> Result<Value, PollError> {
        let answer = self.ask(query, variables).await?;
        serde_json::from_slice(&answer.body).map_err(|_no_json| PollError::UnknownPayload {
            detail: answer.beginning(self.client.token()),
        })
    }

    async fn pages(&self, query: &str, mut variables: Value) -> Result<Vec<Ticket>, PollError> {
        let mut tickets = Vec::new();
        for _ in 0..PAGES_MAX {
            let answer = self.ask(query, &variables).await?;
            let page = page_of(&answer, self.client.token())?;
            tickets.extend(page.tickets);
            match page.next {
                Page::LAST => return Ok(tickets),
                // a page that begins where it began itself would be read for ever
                Some(cursor) if variables.get("after") == Some(&json!(cursor)) => {
                    return Err(PollError::MissingEndCursor);
                }
                Some(cursor) => {
                    if let Some(map) = variables.as_object_mut() {
                        map.insert("after".to_owned(), json!(cursor));
                    }
                }
            }
        }
        Err(PollError::UnknownPayload {
            detail: format!("more than {PAGES_MAX} pages"),
        })
    }

    async fn ask(&self, query: &str, variables: &Value) -> Result<Answer, PollError> {
        let body = json!({ "query": query, "variables": variables });
        let request = Request {
            method: Method::POST,
            url: self.client.endpoint().clone(),
            body: Some(body.to_string().into_bytes()),
            etag: None,
        };
        let sent = self.client.send(request).await;
        let answer = sent.map_err(|fault| PollError::Request {
            detail: fault.to_string(),
        })?;
        if answer.status != 200 {
            let now = Timestamp::now();
            if answer.status == 429 {
                let until = retry_after(&answer, now);
                self.client
                    .pause_until(until.unwrap_or_else(|| now.saturating_add_ms(UNNAMED_WAIT_MS)));
            }
            return Err(PollError::Status {
                status: answer.status,
                detail: answer.beginning(self.client.token()),
            });
        }
        Ok(answer)
    }
}
