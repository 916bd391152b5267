//! Integration tests of symphony-runner.

mod process;
mod process_git;
mod process_lock;
mod process_probe;
mod process_start;
mod process_sweep;
#[cfg(test)]
mod provider;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod simulation;
mod stream;
mod stream_prop;
#[cfg(test)]
mod worker_prompt;
