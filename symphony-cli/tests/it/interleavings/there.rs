//! The tracker of a case, and what people do there.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_fakes::{FakeGithub, FakeLinear, Fault, On};

/// Labels that people set on both sides.
pub(super) const LABELS: [&str; 3] = ["bug", "docs", "ui"];
/// The label that lets an issue in.
const LETS_IN: &str = "symphony";

/// How an issue ended, or that it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Open,
    Done,
    Cancelled,
}

impl End {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An issue there, as people see it.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) labels: BTreeSet<String>,
    pub(super) end: End,
    pub(super) priority: u8,
    pub(super) parent: Option<String>,
}

impl Seen {
    pub(super) fn is_let_in(&self) -> bool {
        self.labels.contains(LETS_IN)
    }
}

/// Who writes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// May give answers; Symphony writes with this user's token.
    Commander,
    Stranger,
}

#[derive(Debug)]
pub(super) enum There {
    Github(FakeGithub),
    Linear(FakeLinear),
}

impl There {
    /// Starts a tracker whose clock differs from ours by some milliseconds, and moves by so many with each event.
    pub(super) fn start(is_github: bool, skew_ms: i64, step_ms: i64) -> Self {
        let now = Timestamp::from_millisecond(Timestamp::now().as_millisecond() + skew_ms).unwrap();
        if is_github {
            let github = FakeGithub::start();
            github.with(|world| {
                world.clock.set(now);
                world.clock.set_step_ms(step_ms);
            });
            return Self::Github(github);
        }
        let linear = FakeLinear::start();
        linear.with(|world| {
            world.clock.set(now);
            world.clock.set_step_ms(step_ms);
            for name in LABELS.into_iter().chain([LETS_IN]) {
                world.add_label(name, None);
            }
        });
        Self::Linear(linear)
    }

    pub(super) const fn is_github(&self) -> bool {
        matches!(self, Self::Github(_))
    }

    /// Returns the tracker's settings; `is_named` gives statuses names there.
    pub(super) fn settings(&self, is_named: bool) -> Value {
        let mut settings = match self {
            Self::Github(github) => json!({
                "kind": "github", "repository": "acme/web", "endpoint": github.endpoint(),
                "commanders": { "ada": "1" },
            }),
            Self::Linear(linear) => json!({
                "kind": "linear", "team": "ENG", "endpoint": linear.endpoint(),
                "commanders": { "ada": linear.with(|world| world.user("ada")) },
            }),
        };
        settings["poll_ms"] = json!(0);
        if is_named {
            settings["states"] = if self.is_github() {
                json!({ "in_progress": "in progress", "blocked": "stuck" })
            } else {
                json!({ "in_progress": "In Progress", "review": "In Review" })
            };
        }
        settings
    }

    pub(super) fn add(&self, title: &str, body: &str, is_let_in: bool) -> String {
        let id = match self {
            Self::Github(github) => github
                .with(|world| world.add_issue(1, title, body))
                .to_string(),
            Self::Linear(linear) => linear.with(|world| world.add_issue("ada", "ENG", title, body)),
        };
        if is_let_in {
            self.set_label(&id, LETS_IN, true);
        }
        id
    }

    pub(super) fn set_title(&self, id: &str, title: &str) {
        match self {
            Self::Github(github) => github.with(|world| {
                world.edit_issue(number(id), |issue| title.clone_into(&mut issue.title));
            }),
            Self::Linear(linear) => linear.with(|world| {
                world.edit_issue(id, |issue| title.clone_into(&mut issue.title));
            }),
        }
    }

    pub(super) fn set_body(&self, id: &str, body: &str) {
        match self {
            Self::Github(github) => github.with(|world| {
                world.edit_issue(number(id), |issue| issue.body = Some(body.to_owned()));
            }),
            Self::Linear(linear) => linear.with(|world| {
                world.edit_issue(id, |issue| issue.description = Some(body.to_owned()));
            }),
        }
    }

    pub(super) fn set_label(&self, id: &str, name: &str, is_on: bool) {
        let set = |labels: &mut BTreeSet<String>, label: &str| {
            if is_on {
                labels.insert(label.to_owned());
            } else {
                labels.remove(label);
            }
        };
        match self {
            Self::Github(github) => github.with(|world| {
                world.edit_issue(number(id), |issue| set(&mut issue.labels, name));
            }),
            Self::Linear(linear) => linear.with(|world| {
                let label = world.label(name);
                world.edit_issue(id, |issue| set(&mut issue.labels, &label));
            }),
        }
    }

    pub(super) fn set_priority(&self, id: &str, priority: u8) {
        if let Self::Linear(linear) = self {
            linear.with(|world| world.edit_issue(id, |issue| issue.priority = priority));
        }
    }

    pub(super) fn set_end(&self, id: &str, end: End) {
        match self {
            Self::Github(github) => github.with(|world| {
                world.edit_issue(number(id), |issue| {
                    issue.is_open = end == End::Open;
                    issue.reason = match end {
                        End::Open => Some("reopened".to_owned()),
                        End::Done => Some("completed".to_owned()),
                        End::Cancelled => Some("not_planned".to_owned()),
                    };
                });
            }),
            Self::Linear(linear) => linear.with(|world| {
                let state = match end {
                    End::Open => "Todo",
                    End::Done => "Done",
                    End::Cancelled => "Canceled",
                };
                world.move_issue(id, state);
            }),
        }
    }

    pub(super) fn comment(&self, id: &str, who: Who, text: &str) -> String {
        match self {
            Self::Github(github) => {
                let user = if who == Who::Commander { 1 } else { 2 };
                github
                    .with(|world| world.add_comment(user, number(id), text))
                    .to_string()
            }
            Self::Linear(linear) => {
                let user = if who == Who::Commander {
                    "ada"
                } else {
                    "mallory"
                };
                linear.with(|world| world.add_comment(user, id, text))
            }
        }
    }

    /// Returns all comments of an issue: their ids and texts.
    pub(super) fn comments(&self, id: &str) -> Vec<(String, String)> {
        match self {
            Self::Github(github) => {
                let comments = github.with(|world| world.comments(number(id)));
                let pairs = comments.into_iter();
                pairs
                    .map(|comment| (comment.id.to_string(), comment.body))
                    .collect()
            }
            Self::Linear(linear) => {
                let comments = linear.with(|world| world.comments(id));
                let pairs = comments.into_iter();
                pairs.map(|comment| (comment.id, comment.body)).collect()
            }
        }
    }

    pub(super) fn issues(&self) -> Vec<Seen> {
        match self {
            Self::Github(github) => {
                let issues = github.with(|world| world.issues());
                let seen = issues.into_iter().map(|issue| Seen {
                    id: issue.number.to_string(),
                    title: issue.title,
                    body: issue.body.unwrap_or_default(),
                    labels: issue.labels,
                    end: match (issue.is_open, issue.reason.as_deref()) {
                        (true, _) => End::Open,
                        (false, Some("not_planned")) => End::Cancelled,
                        (false, _) => End::Done,
                    },
                    priority: 0,
                    parent: issue.parent.map(|parent| parent.to_string()),
                });
                seen.collect()
            }
            Self::Linear(linear) => linear.with(|world| {
                let issues = world.issues().into_iter();
                let seen = issues.map(|issue| Seen {
                    title: issue.title,
                    body: issue.description.unwrap_or_default(),
                    labels: world.label_names(&issue.id),
                    end: match world.state_name(&issue.id).as_str() {
                        "Done" => End::Done,
                        "Canceled" | "Duplicate" => End::Cancelled,
                        _ => End::Open,
                    },
                    priority: issue.priority,
                    parent: issue.parent,
                    id: issue.id,
                });
                seen.collect()
            }),
        }
    }

    pub(super) fn fail(&self, on: On, fault: Fault) {
        match self {
            Self::Github(github) => github.fail(on, fault),
            Self::Linear(linear) => linear.fail(on, fault),
        }
    }

    pub(super) fn heal(&self) {
        match self {
            Self::Github(github) => github.heal(),
            Self::Linear(linear) => linear.heal(),
        }
    }

    pub(super) fn pass(&self, ms: i64) {
        match self {
            Self::Github(github) => github.with(|world| world.clock.advance_ms(ms)),
            Self::Linear(linear) => linear.with(|world| world.clock.advance_ms(ms)),
        }
    }

    /// Returns the requests since the last call that change something.
    pub(super) fn take_writes(&self) -> Vec<String> {
        let (exchanges, is_github) = match self {
            Self::Github(github) => (github.take_exchanges(), true),
            Self::Linear(linear) => (linear.take_exchanges(), false),
        };
        let writes = exchanges.into_iter().filter(|exchange| {
            if is_github {
                exchange.method != "GET"
            } else {
                exchange.body.contains("mutation")
            }
        });
        writes
            .map(|exchange| format!("{} {} {}", exchange.method, exchange.target, exchange.body))
            .collect()
    }
}

fn number(id: &str) -> u64 {
    id.parse().expect("GitHub's issues have numbers")
}
