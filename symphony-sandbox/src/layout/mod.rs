//! What is in a sandbox: plain data, and the command that starts a program in it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::confine::{CONFINE_COMMAND, Confinement};
use crate::level::Level;

/// Where the sockets of a run are inside a sandbox.
pub const SOCKETS: &str = "/run/symphony";

/// Files and folders of `/etc` that programs read. Not among them is what says something about the machine, and private keys,
/// which root and some groups can read.
const ETC: &[&str] = &[
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gitattributes",
    "group",
    "host.conf",
    "inputrc",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "login.defs",
    "lsb-release",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "profile",
    "profile.d",
    "protocols",
    "rpc",
    "services",
    "shells",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

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

/// Files of the kernel that say something about the user or the machine: there is nothing in them inside namespaces.
const EMPTIED: &[&str] = &["/proc/keys", "/proc/key-users", "/proc/cmdline"];

/// Where the program that confines is, in a folder that is made at each start.
const CONFINING: &str = "/run/symphony-confine/symphony";

/// Folders that hold the system's programs and libraries; on many systems some are links into `/usr`.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
];

/// Size of the memory that `/tmp` may take, by default (2 GiB).
pub const TMP_BYTES: u64 = 2 << 30;

/// Size of the memory that `/run` may take: sockets, and files of process numbers.
const RUN_BYTES: u64 = 16 << 20;

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

/// A folder of the system, and how it appears inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemFolder {
    /// A folder.
    Folder(PathBuf),
    /// A link, with its target.
    Link(PathBuf, PathBuf),
}

/// What the machine has of the files that every sandbox shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Programs and libraries.
    pub system: Vec<SystemFolder>,
    /// Files and folders below `/etc`.
    pub etc: Vec<PathBuf>,
    /// Files that are shown empty.
    pub emptied: Vec<PathBuf>,
}

impl Machine {
    /// Looks at this machine.
    pub fn observe() -> Self {
        let system = SYSTEM.iter().map(PathBuf::from).filter_map(|path| {
            if let Ok(target) = path.read_link() {
                return Some(SystemFolder::Link(path, target));
            }
            path.is_dir().then_some(SystemFolder::Folder(path))
        });
        let etc = ETC.iter().map(|name| Path::new("/etc").join(name));
        Self {
            system: system.collect(),
            etc: etc.filter(|path| path.exists()).collect(),
            emptied: EMPTIED
                .iter()
                .map(PathBuf::from)
                .filter(|path| path.exists())
                .collect(),
        }
    }
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
    /// Files and folders that can be written.
    pub write: Vec<PathBuf>,
    /// Sockets: the path outside, and the name below [`SOCKETS`].
    pub sockets: Vec<(PathBuf, String)>,
    /// What the network reaches. At the level `landlock` it is always the machine's.
    pub network: Network,
    /// The file that `/etc/resolv.conf` is, where the network is the sandbox's own.
    pub resolver: Option<PathBuf>,
    /// The most bytes in `/tmp`.
    pub tmp_bytes: u64,
    /// The most processes and threads.
    pub processes: u64,
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
        match nested(&self.read, &self.write) {
            None => Ok(()),
            Some((place, writable)) => Err(LayoutError::Nested {
                place: place.clone(),
                writable: writable.clone(),
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
        }
    }

    /// Inside namespaces there is nothing that need not be read.
    fn inside(&self) -> Confinement {
        Confinement {
            read: vec![PathBuf::from("/")],
            write: self
                .write
                .iter()
                .cloned()
                .chain([self.home.path.clone()])
                .chain(["/tmp", "/dev/shm"].map(PathBuf::from))
                .chain((!self.sockets.is_empty()).then(|| PathBuf::from(SOCKETS)))
                .collect(),
            devices: DEVICES.iter().chain(TERMINALS).map(PathBuf::from).collect(),
            processes: Some(self.processes),
        }
    }

    fn bubblewrap(
        &self,
        machine: &Machine,
        programs: &Programs,
        status: Option<u32>,
    ) -> Vec<OsString> {
        let mut all = Arguments::default();
        for option in [
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup",
            "--disable-userns",
            "--die-with-parent",
            // no way to the terminal of whoever started Symphony
            "--new-session",
        ] {
            all.add([option]);
        }
        all.add(["--cap-drop", "ALL"]);
        all.add(["--hostname", "symphony"]);
        if self.network == Network::Own {
            all.add(["--unshare-net"]);
        }
        if let Some(descriptor) = status {
            all.add(["--json-status-fd", &descriptor.to_string()]);
        }
        for folder in &machine.system {
            match folder {
                SystemFolder::Folder(path) => all.read(path),
                SystemFolder::Link(path, target) => {
                    all.add([
                        OsStr::new("--symlink"),
                        target.as_os_str(),
                        path.as_os_str(),
                    ]);
                }
            }
        }
        for path in &machine.etc {
            all.read(path);
        }
        all.add(["--proc", "/proc"]);
        for path in &machine.emptied {
            all.bind("--ro-bind", Path::new("/dev/null"), path);
        }
        all.add(["--dev", "/dev"]);
        for (path, bytes) in [
            ("/tmp", self.tmp_bytes),
            ("/dev/shm", self.tmp_bytes),
            ("/run", RUN_BYTES),
        ] {
            all.add(["--perms", "1777", "--size", &bytes.to_string()]);
            all.add(["--tmpfs", path]);
        }
        match (&self.resolver, self.network) {
            (Some(file), _) => all.bind("--ro-bind", file, Path::new("/etc/resolv.conf")),
            (None, Network::Host) => {
                for path in ["/etc/resolv.conf", "/etc/hosts"] {
                    all.bind("--ro-bind-try", Path::new(path), Path::new(path));
                }
            }
            (None, Network::Own) => {}
        }
        all.bind("--bind", &self.home.folder, &self.home.path);
        // an agent calls it as well, for its tools; what it can write itself is its own affair
        let symphony = std::slice::from_ref(&programs.symphony);
        if nested(symphony, &self.write).is_none() {
            all.read(&programs.symphony);
        }
        for path in &self.read {
            all.bind("--ro-bind-try", path, path);
        }
        for path in &self.write {
            all.bind("--bind", path, path);
        }
        for (outside, name) in &self.sockets {
            all.bind("--bind", outside, &Path::new(SOCKETS).join(name));
        }
        all.bind("--ro-bind", &programs.symphony, Path::new(CONFINING));
        // What is not bound lies on the sandbox's own empty root. Nothing can be added to it.
        all.add(["--remount-ro", "/"]);
        all.add([OsStr::new("--chdir"), self.directory.as_os_str()]);
        all.0
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

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn add<S: AsRef<OsStr>>(&mut self, words: impl IntoIterator<Item = S>) {
        let words = words.into_iter().map(|word| word.as_ref().to_owned());
        self.0.extend(words);
    }

    fn bind(&mut self, option: &str, outside: &Path, inside: &Path) {
        self.add([OsStr::new(option), outside.as_os_str(), inside.as_os_str()]);
    }

    fn read(&mut self, path: &Path) {
        self.bind("--ro-bind", path, path);
    }
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
            write: vec![base.join("checkout")],
            sockets: vec![(base.join("mcp.sock"), "mcp.sock".to_owned())],
            network: Network::Own,
            resolver: None,
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

    #[test]
    fn private_keys_of_the_machine_are_not_listed() {
        for name in ETC {
            assert!(!["ssl", "pki", "shadow"].contains(name), "{name}");
        }
    }
}
