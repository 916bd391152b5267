//! The forge that pull requests are mirrored with: what is open there, what a sync did, and what a token may do.

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
    /// Why the base here differs from the base at the forge.
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

/// What a sync with the forge did.
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
    /// Reviews and comments that were received.
    pub taken: usize,
    /// Pull requests that were merged there, and are recorded as merged now.
    pub merged: Vec<PrId>,
    /// Pull requests that were closed there: work on them has stopped here.
    pub closed: Vec<PrId>,
    /// Pull requests on which the work has stopped, since another commit of theirs was merged there.
    pub stopped: Vec<PrId>,
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
            merged: report.merged,
            closed: report.closed,
            stopped: report.stopped,
            problems: report.problems,
            hold: report.hold.as_ref().map(TrackerHoldView::from),
        }
    }
}

impl ForgeSyncView {
    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if self.pushed > 0 {
            parts.push(format!("pushed {}", plural(self.pushed, "branch")));
        }
        match self.bases.as_slice() {
            [] => {}
            [base] => parts.push(format!("pushed the base {base}")),
            bases => parts.push(format!("pushed the bases {}", bases.join(", "))),
        }
        match self.taken {
            0 => {}
            1 => parts.push("received 1 review or comment".to_owned()),
            taken => parts.push(format!("received {taken} reviews and comments")),
        }
        let merges = if self.merged.len() == 1 {
            "recorded the merge of"
        } else {
            "recorded the merges of"
        };
        for (what, prs) in [
            ("opened", &self.opened),
            (merges, &self.merged),
            ("closed", &self.closed),
            ("stopped the work on", &self.stopped),
        ] {
            parts.extend(named(prs).map(|prs| format!("{what} {prs}")));
        }
        if parts.is_empty() {
            let nothing = if self.hold.is_some() {
                "not read"
            } else {
                "nothing new"
            };
            parts.push(nothing.to_owned());
        }
        format!("{}: {}", self.place, parts.join("; "))
    }
}

/// Names pull requests by their numbers here; `None` without any.
fn named(prs: &[PrId]) -> Option<String> {
    let numbers: Vec<String> = prs.iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [] => None,
        [one] => Some(format!("pull request {one}")),
        several => Some(format!("pull requests {}", several.join(", "))),
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
    /// Makes the view from the forge's answer.
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

    /// Makes the view from a request that failed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_says_what_it_did_with_one_or_several() {
        let place = || "github:acme/web".to_owned();
        let prs = |numbers: &[i64]| numbers.iter().copied().map(PrId::new).collect();
        let report = |report: ForgeReport| {
            ForgeSyncView::from(ForgeReport {
                place: place(),
                ..report
            })
            .sentence()
        };
        for (found, expected) in [
            (ForgeReport::default(), "nothing new"),
            (
                ForgeReport {
                    pushed: 1,
                    taken: 1,
                    bases: vec!["main".to_owned()],
                    merged: prs(&[3]),
                    closed: prs(&[4]),
                    ..ForgeReport::default()
                },
                "pushed 1 branch; pushed the base main; received 1 review or comment; recorded the merge of pull request 3; closed pull request 4",
            ),
            (
                ForgeReport {
                    pushed: 2,
                    taken: 2,
                    bases: vec!["main".to_owned(), "next".to_owned()],
                    opened: prs(&[1, 2]),
                    merged: prs(&[3, 4]),
                    stopped: prs(&[5, 6]),
                    ..ForgeReport::default()
                },
                "pushed 2 branches; pushed the bases main, next; received 2 reviews and comments; opened pull requests 1, 2; \
                 recorded the merges of pull requests 3, 4; stopped the work on pull requests 5, 6",
            ),
        ] {
            assert_eq!(report(found), format!("{}: {expected}", place()));
        }
    }
}
