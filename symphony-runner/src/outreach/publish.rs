//! Publishes a pull request elsewhere, by the configured command. The intent is recorded first, then the result, so
//! that it happens at most once unless a human asks again.
//!
//! The command needs the user's tokens, which no supervisor has. A tick therefore starts a helper with its own
//! environment as soon as it finds a pull request whose gates are green (docs/design, "Helpers hold the user's
//! tokens").

use std::collections::BTreeSet;

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::config::{Millis, ProjectConfig};
use symphony_core::id::{IssueId, PlanId, PrId, ProjectId};
use symphony_core::publication::printed_url;
use symphony_core::pull_request::{PullRequest, VerifiedGates};
use symphony_mcp::StoreThread;
use symphony_store::{Context, Project, PublishOutcome, PublishWish, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::output::last_chars;
use crate::outreach::helper::Helper;
use crate::outreach::hook::Hook;
use crate::paths::STATE_DIR;
use crate::person::as_person;
use crate::process::{DetachedSupervisor, Supervision};
use crate::runtime::block_on;

/// Time limit of the command: a push over a slow line.
const PUBLISH_LIMIT: Millis = Millis::new(10 * 60 * 1000);
/// Most characters of its output that are kept.
const OUTPUT_CHARS_MAX: usize = 4_000;

/// The command's input, on one line.
#[derive(Debug, Serialize)]
struct Told<'a> {
    version: u32,
    event: &'static str,
    project: &'a ProjectId,
    root: &'a std::path::Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue: Option<&'a IssueId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a PlanId>,
    external_id: Option<&'a str>,
    pull_request: PrId,
    title: &'a str,
    body: &'a str,
    branch: &'a str,
    base: &'a str,
    base_commit: &'a str,
    head_commit: &'a str,
    /// Where it was published before: the command then updates it.
    url: Option<&'a str>,
}

/// Where a pull request is published from.
#[derive(Debug)]
struct Publisher<'a> {
    installation: &'a Installation,
    project: &'a Project,
    config: &'a ProjectConfig,
}

/// Publishes an open pull request because a human asks for it.
///
/// # Errors
/// When no command is configured, the pull request is not open, or it is being published. A command that fails is an
/// outcome, recorded and returned.
pub fn publish_pr(installation: &Installation, id: PrId) -> Result<PublishOutcome, RunnerError> {
    let store = installation.require_store()?;
    let pr = store.pr(id)?;
    let project = store.project(&pr.project)?;
    let config = installation.project_config(&project)?;
    let supervision = Supervision::begin()?;
    let store = StoreThread::new(store);
    let publisher = Publisher {
        installation,
        project: &project,
        config: &config,
    };
    let done = publisher.publish(&store, &supervision, &pr, PublishWish::Human);
    block_on(&project.root, done)??.ok_or(RunnerError::PublishNotConfigured)
}

/// Starts the helper that publishes what is due, unless one is running, which takes the new ones too.
///
/// # Errors
/// When the database cannot be read, or the helper cannot be started.
pub fn start_publisher(
    installation: &Installation,
    store: &Store,
) -> Result<Option<DetachedSupervisor>, RunnerError> {
    if due(installation, store)?.is_empty() {
        return Ok(None);
    }
    Helper::Publish.start(installation)
}

/// Lists the open pull requests with green gates whose head was not published yet, if a command is configured.
fn due(installation: &Installation, store: &Store) -> Result<Vec<PullRequest>, RunnerError> {
    let mut due = Vec::new();
    for project in store.projects()? {
        // Whoever reads the project's configuration next reports what is wrong with it.
        let config = installation.project_config(&project).ok();
        if config.is_none_or(|config| config.publish.is_none()) {
            continue;
        }
        let open = store.unpublished_prs(&project.id)?;
        due.extend(
            open.into_iter()
                .filter(|pr| pr.gates_of_head().is_some_and(VerifiedGates::green)),
        );
    }
    Ok(due)
}

/// Publishes what is due: the body of the hidden helper. Takes the lock from standard input.
///
/// # Errors
/// When the lock was not handed over, or the database cannot be read or written.
pub fn publish_due(installation: &Installation) -> Result<(), RunnerError> {
    Helper::Publish.run(installation, async |store, supervision| {
        publish_all(installation, store, supervision).await
    })
}

async fn publish_all(
    installation: &Installation,
    store: &StoreThread,
    supervision: &Supervision,
) -> Result<(), RunnerError> {
    // One that another process is publishing stays due. Trying each head only once keeps this loop finite.
    let mut tried: BTreeSet<(PrId, String)> = BTreeSet::new();
    loop {
        let here = installation.clone();
        let due = store.call(move |store| due(&here, store)).await??;
        let next = due
            .into_iter()
            .find(|pr| tried.insert((pr.id, pr.head_commit.clone())));
        let Some(pr) = next else {
            return Ok(());
        };
        let id = pr.project.clone();
        let project = store.call(move |store| store.project(&id)).await??;
        let config = installation.project_config(&project)?;
        let publisher = Publisher {
            installation,
            project: &project,
            config: &config,
        };
        let done = publisher
            .publish(store, supervision, &pr, PublishWish::Opened)
            .await;
        match done {
            Ok(outcome) => {
                if let Some(outcome) = outcome.filter(|outcome| !outcome.published) {
                    tracing::warn!(pr = %pr.id, output = outcome.output, "the pull request was not published");
                }
            }
            Err(error) => tracing::warn!(pr = %pr.id, %error, "the pull request was not published"),
        }
    }
}

impl Publisher<'_> {
    /// Publishes a pull request; `None` if no command is configured, or if it was tried and no one asks again.
    pub(crate) async fn publish(
        &self,
        store: &StoreThread,
        supervision: &Supervision,
        pr: &PullRequest,
        wish: PublishWish,
    ) -> Result<Option<PublishOutcome>, RunnerError> {
        if self.config.publish.is_none() {
            return Ok(None);
        }
        // Recorded before the command runs: a process that dies in between cannot tell whether the command pushed
        // anything. Then only a human may ask for it again.
        let (context, id) = (context_of(wish), pr.id);
        let intent = store
            .call(move |store| store.begin_publication(&context, id, wish))
            .await??;
        let Some(intent) = intent else {
            return Ok(None);
        };
        let outcome = match self.run(store, supervision, pr).await {
            Ok(outcome) => outcome,
            Err(error) => PublishOutcome {
                published: false,
                exit_code: None,
                url: None,
                output: error.with_causes(),
            },
        };
        let (context, recorded) = (context_of(wish), outcome.clone());
        store
            .call(move |store| store.end_publication(&context, id, intent, &recorded))
            .await??;
        Ok(Some(outcome))
    }

    async fn run(
        &self,
        store: &StoreThread,
        supervision: &Supervision,
        pr: &PullRequest,
    ) -> Result<PublishOutcome, RunnerError> {
        let Some(line) = &self.config.publish else {
            return Err(RunnerError::PublishNotConfigured);
        };
        let (id, issue) = (pr.id, pr.of.issue().cloned());
        let (external_id, url) = store
            .call(move |store| {
                let issue = issue.map(|issue| store.issue(&issue)).transpose()?;
                let external_id = issue.and_then(|issue| issue.external_id);
                Ok::<_, symphony_store::StoreError>((external_id, store.published_url(id)?))
            })
            .await??;
        let told = Told {
            version: 1,
            event: "publish",
            project: &self.project.id,
            root: &self.project.root,
            issue: pr.of.issue(),
            plan: pr.of.plan(),
            external_id: external_id.as_deref(),
            pull_request: pr.id,
            title: &pr.title,
            body: &pr.body,
            branch: &pr.branch,
            base: &pr.base,
            base_commit: &pr.base_commit,
            head_commit: &pr.head_commit,
            url: url.as_deref(),
        };
        let name = format!("pull-request-{}", pr.id);
        let limit = PUBLISH_LIMIT;
        let hook = Hook {
            installation: self.installation,
            config: self.config,
            line,
            limit,
            directory: &self.project.root,
            files: self.project.root.join(STATE_DIR).join("publish"),
            name: &name,
        };
        let outcome = hook.run(supervision, &told).await?;
        let published = outcome.passed();
        let mut output = last_chars(&outcome.output, OUTPUT_CHARS_MAX);
        if !published {
            output = format!("{output}[{}]\n", outcome.how(limit));
        }
        Ok(PublishOutcome {
            published,
            exit_code: outcome.exit.code.filter(|_| !outcome.timed_out),
            url: printed_url(&outcome.output)
                .filter(|_| published)
                .map(str::to_owned),
            output,
        })
    }
}

fn context_of(wish: PublishWish) -> Context {
    let now = Timestamp::now();
    match wish {
        PublishWish::Opened => Context::system(now),
        PublishWish::Human => as_person(now),
    }
}
