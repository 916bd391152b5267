//! What runs cost: by day, and split up.

use serde::Serialize;
use symphony_core::id::ProjectId;
use symphony_core::spending::Spent;
use symphony_core::wording::counted;

use super::today::SpentView;
use crate::text::{Page, Table, View};

/// What the runs of a project cost in the last days (UTC), today included.
#[derive(Debug, Clone, Serialize)]
pub struct SpendingView {
    /// The project.
    pub project: ProjectId,
    /// Each day, the oldest first; days without spending are there, too.
    pub days: Vec<SpentOn>,
    /// By type of agent, the most first.
    pub agents: Vec<SpentFor>,
    /// By model, or by provider where that names none, the most first.
    pub models: Vec<SpentFor>,
    /// By issue or plan, the most first.
    pub issues: Vec<SpentFor>,
}

/// What was spent on a day.
#[derive(Debug, Clone, Serialize)]
pub struct SpentOn {
    /// The day, such as `2026-11-25`.
    pub day: String,
    /// What was spent on it.
    #[serde(flatten)]
    pub spent: SpentView,
}

/// What was spent for something.
#[derive(Debug, Clone, Serialize)]
pub struct SpentFor {
    /// Its name.
    pub name: String,
    /// What was spent for it.
    #[serde(flatten)]
    pub spent: SpentView,
}

impl From<(String, Spent)> for SpentFor {
    fn from((name, spent): (String, Spent)) -> Self {
        let spent = spent.into();
        Self { name, spent }
    }
}

impl View for SpendingView {
    fn write(&self, page: &mut Page) {
        let spent = self.days.iter().filter(|day| day.spent.tokens > 0);
        let mut table = Table::new(["DAY", "TOKENS", "COST"]).right(1).right(2);
        for day in spent {
            table.row(cells(&day.day, day.spent));
        }
        if table.is_empty() {
            let days = u64::try_from(self.days.len()).unwrap_or(u64::MAX);
            page.line(&format!("Nothing was spent in {}.", counted(days, "day")));
            return;
        }
        page.table(&table);
        for (header, rows) in [
            ("AGENT", &self.agents),
            ("MODEL", &self.models),
            ("ISSUE", &self.issues),
        ] {
            let mut table = Table::new([header, "TOKENS", "COST"]).right(1).right(2);
            for row in rows {
                table.row(cells(&row.name, row.spent));
            }
            page.line("");
            page.table(&table);
        }
    }
}

fn cells(name: &str, spent: SpentView) -> [String; 3] {
    let cost = format!("${:.2}", spent.cost_usd);
    [name.to_owned(), spent.tokens.to_string(), cost]
}
