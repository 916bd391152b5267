//! Starting, watching and ending processes (spec: lifecycle, "Supervisor", "Time limits and
//! killing"; reliability, decisions 5 and 6).
//!
//! - [`Supervision`]: what a supervisor does for the processes of its run. It starts the agent, adopts and reaps
//!   orphans, and ends everything that is left.
//! - [`exec_in_session`]: the hidden command through which an agent starts in its own session.
//! - [`RunLock`]: the lock that is held while a run is alive. [`DetachedLaunch`] hands it over.
//! - [`CgroupParent`]: separate cgroups for the programs of a run, where they are delegated.
//! - [`sweep_marked`]: ends what a dead supervisor left.
//! - [`ProcessIdentity`]: identifies a process. Only a checked identity is ever signalled.
//!
//! Invariants, each with its test in `tests/it/process.rs`, `process_sweep.rs`, `process_lock.rs`:
//! - No process of a run survives its end, even in another session, orphaned, stopped, or ignoring SIGTERM.
//! - A process of another program is never signalled, even if it has the pid of a process of the run by now.
//! - An agent in a sandbox gets SIGTERM itself: bubblewrap would die of it, and take the agent with it (`symphony-cli`,
//!   `sandboxed.rs`).
//! - Git gets SIGTERM, and [`GIT_GRACE`] to remove its locks, before SIGKILL (`process_git.rs`).
//! - The lock of a run is held without a gap from the claim to the supervisor's end.
//!
//! Everything specific to Linux is in `linux`; on other systems every action is refused. Nothing here knows about
//! providers, streams or the store.

mod agent;
mod asker;
mod boxed;
mod cgroup;
mod cgroup_limits;
mod detached;
mod ended;
mod error;
mod family;
mod git_grace;
mod handover;
mod identity;
#[cfg(target_os = "linux")]
mod linux;
mod lock;
mod marked;
mod peer;
mod program;
mod question;
mod record;
mod stuck;
mod supervision;
mod sweep;
mod system;
mod trampoline;
#[cfg(not(target_os = "linux"))]
mod unsupported;

pub use agent::{Agent, AgentExit, AgentInput, AgentLaunch};
pub use asker::{AskerQuestions, asker};
pub use cgroup::{Cgroup, CgroupParent};
pub use cgroup_limits::ResourceLimits;
pub use detached::{DetachedLaunch, DetachedSupervisor};
pub use ended::{ENDED_LISTED_MAX, Ended, EndedProcess, SWEEP_TIME_MAX};
pub use error::ProcessError;
pub use git_grace::GIT_GRACE;
pub use handover::adopt_environment;
pub use identity::ProcessIdentity;
pub use lock::{RunLock, lock_state};
pub(crate) use lock::{WITHOUT_WAITING, open_without_waiting, refuse_no_file};
pub use marked::{is_still_there, marked_processes};
pub(crate) use peer::may_speak_for_run;
pub use program::resolve_program;
pub use question::Question;
pub use record::ProcessRecord;
pub(crate) use stuck::boot_clock;
pub use stuck::{EndedHolder, awake_ms, boot_id, end_lock_holder, end_supervisors, is_lock_holder};
pub use supervision::{AgentEnd, EndReport, GRACE, Supervision, descendants};
pub use sweep::{RunPlace, sweep_marked, sweep_run};
pub use trampoline::{Trampoline, become_session_leader, exec_in_session};
