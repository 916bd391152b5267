//! Caches: what package managers downloaded before, readable in a sandbox.
//!
//! Each tool wants to write to its cache, and fails where it cannot. So each gets a folder of its own in the home of the
//! sandbox, which links to what the user's cache has. What is new is written there, and is gone with the home. Nothing is
//! a hard link: writing through one would change the user's file.
//!
//! - [`locks`]: what the lock files of the checkout name.
//! - [`cargo`]: links to the crates that they name; repositories borrow objects.
//! - [`go`]: the user's downloads are the first proxy that Go asks.
//! - [`npm`]: links to the packages that they name.
//!
//! pip and uv have no way to read a cache that they cannot write, and so they download again.

mod cargo;
mod go;
pub(crate) mod item;
mod locks;
mod npm;

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::layout::{Shown, is_in_system};
use crate::level::Level;
use crate::tools::request::{Tools, ToolsRequest};

use item::Item;
use locks::Locked;

/// Where caches are in a sandbox of namespaces. Links to what is in them are short: ext4 keeps those of up to 59 bytes without
/// a block of their own, and removes them a hundred times faster.
const CACHES: &str = "/run/symphony-caches";

/// The most links for one tool: about 100 ms of work. What is beyond is downloaded.
const LINKS_MAX: usize = 10_000;

/// A cache of the user, and where it is inside.
#[derive(Debug)]
struct Source {
    outside: PathBuf,
    inside: PathBuf,
    is_mounted: bool,
}

impl Source {
    /// Returns where a cache is seen at a level. `number` is unique among all caches.
    fn new(level: Level, outside: &Path, number: usize) -> Self {
        let is_mounted = level == Level::Namespace && !is_in_system(outside);
        let inside = if is_mounted {
            Path::new(CACHES).join(number.to_string())
        } else {
            outside.to_owned()
        };
        Self {
            outside: outside.to_owned(),
            inside,
            is_mounted,
        }
    }

    /// Lists it among what a sandbox shows.
    fn show(self, tools: &mut Tools) {
        if self.is_mounted {
            tools.shown.push(Shown {
                outside: self.outside,
                inside: self.inside,
            });
        } else if !is_in_system(&self.outside) {
            tools.read.push(self.outside);
        }
    }
}

/// Adds what the user's caches have. `allows` decides whether a folder may be shown.
pub(crate) fn add(
    tools: &mut Tools,
    request: &ToolsRequest<'_>,
    checkout: &Path,
    allows: impl Fn(&Path) -> bool,
) {
    let usable = |path: PathBuf| {
        let real = path.canonicalize().ok()?;
        (real.is_dir() && allows(&path) && allows(&real)).then_some(real)
    };
    let variable = |name: &str| {
        let value = request.environment.get(OsStr::new(name));
        value.map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let mut number = 0;
    let mut source = |outside: &Path| {
        number += 1;
        Source::new(request.level, outside, number)
    };
    let locked = Locked::of(checkout);
    let needs_crates = locked
        .crates
        .as_ref()
        .is_none_or(|crates| !crates.is_empty());
    let cargo = variable("CARGO_HOME").unwrap_or_else(|| request.home.join(".cargo"));
    if needs_crates && let Some(registry) = usable(cargo.join("registry")) {
        for linked in cargo::look_at_registry(&registry) {
            let source = source(&registry.join(&linked.below));
            let items = cargo::registry_items(&linked, &source.inside, locked.crates.as_ref());
            tools.furniture.extend(items);
            source.show(tools);
        }
    }
    if needs_crates && let Some(git) = usable(cargo.join("git")) {
        for clone in cargo::look_at_repositories(&git) {
            let objects = source(&git.join("db").join(&clone.name).join("objects"));
            let checkouts = source(&git.join("checkouts").join(&clone.name));
            let items = cargo::repository_items(&clone, &objects.inside, &checkouts.inside);
            tools.furniture.extend(items);
            objects.show(tools);
            checkouts.show(tools);
        }
    }
    let needs_packages = !locked.packages.is_empty();
    if needs_packages && let Some(packages) = usable(request.home.join(".npm/_cacache/content-v2"))
    {
        let contents = npm::contents(&locked.packages, |below| packages.join(below).is_file());
        if !contents.is_empty() {
            let source = source(&packages);
            let items = npm::items(&contents, &source.inside);
            tools.furniture.extend(items);
            source.show(tools);
        }
    }
    let modules = variable("GOMODCACHE")
        .or_else(|| variable("GOPATH").map(|path| path.join("pkg/mod")))
        .unwrap_or_else(|| request.home.join("go/pkg/mod"));
    if let Some(downloads) = usable(modules.join("cache/download")) {
        let source = source(&downloads);
        let set = request.environment.get(OsStr::new("GOPROXY"));
        let proxies = go::proxies(&source.inside, set.map(std::ffi::OsString::as_os_str));
        tools.variables.insert("GOPROXY".into(), Some(proxies));
        source.show(tools);
    }
}

impl Tools {
    /// Puts what tools need into the home of a sandbox. `home` is the folder outside, which must be new.
    ///
    /// # Errors
    /// When something cannot be written there.
    pub fn furnish(&self, home: &Path) -> io::Result<()> {
        let mut made = std::collections::HashSet::new();
        let mut folder = |folder: &Path| {
            if made.contains(folder) {
                return Ok(());
            }
            fs::create_dir_all(folder)?;
            made.insert(folder.to_owned());
            io::Result::Ok(())
        };
        for item in &self.furniture {
            match item {
                Item::Folder(place) => folder(&home.join(place))?,
                Item::Link { place, target } => {
                    let place = home.join(place);
                    place.parent().map_or(Ok(()), &mut folder)?;
                    symlink(target, &place)?;
                }
                Item::File { place, text } => {
                    let place = home.join(place);
                    place.parent().map_or(Ok(()), &mut folder)?;
                    fs::write(&place, text)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the names in a folder, in order; none where it cannot be read.
fn names_in(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .take(LINKS_MAX)
        .map(|entry| entry.file_name())
        .collect();
    names.sort_unstable();
    names
}
