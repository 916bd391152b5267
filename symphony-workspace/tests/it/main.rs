//! Integration tests of symphony-workspace.

mod attacks;
mod broken;
mod config_file;
mod copying;
mod main_job;
mod merges;
mod project;
mod prop_names;
mod prop_secrets;
mod repositories;
mod rescues;
mod secrets;
mod user;
mod vectors;
