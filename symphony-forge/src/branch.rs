//! Whether a branch is pushed, and over what.

/// What is known of a branch on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch<'a> {
    /// The commit that was handed in here.
    pub ours: &'a str,
    /// The commit that the forge has; `None` if it has no such branch.
    pub theirs: Option<&'a str>,
    /// The commits that Symphony pushed, or was about to push when it died.
    pub pushed: &'a [String],
    /// Whether ours contains what the forge has.
    pub contains_theirs: bool,
}

/// What to do with a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Push {
    /// The forge has it.
    Nothing,
    /// Push it, if the forge still has what was found there.
    Push {
        /// What was found there; `None` if there was no such branch.
        over: Option<String>,
    },
    /// The forge has commits that Symphony did not push: they would be lost.
    Foreign {
        /// The commit that it has.
        found: String,
    },
}

/// Decides about a branch. A push replaces only what Symphony put there, or what the new commits contain.
pub fn plan_push(branch: Branch<'_>) -> Push {
    let Some(theirs) = branch.theirs else {
        return Push::Push { over: None };
    };
    if theirs == branch.ours {
        return Push::Nothing;
    }
    if branch.contains_theirs || branch.pushed.iter().any(|pushed| pushed == theirs) {
        return Push::Push {
            over: Some(theirs.to_owned()),
        };
    }
    Push::Foreign {
        found: theirs.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_symphony_pushed_is_replaced() {
        let over = |commit: &str| Push::Push {
            over: Some(commit.to_owned()),
        };
        let foreign = Push::Foreign {
            found: "b".to_owned(),
        };
        for (theirs, pushed, contains_theirs, expected) in [
            (None, "", false, Push::Push { over: None }),
            // deleted there by someone, while the pull request is still open
            (None, "b", false, Push::Push { over: None }),
            (Some("a"), "", true, Push::Nothing),
            (Some("b"), "", true, over("b")),
            (Some("b"), "c b", false, over("b")),
            (Some("b"), "", false, foreign.clone()),
            (Some("b"), "c", false, foreign),
        ] {
            let pushed: Vec<String> = pushed.split_whitespace().map(str::to_owned).collect();
            let branch = Branch {
                ours: "a",
                theirs,
                pushed: &pushed,
                contains_theirs,
            };
            assert_eq!(plan_push(branch), expected, "{branch:?}");
        }
    }
}
