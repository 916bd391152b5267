//! Agent profiles: `symphony profile`.

mod set;
mod show;
mod tree;

pub(crate) use show::known_profile;
pub(crate) use tree::ProfileCommand;
