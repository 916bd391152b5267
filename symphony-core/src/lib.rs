//! Pure domain of Symphony: types, transitions, contracts, retry policy, tick planning, plan files.
//!
//! Nothing here reads a clock, a file, the environment or a random number: every function takes
//! values (`now` included) and returns values, so that the same input always gives the same output.

pub mod agent;
pub mod asker;
pub mod backup;
pub mod by_products;
pub mod closed_set;
pub mod command_line;
pub mod config;
pub mod config_change;
pub mod consequence;
pub mod contract;
pub mod criteria;
pub mod done;
pub mod exit_handling;
pub mod failure;
pub mod front_matter;
pub mod gates;
pub mod git_identity;
pub mod git_lock;
pub mod hand_in;
pub mod hold;
pub mod id;
pub mod identity;
pub mod idle;
pub mod inbox;
pub mod invariant;
pub mod issue;
pub mod learning;
pub mod left_behind;
pub mod listing;
pub mod lock_file;
pub mod log;
pub mod nearest;
pub mod news;
pub mod outcome;
pub mod outside;
pub mod path_pattern;
pub mod plan;
pub mod profile;
pub mod project;
pub mod prompt_trial;
pub mod publication;
pub mod pull_request;
mod pull_request_of;
pub mod retry;
pub mod review_point;
pub mod risk;
pub mod room;
pub mod run;
pub mod shared_refs;
pub mod spending;
pub mod standing;
pub mod submodule;
pub mod test_health;
pub mod tick;
pub mod timestamp;
pub mod tools;
pub mod trial;
pub mod unit;
pub mod watchdog;
pub mod web;
pub mod wording;
pub mod zone;

pub use timestamp::Timestamp;
