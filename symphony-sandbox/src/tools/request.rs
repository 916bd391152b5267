//! What a sandbox is asked to show of toolchains and caches, and what it shows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::caches::item::Item;
use crate::layout::Shown;
use crate::level::Level;

/// What a sandbox needs of the user's toolchains and caches.
#[derive(Debug, Default)]
pub struct Tools {
    /// Files and folders that can be read, at their own paths.
    pub read: Vec<PathBuf>,
    /// Caches that can be read, at other paths.
    pub shown: Vec<Shown>,
    /// The variables that differ inside; `None` removes one.
    pub variables: BTreeMap<OsString, Option<OsString>>,
    /// What has to be in the home before the program starts.
    pub(crate) furniture: Vec<Item>,
}

/// What decides about the toolchains of a sandbox.
#[derive(Debug)]
pub struct ToolsRequest<'a> {
    /// The level of the sandbox.
    pub level: Level,
    /// The environment of the program, as it is without a sandbox.
    pub environment: &'a BTreeMap<OsString, OsString>,
    /// The user's home.
    pub home: &'a Path,
    /// The path of the home inside.
    pub inside: &'a Path,
    /// Programs that start inside, such as the agent's CLI: absolute paths.
    pub programs: &'a [PathBuf],
    /// Folders that an agent can write, or must not read. Nothing in them and nothing around them is shown.
    pub hidden: &'a [PathBuf],
    /// The checkout, whose lock files say which downloads it needs; `None` shows no caches.
    pub cached_for: Option<&'a Path>,
}
