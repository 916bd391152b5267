//! A sandbox as arguments of bubblewrap (bwrap(1)). Later mounts cover earlier ones, so the order matters.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::{Machine, Network, Programs, SOCKETS, Sandbox, SystemFolder, is_in_system};

/// Where the program that confines is, in a folder that is made at each start.
pub(super) const CONFINING: &str = "/run/symphony-confine/symphony";

impl Sandbox {
    /// Returns the arguments up to the program, without it.
    pub(super) fn bubblewrap(
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
        match &machine.gathered {
            Some(folder) => all.bind("--ro-bind", folder, Path::new("/etc")),
            None => machine.etc.iter().for_each(|path| all.read(path)),
        }
        all.add(["--proc", "/proc"]);
        for path in &machine.emptied {
            all.bind("--ro-bind", Path::new("/dev/null"), path);
        }
        all.add(["--dev", "/dev"]);
        for path in ["/tmp", "/dev/shm"] {
            all.add(["--perms", "1777", "--size", &self.tmp_bytes.to_string()]);
            all.add(["--tmpfs", path]);
        }
        for (path, own) in [
            ("/etc/resolv.conf", &self.resolver),
            ("/etc/hosts", &self.hosts),
        ] {
            let path = Path::new(path);
            match (own, self.network) {
                (_, Network::Host) => all.bind("--ro-bind-try", path, path),
                // the folder has both
                (_, Network::Own) if machine.gathered.is_some() => {}
                (Some(file), Network::Own) => all.bind("--ro-bind", file, path),
                (None, Network::Own) => {}
            }
        }
        all.bind("--bind", &self.home.folder, &self.home.path);
        // an agent calls it as well, for its tools, by its path outside; a link costs less than a mount
        if !self.shows(&programs.symphony) {
            all.add([OsStr::new("--symlink"), OsStr::new(CONFINING)]);
            all.add([&programs.symphony]);
        }
        for path in &self.read {
            all.bind("--ro-bind-try", path, path);
        }
        for shown in &self.shown {
            all.bind("--ro-bind-try", &shown.outside, &shown.inside);
        }
        for path in &self.write {
            all.bind("--bind", path, path);
        }
        if let Some(moved) = &self.moved {
            all.bind("--bind", &moved.outside, &moved.inside);
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

    /// Returns whether a file is in something that is mounted anyway.
    fn shows(&self, file: &Path) -> bool {
        let mut places = self.read.iter().chain(&self.write);
        is_in_system(file) || places.any(|place| file.starts_with(place))
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
