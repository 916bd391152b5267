//! `symphony learnings list`.

use std::collections::BTreeSet;

use clap::Args;
use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_core::learning::{Learning, LearningState, LearningType};
use symphony_learning::{Best, Options, Ranker, Subject};
use symphony_runner::session::Session;
use symphony_store::LearningFilter;
use symphony_view::text::List;
use symphony_view::{ExplainedLearning, LearningFate, read};

use crate::app::App;
use crate::failure::Context as _;
use crate::value::{issue_id, named};

/// What `learnings list` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony learnings list --type convention\n  symphony learnings list --proposed\n  symphony learnings list --explain SYM-12    what an agent on SYM-12 would be given, and why"
)]
pub(crate) struct ListArgs {
    /// Only learnings of this kind
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = named(LearningType::NAMES, LearningType::parse))]
    learning_type: Option<LearningType>,
    #[command(flatten)]
    states: StateArgs,
    /// Show at most this many; by default all
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// Include all projects of the installation
    #[arg(long = "all-projects")]
    all_projects: bool,
    /// Rank the learnings for an issue, best first; shows the parts of each score, and what the agent would not get
    #[arg(long, value_name = "ISSUE", value_parser = issue_id, conflicts_with_all = ["states", "proposed", "retired", "all", "all_projects"])]
    explain: Option<IssueId>,
}

/// The states that are listed.
#[derive(Debug, Args)]
struct StateArgs {
    /// Only learnings in this state; may be given several times. By default accepted and proposed ones
    #[arg(long = "state", value_name = "STATE", value_parser = named(LearningState::NAMES, LearningState::parse))]
    states: Vec<LearningState>,
    /// Only learnings that a run proposed and whose issue has not ended
    #[arg(long, conflicts_with_all = ["states", "all", "retired"])]
    proposed: bool,
    /// Only retired ones
    #[arg(long, conflicts_with_all = ["states", "all"])]
    retired: bool,
    /// Include dropped and retired ones
    #[arg(short, long, conflicts_with = "states")]
    all: bool,
}

impl StateArgs {
    fn chosen(&self) -> Vec<LearningState> {
        if self.all {
            LearningState::ALL.to_vec()
        } else if self.proposed {
            vec![LearningState::Proposed]
        } else if self.retired {
            vec![LearningState::Retired]
        } else if self.states.is_empty() {
            vec![LearningState::Proposed, LearningState::Accepted]
        } else {
            self.states.clone()
        }
    }
}

impl ListArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        if let Some(issue) = &self.explain {
            return self.explain(app, &session, issue);
        }
        let filter = LearningFilter {
            project: (!self.all_projects).then(|| session.project.id.clone()),
            learning_type: self.learning_type,
            states: self.states.chosen(),
            or_proposed_by: None,
            limit: self.limit,
        };
        let learnings = read::learnings(&session, &filter).context("list the learnings")?;
        app.out.answer_long(&learnings)
    }

    fn explain(&self, app: &App, session: &Session, issue: &IssueId) -> anyhow::Result<()> {
        let what = || format!("explain the learnings of {issue}");
        let issue = session.store.issue(issue).with_context(what)?;
        // all kinds are ranked, whatever is shown: one kind can cover another
        let filter = LearningFilter {
            project: Some(issue.project.clone()),
            or_proposed_by: Some(issue.id.clone()),
            ..LearningFilter::default()
        };
        let records = session.store.learnings(&filter).with_context(what)?;
        let learnings: Vec<Learning> = records
            .iter()
            .map(|record| record.learning.clone())
            .collect();
        let subject = Subject::issue(&issue.title, &issue.description, &issue.labels);
        let now = Timestamp::now();
        let usefulness = session.store.usefulness_scores(&issue.project);
        let usefulness = usefulness.with_context(what)?;
        let ranker = |options| -> anyhow::Result<Ranker<'_>> {
            let ranker = Ranker::new(&subject, now, options).with_context(what)?;
            let mut ranker = ranker.with_usefulness(usefulness.clone());
            for learning in &learnings {
                ranker.push_learning(learning);
            }
            Ok(ranker)
        };
        let given = ranker(Options::default())?.best();
        let whole = ranker(Options::uncapped())?.full();
        let id = |index: usize| learnings.get(index).map(|learning| learning.id.clone());
        let mut fates: Vec<(usize, LearningFate)> = Vec::new();
        fates.extend(given_and_over(&given, &whole.best));
        fates.extend(
            whole
                .dropped
                .iter()
                .map(|dropped| match dropped.covered_by {
                    Some(by) => (dropped.index, LearningFate::Covered { covered_by: id(by) }),
                    None => (dropped.index, LearningFate::Empty),
                }),
        );
        let mut shown: List<ExplainedLearning> = fates
            .into_iter()
            .filter_map(|(index, fate)| {
                Some(ExplainedLearning::new(records.get(index)?.clone(), fate))
            })
            .filter(|explained| {
                self.learning_type.is_none()
                    || explained.learning.learning_type == self.learning_type
            })
            .collect();
        if let Some(limit) = self.limit {
            shown
                .items
                .truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        app.out.answer_long(&shown)
    }
}

/// What stays, conventions first, each list best first: given, or over the cap.
fn given_and_over(given: &Best, whole: &Best) -> Vec<(usize, LearningFate)> {
    let taken: BTreeSet<usize> = given
        .conventions
        .iter()
        .chain(&given.tactical)
        .map(|hit| hit.index)
        .collect();
    let all = whole.conventions.iter().chain(&whole.tactical);
    all.map(|hit| {
        let (score, parts) = (hit.score, hit.parts);
        let fate = if taken.contains(&hit.index) {
            LearningFate::Given { score, parts }
        } else {
            LearningFate::OverCap { score, parts }
        };
        (hit.index, fate)
    })
    .collect()
}
