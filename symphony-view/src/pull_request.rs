//! Pull requests.

use std::collections::BTreeSet;

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::asker::verification_note;
use symphony_core::config_change::{decisive_files, decisive_files_text};
use symphony_core::criteria::ChecklistEntry;
use symphony_core::done::{DoneEvidence, DoneProposal};
use symphony_core::gates::{ConfiguredGate, GatesAge};
use symphony_core::id::{IssueId, PlanId, PrId, ProjectId, RunId};
use symphony_core::outside::OutsideMerge;
use symphony_core::publication::Publication;
use symphony_core::pull_request::{
    FileStat, PrState, PullRequest, ReportedGate, Verdict, VerifiedGate,
};
use symphony_core::review_point::ReviewPoint;

use super::checklist::{CriteriaChanged, write_checklist};
use super::forge::ForgePullView;
use super::point::PointView;
use super::run::{RunView, write_by_products};
use crate::notes::CommentView;
use crate::text::{Listed, Page, Table, View, ago, compact_duration, plural};

/// Characters of a commit that are shown to a person.
const COMMIT_CHARS: usize = 10;

/// A pull request, with the issue or the plan that it finishes: the other one is absent. `gates` are those that Symphony ran, on `gates_commit`; null until it did.
#[derive(Debug, Clone, Serialize)]
pub struct PrView {
    /// Its number.
    pub id: PrId,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The issue that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueId>,
    /// The plan that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The run that opened it.
    pub run: Option<RunId>,
    /// Its title.
    pub title: String,
    /// What the worker says about the change, in Markdown.
    pub body: String,
    /// The branch that holds the work.
    pub branch: String,
    /// The branch that it is merged into.
    pub base: String,
    /// The commit that the change starts from.
    pub base_commit: String,
    /// The last commit of the change.
    pub head_commit: String,
    /// Where its branch is now, when that is not the head: verdict and gates are about the head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_commit: Option<String>,
    /// Its state.
    pub state: PrState,
    /// The results of the gates; none if they have not run.
    pub gates: Option<Vec<VerifiedGate>>,
    /// The commit that the gates ran on.
    pub gates_commit: Option<String>,
    /// The run in which its gates run now; only where one pull request is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates_run: Option<RunId>,
    /// Whether they are the gates that the project has now; absent where that no longer matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates_age: Option<GatesAge>,
    /// The base commit that it was merged with for them; absent when they ran on it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates_merged_with: Option<String>,
    /// What the worker says about the gates; Symphony runs them itself.
    pub reported_gates: Vec<ReportedGate>,
    /// What the worker answered to each acceptance criterion; absent where there was none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checklist: Vec<ChecklistEntry>,
    /// How the criteria have changed since; only where one open pull request is shown, and absent where they have not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria_changed: Option<CriteriaChanged>,
    /// The last verdict.
    pub verdict: Option<Verdict>,
    /// Messages to the agents of its issue that none of them has read; only where one open pull request is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread_messages: Vec<CommentView>,
    /// What its reviews asked for; only where one pull request is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointView>,
    /// The files that the change touches.
    pub files: Vec<FileStat>,
    /// Those of its files that the set-up had made and agents committed as they were; only where one pull request is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_products: Vec<String>,
    /// What it does to the submodules that the repository declares; only where one pull request is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<String>,
    /// Lines that are added.
    pub insertions: u64,
    /// Lines that are removed.
    pub deletions: u64,
    /// The commit on the base that holds the merge.
    pub merged_commit: Option<String>,
    /// How it was merged, when that was not Symphony.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_outside: Option<OutsideMerge>,
    /// Set if it is not a change but the proposal that nothing is left to do; the body has the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<DoneProposal>,
    /// How it was last published elsewhere; only where one pull request is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publication: Option<Publication>,
    /// The pull request at the project's forge; only where one pull request is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forge: Option<ForgePullView>,
    /// Files that decide what Symphony does once they are merged; only where one pull request is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisive_files: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl From<PullRequest> for PrView {
    fn from(pr: PullRequest) -> Self {
        let (insertions, deletions) = pr.totals();
        let merged_with = pr.verified_gates.as_ref();
        let gates_merged_with = merged_with.and_then(|gates| gates.merged_with.clone());
        let (gates_commit, gates) = pr
            .verified_gates
            .map(|gates| (gates.commit, gates.results))
            .unzip();
        Self {
            id: pr.id,
            project: pr.project,
            issue: pr.of.issue().cloned(),
            plan: pr.of.plan().cloned(),
            run: pr.run,
            title: pr.title,
            body: pr.body,
            branch: pr.branch,
            base: pr.base,
            base_commit: pr.base_commit,
            head_commit: pr.head_commit,
            branch_commit: None,
            state: pr.state,
            gates,
            gates_commit,
            gates_run: None,
            gates_age: None,
            gates_merged_with,
            reported_gates: pr.reported_gates,
            checklist: pr.checklist,
            criteria_changed: None,
            verdict: pr.verdict,
            unread_messages: Vec::new(),
            points: Vec::new(),
            files: pr.files,
            by_products: Vec::new(),
            submodules: Vec::new(),
            insertions,
            deletions,
            merged_commit: pr.merged_commit,
            merged_outside: pr.merged_outside,
            proposal: pr.proposal,
            publication: None,
            forge: None,
            decisive_files: Vec::new(),
            created_at: pr.created_at,
        }
    }
}

/// Names what a pull request or a run is about.
pub(super) fn subject(issue: Option<&IssueId>, plan: Option<&PlanId>) -> String {
    match (issue, plan) {
        (Some(issue), _) => issue.to_string(),
        (None, Some(plan)) => format!("plan {plan}"),
        (None, None) => String::new(),
    }
}

pub(crate) fn short(commit: &str) -> &str {
    commit.get(..COMMIT_CHARS).unwrap_or(commit)
}

impl PrView {
    /// Views a pull request of a project that has these gates now.
    pub fn of(pr: PullRequest, configured: &[ConfiguredGate]) -> Self {
        let found = pr.gates_of_head().filter(|_| pr.state.is_open());
        let gates_age = found.map(|found| GatesAge::of(found, configured));
        Self {
            gates_age,
            ..Self::from(pr)
        }
    }

    /// Adds where its branch is now. After a merge, the branch no longer matters.
    #[must_use]
    pub fn with_branch_at(self, now: Option<String>) -> Self {
        let is_elsewhere =
            |commit: &String| self.state != PrState::Merged && *commit != self.head_commit;
        Self {
            branch_commit: now.filter(is_elsewhere),
            ..self
        }
    }

    /// Adds which of its files the set-up had made, from the runs on its branch.
    #[must_use]
    pub fn with_by_products(self, runs: impl Iterator<Item = RunView>) -> Self {
        let made: BTreeSet<String> = runs.flat_map(|run| run.by_products()).collect();
        let has = |path: &String| self.files.iter().any(|file| file.path == *path);
        Self {
            by_products: made.into_iter().filter(has).collect(),
            ..self
        }
    }

    /// Adds which of the runs about its issue or plan runs its gates now.
    #[must_use]
    pub fn with_gates_run<'r>(self, mut runs: impl Iterator<Item = &'r RunView>) -> Self {
        let is_it = |run: &&RunView| {
            run.status.is_live() && run.is_of_gates() && run.pull_request == Some(self.id)
        };
        Self {
            gates_run: runs.find(is_it).map(|run| run.id.clone()),
            ..self
        }
    }

    /// Adds what the reviews of its issue or its plan asked for.
    #[must_use]
    pub fn with_points(self, points: Vec<ReviewPoint>) -> Self {
        Self {
            points: points.into_iter().map(PointView::from).collect(),
            ..self
        }
    }

    /// Adds how the criteria have changed since the worker was given them.
    #[must_use]
    pub fn with_criteria_changed(self, criteria_changed: Option<CriteriaChanged>) -> Self {
        Self {
            criteria_changed,
            ..self
        }
    }

    /// Names the files that decide what Symphony does, of those that it changes.
    #[must_use]
    pub fn with_decisive(self, patterns: &[String]) -> Self {
        Self {
            decisive_files: decisive_files(&self.files, patterns),
            ..self
        }
    }

    /// Returns what it finishes: an issue, or a plan.
    pub fn subject(&self) -> String {
        subject(self.issue.as_ref(), self.plan.as_ref())
    }

    /// Returns the gates in a few words.
    pub fn gate_summary(&self) -> String {
        let Some(gates) = &self.gates else {
            return if self.gates_run.is_some() {
                "running".to_owned()
            } else {
                "not run".to_owned()
            };
        };
        let required = || gates.iter().filter(|gate| gate.required);
        let red: Vec<&str> = required()
            .filter(|gate| !gate.passed)
            .map(|gate| gate.name.as_str())
            .collect();
        let word = if required().next().is_none() {
            "unverified".to_owned()
        } else if red.is_empty() {
            "green".to_owned()
        } else {
            format!("red: {}", red.join(", "))
        };
        let flaky: Vec<&str> = required()
            .filter(|gate| gate.is_flaky() && red.is_empty())
            .map(|gate| gate.name.as_str())
            .collect();
        let again = if flaky.is_empty() {
            String::new()
        } else {
            format!(" ({} passed only when run again)", flaky.join(", "))
        };
        format!("{word}{again}{}", self.gates_age.map_or("", GatesAge::note))
    }

    /// Lists what a proposal rests on.
    pub(super) fn write_evidence(&self, page: &mut Page) {
        let Some(proposal) = &self.proposal else {
            return;
        };
        page.heading("Evidence");
        for line in proposal.evidence.iter().map(DoneEvidence::line) {
            page.line(&format!("- {line}"));
        }
    }

    fn write_gates(&self, page: &mut Page) {
        let Some(gates) = &self.gates else {
            return;
        };
        let commit = short(self.gates_commit.as_deref().unwrap_or_default());
        page.heading(&match &self.gates_merged_with {
            None => format!("Gates, on {commit}"),
            Some(base) => format!(
                "Gates, on {commit} merged with {} at {}",
                self.base,
                short(base)
            ),
        });
        let mut table = Table::new(["GATE", "RESULT", "TOOK", "REQUIRED"]);
        for gate in gates {
            let required = if gate.required { "yes" } else { "no" };
            table.row([
                gate.name.clone(),
                gate.how(),
                compact_duration(gate.duration_ms),
                required.to_owned(),
            ]);
        }
        if table.is_empty() {
            page.line("No gates are configured: the change is unverified.");
        } else {
            page.table(&table);
            for gate in gates.iter().filter(|gate| gate.passed) {
                for (number, failed) in (1..).zip(&gate.failed_tries) {
                    let why = failed.line.as_deref().unwrap_or("it printed nothing");
                    page.line(&format!("Try {number} of {} failed: {why}", gate.name));
                }
            }
            if !gates.iter().any(|gate| gate.required) {
                page.line("None of them is required: the change is unverified.");
            }
        }
        for gate in gates
            .iter()
            .filter(|gate| !gate.passed && !gate.output.is_empty())
        {
            page.gap();
            page.line(&format!("Last output of {}:", gate.name));
            page.block(&gate.output);
        }
    }
}

impl View for PrView {
    fn write(&self, page: &mut Page) {
        let noun = match self.proposal {
            Some(_) => "Proposal",
            None => "Pull request",
        };
        let (id, subject, title) = (self.id, self.subject(), &self.title);
        page.heading(&format!("{noun} {id} for {subject}: {title}"));
        page.field("state", self.state.name());
        if self.proposal.is_some() {
            page.field("base", &format!("{} at {}", self.base, self.head_commit));
        } else {
            page.field("branch", &format!("{} into {}", self.branch, self.base));
            page.field("head", &self.head_commit);
        }
        if let Some(now) = &self.branch_commit {
            let text = format!(
                "at {}: everything shown here, including verdict and gates, is about the head {}",
                short(now),
                short(&self.head_commit)
            );
            page.field("branch now", &text);
        }
        page.field(
            "merged as",
            self.merged_commit.as_deref().unwrap_or_default(),
        );
        if let Some(merge) = &self.merged_outside {
            let by = merge.by.as_deref().unwrap_or("somebody");
            let how = merge.evidence.words();
            page.field("merged by", &format!("{by}, outside Symphony, {how}"));
        }
        page.field("run", self.run.as_ref().map_or("", RunId::as_str));
        page.field("created", &ago(self.created_at, page.now()));
        self.write_publication(page);
        if let Some(forge) = &self.forge {
            forge.write(page);
        }
        page.field("gates", &self.gate_summary());
        if let Some(verdict) = &self.verdict {
            let what = format!(
                "{} by {} on {}{}",
                verdict.kind,
                verdict.by(),
                short(&verdict.commit),
                verification_note(verdict.unverified.as_deref())
            );
            page.field("verdict", &what);
            page.field("", &verdict.comment);
        }
        let files = plural(self.files.len(), "file");
        if self.proposal.is_none() {
            page.field(
                "change",
                &format!("{files}, +{} -{}", self.insertions, self.deletions),
            );
        }
        if let Some(text) = decisive_files_text(&self.decisive_files) {
            page.field("risk", &format!("high: {text}"));
        }
        self.write_submodules(page);
        if !self.body.is_empty() {
            page.gap();
            page.block(&self.body);
        }
        self.write_unread(page);
        write_checklist(&self.checklist, self.criteria_changed.as_ref(), page);
        self.write_evidence(page);
        if !self.points.is_empty() {
            page.heading("Review points");
            for point in &self.points {
                point.write(page);
            }
        }
        if !self.files.is_empty() {
            page.heading("Files");
            let mut table = Table::new(["FILE", "+", "-"]).right(1).right(2);
            for file in &self.files {
                table.row([
                    file.path.clone(),
                    file.insertions.to_string(),
                    file.deletions.to_string(),
                ]);
            }
            page.table(&table);
        }
        write_by_products(&self.by_products, page);
        self.write_gates(page);
        if !self.reported_gates.is_empty() {
            page.heading("Gates as the agent reported them");
            for gate in &self.reported_gates {
                let result = if gate.passed { "passed" } else { "failed" };
                page.line(&format!("{}: {result}", gate.name));
            }
        }
    }
}

impl Listed for PrView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No pull requests.");
            return;
        }
        let mut table = Table::new(["PR", "FOR", "STATE", "GATES", "CHANGE", "CREATED", "TITLE"]);
        for pr in items {
            table.row([
                pr.id.to_string(),
                pr.subject(),
                pr.state.to_string(),
                pr.gate_summary(),
                format!("+{} -{}", pr.insertions, pr.deletions),
                ago(pr.created_at, page.now()),
                pr.title.clone(),
            ]);
        }
        page.table(&table);
    }
}
