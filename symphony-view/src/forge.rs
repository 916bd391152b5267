//! The forge that pull requests are mirrored with: what is there, what a look did, and what a token may do.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::PrId;
use symphony_forge::check::SeenCheck;
use symphony_forge::remote::{CheckResult, PullNumber};
use symphony_runner::forge::{ForgeAccess, ForgeReport};
use symphony_store::ForgePull;

use crate::TrackerHoldView;
use crate::text::{Page, Table, View, ago, in_future, plural};

/// The forge of the project, as it is now.
#[derive(Debug, Clone, Serialize)]
pub struct ForgeView {
    /// Where its pull requests are, such as `github:acme/web`; missing before the first look.
    pub place: Option<String>,
    /// When everything was last read; missing before the first time.
    pub looked_at: Option<Timestamp>,
    /// Why it is not asked now.
    pub hold: Option<TrackerHoldView>,
    /// Why the base here is not as it is there.
    pub problem: Option<String>,
    /// What is open there.
    pub pull_requests: Vec<ForgePullView>,
}

/// A pull request at the forge.
#[derive(Debug, Clone, Serialize)]
pub struct ForgePullView {
    /// The newest pull request here.
    pub pr: PrId,
    /// Its branch.
    pub branch: String,
    /// Its number there; missing before it was opened.
    pub number: Option<u64>,
    /// Its page there.
    pub url: Option<String>,
    /// Whether it is open there.
    pub is_open: bool,
    /// The commit that was pushed last.
    pub pushed: Option<String>,
    /// The required checks there, as they were last read.
    pub checks: Vec<SeenCheck>,
    /// The commit that the checks are of.
    pub checks_commit: Option<String>,
    /// What keeps it from being mirrored.
    pub problem: Option<String>,
}

impl From<ForgePull> for ForgePullView {
    fn from(pull: ForgePull) -> Self {
        Self {
            problem: pull.trouble(),
            pr: pull.pr,
            branch: pull.branch,
            number: pull.number.map(PullNumber::get),
            url: pull.url,
            is_open: pull.is_open,
            pushed: pull.pushed.into_iter().next_back(),
            checks: pull.checks,
            checks_commit: pull.checks_head,
        }
    }
}

impl ForgePullView {
    /// Returns the number as people write it, or that there is none yet.
    pub fn name(&self) -> String {
        self.number.map_or_else(
            || "not opened yet".to_owned(),
            |number| format!("#{number}"),
        )
    }

    /// Returns the checks in a few words.
    pub fn check_summary(&self) -> String {
        let count = |result| {
            self.checks
                .iter()
                .filter(|check| check.result == result)
                .count()
        };
        let parts = [
            (count(CheckResult::Failed), "failed"),
            (count(CheckResult::Waiting), "waiting"),
            (count(CheckResult::Passed), "passed"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        parts.join(", ")
    }

    /// Returns the address if a browser may be sent there: it came from a server that Symphony does not control.
    pub fn page(&self) -> Option<&str> {
        let url = self.url.as_deref()?;
        let is_page = ["https://", "http://"]
            .iter()
            .any(|scheme| url.starts_with(scheme));
        is_page.then_some(url)
    }

    /// Writes it as fields of a pull request here.
    pub(crate) fn write(&self, page: &mut Page) {
        let url = self.url.as_deref().unwrap_or_default();
        let open = if self.is_open { "open" } else { "ended" };
        page.field("forge", &format!("{} {open} {url}", self.name()));
        for check in &self.checks {
            page.field("", &format!("{}: {}", check.name, check.how()));
        }
        if let Some(problem) = &self.problem {
            page.field("", problem);
        }
    }
}

impl View for ForgeView {
    fn write(&self, page: &mut Page) {
        let now = page.now();
        let place = self.place.as_deref().unwrap_or("the forge");
        let state = match (&self.hold, self.looked_at) {
            (Some(hold), _) => format!("on hold, next try {}", in_future(hold.until, now)),
            (None, Some(at)) => format!("read {}", ago(at, now)),
            (None, None) => "not read yet".to_owned(),
        };
        page.line(&format!("{place}: {state}"));
        if let Some(hold) = &self.hold {
            page.hanging(2, &format!("  {}", hold.reason));
        }
        if let Some(problem) = &self.problem {
            page.hanging(2, &format!("  {problem}"));
        }
        if self.pull_requests.is_empty() {
            return;
        }
        let mut table = Table::new(["PR", "THERE", "BRANCH", "CHECKS", "PAGE"]).right(0);
        for pull in &self.pull_requests {
            table.row([
                pull.pr.to_string(),
                pull.name(),
                pull.branch.clone(),
                pull.check_summary(),
                pull.url.clone().unwrap_or_default(),
            ]);
        }
        page.table(&table);
        for pull in &self.pull_requests {
            if let Some(problem) = &pull.problem {
                page.hanging(2, &format!("{}: {problem}", pull.branch));
            }
        }
    }
}

/// What a look at the forge did.
#[derive(Debug, Clone, Serialize)]
pub struct ForgeSyncView {
    /// Where it looked.
    pub place: String,
    /// Pull requests that were opened there.
    pub opened: Vec<PrId>,
    /// Base branches that were pushed, after merges here.
    pub bases: Vec<String>,
    /// Branches that were pushed.
    pub pushed: usize,
    /// Reviews and comments that were taken in.
    pub taken: usize,
    /// Pull requests that were merged or closed there, and are so here now.
    pub ended: Vec<PrId>,
    /// What could not be done.
    pub problems: Vec<String>,
    /// Why it is not asked for now.
    pub hold: Option<TrackerHoldView>,
}

impl From<ForgeReport> for ForgeSyncView {
    fn from(report: ForgeReport) -> Self {
        Self {
            place: report.place,
            opened: report.opened,
            bases: report.bases,
            pushed: report.pushed,
            taken: report.taken,
            ended: report.ended,
            problems: report.problems,
            hold: report.hold.as_ref().map(TrackerHoldView::from),
        }
    }
}

impl ForgeSyncView {
    fn sentence(&self) -> String {
        let listed = |prs: &[PrId]| {
            let prs: Vec<String> = prs.iter().map(ToString::to_string).collect();
            prs.join(", ")
        };
        let mut parts = Vec::new();
        if self.pushed > 0 {
            let what = if self.pushed == 1 {
                "branch"
            } else {
                "branches"
            };
            parts.push(format!("pushed {} {what}", self.pushed));
        }
        if !self.bases.is_empty() {
            parts.push(format!("pushed the base {}", self.bases.join(", ")));
        }
        if !self.opened.is_empty() {
            parts.push(format!("opened pull request {}", listed(&self.opened)));
        }
        if self.taken > 0 {
            parts.push(format!(
                "took in {}",
                plural(self.taken, "review or comment")
            ));
        }
        if !self.ended.is_empty() {
            parts.push(format!("ended pull request {}", listed(&self.ended)));
        }
        if parts.is_empty() {
            let nothing = if self.hold.is_some() {
                "not read"
            } else {
                "nothing is new"
            };
            parts.push(nothing.to_owned());
        }
        format!("{}: {}", self.place, parts.join("; "))
    }
}

impl View for ForgeSyncView {
    fn write(&self, page: &mut Page) {
        page.line(&self.sentence());
        for problem in &self.problems {
            page.hanging(2, &format!("  {problem}"));
        }
        if let Some(hold) = &self.hold {
            let next = in_future(hold.until, page.now());
            page.hanging(2, &format!("  {}; next try {next}", hold.reason));
        }
    }
}

/// What a token may do at the forge.
#[derive(Debug, Clone, Serialize)]
pub struct ForgeCheckView {
    /// The repository, as the forge names it.
    pub place: Option<String>,
    /// Who the token acts as.
    pub login: Option<String>,
    /// Its id, for `reviewers`.
    pub user_id: Option<String>,
    /// What is missing or wrong.
    pub problems: Vec<String>,
}

impl ForgeCheckView {
    /// Makes it of what the forge answered.
    pub fn of(access: ForgeAccess) -> Self {
        let problems = access.problem_texts();
        let user = access.user;
        Self {
            place: Some(access.place),
            login: user.as_ref().map(|user| user.login.clone()),
            user_id: user.map(|user| user.id.to_string()),
            problems,
        }
    }

    /// Makes it of an answer that is none.
    pub fn failed(problem: String) -> Self {
        Self {
            place: None,
            login: None,
            user_id: None,
            problems: vec![problem],
        }
    }
}

impl View for ForgeCheckView {
    fn write(&self, page: &mut Page) {
        let place = self.place.as_deref().unwrap_or("no answer");
        let who = match (&self.login, &self.user_id) {
            (Some(login), Some(id)) => format!(", as {login} (user id {id})"),
            _ => String::new(),
        };
        let state = if self.problems.is_empty() {
            "ok"
        } else {
            "problem"
        };
        page.line(&format!("{state}: {place}{who}"));
        for problem in &self.problems {
            page.hanging(2, &format!("  {problem}"));
        }
    }
}
