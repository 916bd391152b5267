//! Limits of memory and processes by cgroups (version 2), where this user may set them.
//!
//! A cgroup that has processes of its own cannot limit others inside of it. So the place for limited cgroups is the nearest
//! one around this process that passes its controllers on: in a session of systemd that is the slice of the user's programs.

use std::path::Path;
use std::{fs, io};

use super::cgroup::{Cgroup, CgroupParent, mount_of, own_folder};

/// The controllers that limits need.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// What the processes of one program may use together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub processes: u64,
}

/// What decides whether limited cgroups can be made in a cgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Offer<'a> {
    /// `cgroup.subtree_control`: what it passes on.
    passed_on: &'a str,
    /// `cgroup.controllers`: what it could pass on.
    available: &'a str,
    /// Whether it has no processes of its own, or is the root, which may.
    may_change: bool,
}

/// How a cgroup can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usable {
    /// As it is.
    Now,
    /// When its controllers are passed on.
    AfterChange,
    /// Not at all.
    Never,
}

impl Offer<'_> {
    fn usable(self) -> Usable {
        let has = |list: &str| {
            CONTROLLERS
                .iter()
                .all(|name| list.split_whitespace().any(|word| word == *name))
        };
        if has(self.passed_on) {
            Usable::Now
        } else if self.may_change && has(self.available) {
            Usable::AfterChange
        } else {
            Usable::Never
        }
    }
}

impl CgroupParent {
    /// Finds the nearest cgroup around this process in which others with limits can be made.
    ///
    /// # Errors
    /// When there is none: no cgroup v2 with these controllers, or none that is delegated to this user.
    pub fn limiting() -> io::Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let folder = own_folder(&mounts, &own);
        let Some((folder, (mount, _))) = folder.zip(mount_of(&mounts)) else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "no cgroup v2 is mounted here",
            ));
        };
        limiting_within(&mount, &folder)
    }

    /// Checks that a limited cgroup can be made here, and that this process may be moved into it.
    fn check_limits(&self) -> io::Result<()> {
        let probe = symphony_core::id::RunId::parse(uuid::Uuid::now_v7().to_string())
            .map_err(io::Error::other)?;
        let mut cgroup = self.create(&probe, 0)?;
        cgroup.limit(ResourceLimits {
            memory_bytes: 1 << 40,
            processes: 1 << 20,
        })?;
        // a move needs this of the cgroup that both are in
        fs::OpenOptions::new()
            .write(true)
            .open(self.folder().join("cgroup.procs"))
            .map(drop)
    }
}

fn limiting_within(mount: &Path, own: &Path) -> io::Result<CgroupParent> {
    let mut last = io::Error::new(
        io::ErrorKind::NotFound,
        "no cgroup around this process passes on the controllers `memory` and `pids`",
    );
    for folder in own
        .ancestors()
        .take_while(|folder| folder.starts_with(mount))
    {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let is_root = !folder.join("cgroup.type").exists();
        let offer = Offer {
            passed_on: &read("cgroup.subtree_control"),
            available: &read("cgroup.controllers"),
            may_change: is_root || read("cgroup.procs").trim().is_empty(),
        };
        let ready = match offer.usable() {
            Usable::Never => continue,
            Usable::Now => Ok(()),
            Usable::AfterChange => write(&folder.join("cgroup.subtree_control"), "+memory +pids"),
        };
        let parent = CgroupParent::at(folder);
        match ready.and_then(|()| parent.check_limits()) {
            Ok(()) => return Ok(parent),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Cgroup {
    /// Limits what is in it.
    ///
    /// # Errors
    /// When the kernel has no such limits here, or refuses them.
    pub(super) fn limit(&mut self, limits: ResourceLimits) -> io::Result<()> {
        let set = |name: &str, value: u64| write(&self.folder().join(name), &value.to_string());
        set("memory.max", limits.memory_bytes)?;
        set("pids.max", limits.processes)?;
        // a kernel without swap has no such file
        match set("memory.swap.max", 0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Moves a process into it.
    pub(super) fn take_in(&self, pid: i32) -> io::Result<()> {
        write(&self.folder().join("cgroup.procs"), &pid.to_string())
    }

    /// Returns how many of its processes the kernel ended because they had no memory left.
    pub(super) fn killed_for_memory(&self) -> u64 {
        let events = fs::read_to_string(self.folder().join("memory.events")).unwrap_or_default();
        killed_in(&events)
    }
}

/// Reads `memory.events`.
fn killed_in(events: &str) -> u64 {
    let count = events
        .lines()
        .find_map(|line| line.strip_prefix("oom_kill "));
    count
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

/// Writes to a file that is there: in a folder that is no cgroup there is none.
fn write(file: &Path, text: &str) -> io::Result<()> {
    use io::Write as _;
    let mut file = fs::OpenOptions::new().write(true).open(file)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_cgroup_that_passes_on_both_controllers_can_be_used() {
        for (passed_on, available, may_change, expected) in [
            ("memory pids\n", "cpu memory pids\n", false, Usable::Now),
            ("cpu pids memory", "", false, Usable::Now),
            ("", "cpu memory pids", true, Usable::AfterChange),
            ("memory", "memory pids", true, Usable::AfterChange),
            ("memory", "memory pids", false, Usable::Never),
            ("", "memory pids", false, Usable::Never),
            ("", "hugetlb", true, Usable::Never),
            ("", "memory.x pids", true, Usable::Never),
        ] {
            let offer = Offer {
                passed_on,
                available,
                may_change,
            };
            assert_eq!(offer.usable(), expected, "{offer:?}");
        }
    }

    #[test]
    fn a_tree_that_is_no_cgroup_is_not_used() {
        let mount = tempfile::tempdir().unwrap();
        let own = mount.path().join("app.slice/term.scope");
        fs::create_dir_all(&own).unwrap();
        let none = limiting_within(mount.path(), &own).unwrap_err();
        assert!(none.to_string().contains("passes on"), "{none}");
        fs::write(
            mount.path().join("app.slice/cgroup.subtree_control"),
            "memory pids",
        )
        .unwrap();
        limiting_within(mount.path(), &own).unwrap_err();
        assert_eq!(
            fs::read_dir(mount.path().join("app.slice"))
                .unwrap()
                .count(),
            2
        );
    }

    #[test]
    fn limits_are_written_where_the_kernel_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut cgroup = Cgroup::of(folder.path().join("symphony-run-r.0"));
        fs::create_dir(cgroup.folder()).unwrap();
        let limits = ResourceLimits {
            memory_bytes: 1 << 30,
            processes: 64,
        };
        assert!(cgroup.limit(limits).is_err(), "no kernel is behind it");
        for name in ["memory.max", "pids.max", "memory.swap.max"] {
            fs::write(cgroup.folder().join(name), "").unwrap();
        }
        cgroup.limit(limits).unwrap();
        let read = |name| fs::read_to_string(cgroup.folder().join(name)).unwrap();
        assert_eq!(
            [
                read("memory.max"),
                read("pids.max"),
                read("memory.swap.max")
            ],
            ["1073741824", "64", "0"]
        );
    }

    #[test]
    fn processes_that_the_kernel_ended_are_counted_from_the_cgroups_folder() {
        let folder = tempfile::tempdir().unwrap();
        let cgroup = Cgroup::of(folder.path().join("symphony-run-r.0"));
        assert_eq!(cgroup.killed_for_memory(), 0, "no controller, no count");
        fs::create_dir(cgroup.folder()).unwrap();
        for (events, expected) in [
            (
                "low 0\nhigh 0\nmax 7\noom 4\noom_kill 3\noom_group_kill 1\n",
                3,
            ),
            ("low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n", 0),
            ("oom_kill many\n", 0),
            ("oom_group_kill 1\n", 0),
            ("", 0),
        ] {
            fs::write(cgroup.folder().join("memory.events"), events).unwrap();
            assert_eq!(cgroup.killed_for_memory(), expected, "{events}");
        }
    }
}
