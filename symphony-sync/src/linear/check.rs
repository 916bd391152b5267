//! Who the token is, and whether it sees the team.

use serde::Deserialize;
use serde_json::json;
use symphony_tracker::fault::Fault;

use super::wire::{Named, Nodes, WireTeam, WireUser};
use super::{Asked, Linear, query};
use crate::access::{Access, AccessProblem};

#[derive(Debug, Deserialize)]
struct AccessData {
    viewer: WireUser,
    teams: Nodes<WireTeam>,
}

#[derive(Debug, Deserialize)]
struct ProjectData {
    projects: Nodes<Named>,
}

impl Linear {
    /// Asks for the user, the team, and the project where one is set. Whether a key may write shows only when it does.
    pub(super) async fn load_access(&self) -> Result<Access, Fault> {
        let variables = json!({ "team": self.team });
        let asked = self.reading_team();
        let reply: AccessData = self.ask(query::ACCESS, &variables, &asked).await?;
        let Some(team) = reply.teams.nodes.into_iter().next() else {
            return Err(Fault::NotFound { what: asked.what });
        };
        let mut problems = Vec::new();
        if reply.viewer.guest {
            let text = "the token's user is a guest, who sees only some teams";
            problems.push(AccessProblem::Token(text.to_owned()));
        }
        let mut place = format!("{} ({})", team.name, team.key);
        if let Some(slug) = &self.project {
            let name = self.load_project_name(slug).await?;
            place.push_str(", project ");
            place.push_str(&name);
        }
        Ok(Access {
            user: Some(reply.viewer.user()),
            place,
            can_write: None,
            scopes: None,
            problems,
        })
    }

    /// Asks for a change of an issue that there is not: a key that may not write is refused for that.
    pub(super) async fn try_to_write(&self) -> Result<Option<bool>, Fault> {
        const NO_ISSUE: &str = "00000000-0000-4000-8000-000000000000";
        let asked = Asked {
            action: "write issues",
            what: format!("issue {NO_ISSUE}"),
        };
        let variables = json!({ "id": NO_ISSUE, "input": {} });
        let answer: Result<serde_json::Value, Fault> =
            self.ask(query::UPDATE_ISSUE, &variables, &asked).await;
        Ok(match answer {
            Err(Fault::NotFound { .. } | Fault::Refused { .. }) => Some(true),
            Err(Fault::Forbidden { .. }) => Some(false),
            Ok(_) => None,
            Err(fault) => return Err(fault),
        })
    }

    async fn load_project_name(&self, slug: &str) -> Result<String, Fault> {
        let asked = Asked {
            action: "read projects",
            what: format!("the project {slug} in the team {}", self.team),
        };
        let variables = json!({ "slug": slug, "team": self.team });
        let reply: ProjectData = self.ask(query::PROJECT, &variables, &asked).await?;
        let project = reply.projects.nodes.into_iter().next();
        let project = project.ok_or(Fault::NotFound { what: asked.what })?;
        Ok(project.name)
    }
}
