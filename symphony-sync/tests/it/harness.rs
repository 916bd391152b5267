//! A client for each fake, and what every test asks of it.

use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::config::{Millis, TokenSource, TrackerFilter, TrackerPlace, TrackerSettings};
use symphony_core::issue::IssueStatus;
use symphony_fakes::{Exchange, FakeGithub, FakeLinear};
use symphony_sync::limits::{Options, ProxyUse};
use symphony_sync::{Fault, Token, Tracker, connect};
use symphony_tracker::change::{Change, ChangeId, Outgoing};
use symphony_tracker::remote::{Cursor, ExternalId, Page, RemoteComment, RemoteIssue};

/// Most pages of one look: more is an endless loop.
const PAGES_MAX: usize = 40;

pub(crate) const ID: &str = "0b7c2a52-7f0e-4a5e-9d61-3c2f1f2a9a11";

pub(crate) fn settings(place: TrackerPlace, endpoint: &str) -> TrackerSettings {
    TrackerSettings {
        name: "main".to_owned(),
        place,
        endpoint: endpoint.to_owned(),
        token: TokenSource::Variable("TRACKER_TOKEN".to_owned()),
        filter: TrackerFilter::default(),
        import_status: IssueStatus::Backlog,
        states: std::collections::BTreeMap::new(),
        priorities: std::collections::BTreeMap::new(),
        commanders: std::collections::BTreeMap::new(),
        comments: true,
        subtasks: true,
        poll: Millis::new(30_000),
    }
}

/// Limits that a test can reach, without the proxies of whoever runs it.
pub(crate) fn options() -> Options {
    Options {
        answer_time_max: Duration::from_secs(20),
        proxy: ProxyUse::Direct,
        ..Options::default()
    }
}

pub(crate) fn github_at(endpoint: &str, token: &str, options: &Options) -> Box<dyn Tracker> {
    let place = TrackerPlace::Github {
        owner: "acme".to_owned(),
        name: "web".to_owned(),
    };
    let token = Token::first_line(token).unwrap();
    connect(&settings(place, endpoint), token, options).unwrap()
}

pub(crate) fn github(fake: &FakeGithub) -> Box<dyn Tracker> {
    github_at(&fake.endpoint(), FakeGithub::TOKEN, &options())
}

pub(crate) fn linear_with(
    fake: &FakeLinear,
    project: Option<&str>,
    token: &str,
) -> Box<dyn Tracker> {
    let place = TrackerPlace::Linear {
        team: "ENG".to_owned(),
        project: project.map(str::to_owned),
    };
    let token = Token::first_line(token).unwrap();
    connect(&settings(place, &fake.endpoint()), token, &options()).unwrap()
}

pub(crate) fn linear(fake: &FakeLinear) -> Box<dyn Tracker> {
    linear_with(fake, None, FakeLinear::TOKEN)
}

/// Everything that one look read.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) issues: Vec<RemoteIssue>,
    pub(crate) comments: Vec<RemoteComment>,
    pub(crate) next: Cursor,
    pub(crate) pages: usize,
}

impl Look {
    pub(crate) fn ids(&self) -> std::collections::BTreeSet<ExternalId> {
        self.issues.iter().map(|issue| issue.id.clone()).collect()
    }

    pub(crate) fn bodies(&self) -> Vec<&str> {
        self.comments
            .iter()
            .map(|comment| comment.body.as_str())
            .collect()
    }

    fn add(&mut self, page: Page) {
        let is_sorted = page.issues.is_sorted_by_key(|issue| issue.updated_at)
            && page.comments.is_sorted_by_key(|comment| comment.updated_at);
        assert!(is_sorted, "the oldest change of a page comes first");
        self.issues.extend(page.issues);
        self.comments.extend(page.comments);
        self.next = page.next;
        self.pages += 1;
    }
}

/// Reads pages until none is waiting; `between` happens after each.
pub(crate) async fn look_with(
    tracker: &dyn Tracker,
    from: &Cursor,
    mut between: impl FnMut(usize),
) -> Look {
    let mut look = Look {
        next: from.clone(),
        ..Look::default()
    };
    loop {
        let cursor = look.next.clone();
        let page = tracker.changed(&cursor).await.unwrap();
        let has_more = page.has_more;
        look.add(page);
        between(look.pages);
        if !has_more {
            return look;
        }
        assert!(look.pages < PAGES_MAX, "a look ends");
    }
}

pub(crate) async fn look(tracker: &dyn Tracker, from: &Cursor) -> Look {
    look_with(tracker, from, |_| {}).await
}

pub(crate) fn outgoing(target: &str, change: Change) -> Outgoing {
    Outgoing {
        id: ChangeId::new(ID),
        target: ExternalId::new(target),
        change,
        was_tried: false,
        made: None,
    }
}

pub(crate) fn again(first: &Outgoing) -> Outgoing {
    Outgoing {
        was_tried: true,
        ..first.clone()
    }
}

pub(crate) fn comment(body: &str) -> Change {
    Change::AddComment {
        body: body.to_owned(),
    }
}

pub(crate) fn part(title: &str, labels: &[&str]) -> Change {
    Change::AddSubIssue {
        title: title.to_owned(),
        body: "A part.".to_owned(),
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
    }
}

pub(crate) fn labels(add: &[&str], remove: &[&str]) -> Change {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Change::SetLabels {
        add: owned(add),
        remove: owned(remove),
    }
}

/// Returns how many seconds from now a limit ends.
pub(crate) fn wait_of(fault: &Fault) -> i64 {
    let Fault::RateLimited { until: Some(until) } = fault else {
        panic!("{fault:?} is no limit with an end")
    };
    until.as_second() - Timestamp::now().as_second()
}

pub(crate) fn targets(exchanges: &[Exchange]) -> Vec<String> {
    let shown = exchanges
        .iter()
        .map(|exchange| format!("{} {}", exchange.method, exchange.target));
    shown.collect()
}
