//! Toolchains: which folders of the user's compilers and package managers a sandbox shows.
//!
//! - [`managers`]: where each manager keeps its toolchains, by variable and by default.
//! - [`found`]: what exists of it, and of the search path, with what links lead to. The only part that looks at files.
//! - [`visible`]: what of this may be shown.
//! - [`variables`]: which variables say where things are, inside.

mod found;
mod managers;
pub(crate) mod request;
mod variables;
mod visible;

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::layout::is_in_system;
use crate::level::Level;

use managers::MANAGERS;
use visible::Hidden;

pub use request::{Tools, ToolsRequest};

/// What is looked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    /// Folders of managers.
    places: Vec<PathBuf>,
    /// Folders of the search path.
    search: Vec<PathBuf>,
    /// Programs.
    programs: Vec<PathBuf>,
}

impl Tools {
    /// Looks at the machine, and decides what a sandbox shows.
    pub fn observe(request: &ToolsRequest<'_>) -> Self {
        if request.level == Level::Off {
            return Self::default();
        }
        let mut homes = vec![request.home.to_owned()];
        homes.extend(request.home.canonicalize());
        homes.dedup();
        let hidden = Hidden {
            homes: &homes,
            places: request.hidden,
        };
        let found = found::find(&wanted(request));
        let located = if request.inside == request.home {
            Vec::new()
        } else {
            located(request)
        };
        let mut tools = Self {
            read: visible::visible(&found, &hidden),
            variables: variables::variables(request.environment, request.inside, &located),
            ..Self::default()
        };
        if let Some(checkout) = request.cached_for {
            crate::caches::add(&mut tools, request, checkout, |path| hidden.allows(path));
        }
        tools
    }
}

fn wanted(request: &ToolsRequest<'_>) -> Wanted {
    let path = request.environment.get(OsStr::new("PATH"));
    let search = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>());
    let outside = |path: &PathBuf| path.is_absolute() && !is_in_system(path);
    let places = MANAGERS
        .iter()
        .flat_map(|manager| manager.places(request.environment, request.home));
    Wanted {
        places: places.filter(outside).collect(),
        search: search
            .unwrap_or_default()
            .into_iter()
            .filter(outside)
            .collect(),
        programs: request.programs.to_vec(),
    }
}

/// Returns the toolchains that tools would look for in the home if no variable said where they are.
fn located(request: &ToolsRequest<'_>) -> Vec<variables::Located> {
    let located = MANAGERS.iter().filter_map(|manager| {
        let root = manager.root(request.environment, request.home)?;
        Some((manager.variable?, root)).filter(|(_, root)| root.is_dir())
    });
    located.collect()
}
