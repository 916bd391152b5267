//! Integration tests of the store, on real SQLite, or on PostgreSQL where `SYMPHONY_TEST_DATABASE` names a server.

#[cfg(test)]
mod audit;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod copies;
#[cfg(test)]
mod done;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod exit_handling;
#[cfg(test)]
mod finish;
#[cfg(test)]
mod forges;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod health;
#[cfg(test)]
mod holds;
#[cfg(test)]
mod issues;
#[cfg(test)]
mod learning_life;
#[cfg(test)]
mod learnings;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod names;
#[cfg(test)]
mod phases;
#[cfg(test)]
mod placement;
#[cfg(test)]
#[cfg(feature = "postgres")]
mod plain_client;
#[cfg(test)]
mod plan_reviews;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod points;
#[cfg(feature = "postgres")]
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod project_agents;
#[cfg(test)]
mod prompt_sets;
#[cfg(test)]
mod prop_awaited;
#[cfg(test)]
mod prop_log;
#[cfg(test)]
mod prop_plans;
#[cfg(test)]
mod queries;
#[cfg(test)]
mod removed_projects;
#[cfg(test)]
mod restore;
#[cfg(test)]
mod reviews;
#[cfg(test)]
#[cfg(feature = "postgres")]
mod server;
#[cfg(test)]
#[cfg(feature = "postgres")]
mod server_schema;
#[cfg(test)]
#[cfg(feature = "postgres")]
mod server_tls;
#[cfg(test)]
mod spending;
#[cfg(test)]
mod subtasks;
#[cfg(test)]
mod support;
#[cfg(test)]
mod take_over;
#[cfg(test)]
mod trackers;
#[cfg(test)]
mod usefulness;
