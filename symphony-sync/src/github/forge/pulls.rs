//! Pull requests: found, read, opened, changed, merged.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Map, Value, json};
use symphony_forge::change::{MergeWish, NewPull, PullChange};
use symphony_forge::remote::{MergeAnswer, MergeMethod, PullNumber, RemotePull};
use symphony_tracker::fault::Fault;

use super::super::fault::{checked, words};
use super::super::wire::WireLabel;
use super::GithubForge;
use super::wire::WirePull;
use crate::http::client::Request;

/// How many pull requests of one branch are looked at: those from forks and of other bases are among them.
const FIND_ITEMS: &str = "50";

#[derive(serde::Deserialize)]
struct WireMerge {
    sha: String,
}

impl GithubForge {
    pub(super) async fn find_pull(
        &self,
        head_branch: &str,
        base_branch: &str,
    ) -> Result<Option<RemotePull>, Fault> {
        let asked = self.asked("read pull requests", "the pull requests");
        let mut url = self.github.repository_url(&["pulls"]);
        url.query_pairs_mut()
            .append_pair("state", "all")
            .append_pair("head", &format!("{}:{head_branch}", self.github.owner))
            .append_pair("base", base_branch)
            .append_pair("sort", "created")
            .append_pair("direction", "desc")
            .append_pair("per_page", FIND_ITEMS);
        let answer = self.github.get(url, None, &asked).await?;
        let found: Vec<WirePull> = self.read(&answer, &asked.what)?;
        let ours = found
            .into_iter()
            .filter(|pull| pull.is_from(head_branch, base_branch));
        match ours.max_by_key(WirePull::number) {
            // a list does not say who merged
            Some(pull) if pull.is_merged() => self.load_pull(pull.number()).await.map(Some),
            found => Ok(found.map(|pull| pull.pull(answer.answered_at()))),
        }
    }

    pub(super) async fn load_pull(&self, number: PullNumber) -> Result<RemotePull, Fault> {
        let asked = self.asked("read pull requests", &format!("pull request {number}"));
        let answer = self
            .github
            .get(self.pull_url(number, &[]), None, &asked)
            .await?;
        let pull: WirePull = self.read(&answer, &asked.what)?;
        Ok(pull.pull(answer.answered_at()))
    }

    pub(super) async fn open_pull(&self, new: &NewPull) -> Result<RemotePull, Fault> {
        let asked = self.asked("open pull requests", "a branch");
        let input = json!({
            "title": new.title,
            "body": new.body,
            "head": new.head_branch,
            "base": new.base_branch,
        });
        let url = self.github.repository_url(&["pulls"]);
        let answer = self
            .github
            .write(Method::POST, url, Some(&input), &asked)
            .await?;
        let mut pull = self
            .read::<WirePull>(&answer, "the new pull request")?
            .pull(answer.answered_at());
        if !new.labels.is_empty() {
            // It is open: a fault here would look as if it were not. The answer shows which labels it has.
            if let Ok(labels) = self.add_labels(pull.number, &new.labels).await {
                pull.labels = labels;
            }
        }
        Ok(pull)
    }

    async fn add_labels(
        &self,
        number: PullNumber,
        labels: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Fault> {
        let asked = self.asked("set labels", &format!("pull request {number}"));
        let number = number.get().to_string();
        let url = self.github.repository_url(&["issues", &number, "labels"]);
        let input = json!({ "labels": labels });
        let answer = self
            .github
            .write(Method::POST, url, Some(&input), &asked)
            .await?;
        let labels: Vec<WireLabel> = self.read(&answer, "the labels of a pull request")?;
        Ok(labels.into_iter().filter_map(WireLabel::name).collect())
    }

    pub(super) async fn update_pull(
        &self,
        number: PullNumber,
        change: &PullChange,
    ) -> Result<RemotePull, Fault> {
        if change.is_empty() {
            return self.load_pull(number).await;
        }
        let asked = self.asked("change pull requests", &format!("pull request {number}"));
        let mut input = Map::new();
        let mut set = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                input.insert(name.to_owned(), json!(value));
            }
        };
        set("title", change.title.as_deref());
        set("body", change.body.as_deref());
        let state = |is_open| if is_open { "open" } else { "closed" };
        set("state", change.is_open.map(state));
        let url = self.pull_url(number, &[]);
        let input = Value::Object(input);
        let answer = self
            .github
            .write(Method::PATCH, url, Some(&input), &asked)
            .await?;
        let pull: WirePull = self.read(&answer, "the changed pull request")?;
        Ok(pull.pull(answer.answered_at()))
    }

    /// Merges. GitHub compares the commit itself, so a push between our look and this request is not merged.
    pub(super) async fn merge_pull(
        &self,
        number: PullNumber,
        wish: &MergeWish,
    ) -> Result<MergeAnswer, Fault> {
        let asked = self.asked("merge pull requests", &format!("pull request {number}"));
        let request = Request {
            method: Method::PUT,
            url: self.pull_url(number, &["merge"]),
            body: Some(merge_input(wish).to_string().into_bytes()),
            etag: None,
        };
        let client = &self.github.client;
        let answer = client.send(request).await?;
        match answer.status {
            405 => Ok(MergeAnswer::NotMergeable {
                detail: words(&answer, client.token()),
            }),
            409 => Ok(MergeAnswer::HeadMoved),
            _ => {
                let answer = checked(answer, &asked, client)?;
                let merged: WireMerge = self.read(&answer, "the merge")?;
                Ok(MergeAnswer::Merged { commit: merged.sha })
            }
        }
    }
}

fn merge_input(wish: &MergeWish) -> Value {
    let mut input = json!({ "sha": wish.head, "merge_method": method(wish.method) });
    // a rebase keeps the messages of its commits
    if wish.method != MergeMethod::Rebase
        && let Some(fields) = input.as_object_mut()
    {
        fields.insert("commit_title".to_owned(), json!(wish.title));
        fields.insert("commit_message".to_owned(), json!(wish.message));
    }
    input
}

const fn method(method: MergeMethod) -> &'static str {
    match method {
        MergeMethod::Merge => "merge",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    }
}
