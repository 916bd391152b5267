//! Trackers that issues are mirrored with: their state, what a sync did, and what a token may do.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_runner::tracker::{SyncReport, TrackerAccess};
use symphony_store::{Store, StoreError, TrackerHold};

use crate::text::{Listed, Page, Table, ago, in_future, plural};

/// A tracker of the project, as it is now.
#[derive(Debug, Clone, Serialize)]
pub struct TrackerView {
    /// Its name in the configuration.
    pub name: String,
    /// Where its issues are, such as `github:acme/web`.
    pub place: String,
    /// Issues that are mirrored.
    pub issues: u64,
    /// When everything was last read; missing before the first time.
    pub looked_at: Option<Timestamp>,
    /// Changes that wait to be sent.
    pub waiting: Vec<ChangeView>,
    /// Changes that the tracker refused.
    pub refused: Vec<ChangeView>,
    /// Why it is not asked now.
    pub hold: Option<TrackerHoldView>,
    /// Whether the configuration still has it; nothing is read or sent for one that it does not have.
    pub is_configured: bool,
}

/// The issue at a tracker that an issue here is linked to.
#[derive(Debug, Clone, Serialize)]
pub struct LinkView {
    /// The tracker's name in the configuration.
    pub tracker: String,
    /// What people call it there.
    pub key: String,
    /// Its page there.
    pub url: String,
}

impl LinkView {
    /// Reads the links of an issue.
    pub(crate) fn load(store: &Store, issue: &IssueId) -> Result<Vec<Self>, StoreError> {
        let links = store.links_of_issue(issue)?.into_iter();
        Ok(links
            .map(|(tracker, link)| Self {
                tracker,
                key: link.key,
                url: link.url,
            })
            .collect())
    }

    /// Returns the address if a browser may be sent there: it came from a server that Symphony does not control.
    pub fn page(&self) -> Option<&str> {
        let is_page = ["https://", "http://"]
            .iter()
            .any(|scheme| self.url.starts_with(scheme));
        is_page.then_some(self.url.as_str())
    }
}

/// A change for a tracker.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeView {
    /// The issue at the tracker.
    pub key: String,
    /// What it changes.
    pub what: String,
    /// How many attempts have failed.
    pub tries: u32,
    /// How the last attempt ended.
    pub problem: Option<String>,
}

/// Why a tracker is not asked now.
#[derive(Debug, Clone, Serialize)]
pub struct TrackerHoldView {
    /// What it answered.
    pub reason: String,
    /// When it is asked again.
    pub until: Timestamp,
}

impl From<&TrackerHold> for TrackerHoldView {
    fn from(hold: &TrackerHold) -> Self {
        Self {
            reason: hold.fault.to_string(),
            until: hold.until,
        }
    }
}

impl TrackerView {
    fn state(&self, now: Timestamp) -> String {
        if !self.is_configured {
            return "not in the configuration".to_owned();
        }
        match (&self.hold, self.looked_at) {
            (Some(hold), _) => format!("on hold, next try {}", in_future(hold.until, now)),
            (None, Some(at)) => format!("read {}", ago(at, now)),
            (None, None) => "not read yet".to_owned(),
        }
    }
}

impl Listed for TrackerView {
    fn write_all(items: &[Self], page: &mut Page) {
        let mut table = Table::new(["TRACKER", "PLACE", "ISSUES", "WAITING", "STATE"])
            .right(2)
            .right(3);
        for tracker in items {
            table.row([
                tracker.name.clone(),
                tracker.place.clone(),
                tracker.issues.to_string(),
                tracker.waiting.len().to_string(),
                tracker.state(page.now()),
            ]);
        }
        page.table(&table);
        for tracker in items {
            let hold = tracker.hold.iter();
            for hold in hold {
                page.hanging(2, &format!("{}: {}", tracker.name, hold.reason));
            }
            if !tracker.is_configured && !tracker.waiting.is_empty() {
                let waiting = plural(tracker.waiting.len(), "change");
                let text = format!(
                    "{}: {waiting} cannot be sent, because `trackers` no longer names this tracker; add it again to send them",
                    tracker.name
                );
                page.hanging(2, &text);
            }
            for change in &tracker.refused {
                let problem = change
                    .problem
                    .as_deref()
                    .unwrap_or("the tracker gave no reason");
                page.hanging(
                    2,
                    &format!(
                        "{}: {} was refused for {}: {problem}",
                        tracker.name, change.what, change.key
                    ),
                );
            }
        }
    }
}

/// What a sync with a tracker did.
#[derive(Debug, Clone, Serialize)]
pub struct SyncView {
    /// The tracker's name in the configuration.
    pub tracker: String,
    /// Issues that were imported.
    pub taken_in: Vec<TakenInView>,
    /// Issues that changed here.
    pub changed: Vec<IssueId>,
    /// Comments that were received.
    pub comments: usize,
    /// Changes that were sent to the tracker.
    pub sent: usize,
    /// Changes that it refused.
    pub refused: usize,
    /// What could not be done.
    pub problems: Vec<String>,
    /// Why it is not asked for now.
    pub hold: Option<TrackerHoldView>,
}

/// An imported issue.
#[derive(Debug, Clone, Serialize)]
pub struct TakenInView {
    /// The issue here.
    pub issue: IssueId,
    /// What it is called there.
    pub key: String,
}

impl From<SyncReport> for SyncView {
    fn from(report: SyncReport) -> Self {
        let taken_in = report.taken_in.into_iter();
        Self {
            tracker: report.tracker,
            taken_in: taken_in
                .map(|(issue, key)| TakenInView { issue, key })
                .collect(),
            changed: report.changed,
            comments: report.comments,
            sent: report.sent,
            refused: report.refused,
            problems: report.problems,
            hold: report.hold.as_ref().map(TrackerHoldView::from),
        }
    }
}

impl SyncView {
    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if !self.taken_in.is_empty() {
            let issues = self.taken_in.iter();
            let issues: Vec<_> = issues
                .map(|taken| format!("{} as {}", taken.key, taken.issue))
                .collect();
            parts.push(format!("imported {}", issues.join(", ")));
        }
        if !self.changed.is_empty() {
            let issues: Vec<_> = self.changed.iter().map(ToString::to_string).collect();
            parts.push(format!("changed {}", issues.join(", ")));
        }
        for (count, done) in [(self.comments, "received"), (self.sent, "sent")] {
            if count > 0 {
                let noun = if done == "sent" { "change" } else { "comment" };
                parts.push(format!("{done} {}", plural(count, noun)));
            }
        }
        if parts.is_empty() {
            let nothing = if self.hold.is_some() {
                "not read"
            } else {
                "nothing new"
            };
            parts.push(nothing.to_owned());
        }
        format!("{}: {}", self.tracker, parts.join("; "))
    }
}

impl Listed for SyncView {
    fn write_all(items: &[Self], page: &mut Page) {
        for sync in items {
            page.line(&sync.sentence());
            for problem in &sync.problems {
                page.hanging(2, &format!("  {problem}"));
            }
            if let Some(hold) = &sync.hold {
                let next = in_future(hold.until, page.now());
                page.hanging(2, &format!("  {}; next try {next}", hold.reason));
            }
        }
    }
}

/// What a token may do at a tracker.
#[derive(Debug, Clone, Serialize)]
pub struct TrackerCheckView {
    /// The tracker's name in the configuration.
    pub tracker: String,
    /// The repository or team, as the tracker names it.
    pub place: Option<String>,
    /// Who the token acts as.
    pub login: Option<String>,
    /// Its id, for `commanders`.
    pub user_id: Option<String>,
    /// Whether the token may write; missing where that is unknown.
    pub can_write: Option<bool>,
    /// What is missing or wrong.
    pub problems: Vec<String>,
    /// What works, but is risky.
    pub warnings: Vec<String>,
}

impl TrackerCheckView {
    /// Adds what is risky about the tracker's settings.
    #[must_use]
    pub fn with_warning(mut self, warning: Option<&str>) -> Self {
        self.warnings.extend(warning.map(str::to_owned));
        self
    }

    /// Makes the view from the tracker's answer.
    pub fn of(tracker: &str, access: TrackerAccess) -> Self {
        let problems = access.problem_texts();
        let user = access.user;
        Self {
            tracker: tracker.to_owned(),
            place: Some(access.place),
            login: user.as_ref().map(|user| user.login.clone()),
            user_id: user.map(|user| user.id.to_string()),
            can_write: access.can_write,
            problems,
            warnings: Vec::new(),
        }
    }

    /// Makes the view from a request that failed.
    pub fn failed(tracker: &str, problem: String) -> Self {
        Self {
            tracker: tracker.to_owned(),
            place: None,
            login: None,
            user_id: None,
            can_write: None,
            problems: vec![problem],
            warnings: Vec::new(),
        }
    }
}

impl Listed for TrackerCheckView {
    fn write_all(items: &[Self], page: &mut Page) {
        for check in items {
            let place = check.place.as_deref().unwrap_or("no answer");
            let who = match (&check.login, &check.user_id) {
                (Some(login), Some(id)) => format!(", as {login} (user id {id})"),
                _ => String::new(),
            };
            let state = if check.problems.is_empty() {
                "ok"
            } else {
                "problem"
            };
            let may = match check.can_write {
                Some(true) => ", may read and write",
                Some(false) => ", may only read",
                None => "",
            };
            page.line(&format!("{} {state}: {place}{who}{may}", check.tracker));
            for problem in &check.problems {
                page.hanging(2, &format!("  {problem}"));
            }
            for warning in &check.warnings {
                page.hanging(2, &format!("  warning: {warning}"));
            }
        }
    }
}
