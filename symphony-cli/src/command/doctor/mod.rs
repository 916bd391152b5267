//! `symphony doctor`: what Symphony needs, checked one by one; the invariants; what differs under cron.

mod agents;
mod args;
mod audit;
mod audit_steps;
mod backups;
mod check;
mod command_provider;
mod configuration;
mod connections;
mod contents;
mod cron;
mod cron_path;
mod events;
mod forge;
mod gates;
mod installation;
mod login;
mod notify;
mod permissions;
mod placement;
mod programs;
mod project;
mod protection;
mod root;
mod sandbox;
mod schedule;
mod server;
mod service;
mod trackers;
mod warm;
mod workers;
mod workflow;

pub(crate) use args::DoctorArgs;
pub(crate) use command_provider::acp_programs;
pub(crate) use gates::{INSTALL, missing_programs};
