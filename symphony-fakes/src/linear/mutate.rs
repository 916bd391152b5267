//! Mutations.

use serde_json::{Value, json};

use super::graphql::Problem;
use super::resolve::{Node, Resolved};
use super::world::LinearWorld;

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 512;

impl LinearWorld {
    /// Applies a mutation, all of it or nothing.
    pub(super) fn mutate(&mut self, name: &str, arguments: &Value) -> Result<Resolved, Problem> {
        if self.is_read_only {
            return Err(Problem {
                status: 403,
                code: "FORBIDDEN",
                message: "Your API key is read only.".to_owned(),
            });
        }
        let input = arguments.get("input").cloned().unwrap_or(Value::Null);
        match name {
            "issueUpdate" => {
                let id = text(arguments, "id").unwrap_or_default().to_owned();
                self.update_issue(&id, &input)
            }
            "issueCreate" => self.create_issue(&input),
            "commentCreate" => self.create_comment(&input),
            "issueLabelCreate" => self.create_label(&input),
            _ => Err(Problem::unknown_field("Mutation", name)),
        }
    }

    fn update_issue(&mut self, id: &str, input: &Value) -> Result<Resolved, Problem> {
        const KNOWN: &[&str] = &[
            "title",
            "description",
            "priority",
            "stateId",
            "addedLabelIds",
            "removedLabelIds",
            "parentId",
        ];
        known_only("IssueUpdateInput", input, KNOWN)?;
        if !self.issues.contains_key(id) {
            return Err(Problem::not_found("Issue"));
        }
        self.set_fields(id, input)?;
        Ok(payload("issue", Node::Issue(id.to_owned())))
    }

    fn create_issue(&mut self, input: &Value) -> Result<Resolved, Problem> {
        const KNOWN: &[&str] = &[
            "id",
            "teamId",
            "title",
            "description",
            "priority",
            "stateId",
            "labelIds",
            "parentId",
        ];
        known_only("IssueCreateInput", input, KNOWN)?;
        let id = self.new_id(input)?;
        let team = text(input, "teamId").unwrap_or_default().to_owned();
        let Some(title) = text(input, "title").filter(|_| self.teams.contains_key(&team)) else {
            return Err(Problem::not_found("Team"));
        };
        let mut states = self.states.iter().filter(|(_, state)| state.team == team);
        let state = states.find(|(_, state)| state.kind == "backlog");
        let state = state.expect("a team has a backlog").0.clone();
        // the whole input is checked before anything exists
        self.checked_fields(&team, input)?;
        self.insert_issue(id.clone(), &team, title, state);
        self.set_fields(&id, input)?;
        let viewer = self.viewer.clone();
        let issue = self.issues.get_mut(&id).expect("it was just made");
        issue.creator = Some(viewer);
        issue.created_at = issue.updated_at;
        Ok(payload("issue", Node::Issue(id)))
    }

    fn create_comment(&mut self, input: &Value) -> Result<Resolved, Problem> {
        known_only("CommentCreateInput", input, &["id", "issueId", "body"])?;
        let id = self.new_id(input)?;
        let issue = text(input, "issueId").unwrap_or_default();
        if !self.issues.contains_key(issue) {
            return Err(Problem::not_found("Issue"));
        }
        let body = text(input, "body").filter(|body| !body.trim().is_empty());
        let body = body.ok_or_else(|| Problem::input("the comment is empty"))?;
        let viewer = self.viewer.clone();
        self.insert_comment(id.clone(), Some(issue), Some(viewer), body);
        Ok(payload("comment", Node::Comment(id)))
    }

    fn create_label(&mut self, input: &Value) -> Result<Resolved, Problem> {
        known_only("IssueLabelCreateInput", input, &["name", "teamId"])?;
        let name = text(input, "name").unwrap_or_default();
        let team = text(input, "teamId");
        let Some(key) = team
            .and_then(|id| self.teams.get(id))
            .map(|team| team.key.clone())
        else {
            return Err(Problem::not_found("Team"));
        };
        let is_known = |label: &super::world::Label| {
            label.name.to_lowercase() == name.to_lowercase()
                && label
                    .team
                    .as_deref()
                    .is_none_or(|known| Some(known) == team)
        };
        if self.labels.values().any(is_known) {
            return Err(Problem::input("a label with this name exists"));
        }
        let id = self.add_label(name, Some(&key));
        Ok(payload("issueLabel", Node::Label(id)))
    }

    /// Takes the id of the client, which nothing else may have.
    fn new_id(&mut self, input: &Value) -> Result<String, Problem> {
        let Some(id) = text(input, "id") else {
            return Ok(self.id());
        };
        if self.issues.contains_key(id) || self.comments.contains_key(id) {
            return Err(Problem::input("an entity with this id exists"));
        }
        Ok(id.to_owned())
    }

    fn checked_fields(&self, team: &str, input: &Value) -> Result<(), Problem> {
        if text(input, "title")
            .is_some_and(|title| title.trim().is_empty() || title.chars().count() > TITLE_CHARS_MAX)
        {
            return Err(Problem::input("the title is empty or too long"));
        }
        let is_of_team = |id: &str| self.states.get(id).is_some_and(|state| state.team == team);
        if text(input, "stateId").is_some_and(|id| !is_of_team(id)) {
            return Err(Problem::not_found("WorkflowState"));
        }
        if text(input, "parentId").is_some_and(|id| !self.issues.contains_key(id)) {
            return Err(Problem::not_found("Issue"));
        }
        let is_usable = |id: &String| {
            let label = self.labels.get(id);
            label.is_some_and(|label| label.team.as_deref().is_none_or(|known| known == team))
        };
        let added = ids(input, "labelIds")
            .into_iter()
            .chain(ids(input, "addedLabelIds"));
        if added.into_iter().all(|id| is_usable(&id)) {
            Ok(())
        } else {
            Err(Problem::not_found("IssueLabel"))
        }
    }

    fn set_fields(&mut self, id: &str, input: &Value) -> Result<(), Problem> {
        let team = self.issue(id).team;
        self.checked_fields(&team, input)?;
        let removed = ids(input, "removedLabelIds");
        if removed
            .iter()
            .any(|label| !self.issue(id).labels.contains(label))
        {
            return Err(Problem::input("the issue does not have the label"));
        }
        self.edit_issue(id, |issue| {
            if let Some(title) = text(input, "title") {
                title.clone_into(&mut issue.title);
            }
            if let Some(description) = text(input, "description") {
                issue.description = Some(description.to_owned());
            }
            if let Some(state) = text(input, "stateId") {
                state.clone_into(&mut issue.state);
            }
            if let Some(parent) = text(input, "parentId") {
                issue.parent = Some(parent.to_owned());
            }
            if let Some(priority) = input.get("priority").and_then(Value::as_u64) {
                issue.priority = u8::try_from(priority).unwrap_or(0);
            }
            issue.labels.extend(ids(input, "labelIds"));
            issue.labels.extend(ids(input, "addedLabelIds"));
            issue.labels.retain(|label| !removed.contains(label));
        });
        Ok(())
    }
}

fn payload(name: &'static str, node: Node) -> Resolved {
    Resolved::Payload(vec![
        ("success", Resolved::Scalar(json!(true))),
        (name, Resolved::One(Some(node))),
    ])
}

fn known_only(kind: &str, input: &Value, known: &[&str]) -> Result<(), Problem> {
    let fields = input
        .as_object()
        .ok_or_else(|| Problem::invalid("input is an object"))?;
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Problem::invalid(format!(
            "Field \"{name}\" is not defined by type \"{kind}\"."
        ))),
        None => Ok(()),
    }
}

fn text<'a>(input: &'a Value, name: &str) -> Option<&'a str> {
    input.get(name).and_then(Value::as_str)
}

fn ids(input: &Value, name: &str) -> Vec<String> {
    let list = input.get(name).and_then(Value::as_array);
    let texts = list.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
