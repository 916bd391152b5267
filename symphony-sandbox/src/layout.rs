//! What is in a sandbox: plain data, and the command that starts a program in it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::confine::{CONFINE_COMMAND, Confinement};
use crate::level::Level;

/// Where the sockets of a run are inside a sandbox.
pub const SOCKETS: &str = "/run/symphony";

/// Files and folders of `/etc` that programs read. What is secret there is readable by root alone anyway; the list
/// keeps out what says something about the machine.
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
    "pki",
    "profile",
    "profile.d",
    "protocols",
    "rpc",
    "services",
    "shells",
    "ssl",
    "terminfo",
    "timezone",
];

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

/// The user's home inside a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Its path.
    pub path: PathBuf,
    /// The folder that is there instead of the user's, empty at first.
    pub folder: PathBuf,
}

impl Sandbox {
    /// Returns the program and the arguments that start `program` in this sandbox.
    ///
    /// A descriptor with the number `status` gets bubblewrap's report, for [`crate::Status::parse`].
    pub fn command(
        &self,
        machine: &Machine,
        programs: &Programs,
        status: Option<u32>,
        program: &OsStr,
        arguments: &[OsString],
    ) -> (PathBuf, Vec<OsString>) {
        let inner = |confinement: Confinement| {
            let mut all = vec![OsString::from(CONFINE_COMMAND)];
            all.extend(confinement.arguments(program, arguments));
            all
        };
        match self.level {
            Level::Off => (PathBuf::from(program), arguments.to_vec()),
            Level::Landlock => (
                programs.symphony.clone(),
                inner(self.alone(machine, programs)),
            ),
            Level::Namespace => {
                let mut all = self.bubblewrap(machine, programs, status);
                all.push("--".into());
                all.push(programs.symphony.clone().into());
                all.extend(inner(self.inside()));
                (programs.bwrap.clone(), all)
            }
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
        all.add(["--dev", "/dev"]);
        all.add(["--size", &self.tmp_bytes.to_string(), "--tmpfs", "/tmp"]);
        all.add(["--tmpfs", "/run"]);
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
        all.read(&programs.symphony);
        for path in &self.read {
            all.bind("--ro-bind-try", path, path);
        }
        for path in &self.write {
            all.bind("--bind", path, path);
        }
        for (outside, name) in &self.sockets {
            all.bind("--bind", outside, &Path::new(SOCKETS).join(name));
        }
        // What is not bound lies on the sandbox's own empty root. Nothing can be added to it.
        all.add(["--remount-ro", "/"]);
        all.add([OsStr::new("--chdir"), self.directory.as_os_str()]);
        all.0
    }
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
