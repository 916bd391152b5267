//! Configuration files: finding, reading with positions, layering, writing, editing in place
//! (spec: config). What the values mean and which are right is `symphony_core::config`'s.
//!
//! **Which files.** The *global* file is `~/.config/symphony/config.json`. The *main* file is the one named by
//! `--config`, else by `SYMPHONY_CONFIG`, else the nearest `symphony.config.json` from the repository's root upward. A
//! *project's own* file is the nearest one from its root upward. A file that was named explicitly replaces every
//! project's own file. A file above a root that belongs to another user (not root) is never used, since its commands
//! would run.
//!
//! **Which layers**, the weakest first: defaults, database, global file, its `projects.<id>`, the
//! main file's `projects.<id>`, the project's own file, its `projects.<id>`. What holds for the
//! installation (the database, slots) is read from the global and the main file.
//!
//! **What a broken file stops.** A problem below `projects.<id>`, or in a project's own file, stops
//! that project only, unless it concerns the keys of the installation.

mod change;
mod digest;
mod edit;
mod error;
mod handed;
mod init;
mod load;
mod lookup;
mod read;
mod secret_names;
mod text;

pub use change::{Change, Edit};
pub use digest::ConfigDigests;
pub use edit::{prepare, prepare_over, set, unset};
pub use error::ConfigFileError;
pub use init::{remove_old_remarks, rewrite_init, write_init};
pub use load::{
    ConfigFile, InstallationSettings, LoadedConfig, ProjectSettings, load, load_edited, read_file,
};
pub use lookup::{CONFIG_FILE_NAME, ConfigPaths, ConfigSearch, find_upward, global_path};
pub use secret_names::{with_secrets, without_secrets};
pub(crate) use text::options as json_options;
pub use text::{ParsedText, parse_text};
