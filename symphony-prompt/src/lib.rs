//! Pure prompt assembly: layers, sections, token budgets, omissions, and a report of each decision.
