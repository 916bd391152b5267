//! Hints about sessions that people open.

use symphony_core::take_over::TakeOverRefusal;
use symphony_runner::take_over::SessionRefusal;

/// Returns what to type instead.
pub(super) fn session_hint(refusal: &SessionRefusal) -> String {
    match refusal {
        SessionRefusal::Issue(refusal) => issue_hint(refusal),
        SessionRefusal::NotInteractive { issue, .. } => format!(
            "sessions of `claude-cli`, `codex-cli` and `codex-app-server` can be opened; `symphony issue edit {issue} \
             --agent claude-cli` gives this issue another agent"
        ),
        SessionRefusal::Conflicts { issue, .. } => format!(
            "resolve them, or give up the merge with `git merge --abort`; `symphony issue release {issue} --keep` leaves the \
             checkout as it is"
        ),
        SessionRefusal::NotTheWork { .. } => {
            "`symphony runs open ISSUE` opens the session of the agent that works on an issue"
                .to_owned()
        }
        SessionRefusal::OtherAgent { issue, .. } | SessionRefusal::LaterSession { issue, .. } => {
            format!("`symphony runs open {issue}` opens the current session")
        }
    }
}

fn issue_hint(refusal: &TakeOverRefusal) -> String {
    match refusal {
        TakeOverRefusal::AtWork { run, .. } => {
            format!("end it first with `symphony runs cancel {run}`; its work is kept")
        }
        TakeOverRefusal::Open { run, .. } => format!(
            "leave the session in its terminal, or end it with `symphony runs cancel {run}`; its work is kept"
        ),
        TakeOverRefusal::UnderReview { issue } => format!(
            "take the pull request back first with `symphony pr reject {issue} --feedback TEXT`; `symphony pr show {issue}` shows it"
        ),
        TakeOverRefusal::Ended { issue, .. } => {
            format!("`symphony issue move {issue} todo` reopens it")
        }
        TakeOverRefusal::NotTakenOver { issue, .. } => {
            format!("`symphony explain {issue}` shows what it is waiting for")
        }
    }
}
