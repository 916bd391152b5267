//! Publishing pull requests elsewhere: the intent is recorded first, then the outcome.

use symphony_core::id::{PrId, ProjectId};
use symphony_core::log::LogEvent;
use symphony_core::publication::{Publication, PublicationState};
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_core::standing::UNSEEN_PUBLICATION_MS;

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{parsed, time};
use crate::db::{OptionalExtension, Row, params};
use crate::error::StoreError;
use crate::review::pull_request_query::load_pr;
use crate::review::refusal::{PrStep, refuse_ended, refuse_proposal};

/// Who requests that a pull request is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishWish {
    /// Symphony, because it was opened: once per commit, whatever the outcome.
    Opened,
    /// A person, who may publish the same commit again.
    Human,
}

/// The outcome of a publishing command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishOutcome {
    /// Whether it succeeded.
    pub published: bool,
    /// Its exit code; `None` when its time limit or a signal ended it.
    pub exit_code: Option<i32>,
    /// The address that it printed.
    pub url: Option<String>,
    /// The end of its output.
    pub output: String,
}

fn from_row(row: &Row<'_>) -> Result<Publication, StoreError> {
    let ended: Option<i64> = row.get("ended_at")?;
    Ok(Publication {
        commit: row.get("commit_id")?,
        state: parsed("publication state", row.get("state")?)?,
        exit_code: row.get("exit_code")?,
        url: row.get("url")?,
        output: row.get("output")?,
        started_at: time(row.get("started_at")?)?,
        ended_at: ended.map(time).transpose()?,
    })
}

impl Store {
    /// Returns the last publication of a pull request, or the last attempt.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn publication(&self, pr: PrId) -> Result<Option<Publication>, StoreError> {
        self.conn
            .prepare_cached(
                "SELECT * FROM publication WHERE pull_request = ?1 ORDER BY id DESC LIMIT 1",
            )?
            .query_row([pr.get()], |row| Ok(from_row(row)))
            .optional()?
            .transpose()
    }

    /// Lists the open pull requests of a project whose gates have run and whose head no one has tried to publish yet,
    /// oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unpublished_prs(&self, project: &ProjectId) -> Result<Vec<PullRequest>, StoreError> {
        let ids: Vec<i64> = self
            .conn
            .prepare_cached(
                "SELECT id FROM pull_request AS pr WHERE project = ?1 AND state IN (?2, ?3) AND verified_gates IS NOT NULL AND proposal IS NULL \
                 AND NOT EXISTS (SELECT 1 FROM publication WHERE pull_request = pr.id AND commit_id = pr.head_commit) \
                 ORDER BY id",
            )?
            .query_map([project.as_str(), PrState::Open.name(), PrState::Approved.name()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        ids.into_iter()
            .map(|id| load_pr(&self.conn, PrId::new(id)))
            .collect()
    }

    /// Returns the address at which a pull request was last published.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn published_url(&self, pr: PrId) -> Result<Option<String>, StoreError> {
        let url = self
            .conn
            .prepare_cached(
                "SELECT url FROM publication WHERE pull_request = ?1 AND url IS NOT NULL ORDER BY id DESC LIMIT 1",
            )?
            .query_row([pr.get()], |row| row.get(0))
            .optional()?;
        Ok(url)
    }

    /// Records the intent to publish the head of a pull request. Returns `None` when Symphony already tried to: an
    /// external effect happens at most once per intent, and only a person makes another one.
    ///
    /// # Errors
    /// When a run calls it, the pull request is not open, or a command is already publishing it.
    pub fn begin_publication(
        &mut self,
        context: &Context,
        pr: PrId,
        wish: PublishWish,
    ) -> Result<Option<i64>, StoreError> {
        if matches!(context.actor, Actor::Run(_)) {
            return Err(StoreError::OnlyPeople("publish"));
        }
        self.write(context, |tx| {
            let found = load_pr(tx, pr)?;
            refuse_proposal(&found)?;
            let tried: bool = tx.query_row(
                "SELECT EXISTS (SELECT 1 FROM publication WHERE pull_request = ?1 AND commit_id = ?2)",
                params![pr.get(), found.head_commit],
                |row| row.get(0),
            )?;
            if wish == PublishWish::Opened && (tried || !found.state.is_open()) {
                return Ok(None);
            }
            refuse_ended(&found, PrStep::Publish)?;
            let running: Option<(i64, i64)> = tx
                .query_row(
                    "SELECT id, started_at FROM publication WHERE pull_request = ?1 AND state = 'running'",
                    [pr.get()],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()?;
            let now = context.now.as_millisecond();
            if let Some((id, started)) = running {
                let age = now.saturating_sub(started);
                if (0..UNSEEN_PUBLICATION_MS).contains(&age) {
                    return Err(StoreError::refused(format!(
                        "pull request {pr} is being published: `symphony pr show {}` shows the result",
                        found.reference()
                    )));
                }
                tx.execute(
                    "UPDATE publication SET state = 'failed', ended_at = ?2, output = 'its result was not recorded' \
                     WHERE id = ?1",
                    params![id, now],
                )?;
            }
            let id = tx.query_row(
                "INSERT INTO publication (pull_request, commit_id, state, started_at) VALUES (?1, ?2, 'running', ?3) RETURNING id",
                params![pr.get(), found.head_commit, now],
                |row| row.get(0),
            )?;
                        let begun = LogEvent::PublicationBegun { pr, commit: found.head_commit.clone() };
            append(tx, context, About::of(&found.of), &begun)?;
            Ok(Some(id))
        })
    }

    /// Records the outcome of an intent.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_publication(
        &mut self,
        context: &Context,
        pr: PrId,
        id: i64,
        outcome: &PublishOutcome,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let found = load_pr(tx, pr)?;
            let state = if outcome.published {
                PublicationState::Published
            } else {
                PublicationState::Failed
            };
            tx.execute(
                "UPDATE publication SET state = ?2, exit_code = ?3, url = ?4, output = ?5, ended_at = ?6 WHERE id = ?1",
                params![
                    id,
                    state.name(),
                    outcome.exit_code,
                    outcome.url,
                    outcome.output,
                    context.now.as_millisecond(),
                ],
            )?;
            let ended = LogEvent::PublicationEnded {
                pr,
                state,
                url: outcome.url.clone(),
            };
            append(tx, context, About::of(&found.of), &ended)
        })
    }
}
