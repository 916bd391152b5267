//! Temporary worktrees of ended runs on a project: what an agent left there is kept until a person has looked.

use super::InboxKind;
use super::item::InboxItem;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::id::{ProjectId, RunId};
use crate::retry::after;
use crate::run::RunStatus;
use crate::wording::counted;

/// How long one that can be removed is left to the next run, which removes it: the longest time between two tries of
/// other exit handling.
const GRACE_MS: u64 = 10 * 60 * 1000;

/// A temporary worktree whose run has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftWorktree {
    /// The project.
    pub project: ProjectId,
    /// The run that it was made for.
    pub run: RunId,
    /// Its agent.
    pub agent: AgentType,
    /// How it ended.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Where the worktree is.
    pub path: String,
    /// The newest ref with its saved work.
    pub rescue: Option<String>,
}

impl LeftWorktree {
    /// Returns whether a person has to act: no run removes a worktree whose agent changed what runs programs, and one
    /// that could not be removed for this long will not be.
    pub fn is_for_person(&self, now: Timestamp) -> bool {
        !self.status.is_live()
            && (self.status == RunStatus::Tampered
                || after(self.ended_at, GRACE_MS) <= now
                // ended before the clock was set back
                || self.ended_at > now)
    }

    /// Describes what is left, why, and what to do.
    pub fn text(&self) -> String {
        let why = if self.status == RunStatus::Tampered {
            self.error
                .as_ref()
                .map_or_else(|| "it was tampered with".to_owned(), Clone::clone)
        } else {
            "it could not be removed".to_owned()
        };
        let saved = self.rescue.as_ref().map_or_else(String::new, |rescue| {
            format!(" What the agent committed is in {rescue}.")
        });
        format!(
            "the worktree {} of an ended run of the agent {} still exists ({why}).{saved} Check it; `symphony clean` \
             saves its content and removes it",
            self.path, self.agent
        )
    }
}

/// Returns the item of a project's temporary worktrees that wait for a person, oldest first; `None` if there are none.
pub fn left_worktrees_item(
    project: &ProjectId,
    left: &[LeftWorktree],
    now: Timestamp,
) -> Option<InboxItem> {
    let mut left: Vec<&LeftWorktree> = left
        .iter()
        .filter(|left| left.project == *project && left.is_for_person(now))
        .collect();
    left.sort_by_key(|left| (left.ended_at, &left.run));
    let (first, last) = (left.first()?, left.last()?);
    let more = left.len() - 1;
    let text = if more == 0 {
        last.text()
    } else {
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        format!(
            "{}; so is that of {}",
            last.text(),
            counted(more, "earlier run")
        )
    };
    Some(InboxItem {
        project: Some(project.clone()),
        text,
        answers: vec![
            "symphony clean".to_owned(),
            format!("symphony runs show {}", last.run),
        ],
        ..InboxItem::new(
            InboxKind::Stuck,
            first.ended_at,
            format!("worktrees:{project}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn left(run: &str, status: RunStatus, ended_at: i64) -> LeftWorktree {
        LeftWorktree {
            project: ProjectId::parse("p").unwrap(),
            run: RunId::parse(run).unwrap(),
            agent: AgentType::Scanner,
            status,
            error: Some("configuration was changed: .git".to_owned()),
            ended_at: at(ended_at),
            path: format!("/w/_scanner-{run}"),
            rescue: Some("refs/r".to_owned()),
        }
    }

    #[test]
    fn what_no_run_removes_is_for_a_person() {
        use RunStatus::{Failed, Running, Succeeded, Tampered};
        for (status, ended_at, expected) in [
            (Tampered, 10_000, true),
            (Succeeded, 10_000, false),
            (Failed, 9_401, false),
            (Failed, 9_400, true),
            (Succeeded, 10_001, true),
            (Running, 0, false),
        ] {
            let found = left("r", status, ended_at).is_for_person(at(10_000));
            assert_eq!(found, expected, "{status} {ended_at}");
        }
    }

    #[test]
    fn a_project_has_one_item_that_names_the_newest() {
        let project = ProjectId::parse("p").unwrap();
        let all = [
            left("b", RunStatus::Tampered, 20),
            left("a", RunStatus::Tampered, 10),
        ];
        let item = |left: &[LeftWorktree]| left_worktrees_item(&project, left, at(30));
        assert_eq!(item(&[]), None);
        let found = item(&all).unwrap();
        assert_eq!(
            found.text,
            "the worktree /w/_scanner-b of an ended run of the agent scanner still exists (configuration was changed: .git). What the agent committed is in refs/r. Check it; `symphony clean` saves its content and removes it; so is \
             that of 1 earlier run"
        );
        assert_eq!(found.since, at(10));
        assert_eq!(found.answers, ["symphony clean", "symphony runs show b"]);
    }
}
