//! What is in a sandbox: plain data, and the command that starts a program in it.

mod bubblewrap;
mod etc;
mod machine;
mod system;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

pub use etc::{HOSTS, RESOLVER};
pub use machine::{Machine, SystemFolder};
pub(crate) use system::is_in_system;

use bubblewrap::CONFINING;

use crate::confine::{CONFINE_COMMAND, Confinement, Forward};
use crate::level::Level;

/// Where the sockets of a run are inside a sandbox.
pub const SOCKETS: &str = "/run/symphony";

/// Devices that programs write to. `/dev/tty` is not among them: it is the terminal of whoever started Symphony.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Terminals that a program makes for itself. Without namespaces these folders have those of everybody.
const TERMINALS: &[&str] = &["/dev/ptmx", "/dev/pts"];

/// Size of the memory that `/tmp` may take, by default (2 GiB).
pub const TMP_BYTES: u64 = 2 << 30;

/// The most processes and threads of a sandbox, by default.
pub const PROCESSES: u64 = 4096;

/// What the network of a sandbox reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Nothing but its own loopback.
    Own,
    /// Everything that the machine reaches.
    Host,
}

/// The programs that make a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// Symphony's own executable.
    pub symphony: PathBuf,
    /// bubblewrap.
    pub bwrap: PathBuf,
}

/// A sandbox for one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// How strongly it confines.
    pub level: Level,
    /// Where the program starts. It must be in a folder that is listed below.
    pub directory: PathBuf,
    /// The path of the user's home, and the folder that is there instead.
    pub home: Home,
    /// The folder for temporary files. Inside namespaces `/tmp` is one of its own in memory; at the level `landlock`
    /// only this one can be written.
    pub temporary: PathBuf,
    /// Files and folders that can be read, beyond the system's.
    pub read: Vec<PathBuf>,
    /// Files and folders that can be read at another path. At the level `landlock` they are at their own.
    pub shown: Vec<Shown>,
    /// Files and folders that can be written.
    pub write: Vec<PathBuf>,
    /// The folder that the program works in, at another path and to be written. Only inside namespaces; [`Sandbox::directory`] is in
    /// it then.
    pub moved: Option<Shown>,
    /// Sockets: the path outside, and the name below [`SOCKETS`].
    pub sockets: Vec<(PathBuf, String)>,
    /// What the network reaches. At the level `landlock` it is always the machine's.
    pub network: Network,
    /// The file that `/etc/resolv.conf` is, where the network is the sandbox's own and [`Machine::gathered`] has none.
    pub resolver: Option<PathBuf>,
    /// The file that `/etc/hosts` is there. Without either, `localhost` has no address.
    pub hosts: Option<PathBuf>,
    /// Ports of the sandbox's own loopback, and the names of the sockets that they lead to.
    pub forwards: Vec<(u16, String)>,
    /// The most bytes in `/tmp`.
    pub tmp_bytes: u64,
    /// The most processes and threads.
    pub processes: u64,
}

/// A file or folder that is at another path inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its path outside.
    pub outside: PathBuf,
    /// Its path inside, in a folder that is made at each start.
    pub inside: PathBuf,
}

/// A sandbox that cannot be made safely.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The folder that takes the place of the home was used before: each start needs an empty one.
    #[error("the folder {} is not empty; a sandbox needs an empty one for its home", folder.display())]
    HomeInUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder that takes the place of the home cannot be read.
    #[error("cannot read the folder {}, which is to be a sandbox's home: {source}", folder.display())]
    Home {
        /// The folder.
        folder: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// A place to mount is below one that an agent can write.
    #[error("{} is below {}, which the agent can write; list only one of them", place.display(), writable.display())]
    Nested {
        /// What was to be mounted.
        place: PathBuf,
        /// The place that can be written.
        writable: PathBuf,
    },
    /// The path of the checkout inside is in something that is shown.
    #[error("{} is in or around {}, which the sandbox shows; leave that out", place.display(), by.display())]
    Covered {
        /// The path of the checkout inside.
        place: PathBuf,
        /// What is shown.
        by: PathBuf,
    },
}

/// The user's home inside a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Its path.
    pub path: PathBuf,
    /// The folder that is there instead of the user's. It must be empty: each start needs a new one.
    pub folder: PathBuf,
}

impl Sandbox {
    /// Returns the program and the arguments that start `program` in this sandbox.
    ///
    /// A descriptor with the number `status` gets bubblewrap's report, for [`crate::Status::parse`].
    ///
    /// # Errors
    /// When something would be mounted where an agent can have left a link: bubblewrap follows links that are in the place of a
    /// mount or above it, and would mount, or make a file, wherever the link leads.
    pub fn command(
        &self,
        machine: &Machine,
        programs: &Programs,
        status: Option<u32>,
        program: &OsStr,
        arguments: &[OsString],
    ) -> Result<(PathBuf, Vec<OsString>), LayoutError> {
        let inner = |confinement: Confinement| {
            let mut all = vec![OsString::from(CONFINE_COMMAND)];
            all.extend(confinement.arguments(program, arguments));
            all
        };
        Ok(match self.level {
            Level::Off => (PathBuf::from(program), arguments.to_vec()),
            Level::Landlock => (
                programs.symphony.clone(),
                inner(self.alone(machine, programs)),
            ),
            Level::Namespace => {
                self.require_safe_places()?;
                let mut all = self.bubblewrap(machine, programs, status);
                all.push("--".into());
                all.push(CONFINING.into());
                all.extend(inner(self.inside()));
                (programs.bwrap.clone(), all)
            }
        })
    }

    /// Checks that every place of a mount is one that no agent has written to: an agent that ran before may have left links there.
    fn require_safe_places(&self) -> Result<(), LayoutError> {
        let folder = &self.home.folder;
        match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) => {
                return Err(LayoutError::HomeInUse {
                    folder: folder.clone(),
                });
            }
            Err(source) => {
                return Err(LayoutError::Home {
                    folder: folder.clone(),
                    source,
                });
            }
        }
        let moved = self.moved.iter().map(|moved| &moved.inside);
        let write: Vec<PathBuf> = self.write.iter().chain(moved).cloned().collect();
        match nested(&self.read, &write) {
            None => {}
            Some((place, writable)) => {
                return Err(LayoutError::Nested {
                    place: place.clone(),
                    writable: writable.clone(),
                });
            }
        }
        let Some(moved) = &self.moved else {
            return Ok(());
        };
        // bubblewrap makes the folder on the sandbox's own root. In a folder that is shown it would be made outside.
        let shown = self.shown.iter().map(|shown| &shown.inside);
        let home = [&self.home.path];
        let mut places = self.read.iter().chain(&self.write).chain(shown).chain(home);
        match places
            .find(|place| moved.inside.starts_with(place) || place.starts_with(&moved.inside))
        {
            None => Ok(()),
            Some(place) => Err(LayoutError::Covered {
                place: moved.inside.clone(),
                by: place.clone(),
            }),
        }
    }

    /// Returns the variables that say where the home and temporary files are. They replace those of the user.
    pub fn environment(&self) -> Vec<(&'static str, &Path)> {
        match self.level {
            Level::Off => Vec::new(),
            Level::Landlock => vec![("HOME", &self.home.folder), ("TMPDIR", &self.temporary)],
            Level::Namespace => vec![("HOME", &self.home.path), ("TMPDIR", Path::new("/tmp"))],
        }
    }

    /// Without a view of its own every file is listed.
    fn alone(&self, machine: &Machine, programs: &Programs) -> Confinement {
        let system = machine.system.iter().map(|folder| match folder {
            SystemFolder::Folder(path) | SystemFolder::Link(path, _) => path.clone(),
        });
        let sockets = self.sockets.iter().map(|(outside, _)| outside);
        Confinement {
            read: system
                .chain(machine.etc.iter().cloned())
                .chain(["/proc", "/etc/resolv.conf", "/etc/hosts"].map(PathBuf::from))
                .chain([programs.symphony.clone()])
                .chain(self.read.iter().cloned())
                .chain(self.shown.iter().map(|shown| shown.outside.clone()))
                .collect(),
            write: self
                .write
                .iter()
                .chain([&self.home.folder, &self.temporary])
                .chain(sockets)
                .cloned()
                .collect(),
            devices: DEVICES.iter().map(PathBuf::from).collect(),
            processes: Some(self.processes),
            // the loopback is the machine's
            forwards: Vec::new(),
        }
    }

    /// On the machine's loopback a port would lead everybody to the sockets.
    fn forwards(&self) -> Vec<Forward> {
        let forward = |(port, name): &(u16, String)| Forward {
            port: *port,
            socket: Path::new(SOCKETS).join(name),
        };
        match self.network {
            Network::Own => self.forwards.iter().map(forward).collect(),
            Network::Host => Vec::new(),
        }
    }

    /// Inside namespaces there is nothing that need not be read.
    fn inside(&self) -> Confinement {
        Confinement {
            read: vec![PathBuf::from("/")],
            write: self
                .write
                .iter()
                .chain(self.moved.iter().map(|moved| &moved.inside))
                .cloned()
                .chain([self.home.path.clone()])
                .chain(["/tmp", "/dev/shm"].map(PathBuf::from))
                .chain((!self.sockets.is_empty()).then(|| PathBuf::from(SOCKETS)))
                .collect(),
            devices: DEVICES.iter().chain(TERMINALS).map(PathBuf::from).collect(),
            processes: Some(self.processes),
            forwards: self.forwards(),
        }
    }
}

/// Returns a place below one that can be written, with that one.
fn nested<'a>(read: &'a [PathBuf], write: &'a [PathBuf]) -> Option<(&'a PathBuf, &'a PathBuf)> {
    let mut pairs = read
        .iter()
        .chain(write)
        .flat_map(|place| write.iter().map(move |writable| (place, writable)));
    pairs.find(|(place, writable)| place != writable && place.starts_with(writable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox(base: &Path) -> Sandbox {
        Sandbox {
            level: Level::Namespace,
            directory: base.join("checkout"),
            home: Home {
                path: "/home/ada".into(),
                folder: base.join("home"),
            },
            temporary: base.join("tmp"),
            read: vec![base.join("objects")],
            shown: Vec::new(),
            write: vec![base.join("checkout")],
            moved: None,
            sockets: vec![(base.join("mcp.sock"), "mcp.sock".to_owned())],
            network: Network::Own,
            resolver: None,
            hosts: None,
            forwards: vec![(3128, "proxy.sock".to_owned())],
            tmp_bytes: TMP_BYTES,
            processes: PROCESSES,
        }
    }

    fn command(sandbox: &Sandbox) -> Result<(PathBuf, Vec<OsString>), LayoutError> {
        let programs = Programs {
            symphony: "/opt/symphony".into(),
            bwrap: "/usr/bin/bwrap".into(),
        };
        let machine = Machine {
            system: Vec::new(),
            etc: Vec::new(),
            gathered: None,
            emptied: Vec::new(),
        };
        sandbox.command(&machine, &programs, Some(7), "agent".as_ref(), &[])
    }

    #[test]
    fn a_home_that_an_agent_used_is_no_home_for_another_start() {
        let base = tempfile::tempdir().unwrap();
        let sandbox = sandbox(base.path());
        assert!(matches!(command(&sandbox), Err(LayoutError::Home { .. })));
        fs::create_dir(base.path().join("home")).unwrap();
        let (program, _) = command(&sandbox).unwrap();
        assert_eq!(program, Path::new("/usr/bin/bwrap"));
        std::os::unix::fs::symlink("/oldroot", base.path().join("home/.local")).unwrap();
        assert!(matches!(
            command(&sandbox),
            Err(LayoutError::HomeInUse { .. })
        ));
    }

    #[test]
    fn nothing_is_mounted_below_what_an_agent_can_write() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("home")).unwrap();
        let nested = |read: &[&str], write: &[&str]| {
            let below = |names: &[&str]| names.iter().map(|name| base.path().join(name)).collect();
            let sandbox = Sandbox {
                read: below(read),
                write: below(write),
                ..sandbox(base.path())
            };
            matches!(command(&sandbox), Err(LayoutError::Nested { .. }))
        };
        for (read, write, expected) in [
            (&["objects"][..], &["checkout"][..], false),
            (&["checkout"], &["checkout"], false),
            (&["checkout-2/objects"], &["checkout"], false),
            (&["checkout/.git/objects"], &["checkout"], true),
            (&[], &["checkout", "checkout/target"], true),
        ] {
            assert_eq!(nested(read, write), expected, "{read:?} {write:?}");
        }
    }

    #[test]
    fn a_checkout_is_at_another_path_only_where_nothing_is_shown() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("home")).unwrap();
        let moved = |read: &str, write: &str| Sandbox {
            directory: "/symphony/api".into(),
            read: vec![read.into()],
            write: vec![write.into()],
            moved: Some(Shown {
                outside: base.path().join("checkout"),
                inside: "/symphony/api".into(),
            }),
            ..sandbox(base.path())
        };
        let (_, words) = command(&moved("/src/objects", "/cache")).unwrap();
        let outside = base.path().join("checkout");
        let mount = [
            "--bind".as_ref(),
            outside.as_os_str(),
            "/symphony/api".as_ref(),
        ];
        assert!(words.windows(3).any(|three| three == mount));
        let writes = ["--write", "/symphony/api"].map(OsString::from);
        assert!(words.windows(2).any(|pair| pair == writes), "{words:?}");
        for (read, write) in [
            ("/symphony", "/cache"),
            ("/symphony/api", "/cache"),
            ("/symphony/api/.git/objects", "/cache"),
            ("/src/objects", "/symphony"),
            ("/src/objects", "/symphony/api/target"),
        ] {
            assert!(command(&moved(read, write)).is_err(), "{read} {write}");
        }
        assert!(command(&moved("/symphony/api-2", "/cache")).is_ok());
    }

    #[test]
    fn ports_are_forwarded_on_a_loopback_of_its_own_only() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("home")).unwrap();
        for (level, network, expected) in [
            (Level::Namespace, Network::Own, true),
            (Level::Namespace, Network::Host, false),
            (Level::Landlock, Network::Own, false),
            (Level::Off, Network::Own, false),
        ] {
            let sandbox = Sandbox {
                level,
                network,
                ..sandbox(base.path())
            };
            let (_, words) = command(&sandbox).unwrap();
            let forward = ["--forward", "3128=/run/symphony/proxy.sock"].map(OsString::from);
            let found = words.windows(2).any(|pair| pair == forward);
            assert_eq!(found, expected, "{level} {network:?}");
        }
    }

    #[test]
    fn the_program_that_confines_comes_from_a_folder_of_this_start() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("home")).unwrap();
        let (_, words) = command(&sandbox(base.path())).unwrap();
        let end = words.iter().position(|word| word == "--").unwrap();
        assert_eq!(words.get(end + 1).unwrap(), CONFINING);
        assert_eq!(words.get(end + 2).unwrap(), CONFINE_COMMAND);
        let mounts: Vec<_> = words.iter().take(end).collect();
        let place = mounts.iter().rposition(|word| *word == CONFINING).unwrap();
        let writes = mounts.iter().rposition(|word| *word == "--bind").unwrap();
        assert!(place > writes, "nothing is mounted over it");
    }
}
