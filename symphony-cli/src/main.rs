//! The `symphony` command: parses arguments, calls one function, prints the result.

#![expect(
    clippy::format_push_string,
    reason = "an answer is written once: a plain line is worth more than an allocation"
)]

mod agents_found;
mod app;
mod command;
mod completion;
mod deferred;
mod dependents;
mod document;
mod failure;
mod global;
mod handover;
mod interrupt;
mod json;
mod live_run;
mod model_access;
mod news;
mod output;
mod permission;
mod place;
mod progress;
mod question;
mod reap;
mod refused_hosts;
mod required;
mod root;
mod sandbox_notice;
mod secret;
mod settle;
mod shipped;
mod standstill;
mod trial;
mod value;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    root::main(std::env::args_os())
}
