//! Agent profiles: `symphony profile`.

mod override_view;
mod set;
mod show;
mod tree;

pub(crate) use override_view::OverrideView;
pub(crate) use show::known_profile;
pub(crate) use tree::ProfileCommand;
