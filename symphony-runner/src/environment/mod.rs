//! The environments of agents and supervisors, and the author of commits made in them.

mod agent;
mod committers;
mod supervisor;

pub use agent::{
    RUN_MARKER, agent_environment, agent_search_path, is_session_marker,
    leave_housekeeping_to_the_user,
};
pub use committers::agents_committers;
pub(crate) use committers::name_committers;
pub use supervisor::{is_public, supervisor_environment};
