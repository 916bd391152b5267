//! One page of what changed.

use serde::de::DeserializeOwned;
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{Cursor, Page};

use super::Github;
use super::cursor::{Item, Position, Walk};
use super::wire::{WireComment, WireIssue};

/// The items of a page, or nothing where they are as they were.
type Read<T> = Option<(Vec<T>, Option<String>)>;

impl Github {
    /// Reads a page of issues, and once those are read, a page of comments: a comment comes after the issue it is on.
    pub(super) async fn load_page(&self, cursor: &Cursor) -> Result<Page, Fault> {
        let mut position = Position::read(cursor);
        let mut page = Page {
            // No page of comments was read yet.
            has_all_comments: position.comments == Walk::default(),
            ..Page::default()
        };
        let read: Read<WireIssue> = self.load_list(&["issues"], &position.issues).await?;
        if let Some((issues, etag)) = read {
            let items = items(&issues, |issue| Item {
                id: issue.number,
                updated_at: issue.updated_at,
            });
            (position.issues, page.has_more) = position.issues.after(&items, etag.as_deref());
            for issue in issues.into_iter().filter(|issue| !issue.is_pull_request()) {
                page.issues.push(self.complete(issue).await?);
            }
        }
        if !page.has_more {
            let segments = ["issues", "comments"];
            let read: Read<WireComment> = self.load_list(&segments, &position.comments).await?;
            if let Some((comments, etag)) = read {
                let items = items(&comments, |comment| Item {
                    id: comment.id,
                    updated_at: comment.updated_at,
                });
                (position.comments, page.has_more) =
                    position.comments.after(&items, etag.as_deref());
                page.comments = comments
                    .into_iter()
                    .filter_map(WireComment::comment)
                    .collect();
            }
        }
        page.issues.sort_by_key(|issue| issue.updated_at);
        page.comments.sort_by_key(|comment| comment.updated_at);
        page.next = position.cursor();
        Ok(page)
    }

    async fn load_list<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        walk: &Walk,
    ) -> Result<Read<T>, Fault> {
        let mut url = self.repository_url(segments);
        if segments == ["issues"] {
            url.query_pairs_mut().append_pair("state", "all");
        }
        url.query_pairs_mut().extend_pairs(walk.query());
        let asked = self.reading_repository();
        let answer = self.get(url, walk.etag(), &asked).await?;
        if answer.status == 304 {
            return Ok(None);
        }
        let found = answer.read("a list of issues or comments", self.client.token())?;
        Ok(Some((found, answer.header("etag").map(str::to_owned))))
    }
}

fn items<T>(found: &[T], item: impl Fn(&T) -> Item) -> Vec<Item> {
    found.iter().map(item).collect()
}
