//! One change at GitHub.

use std::collections::BTreeSet;

use reqwest::{Method, Url};
use serde_json::{Value, json};
use symphony_tracker::change::{Applied, Change, ChangeId, Created, Outgoing};
use symphony_tracker::fault::Fault;
use symphony_tracker::marker;
use symphony_tracker::remote::StateGroup;

use super::issues::number;
use super::wire::{WireComment, WireIssue, external, unix_lines};
use super::{Asked, Github};

/// Most pages of 100 that are searched for what an earlier attempt made. Beyond them the change is refused: made twice
/// would be worse.
const SEARCH_PAGES_MAX: u32 = 50;

/// What the search for an earlier attempt reads.
trait Marked: serde::de::DeserializeOwned {
    fn body(&self) -> Option<&str>;

    /// Whether it was made before an issue, and with it all that follow it in a list with the newest first.
    fn is_before(&self, issue: u64) -> bool;
}

impl Marked for WireComment {
    fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    fn is_before(&self, _issue: u64) -> bool {
        false
    }
}

impl Marked for WireIssue {
    fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    fn is_before(&self, issue: u64) -> bool {
        self.number <= issue
    }
}

impl Github {
    /// Applies a change to an issue.
    pub(super) async fn apply_change(&self, outgoing: &Outgoing) -> Result<Applied, Fault> {
        let Some(target) = number(&outgoing.target) else {
            return Err(Fault::NotFound {
                what: format!("issue {} of {}/{}", outgoing.target, self.owner, self.name),
            });
        };
        match &outgoing.change {
            Change::SetTitle { title } => self.edit(target, &json!({ "title": title })).await,
            Change::SetBody { body } => self.edit(target, &json!({ "body": body })).await,
            Change::SetState { state } => self.set_state(target, state.group).await,
            Change::SetLabels { add, remove } => self.set_labels(target, add, remove).await,
            Change::SetPriority { .. } => Err(Fault::Refused {
                detail: "GitHub's issues have no priority; a label can be one".to_owned(),
            }),
            Change::AddComment { body } => self.add_comment(target, body, outgoing).await,
            Change::AddSubIssue {
                title,
                body,
                labels,
            } => {
                let input = json!({
                    "title": title,
                    "body": marker::with(body, &outgoing.id),
                    "labels": labels,
                });
                self.add_sub_issue(target, &input, outgoing).await
            }
        }
    }

    fn writing(&self, number: u64, action: &'static str) -> Asked {
        Asked {
            action,
            what: self.issue_named(number),
        }
    }

    async fn edit(&self, target: u64, input: &Value) -> Result<Applied, Fault> {
        let asked = self.writing(target, "change issues");
        let url = self.repository_url(&["issues", &target.to_string()]);
        let answer = self.write(Method::PATCH, url, Some(input), &asked).await?;
        let issue: WireIssue = answer.read("the changed issue", self.client.token())?;
        Ok(Applied {
            issue: Some(self.complete(issue).await?),
            created: None,
        })
    }

    /// Opens or closes an issue. GitHub ignores the reason where the state stays the same: an issue that was closed for another one is
    /// opened first. Whatever dies in between leaves it open, and the next attempt closes it.
    async fn set_state(&self, target: u64, group: StateGroup) -> Result<Applied, Fault> {
        let applied = self.edit(target, &state_input(group)).await?;
        let now = applied.issue.as_ref().map(|issue| issue.state.group);
        if !group.has_ended() || now == Some(group) {
            return Ok(applied);
        }
        self.edit(target, &state_input(StateGroup::Open)).await?;
        self.edit(target, &state_input(group)).await
    }

    /// Adds and removes labels one by one, so that those which others set at the same time stay. GitHub makes a label that
    /// does not exist yet.
    async fn set_labels(
        &self,
        target: u64,
        add: &BTreeSet<String>,
        remove: &BTreeSet<String>,
    ) -> Result<Applied, Fault> {
        // In an address `.` and `..` mean other addresses: the one without a label removes all labels.
        if let Some(name) = remove
            .iter()
            .find(|name| matches!(name.as_str(), "" | "." | ".."))
        {
            return Err(Fault::Refused {
                detail: format!("the label `{name}` cannot be named in an address of GitHub's API"),
            });
        }
        let issue = target.to_string();
        let asked = self.writing(target, "set labels");
        if !add.is_empty() {
            let url = self.repository_url(&["issues", &issue, "labels"]);
            let input = json!({ "labels": add });
            self.write(Method::POST, url, Some(&input), &asked).await?;
        }
        for name in remove {
            let url = self.repository_url(&["issues", &issue, "labels", name]);
            match self.write(Method::DELETE, url, None, &asked).await {
                Ok(_labels) => {}
                // the label or the issue is not there: the second is a fault
                Err(Fault::NotFound { .. }) => {
                    self.load_wire_issue(target).await?;
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(Applied {
            issue: None,
            created: None,
        })
    }

    async fn add_comment(
        &self,
        target: u64,
        body: &str,
        outgoing: &Outgoing,
    ) -> Result<Applied, Fault> {
        let asked = self.writing(target, "write comments");
        let url = self.repository_url(&["issues", &target.to_string(), "comments"]);
        let created = |comment: &WireComment| Applied {
            issue: None,
            created: Some(Created::Comment(external(comment.id))),
        };
        if outgoing.was_tried {
            // All of the issue's comments: a time of ours says nothing to a tracker whose clock differs.
            let found = self.find_made::<WireComment>(&url, target, outgoing, &asked);
            if let Some(comment) = found.await? {
                return Ok(created(&comment));
            }
        }
        let input = json!({ "body": marker::with(body, &outgoing.id) });
        let answer = self.write(Method::POST, url, Some(&input), &asked).await?;
        let comment = answer.read("the new comment", self.client.token())?;
        Ok(created(&comment))
    }

    /// Makes an issue and puts it below another: two requests. If the second does not arrive, the next attempt finds the
    /// issue by its marker and sends the second again.
    async fn add_sub_issue(
        &self,
        target: u64,
        input: &Value,
        outgoing: &Outgoing,
    ) -> Result<Applied, Fault> {
        let asked = self.writing(target, "create issues");
        let url = self.repository_url(&["issues"]);
        let known = outgoing.made.as_ref().and_then(number);
        let made = match known {
            Some(known) => Some(self.load_wire_issue(known).await?),
            None => self.find_part(&url, target, outgoing, &asked).await?,
        };
        let made = if let Some(issue) = made {
            issue
        } else {
            let answer = self.write(Method::POST, url, Some(input), &asked).await?;
            answer.read("the new issue", self.client.token())?
        };
        let made = self.put_below(made, target).await?;
        Ok(Applied {
            issue: None,
            created: Some(Created::Issue(Box::new(self.complete(made).await?))),
        })
    }

    /// Searches for the issue that an earlier attempt made. A part is newer than its parent, whatever the clocks say: the search ends
    /// there. One that was never tried can be there after a restore, among the newest.
    async fn find_part(
        &self,
        issues: &Url,
        target: u64,
        outgoing: &Outgoing,
        asked: &Asked,
    ) -> Result<Option<WireIssue>, Fault> {
        let mut list = issues.clone();
        list.query_pairs_mut()
            .append_pair("state", "all")
            .append_pair("sort", "created")
            .append_pair("direction", "desc");
        self.find_made(&list, target, outgoing, asked).await
    }

    /// Makes an issue a part of another, unless it is one already. On a host that does not know sub-issues it stays alone.
    async fn put_below(&self, issue: WireIssue, target: u64) -> Result<WireIssue, Fault> {
        if issue.parent() == Some(target) {
            return Ok(issue);
        }
        let asked = self.writing(target, "add sub-issues");
        let url = self.repository_url(&["issues", &target.to_string(), "sub_issues"]);
        let input = json!({ "sub_issue_id": issue.id });
        match self.write(Method::POST, url, Some(&input), &asked).await {
            Ok(_parent) => self.load_wire_issue(issue.number).await,
            Err(Fault::NotFound { .. }) => {
                self.load_wire_issue(target).await?;
                Ok(issue)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Searches a list for what an earlier attempt at a change made.
    async fn find_made<T: Marked>(
        &self,
        list: &Url,
        target: u64,
        outgoing: &Outgoing,
        asked: &Asked,
    ) -> Result<Option<T>, Fault> {
        for page in 1..=SEARCH_PAGES_MAX {
            let mut url = list.clone();
            url.query_pairs_mut()
                .append_pair("per_page", "100")
                .append_pair("page", &page.to_string());
            let answer = self.get(url, None, asked).await?;
            let found: Vec<T> =
                answer.read("the list of what was made before", self.client.token())?;
            let is_last =
                found.len() < 100 || found.last().is_some_and(|last| last.is_before(target));
            if let Some(made) = found
                .into_iter()
                .find(|made| carries(made.body(), &outgoing.id))
            {
                return Ok(Some(made));
            }
            if is_last || !outgoing.was_tried {
                return Ok(None);
            }
        }
        Err(Fault::Refused {
            detail: format!(
                "it may have been sent before, and more than {SEARCH_PAGES_MAX} pages would have to be searched for it"
            ),
        })
    }
}

fn carries(body: Option<&str>, id: &ChangeId) -> bool {
    let found = body.and_then(|body| marker::find(&unix_lines(body)));
    found.as_ref() == Some(id)
}

fn state_input(group: StateGroup) -> Value {
    match group {
        StateGroup::Open | StateGroup::Started => json!({ "state": "open" }),
        StateGroup::Completed => json!({ "state": "closed", "state_reason": "completed" }),
        StateGroup::NotPlanned => json!({ "state": "closed", "state_reason": "not_planned" }),
    }
}
