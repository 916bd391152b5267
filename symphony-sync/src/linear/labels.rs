//! Labels by name, where Linear's changes take ids.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::json;
use symphony_tracker::change::Applied;
use symphony_tracker::fault::Fault;

use super::wire::{Id, Named, Nodes, WireTeam};
use super::{Asked, Linear, query};

#[derive(Debug, Deserialize)]
struct IssueLabels {
    labels: Nodes<Named>,
    team: WireTeam,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TeamLabel {
    id: String,
    name: String,
    is_group: bool,
    team: Option<WireTeam>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LabelsData {
    issue: IssueLabels,
    issue_labels: Nodes<TeamLabel>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedLabel {
    issue_label_create: LabelPayload,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LabelPayload {
    issue_label: Id,
}

impl Linear {
    /// Adds and removes labels of an issue; the others stay.
    pub(super) async fn set_labels(
        &self,
        target: &str,
        add: &BTreeSet<String>,
        remove: &BTreeSet<String>,
    ) -> Result<Applied, Fault> {
        let asked = Asked {
            action: "set labels",
            what: format!("issue {target}"),
        };
        let known = self.load_labels(target, add, &asked).await?;
        let present: BTreeSet<&str> = names(&known.issue.labels.nodes).collect();
        let missing: BTreeSet<String> = add
            .iter()
            .filter(|name| !present.contains(name.as_str()))
            .cloned()
            .collect();
        let added = self.label_ids(&missing, &known, &asked).await?;
        let present = known.issue.labels.nodes.iter();
        let removed: Vec<&str> = present
            .filter(|label| remove.contains(&label.name))
            .map(|label| label.id.as_str())
            .collect();
        if added.is_empty() && removed.is_empty() {
            return Ok(Applied {
                issue: None,
                created: None,
            });
        }
        let input = json!({ "addedLabelIds": added, "removedLabelIds": removed });
        self.update(target, &input, &asked).await
    }

    /// Returns the ids of labels for a new issue below another; labels that do not exist are made.
    pub(super) async fn labels_for_part(
        &self,
        parent: &str,
        labels: &BTreeSet<String>,
        asked: &Asked,
    ) -> Result<(String, Vec<String>), Fault> {
        let known = self.load_labels(parent, labels, asked).await?;
        let ids = self.label_ids(labels, &known, asked).await?;
        Ok((known.issue.team.id, ids))
    }

    async fn load_labels(
        &self,
        target: &str,
        names: &BTreeSet<String>,
        asked: &Asked,
    ) -> Result<LabelsData, Fault> {
        let variables = json!({ "id": target, "names": names, "team": self.team });
        self.ask(query::LABELS, &variables, asked).await
    }

    /// Finds labels by name, the team's own before those of the workspace, and makes those that do not exist.
    async fn label_ids(
        &self,
        wanted: &BTreeSet<String>,
        known: &LabelsData,
        asked: &Asked,
    ) -> Result<Vec<String>, Fault> {
        let mut by_name: BTreeMap<&str, &TeamLabel> = BTreeMap::new();
        for label in known
            .issue_labels
            .nodes
            .iter()
            .filter(|label| !label.is_group)
        {
            let kept = by_name.entry(&label.name).or_insert(label);
            if kept.team.is_none() && label.team.is_some() {
                *kept = label;
            }
        }
        let mut ids = Vec::new();
        for name in wanted {
            ids.push(match by_name.get(name.as_str()) {
                Some(label) => label.id.clone(),
                None => self.create_label(name, &known.issue.team.id, asked).await?,
            });
        }
        Ok(ids)
    }

    async fn create_label(&self, name: &str, team: &str, asked: &Asked) -> Result<String, Fault> {
        let variables = json!({ "input": { "name": name, "teamId": team } });
        let made: CreatedLabel = self.ask(query::CREATE_LABEL, &variables, asked).await?;
        Ok(made.issue_label_create.issue_label.id)
    }
}

fn names(labels: &[Named]) -> impl Iterator<Item = &str> {
    labels.iter().map(|label| label.name.as_str())
}
