//! Forges that need a person: one that cannot be used, a base that cannot follow, a pull request that is not mirrored.

use super::InboxKind;
use super::item::InboxItem;
use crate::Timestamp;
use crate::id::{PrId, ProjectId};

/// What a forge needs a person for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgeTrouble {
    /// It cannot be asked.
    Held {
        /// What it answered.
        reason: String,
    },
    /// The base here is not as it is there.
    Base {
        /// Why.
        reason: String,
    },
    /// A pull request is not mirrored.
    Pull {
        /// The pull request.
        pr: PrId,
        /// Why.
        reason: String,
    },
}

/// Returns the item of a forge that needs a person.
pub fn forge_item(
    project: &ProjectId,
    place: &str,
    trouble: &ForgeTrouble,
    since: Timestamp,
) -> InboxItem {
    let sync = "symphony forge sync".to_owned();
    let (text, answers, key) = match trouble {
        ForgeTrouble::Held { reason } => (
            format!("{place} is on hold, and pull requests are not mirrored: {reason}"),
            vec!["symphony forge check".to_owned(), sync],
            format!("held:{}", since.as_millisecond()),
        ),
        ForgeTrouble::Base { reason } => (reason.clone(), vec![sync], "base".to_owned()),
        ForgeTrouble::Pull { pr, reason } => (
            format!("pull request {pr} at {place}: {reason}"),
            vec![format!("symphony pr show {pr}"), sync],
            format!("pr:{pr}"),
        ),
    };
    InboxItem {
        project: Some(project.clone()),
        text,
        answers,
        ..InboxItem::new(InboxKind::Forge, since, format!("forge:{project}:{key}"))
    }
}
