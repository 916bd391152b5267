//! What a person does about a forge that cannot be used as configured.

use symphony_runner::forge::{ForgeAccess, ForgeFault as Fault, ForgeProblem};

/// What has to be repaired first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The token, or the rights of its user.
    Token,
    /// Git's own way to the remote.
    Git,
    /// The network, or the server.
    Network,
    /// Nothing but time is needed.
    Wait,
    /// The settings here, or those of the repository there.
    Settings,
    /// Something on this machine.
    Machine,
}

impl Remedy {
    /// Decides it from what the forge answered. Of several problems, the token comes first: without it, the others cannot be checked.
    pub(crate) fn of(answer: &Result<ForgeAccess, Fault>) -> Self {
        match answer {
            Ok(access) => Self::of_problems(&access.problems),
            Err(fault) => Self::of_fault(fault),
        }
    }

    fn of_problems(problems: &[ForgeProblem]) -> Self {
        let has = |is: fn(&ForgeProblem) -> bool| problems.iter().any(is);
        if has(|problem| matches!(problem, ForgeProblem::Token(_))) {
            Self::Token
        } else if has(|problem| matches!(problem, ForgeProblem::Git(_))) {
            Self::Git
        } else {
            Self::Settings
        }
    }

    const fn of_fault(fault: &Fault) -> Self {
        match fault {
            Fault::NoToken { .. }
            | Fault::Unauthorised { .. }
            | Fault::Forbidden { .. }
            | Fault::ReadOnly { .. }
            | Fault::NotFound { .. } => Self::Token,
            Fault::Git { .. } => Self::Git,
            Fault::Unreachable { .. } | Fault::Failed { .. } | Fault::Unreadable { .. } => {
                Self::Network
            }
            Fault::RateLimited { .. } => Self::Wait,
            Fault::Misconfigured { .. } | Fault::Moved { .. } | Fault::Refused { .. } => {
                Self::Settings
            }
            Fault::Here { .. } => Self::Machine,
        }
    }

    /// Returns the advice, which ends in the command that shows whether it helped.
    pub(crate) const fn advice(self) -> &'static str {
        match self {
            Self::Token => {
                "correct the token as docs/forges.md describes, then run `symphony forge check`"
            }
            Self::Git => {
                "make `git fetch` and `git push` work here without a prompt, then run `symphony forge check`"
            }
            Self::Network => {
                "check that this machine can reach `forge.endpoint`, then run `symphony forge check`"
            }
            Self::Wait => "the forge asks for a pause: run `symphony forge check` later",
            Self::Settings => {
                "change the setting or the repository that is named, then run `symphony forge check`"
            }
            Self::Machine => "fix what failed on this machine, then run `symphony forge check`",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail() -> String {
        "detail".to_owned()
    }

    fn found(problems: Vec<ForgeProblem>) -> ForgeAccess {
        ForgeAccess {
            user: None,
            place: "acme/web".to_owned(),
            can_write: None,
            scopes: None,
            problems,
        }
    }

    #[test]
    fn a_remedy_follows_from_the_kind_of_a_problem_and_not_from_its_words() {
        let token = || ForgeProblem::Token(detail());
        let named = || "the base branch `the token` does not exist".to_owned();
        for (answer, expected) in [
            (Err(Fault::NoToken { detail: detail() }), Remedy::Token),
            (Err(Fault::Unauthorised { detail: detail() }), Remedy::Token),
            (Err(Fault::NotFound { what: detail() }), Remedy::Token),
            (
                Err(Fault::Unreachable { detail: detail() }),
                Remedy::Network,
            ),
            (Err(Fault::RateLimited { until: None }), Remedy::Wait),
            (
                Err(Fault::Misconfigured { detail: detail() }),
                Remedy::Settings,
            ),
            (Err(Fault::Here { detail: detail() }), Remedy::Machine),
            (Ok(found(vec![token()])), Remedy::Token),
            (
                Ok(found(vec![ForgeProblem::Place(named())])),
                Remedy::Settings,
            ),
            (Ok(found(vec![ForgeProblem::Git(named())])), Remedy::Git),
            (
                Ok(found(vec![ForgeProblem::Git(named()), token()])),
                Remedy::Token,
            ),
        ] {
            assert_eq!(Remedy::of(&answer), expected, "{answer:?}");
        }
    }

    #[test]
    fn only_the_token_s_advice_is_about_it_and_each_names_the_next_command() {
        for remedy in [
            Remedy::Token,
            Remedy::Git,
            Remedy::Network,
            Remedy::Wait,
            Remedy::Settings,
            Remedy::Machine,
        ] {
            let advice = remedy.advice();
            let is_token = remedy == Remedy::Token;
            assert_eq!(advice.contains("the token"), is_token, "{advice}");
            assert!(advice.contains("`symphony forge check`"), "{advice}");
        }
    }
}
