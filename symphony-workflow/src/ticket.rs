//! A ticket as the tracker's client normalised it (section 4.1.1).

use symphony_core::Timestamp;

use crate::config::StateName;

/// A ticket. Fields that the tracker left out are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ticket {
    /// The tracker's own id, by which it is asked about the ticket.
    pub id: String,
    /// What people call it, such as `ABC-123`.
    pub identifier: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub description: Option<String>,
    /// How urgent it is; a lower number comes first.
    pub priority: Option<i64>,
    /// Its state, as the tracker writes it.
    pub state: String,
    /// The branch that the tracker proposes.
    pub branch_name: Option<String>,
    /// Its page.
    pub url: Option<String>,
    /// Its labels, in lower case.
    pub labels: Vec<String>,
    /// The tickets that have to end first.
    pub blocked_by: Vec<Blocker>,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When it was changed last.
    pub updated_at: Option<Timestamp>,
}

/// A ticket that has to end before another one begins; trackers do not show all of it to everyone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blocker {
    /// The tracker's own id.
    pub id: Option<String>,
    /// What people call it.
    pub identifier: Option<String>,
    /// Its state, as the tracker writes it.
    pub state: Option<String>,
}

impl Ticket {
    /// Returns the state as it is compared.
    pub fn state_name(&self) -> StateName {
        StateName::new(&self.state)
    }

    /// Brings labels into lower case, as the specification wants them (section 11.3).
    #[must_use]
    pub fn with_labels<L: AsRef<str>>(mut self, labels: &[L]) -> Self {
        let labels = labels.iter().map(AsRef::as_ref);
        self.labels = labels.map(str::to_lowercase).collect();
        self
    }
}
