//! Integration tests of symphony-prompt.

mod agents;
mod budgets;
#[cfg(test)]
mod criteria;
mod documents;
mod limits;
#[cfg(test)]
mod messages;
mod outline;
mod paths;
mod prop_budget;
mod prop_fence;
#[cfg(test)]
mod prop_flow;
#[cfg(test)]
mod prop_integration;
#[cfg(test)]
mod prop_points;
mod prop_worker;
mod resumed;
mod rich;
mod summaries;
#[cfg(test)]
mod ticket_documents;
#[cfg(feature = "tokenizer")]
mod tokenizer;
mod untrusted;
mod worker_goldens;
