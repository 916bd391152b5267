//! One page of what changed.

use serde::Deserialize;
use serde_json::{Value, json};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{Cursor, ExternalId, Page, RemoteComment};

use super::cursor::{Newest, Position, Walk};
use super::query;
use super::wire::{IssuesData, Nodes, WireComment, WireIssue};
use super::{Asked, Linear};

#[derive(Debug, Deserialize)]
struct NewestData {
    issues: Nodes<Newest>,
    comments: Nodes<Newest>,
}

#[derive(Debug, Deserialize)]
struct CommentsData {
    comments: Nodes<WireComment>,
}

/// Most pages of an issue's comments, of 100 each: those before the last 2,000 are left out.
const COMMENT_PAGES_MAX: usize = 20;

impl Linear {
    /// Reads a page of issues, and once those are read, a page of comments: a comment comes after the issue it is on.
    pub(super) async fn load_page(&self, cursor: &Cursor) -> Result<Page, Fault> {
        let mut position = Position::read(cursor);
        let mut page = Page {
            // No page of comments was read yet.
            has_all_comments: position.comments == Walk::default(),
            ..Page::default()
        };
        if position.is_settled() && self.is_unchanged(&position).await? {
            page.next = position.cursor();
            return Ok(page);
        }
        if position.comments.page_after().is_none() {
            self.load_issue_page(&mut position.issues, &mut page)
                .await?;
        }
        if !page.has_more {
            self.load_comment_page(&mut position.comments, &mut page)
                .await?;
        }
        page.issues.sort_by_key(|issue| issue.updated_at);
        page.comments.sort_by_key(|comment| comment.updated_at);
        page.next = position.cursor();
        Ok(page)
    }

    async fn is_unchanged(&self, position: &Position) -> Result<bool, Fault> {
        let variables = json!({ "issues": self.scope(), "comments": { "issue": self.scope() } });
        let newest: NewestData = self
            .ask(query::NEWEST, &variables, &self.reading_team())
            .await?;
        Ok(position.is_rest(newest.issues.nodes.first(), newest.comments.nodes.first()))
    }

    async fn load_issue_page(&self, walk: &mut Walk, page: &mut Page) -> Result<(), Fault> {
        let mut filter = self.scope();
        add(&mut filter, "updatedAt", since(walk));
        let variables = variables(&filter, query::ISSUES_PAGE, walk);
        let asked = self.reading_team();
        let read: Result<IssuesData, Fault> =
            self.ask(query::CHANGED_ISSUES, &variables, &asked).await;
        let Some(read) = unless_lost(read, walk, page)? else {
            return Ok(());
        };
        let next = read.issues.next().map(str::to_owned);
        let newest = |issue: &WireIssue| Newest {
            updated_at: issue.updated_at,
            id: issue.id.clone(),
        };
        let seen: Vec<Newest> = read.issues.nodes.iter().map(newest).collect();
        for issue in read.issues.nodes {
            page.issues.push(self.complete(issue).await?);
        }
        *walk = walk.after(seen, next.as_deref());
        page.has_more = next.is_some();
        Ok(())
    }

    /// Reads the comments of an issue, which come with the newest first.
    pub(super) async fn load_comments(&self, id: &ExternalId) -> Result<Vec<RemoteComment>, Fault> {
        let asked = Asked {
            action: "read comments",
            what: format!("issue {id}"),
        };
        let mut comments = Vec::new();
        let mut after = None;
        for _ in 0..COMMENT_PAGES_MAX {
            let variables = json!({ "id": id, "first": query::COMMENTS_PAGE, "after": after });
            let read: CommentsData = self.ask(query::ISSUE_COMMENTS, &variables, &asked).await?;
            after = read.comments.next().map(str::to_owned);
            let found = read.comments.nodes.into_iter();
            comments.extend(found.filter_map(WireComment::comment));
            if after.is_none() {
                break;
            }
        }
        comments.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(comments)
    }

    async fn load_comment_page(&self, walk: &mut Walk, page: &mut Page) -> Result<(), Fault> {
        let filter = json!({ "issue": self.scope(), "updatedAt": since(walk) });
        let variables = variables(&filter, query::COMMENTS_PAGE, walk);
        let asked = self.reading_team();
        let read: Result<CommentsData, Fault> =
            self.ask(query::CHANGED_COMMENTS, &variables, &asked).await;
        let Some(read) = unless_lost(read, walk, page)? else {
            return Ok(());
        };
        let next = read.comments.next().map(str::to_owned);
        let newest = |comment: &WireComment| Newest {
            updated_at: comment.updated_at,
            id: comment.id.clone(),
        };
        let seen: Vec<Newest> = read.comments.nodes.iter().map(newest).collect();
        let comments = read.comments.nodes.into_iter();
        page.comments
            .extend(comments.filter_map(WireComment::comment));
        *walk = walk.after(seen, next.as_deref());
        page.has_more = next.is_some();
        Ok(())
    }
}

/// Begins a walk again whose cursor the tracker refuses, because the item at it is gone. Other faults are the caller's.
fn unless_lost<T>(
    read: Result<T, Fault>,
    walk: &mut Walk,
    page: &mut Page,
) -> Result<Option<T>, Fault> {
    match read {
        Err(Fault::Refused { .. } | Fault::NotFound { .. }) if walk.page_after().is_some() => {
            *walk = walk.again();
            page.has_more = true;
            Ok(None)
        }
        other => other.map(Some),
    }
}

fn since(walk: &Walk) -> Value {
    json!({ "gte": walk.since() })
}

fn variables(filter: &Value, first: usize, walk: &Walk) -> Value {
    json!({ "filter": filter, "first": first, "after": walk.page_after() })
}

fn add(filter: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = filter {
        fields.insert(name.to_owned(), value);
    }
}
