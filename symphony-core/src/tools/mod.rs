//! The tools an agent may call, and who may call which: the table of the specification's `mcp.md` as data.
//!
//! The registry is authoritative: a profile's own lists narrow a role's row and never widen it.

mod filter;
mod role;
mod set;
mod table;
mod tool;

pub use filter::ToolList;
pub use role::{Assignment, Role, role_for};
pub use set::ToolSet;
pub use table::StatusPermission;
pub use tool::Tool;
