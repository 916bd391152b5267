//! What a program reaches, put together from the configuration and from what it needs. Pure.

use std::path::{Path, PathBuf};

use symphony_core::config::{SandboxNetwork, SandboxSettings};
use symphony_sandbox::{Home, Level, Network, Sandbox, Shown};

use super::fault::SandboxFault;
use crate::network::Ways;

/// What a program may do with its checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Only read it, as a judge does.
    Read,
    /// Work in it.
    Write,
}

/// What of the disk a program needs. Paths are absolute and the same inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// Where it starts.
    pub(crate) checkout: PathBuf,
    /// The path at which it sees its checkout, where there are namespaces and it can write there; `None` for the same one.
    pub(crate) seen_at: Option<PathBuf>,
    /// What it may do there.
    pub(crate) access: Access,
    /// What else it can read: objects of the project, files of its run, its own program, toolchains.
    pub(crate) read: Vec<PathBuf>,
    /// What else it can write.
    pub(crate) write: Vec<PathBuf>,
    /// Sockets: the path outside, and the name in the folder of sockets inside.
    pub(crate) sockets: Vec<(PathBuf, String)>,
    /// What no path of the configuration may open: the database with its folder, the project's own git folder.
    pub(crate) closed: Vec<PathBuf>,
    /// The path of the user's home; `None` where the environment has none.
    pub(crate) home: Option<PathBuf>,
    /// The ways out, where the network is the sandbox's own.
    pub(crate) ways: Option<Ways>,
}

/// The folders of one start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StartFolders {
    /// The empty home.
    pub(super) home: PathBuf,
    /// For temporary files, at a level without a `/tmp` of its own.
    pub(super) temporary: PathBuf,
}

/// Puts a sandbox together.
///
/// # Errors
/// When a path of the configuration would open what must stay closed.
pub(super) fn compose(
    level: Level,
    settings: &SandboxSettings,
    places: &Places,
    folders: StartFolders,
) -> Result<Sandbox, SandboxFault> {
    require_closed(settings, places)?;
    let checkout = std::slice::from_ref(&places.checkout);
    let (to_read, to_write) = match places.access {
        Access::Read => (checkout, &[][..]),
        Access::Write => (&[][..], checkout),
    };
    let is_moved = level == Level::Namespace && places.access == Access::Write;
    let inside = places.seen_at.as_ref().filter(|_| is_moved);
    let moved = inside.map(|inside| Shown {
        outside: places.checkout.clone(),
        inside: inside.clone(),
    });
    let to_write = if moved.is_some() { &[] } else { to_write };
    let write = outermost(to_write, &[&places.write, &settings.write]);
    let mut read = Vec::new();
    for path in [to_read, &places.read, &settings.read].concat() {
        // What can be written can be read, and nothing is mounted below it.
        let is_there = write.iter().any(|place| path.starts_with(place));
        if !is_there && !read.contains(&path) {
            read.push(path);
        }
    }
    // A folder is mounted before what is in it, or it would cover that.
    read.sort();
    let ways = places.ways.as_ref();
    Ok(Sandbox {
        level,
        directory: moved
            .as_ref()
            .map_or(&places.checkout, |moved| &moved.inside)
            .clone(),
        home: Home {
            path: places.home.clone().unwrap_or_else(|| folders.home.clone()),
            folder: folders.home,
        },
        temporary: folders.temporary,
        read,
        shown: Vec::new(),
        write,
        moved,
        sockets: [
            places.sockets.as_slice(),
            ways.map_or(&[], |it| &it.sockets),
        ]
        .concat(),
        network: match settings.network {
            SandboxNetwork::Host => Network::Host,
            SandboxNetwork::Allowlist | SandboxNetwork::None => Network::Own,
        },
        resolver: ways.map(|it| it.resolver.clone()),
        hosts: ways.map(|it| it.hosts.clone()),
        forwards: ways.map_or_else(Vec::new, |it| it.forwards.clone()),
        tmp_bytes: settings.tmp_bytes,
        processes: settings.processes,
    })
}

/// Leaves out each path that is below another one.
fn outermost(first: &[PathBuf], more: &[&[PathBuf]]) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = first.to_vec();
    all.extend(more.iter().flat_map(|paths| paths.iter().cloned()));
    all.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in all {
        if !kept.iter().any(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

/// Checks that no path of the configuration opens the home as a whole, or what must stay closed.
fn require_closed(settings: &SandboxSettings, places: &Places) -> Result<(), SandboxFault> {
    let whole = places.home.iter();
    for (key, paths) in [
        ("sandbox.read", &settings.read),
        ("sandbox.write", &settings.write),
    ] {
        for path in paths {
            let overlaps = |closed: &&PathBuf| path.starts_with(closed) || closed.starts_with(path);
            let covers = |home: &&PathBuf| home.starts_with(path);
            let closed = places.closed.iter().find(overlaps);
            if let Some(protected) = closed.or_else(|| whole.clone().find(covers)) {
                return Err(SandboxFault::Opens {
                    key,
                    path: path.clone(),
                    protected: protected.clone(),
                });
            }
        }
    }
    // What a run needs may be in a closed folder (its prompts, the objects), but never be the folder itself.
    let needed = [&places.read, &places.write];
    for path in needed.into_iter().flatten().chain([&places.checkout]) {
        let mut kept = places.closed.iter().chain(&places.home);
        if let Some(protected) = kept.find(|closed| closed.starts_with(path)) {
            return Err(SandboxFault::Covers {
                path: path.clone(),
                protected: protected.clone(),
            });
        }
    }
    Ok(())
}

/// Returns the home that an environment names.
pub(crate) fn home_of(variable: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    let home = Path::new(variable?);
    (home.is_absolute() && home.parent().is_some()).then(|| home.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    fn places(access: Access) -> Places {
        Places {
            checkout: "/src/api/.symphony-workspaces/API-1".into(),
            seen_at: None,
            access,
            read: paths(&[
                "/src/api/.git/objects",
                "/src/api/.symphony/runs/1/mcp.json",
            ]),
            write: Vec::new(),
            sockets: vec![(
                "/src/api/.symphony/runs/1/mcp.sock".into(),
                "mcp.sock".into(),
            )],
            closed: paths(&["/src/api/.symphony", "/src/api/.git"]),
            home: Some("/home/ada".into()),
            ways: None,
        }
    }

    fn composed(settings: &SandboxSettings, places: &Places) -> Result<Sandbox, SandboxFault> {
        let folders = StartFolders {
            home: "/start/home".into(),
            temporary: "/start/tmp".into(),
        };
        compose(Level::Namespace, settings, places, folders)
    }

    #[test]
    fn a_judge_reads_its_checkout_and_an_author_writes_it() {
        let settings = SandboxSettings::default();
        let author = composed(&settings, &places(Access::Write)).unwrap();
        assert_eq!(author.write, [places(Access::Write).checkout]);
        assert!(!author.read.contains(&author.directory));
        let judge = composed(&settings, &places(Access::Read)).unwrap();
        assert_eq!(judge.write, paths(&[]));
        assert!(judge.read.contains(&judge.directory));
        assert_eq!(judge.home.path, Path::new("/home/ada"));
        assert_eq!(judge.network, Network::Own);
    }

    #[test]
    fn a_checkout_is_seen_elsewhere_only_inside_namespaces_and_by_who_writes_it() {
        let settings = SandboxSettings::default();
        for (level, access, is_moved) in [
            (Level::Namespace, Access::Write, true),
            (Level::Namespace, Access::Read, false),
            (Level::Landlock, Access::Write, false),
        ] {
            let folders = StartFolders {
                home: "/start/home".into(),
                temporary: "/start/tmp".into(),
            };
            let places = Places {
                seen_at: Some("/symphony/api".into()),
                ..places(access)
            };
            let sandbox = compose(level, &settings, &places, folders).unwrap();
            let moved = is_moved.then(|| Shown {
                outside: places.checkout.clone(),
                inside: "/symphony/api".into(),
            });
            assert_eq!(sandbox.moved, moved, "{level}");
            let directory = if is_moved {
                Path::new("/symphony/api")
            } else {
                &places.checkout
            };
            assert_eq!(sandbox.directory, directory);
            let is_there = [&sandbox.read, &sandbox.write]
                .into_iter()
                .any(|paths| paths.contains(&places.checkout));
            assert_eq!(is_there, !is_moved);
        }
    }

    #[test]
    fn the_ways_out_are_sockets_with_ports() {
        let ways = Ways {
            sockets: vec![("/run/proxy.sock".into(), "proxy.sock".into())],
            forwards: vec![(3128, "proxy.sock".into())],
            resolver: "/run/resolv.conf".into(),
            hosts: "/run/hosts".into(),
        };
        let mut places = places(Access::Write);
        places.ways = Some(ways.clone());
        let sandbox = composed(&SandboxSettings::default(), &places).unwrap();
        let names: Vec<_> = sandbox
            .sockets
            .iter()
            .map(|(_, name)| name.as_str())
            .collect();
        assert_eq!(names, ["mcp.sock", "proxy.sock"]);
        assert_eq!(sandbox.forwards, ways.forwards);
        assert_eq!(
            (sandbox.resolver, sandbox.hosts),
            (Some(ways.resolver), Some(ways.hosts))
        );
    }

    #[test]
    fn what_is_below_something_to_write_is_not_mounted_again() {
        let settings = SandboxSettings {
            read: paths(&["/opt/tools", "/cache/a"]),
            write: paths(&["/cache/b", "/cache/b/c", "/cache"]),
            ..SandboxSettings::default()
        };
        let mut places = places(Access::Write);
        places.read.push(places.checkout.join("node_modules/.bin"));
        places.read.push("/opt".into());
        let sandbox = composed(&settings, &places).unwrap();
        assert_eq!(
            sandbox.write,
            paths(&["/cache", "/src/api/.symphony-workspaces/API-1"])
        );
        assert_eq!(
            sandbox.read,
            paths(&[
                "/opt",
                "/opt/tools",
                "/src/api/.git/objects",
                "/src/api/.symphony/runs/1/mcp.json",
            ])
        );
    }

    #[test]
    fn the_configuration_cannot_open_what_must_stay_closed() {
        for (path, is_refused) in [
            ("/src/api/.symphony", true),
            ("/src/api/.symphony/runs", true),
            ("/src/api", true),
            ("/src/api/.git/hooks", true),
            ("/home/ada", true),
            ("/home", true),
            ("/home/ada/.npm", false),
            ("/src/other", false),
            ("/src/api/.symphony-workspaces-2", false),
        ] {
            for write in [false, true] {
                let mut settings = SandboxSettings::default();
                if write {
                    settings.write = paths(&[path]);
                } else {
                    settings.read = paths(&[path]);
                }
                let refused = composed(&settings, &places(Access::Write)).is_err();
                assert_eq!(refused, is_refused, "{path} {write}");
            }
        }
    }

    #[test]
    fn nothing_that_a_run_needs_covers_what_must_stay_closed() {
        let settings = SandboxSettings::default();
        for (path, is_refused) in [
            ("/src/api", true),
            ("/src/api/.git", true),
            ("/home/ada", true),
            ("/src/api/.git/objects", false),
            ("/src/api/scripts", false),
            ("/home/ada/.local/bin", false),
        ] {
            for write in [false, true] {
                let mut places = places(Access::Write);
                if write {
                    places.write.push(path.into());
                } else {
                    places.read.push(path.into());
                }
                let refused = composed(&settings, &places).is_err();
                assert_eq!(refused, is_refused, "{path} {write}");
            }
        }
    }

    #[test]
    fn a_home_is_an_absolute_path() {
        for (home, expected) in [
            (Some("/home/ada"), true),
            (Some("/"), false),
            (Some("ada"), false),
            (Some(""), false),
            (None, false),
        ] {
            let found = home_of(home.map(std::ffi::OsStr::new));
            assert_eq!(found.is_some(), expected, "{home:?}");
        }
    }
}
