//! Integration tests of symphony-prompt.

mod agents;
mod budgets;
mod criteria;
mod documents;
mod limits;
mod outline;
mod paths;
mod prop_budget;
mod prop_fence;
mod prop_flow;
mod prop_points;
mod prop_worker;
mod rich;
mod summaries;
mod ticket_documents;
mod untrusted;
mod worker_goldens;
