//! `symphony prompt record`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use symphony_core::agent::AgentType;
use symphony_core::id::IssueId;
use symphony_core::issue::{CommentAuthor, Issue, IssueStatus};
use symphony_core::prompt_trial::{
    RECORDED_COMMENTS_MAX, RECORDED_ISSUES_MAX, RECORDED_VERSION, RecordedComment, RecordedIssue,
    RecordedIssues, recorded_text,
};
use symphony_core::pull_request::PullRequest;
use symphony_core::run::Run;
use symphony_runner::session::Session;
use symphony_store::{IssueFilter, PrFilter, RunFilter, Store};
use symphony_view::text::plural;

use crate::app::App;
use crate::document::export;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::issue_id;

/// Comments of an issue that are looked through.
const COMMENTS_MAX: u32 = 10_000;

/// What `prompt record` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "For each issue, the file has its text and labels as they are now, the commit that its work started from, the acceptance \
                  criteria that came from documents, and what people had commented before the first agent started. An issue without a \
                  pull request has no such commit and is skipped.\n\nExamples:\n  symphony \
                  prompt record issues.json\n  symphony prompt record issues.json --label bug\n  symphony prompt record issues.json SYM-3 SYM-8"
)]
pub(crate) struct RecordArgs {
    /// The file to write; `-` is standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The issues to record; by default all that are done
    #[arg(value_name = "ISSUE", value_parser = issue_id)]
    issues: Vec<IssueId>,
    /// Record only the issues with this label
    #[arg(short, long, value_name = "LABEL", conflicts_with = "issues")]
    label: Option<String>,
}

impl RecordArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let what = "record issues for a trial";
        let mut issues = Vec::new();
        let chosen = self.chosen(&session).context(what)?;
        if chosen.is_empty() {
            let none = match &self.label {
                Some(label) => format!("no issue that is done has the label {label}"),
                None => "no issue is done yet".to_owned(),
            };
            return Err(Stop::new(Exit::NotFound, none)
                .hint("a trial repeats work whose outcome can be compared: record issues once agents have finished some")
                .into());
        }
        for issue in chosen {
            match record(&session.store, &issue).context(what)? {
                Some(recorded) => issues.push(recorded),
                None => app.out.note(&format!(
                    "Skipped {}: it has no pull request, so the commit that its work started from is unknown.",
                    issue.id
                )),
            }
        }
        if issues.is_empty() {
            return Err(
                Stop::new(Exit::NotFound, "none of the issues has a pull request")
                    .hint("`symphony pr list` lists the issues that have one")
                    .into(),
            );
        }
        if issues.len() > RECORDED_ISSUES_MAX {
            let message = format!(
                "these are {} issues; a file holds at most {RECORDED_ISSUES_MAX}",
                issues.len()
            );
            return Err(Stop::new(Exit::Failed, message)
                .hint("name the issues, or choose them by --label")
                .into());
        }
        let count = plural(issues.len(), "issue");
        let recorded = RecordedIssues {
            version: RECORDED_VERSION,
            issues,
        };
        export(app, &self.file, &recorded_text(&recorded)?, &count)
    }

    fn chosen(&self, session: &Session) -> anyhow::Result<Vec<Issue>> {
        if !self.issues.is_empty() {
            // one that is named twice is one issue
            let ids: BTreeSet<&IssueId> = self.issues.iter().collect();
            let issues = ids.into_iter().map(|id| session.store.issue(id));
            return Ok(issues.collect::<Result<_, _>>()?);
        }
        let mut filter = IssueFilter {
            project: Some(session.project.id.clone()),
            status: Some(IssueStatus::Done),
            label: self.label.clone(),
            ..IssueFilter::default()
        };
        let mut issues = Vec::new();
        loop {
            let page = session.store.list_issues(&filter)?;
            issues.extend(page.items);
            match page.next {
                Some(next) => filter.after = Some(next),
                None => return Ok(issues),
            }
        }
    }
}

/// Records an issue; none where the commit that its work started from is not known.
fn record(store: &Store, issue: &Issue) -> anyhow::Result<Option<RecordedIssue>> {
    let filter = PrFilter {
        issue: Some(issue.id.clone()),
        ..PrFilter::default()
    };
    let changes = store.prs(&filter)?.into_iter();
    let first = changes
        .filter(|pr| pr.proposal.is_none())
        .min_by_key(|pr| pr.id);
    let Some(first) = first else {
        return Ok(None);
    };
    Ok(Some(RecordedIssue {
        id: issue.id.clone(),
        title: issue.title.clone(),
        description: issue.description.clone(),
        priority: issue.priority,
        size: issue.size,
        labels: issue.labels.clone(),
        criteria: criteria_of_documents(&first),
        base_commit: first.base_commit,
        comments: comments_before(store, &issue.id)?,
    }))
}

/// Returns the criteria that come from documents, not from the issue's own text.
fn criteria_of_documents(first: &PullRequest) -> Vec<String> {
    let asked = first.checklist.iter().map(|entry| &entry.criterion);
    asked
        .filter(|criterion| criterion.source.is_some())
        .map(|criterion| criterion.text.clone())
        .collect()
}

/// What people commented before the first worker started.
fn comments_before(store: &Store, issue: &IssueId) -> anyhow::Result<Vec<RecordedComment>> {
    let filter = RunFilter {
        issue: Some(issue.clone()),
        agents_only: true,
        ..RunFilter::default()
    };
    let runs: Vec<Run> = store.runs(&filter)?;
    let workers = runs.iter().filter(|run| run.agent == AgentType::Worker);
    let Some(started) = workers.map(|run| run.started_at).min() else {
        return Ok(Vec::new());
    };
    let comments = store.comments_for_agents(issue, COMMENTS_MAX)?.into_iter();
    let told = comments
        .filter(|comment| comment.author == CommentAuthor::Human && comment.created_at < started);
    let mut told: Vec<RecordedComment> = told
        .map(|comment| RecordedComment {
            text: comment.content,
        })
        .collect();
    // the newest are what an agent would be shown
    told.drain(..told.len().saturating_sub(RECORDED_COMMENTS_MAX));
    Ok(told)
}
