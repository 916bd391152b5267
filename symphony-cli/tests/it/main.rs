//! Integration tests of symphony-cli.

#[cfg(test)]
mod acp;
#[cfg(test)]
mod agent_choice;
#[cfg(test)]
mod askers;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
#[cfg(feature = "browser")]
mod browser;
#[cfg(test)]
#[cfg(all(feature = "browser", feature = "real-cli"))]
mod browser_claude;
#[cfg(feature = "browser")]
mod browser_live;
#[cfg(test)]
mod cgroups;
#[cfg(test)]
#[cfg(any(feature = "harness", all(feature = "postgres", feature = "failpoints")))]
mod chance;
#[cfg(test)]
mod checklist;
#[cfg(test)]
mod completion;
#[cfg(test)]
mod config_changes;
#[cfg(test)]
mod configuration;
#[cfg(test)]
mod conveniences;
#[cfg(test)]
mod cut_off_commits;
#[cfg(test)]
mod deadly_gates;
#[cfg(test)]
#[cfg(feature = "failpoints")]
mod deaths;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod done;
#[cfg(test)]
mod done_confirm;
#[cfg(test)]
mod elsewhere;
#[cfg(test)]
mod endings;
#[cfg(test)]
#[cfg(feature = "failpoints")]
mod failpoints;
#[cfg(test)]
mod failure;
#[cfg(test)]
#[cfg(all(feature = "postgres", feature = "failpoints"))]
mod fleet;
#[cfg(test)]
mod forges;
#[cfg(test)]
mod forges_bases;
#[cfg(test)]
mod forges_ends;
#[cfg(test)]
mod forges_faults;
#[cfg(test)]
mod forges_holds;
#[cfg(test)]
mod forges_reviews;
#[cfg(test)]
mod forges_setup;
#[cfg(test)]
mod gate_history;
#[cfg(test)]
mod gate_repairs;
#[cfg(test)]
mod gate_tries;
#[cfg(test)]
mod gates;
#[cfg(test)]
#[cfg(feature = "failpoints")]
mod git_faults;
#[cfg(test)]
mod git_identity;
#[cfg(test)]
mod gone_checkouts;
#[cfg(test)]
mod hand_in;
#[cfg(test)]
#[cfg(feature = "harness")]
mod harness;
#[cfg(test)]
mod help;
#[cfg(test)]
mod history;
#[cfg(test)]
mod holds;
#[cfg(test)]
mod idle_runs;
#[cfg(test)]
mod init;
#[cfg(test)]
mod installation;
#[cfg(test)]
#[cfg(feature = "failpoints")]
mod interleavings;
#[cfg(test)]
mod issues;
#[cfg(test)]
mod large;
#[cfg(test)]
mod learnings;
#[cfg(test)]
mod left_behind;
#[cfg(test)]
mod left_worktrees;
#[cfg(test)]
mod library;
#[cfg(test)]
mod lost_database;
#[cfg(test)]
mod main_job;
#[cfg(test)]
mod mcp_stdio;
#[cfg(test)]
mod merge_crossings;
#[cfg(test)]
#[cfg(feature = "failpoints")]
mod merge_deaths;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod model_requests;
#[cfg(test)]
mod moved_project;
#[cfg(test)]
mod odd_repositories;
#[cfg(test)]
mod older_database;
#[cfg(test)]
#[cfg(feature = "postgres")]
mod on_postgres;
#[cfg(test)]
#[cfg(feature = "postgres")]
mod on_postgres_control;
#[cfg(test)]
#[cfg(feature = "postgres")]
mod on_postgres_hosts;
#[cfg(test)]
#[cfg(all(feature = "postgres", feature = "failpoints"))]
mod on_postgres_stopped;
#[cfg(test)]
mod opened_once;
#[cfg(test)]
mod outside;
#[cfg(test)]
mod own_folders;
#[cfg(test)]
mod pipeline;
#[cfg(test)]
mod pipes;
#[cfg(test)]
mod plain_messages;
#[cfg(test)]
mod plan_base;
#[cfg(test)]
mod plan_checks;
#[cfg(test)]
mod plan_crash;
#[cfg(test)]
mod plan_damage;
#[cfg(test)]
mod plan_explain;
#[cfg(test)]
#[cfg(feature = "failpoints")]
mod plan_failpoints;
#[cfg(test)]
mod plan_files;
#[cfg(test)]
mod plan_inbox;
#[cfg(test)]
mod plan_named;
#[cfg(test)]
mod plan_orders;
#[cfg(test)]
mod plan_outside;
#[cfg(test)]
mod plan_renewed;
#[cfg(test)]
mod plan_review;
#[cfg(test)]
mod plan_run;
#[cfg(test)]
mod plan_slots;
#[cfg(test)]
mod plan_state;
#[cfg(test)]
mod plan_support;
#[cfg(test)]
mod plan_terminal;
#[cfg(test)]
mod plan_views;
#[cfg(test)]
mod programs_started;
#[cfg(test)]
mod project_agents;
#[cfg(test)]
mod project_life;
#[cfg(test)]
mod prompt_lint;
#[cfg(test)]
mod prompt_sizes;
#[cfg(test)]
mod prompt_trial;
#[cfg(test)]
mod prompt_trial_live;
#[cfg(test)]
mod prompt_trial_stops;
#[cfg(test)]
mod prompt_trial_support;
#[cfg(test)]
mod pull_requests;
#[cfg(test)]
#[cfg(feature = "python-mcp")]
mod python_mcp;
#[cfg(test)]
mod reaching_out;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_claude;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_codex;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_conversations;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_faults;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_messages;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_open;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_registries;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_resume;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod real_sandbox;
#[cfg(test)]
mod records;
#[cfg(test)]
mod red_base;
#[cfg(test)]
mod relabel;
#[cfg(test)]
mod review;
#[cfg(test)]
mod review_points;
#[cfg(test)]
mod rewound_base;
#[cfg(test)]
mod run_loop;
#[cfg(test)]
mod run_records;
#[cfg(test)]
mod sandbox_levels;
mod sandboxed;
#[cfg(test)]
mod sandboxed_gates;
#[cfg(test)]
mod sandboxed_network;
#[cfg(test)]
mod sandboxed_work;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod sent_prompts;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod serve_logs;
#[cfg(test)]
mod situations;
#[cfg(test)]
mod skill;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod soak_agents;
#[cfg(test)]
mod spending;
#[cfg(test)]
mod stranding;
#[cfg(test)]
mod stray_work;
#[cfg(test)]
mod submodules;
#[cfg(test)]
mod support;
#[cfg(test)]
mod taken_over;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod ticket_documents;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod tracker_troubles;
#[cfg(test)]
mod trackers;
#[cfg(test)]
mod transcript;
#[cfg(test)]
mod untried_gates;
#[cfg(test)]
mod upkeep;
#[cfg(test)]
mod vault;
#[cfg(test)]
mod warm_gates;
#[cfg(test)]
mod watchdog;
#[cfg(test)]
mod watching;
#[cfg(test)]
mod web_api;
#[cfg(test)]
mod web_attacks;
#[cfg(test)]
mod web_orders;
#[cfg(test)]
mod web_tls;
#[cfg(test)]
mod web_users;
#[cfg(test)]
#[cfg(feature = "postgres")]
mod workers;
#[cfg(test)]
mod workflow_service;
