//! The configuration: one table of keys, the check of a file against it, the layers over each
//! other, and the typed values that the rest of Symphony reads (spec: config).
//!
//! The path of a value: a file's JSON → [`parse_file`] (all problems at once) → [`Layer`]s → [`Effective::resolve`] →
//! [`Effective::config`] and [`Effective::project_config`]. `symphony-workspace` finds and reads the files.
//!
//! The layers of a project, the weakest first: defaults, the database (what the setup wizard
//! found), the global file's top level, its `projects.<id>`, the project's own file, its
//! `projects.<id>`. Objects are merged key by key, lists are replaced as a whole, and `null` unsets
//! an optional key.

mod check;
mod database;
pub mod defaults;
mod forge;
mod hub;
mod init_file;
pub mod key;
mod layer;
mod leaf;
mod name_rule;
mod path;
mod placement;
mod problem;
mod provider;
mod providers;
mod read;
mod read_forge;
mod read_placement;
mod read_providers;
mod read_tracker;
mod reference;
mod row;
mod sandbox;
mod schema;
mod server_address;
mod settings;
mod shares;
mod table;
mod table_remote;
mod table_workers;
mod temporal;
mod tracker;
mod unknown_key;
mod value;

pub use check::{
    ConfigDocument, FileInput, FileRole, Setting, Settings, parse_file, parse_project_row,
};
pub use database::Database;
pub use forge::{ForgeKind, ForgeMethod, ForgeRepository, ForgeSettings, MergeWhere, PushWhen};
pub use init_file::{FileReaders, InitChecks, InitFile, Remarked};
pub use layer::{Effective, Entry, Layer, Origin, Place, Source, without_dots};
pub use path::{KeyPath, KeyPathError, Segment};
pub use placement::{PlacementKind, WorkerSettings};
pub use problem::{ConfigProblem, Position, Positions, ProblemKind};
pub use provider::{AcpName, NamedProvider, ProviderChoice, ProviderName};
pub use providers::{AcpProblem, AcpProgram, ProviderSettings, Providers};
pub use reference::markdown_reference;
pub use sandbox::{SandboxCache, SandboxLevel, SandboxNetwork, SandboxSetting, SandboxSettings};
pub use schema::json_schema;
pub use server_address::{AddressError, ServerAddress, ServerHost};
pub use settings::{
    Budget, Config, ExternalResearch, PlanSettings, ProfileLimits, ProjectConfig, RiskThreshold,
    RiskThresholds, Spending, SpendingCap, User, Vault, WatchdogSettings, WorktreeSettings,
};
pub use shares::Shares;
pub use table::{INSTALLATION_KEYS, KEYS, keys_at};
pub use temporal::{TemporalAddress, TemporalSettings};
pub use tracker::{
    TRACKER_LABEL, TokenSource, TrackerFilter, TrackerKind, TrackerPlace, TrackerSettings,
};
pub use value::{
    BreakerTarget, CommandLine, CommandOutput, Gate, GateReads, IssuePrefix, Millis, ResumeMode,
};
