//! What a fault in the exchange of one pull request says about the others.

use symphony_tracker::fault::{Fault, GitFault};

/// What a fault is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// This pull request: the others are exchanged.
    One,
    /// The forge, or the way there: nothing else is asked now.
    Forge,
    /// One of both: the forge is asked for something else to find out. A server fails for a diff that is too large, too.
    Unclear,
}

/// Decides what a fault is about that the exchange of one pull request met, after the forge has answered in the same look.
pub const fn about(fault: &Fault) -> About {
    match fault {
        Fault::NoToken { .. }
        | Fault::Misconfigured { .. }
        | Fault::Moved { .. }
        | Fault::Unauthorised { .. }
        | Fault::RateLimited { .. }
        | Fault::Unreachable { .. }
        | Fault::Git {
            why: GitFault::Login | GitFault::Trust,
            ..
        }
        | Fault::Here { .. } => About::Forge,
        // a locked conversation refuses a reply in the words of a missing right
        Fault::Forbidden { .. }
        | Fault::ReadOnly { .. }
        | Fault::NotFound { .. }
        | Fault::Git {
            why: GitFault::Missing,
            ..
        }
        | Fault::Refused { .. } => About::One,
        Fault::Failed { .. } | Fault::Unreadable { .. } => About::Unclear,
    }
}

/// Returns whether a forge works that answers a request with this fault: it says something about what was asked for.
pub const fn is_answer(fault: &Fault) -> bool {
    matches!(about(fault), About::One)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_about_one_pull_request_the_forge_or_either() {
        let detail = || "detail".to_owned();
        let forbidden = Fault::Forbidden {
            action: "write comments".to_owned(),
            detail: detail(),
        };
        let failed = Fault::Failed {
            status: 502,
            detail: detail(),
        };
        let git = |why| Fault::Git {
            why,
            detail: detail(),
        };
        for (fault, expected) in [
            (Fault::NoToken { detail: detail() }, About::Forge),
            (Fault::Misconfigured { detail: detail() }, About::Forge),
            (Fault::Unauthorised { detail: detail() }, About::Forge),
            (git(GitFault::Login), About::Forge),
            (git(GitFault::Trust), About::Forge),
            (git(GitFault::Missing), About::One),
            (Fault::RateLimited { until: None }, About::Forge),
            (Fault::Unreachable { detail: detail() }, About::Forge),
            (Fault::Here { detail: detail() }, About::Forge),
            (Fault::NotFound { what: detail() }, About::One),
            (Fault::Refused { detail: detail() }, About::One),
            (forbidden, About::One),
            (failed, About::Unclear),
            (Fault::Unreadable { detail: detail() }, About::Unclear),
        ] {
            assert_eq!(about(&fault), expected, "{fault:?}");
            assert_eq!(is_answer(&fault), expected == About::One, "{fault:?}");
        }
    }
}
