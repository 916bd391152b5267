//! Hints about messages to agents.

use symphony_store::IssueRefusal;

/// Returns what to type instead of a message that is refused; `None` if what is refused is something else.
pub(super) fn message_hint(refusal: &IssueRefusal) -> Option<String> {
    Some(match refusal {
        IssueRefusal::NoReader { issue, .. } => format!(
            "`symphony issue move {issue} todo` reopens it, so that an agent reads a message; `symphony issue comment {issue} \
             TEXT` adds a comment"
        ),
        IssueRefusal::TooMuchUnread { issue, .. } => format!(
            "wait until an agent has read them, or withdraw one with `symphony runs withdraw MESSAGE`; `symphony issue show \
             {issue}` lists them"
        ),
        IssueRefusal::MessageRead { run, .. } => {
            format!("`symphony runs say {run} TEXT` corrects it")
        }
        IssueRefusal::NoMessage(_) => {
            "`symphony issue show ISSUE` names the messages on an issue".to_owned()
        }
        _ => return None,
    })
}
