//! The branch that the phases of a plan are merged into: whether it still has the work of complete phases.
//!
//! Only Symphony moves it on purpose, but an agent without a sandbox can, and so can a person. The commit where
//! Symphony left it is recorded with every merge; a branch that has lost that commit is neither recreated nor merged
//! into.

use std::fmt;

/// What was seen of a plan's base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaseSight<'a> {
    /// The commit that the plan began at.
    pub begin: &'a str,
    /// The head where Symphony last left it; `None` before the first merge.
    pub recorded: Option<&'a str>,
    /// Its head now; `None` if there is no such branch.
    pub found: Option<&'a str>,
    /// Whether that head has the recorded commit, or the first one.
    pub holds: bool,
}

/// How a plan's base lost work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostBase {
    /// The branch.
    pub branch: String,
    /// The head that has the work.
    pub recorded: String,
    /// Where the branch is now; `None` if it is gone.
    pub found: Option<String>,
}

/// Where a plan's base is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseStanding {
    /// No phase has been merged there: it can be created.
    Unbegun,
    /// It has the work of all complete phases.
    Intact,
    /// It is gone, or was moved to a commit without that work.
    Lost,
}

/// Returns whether a plan's base still has the work of complete phases.
pub fn judge_base(sight: BaseSight<'_>) -> BaseStanding {
    let recorded = sight.recorded.unwrap_or(sight.begin);
    match sight.found {
        None if recorded == sight.begin => BaseStanding::Unbegun,
        Some(_) if sight.holds => BaseStanding::Intact,
        None | Some(_) => BaseStanding::Lost,
    }
}

impl LostBase {
    /// Returns the commit that identifies this loss: a person's decision is valid only for this one.
    pub fn marker(&self) -> &str {
        self.found.as_deref().unwrap_or(&self.recorded)
    }

    /// Returns what to type to have the work back.
    pub fn command(&self) -> String {
        let force = self.found.as_ref().map_or("", |_| "-f ");
        format!("git branch {force}{} {}", self.branch, self.recorded)
    }
}

impl fmt::Display for LostBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (branch, command) = (&self.branch, self.command());
        match &self.found {
            None => write!(
                f,
                "the branch {branch} is gone, and with it the work of complete phases: `{command}` restores it"
            ),
            Some(found) => write!(
                f,
                "the branch {branch} was moved to {found}, which lacks work of complete phases: `{command}` restores \
                 it; to continue without that work, dismiss the notice in `symphony inbox`"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_made_only_when_nothing_was_ever_there() {
        use BaseStanding as S;
        for (recorded, found, holds, expected) in [
            (None, None, false, S::Unbegun),
            (Some("begin"), None, false, S::Unbegun),
            (Some("work"), None, false, S::Lost),
            (None, Some("begin"), true, S::Intact),
            (None, Some("other"), false, S::Lost),
            (Some("work"), Some("more"), true, S::Intact),
            (Some("work"), Some("begin"), false, S::Lost),
        ] {
            let sight = BaseSight {
                begin: "begin",
                recorded,
                found,
                holds,
            };
            assert_eq!(judge_base(sight), expected, "{sight:?}");
        }
    }

    #[test]
    fn a_lost_base_names_the_way_back() {
        let lost = |found: Option<&str>| LostBase {
            branch: "symphony/plan-ship/base".into(),
            recorded: "aaaa".into(),
            found: found.map(str::to_owned),
        };
        insta::assert_snapshot!(format!("{}\n{}", lost(None), lost(Some("bbbb"))));
    }
}
