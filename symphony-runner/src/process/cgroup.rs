//! A separate cgroup (version 2) for each program of a run, if this user may create one on this machine.
//!
//! `cgroup.kill` ends everything in it at once, even what forks faster than it can be listed. It comes after the ways
//! that work everywhere and never replaces them, since a process of the same user can move itself into another cgroup.
//!
//! Nothing is recorded. The name of a cgroup contains its run, so a later tick finds what a killed supervisor left, and
//! there is no record to lose or to forge.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use symphony_core::id::RunId;

use super::ended::{Ended, SWEEP_TIME_MAX, survivors};
use super::error::ProcessError;
use super::git_grace::{GitGrace, LastWord};
use super::record::ProcessRecord;
use super::system::{self, ProcessHandle};

/// The prefix of the names of a run's cgroups.
const NAME_START: &str = "symphony-run-";

/// How many cgroups are searched for those of a run. A busy machine has some hundreds.
const CGROUPS_MAX: usize = 20_000;

/// Time between two checks of a cgroup that is being ended.
const LOOK: Duration = Duration::from_millis(5);

/// The cgroup in which this user may create others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupParent {
    folder: PathBuf,
}

impl CgroupParent {
    /// Finds the cgroup of this process, if others can be created inside of it, ended with `cgroup.kill`, and removed.
    ///
    /// # Errors
    /// When there is no cgroup v2, it is not delegated to this user, or the kernel is older than 5.14.
    pub fn own() -> io::Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let folder = own_folder(&mounts, &own).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "no cgroup v2 is mounted here")
        })?;
        Ok(Self { folder })
    }

    /// Uses a given folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Checks it by creating a cgroup and removing it again.
    ///
    /// # Errors
    /// As [`CgroupParent::create`].
    pub fn check(&self) -> io::Result<()> {
        let probe = RunId::parse(uuid::Uuid::now_v7().to_string()).map_err(io::Error::other)?;
        self.create(&probe, 0).map(drop)
    }

    /// Creates a cgroup for a program of a run.
    ///
    /// # Errors
    /// When this user may not, or the kernel has no `cgroup.kill`.
    pub fn create(&self, run: &RunId, number: u32) -> io::Result<Cgroup> {
        let folder = self.folder.join(format!("{NAME_START}{run}.{number}"));
        fs::create_dir(&folder)?;
        let cgroup = Cgroup { folder };
        // When this fails, dropping the value removes the folder again.
        for file in ["cgroup.kill", "cgroup.procs"] {
            fs::OpenOptions::new()
                .write(true)
                .open(cgroup.folder.join(file))?;
        }
        Ok(cgroup)
    }
}

/// The cgroup of a program. Dropping the value removes it, if it is empty.
#[derive(Debug)]
pub struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    #[cfg(test)]
    pub(super) fn of(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends all processes in it, git after SIGTERM and some time, and removes it.
    ///
    /// # Errors
    /// `Survivors` when a process is still there after [`SWEEP_TIME_MAX`], `Table` when the table of processes cannot
    /// be read.
    pub(super) async fn end(self, ended: &mut Ended) -> Result<(), ProcessError> {
        let mut round = Ending::begin(&self.folder);
        while !round.go_on(ended)? {
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A later tick removes it if this fails.
        let _kept = remove(&self.folder);
    }
}

/// Ends what is left in the cgroups of a run whose supervisor is dead, and removes them.
///
/// # Errors
/// As [`Cgroup::end`]. Without cgroups it does nothing.
pub(super) fn end_cgroups_of(run: &RunId, ended: &mut Ended) -> Result<(), ProcessError> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let Some((mount, _)) = mount_of(&mounts) else {
        return Ok(());
    };
    for folder in cgroups_below(&mount, run) {
        let mut round = Ending::begin(&folder);
        while !round.go_on(ended)? {
            std::thread::sleep(LOOK);
        }
    }
    Ok(())
}

/// Returns the run whose cgroup a process is in.
pub(super) fn run_of_process(pid: i32) -> Option<RunId> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    path.split('/').find_map(run_of_name)
}

/// Moves this process into a cgroup. If that fails, the process stays where it is and is ended in the other ways.
pub(super) fn enter(folder: &Path) {
    if let Err(error) = fs::write(folder.join("cgroup.procs"), "0") {
        tracing::debug!(%error, folder = %folder.display(), "the program stays in the supervisor's cgroup");
    }
}

/// Ends the processes of one cgroup, step by step.
struct Ending<'a> {
    folder: &'a Path,
    grace: GitGrace,
    deadline: Instant,
}

impl<'a> Ending<'a> {
    fn begin(folder: &'a Path) -> Self {
        Self {
            folder,
            grace: GitGrace::begin(),
            deadline: Instant::now() + SWEEP_TIME_MAX,
        }
    }

    /// Does one step. Returns true when the cgroup is gone.
    fn go_on(&mut self, ended: &mut Ended) -> Result<bool, ProcessError> {
        let members = members(self.folder)?;
        if members.is_empty() && remove(self.folder) {
            return Ok(true);
        }
        if Instant::now() >= self.deadline {
            // An empty cgroup that cannot be removed does no harm.
            return if members.is_empty() {
                Ok(true)
            } else {
                Err(survivors(&members))
            };
        }
        let words: Vec<LastWord> = members
            .iter()
            .map(|process| self.grace.word_for(process))
            .collect();
        if words.iter().all(|word| *word == LastWord::Kill) {
            for process in &members {
                ended.note(process);
            }
            // Kills them at once, with whatever they start meanwhile. If the kernel refuses, the deadline shows it.
            let _refused = fs::write(self.folder.join("cgroup.kill"), "1");
            return Ok(false);
        }
        for process in &members {
            if let Some(handle) = ProcessHandle::open(process.pid, process.start_time)?
                && self.grace.tell(process, &handle)?
            {
                ended.note(process);
            }
        }
        Ok(false)
    }
}

/// Lists the living processes of a cgroup and of those inside it; empty when the cgroup is gone.
fn members(folder: &Path) -> Result<Vec<ProcessRecord>, ProcessError> {
    let mut records = Vec::new();
    for folder in with_inner(folder) {
        let listed = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        for pid in listed.lines().filter_map(|pid| pid.parse::<i32>().ok()) {
            // 0 is a process outside of this PID namespace.
            if pid > 0 {
                records.extend(system::read_record(pid)?.filter(|record| record.is_alive));
            }
        }
    }
    Ok(records)
}

/// Removes a cgroup with those inside it. Returns false when a process is still in it.
fn remove(folder: &Path) -> bool {
    let inner = with_inner(folder);
    for folder in inner.iter().rev() {
        let _kept = fs::remove_dir(folder);
    }
    !folder.exists()
}

/// Lists a cgroup and those inside it, outer ones first.
fn with_inner(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(folder) = found.get(next).cloned()
        && found.len() < CGROUPS_MAX
    {
        next += 1;
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let folders = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        found.extend(folders.map(|entry| entry.path()));
    }
    found
}

fn cgroups_below(mount: &Path, run: &RunId) -> Vec<PathBuf> {
    let is_runs = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.and_then(run_of_name).as_ref() == Some(run)
    };
    with_inner(mount).into_iter().filter(is_runs).collect()
}

fn run_of_name(name: &str) -> Option<RunId> {
    let (run, number) = name.strip_prefix(NAME_START)?.rsplit_once('.')?;
    let _number: u32 = number.parse().ok()?;
    RunId::parse(run).ok()
}

/// Returns the folder of this process's cgroup, from `/proc/self/mountinfo` and `/proc/self/cgroup`.
pub(super) fn own_folder(mounts: &str, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (mount, root) = mount_of(mounts)?;
    let below = Path::new(path).strip_prefix(&root).ok()?;
    Some(mount.join(below))
}

/// Returns where cgroup v2 is mounted, and which cgroup is the root there.
pub(super) fn mount_of(mounts: &str) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        if kind.split(' ').next()? != "cgroup2" {
            return None;
        }
        let mut fields = place.split(' ').skip(3);
        let (root, mount) = (fields.next()?, fields.next()?);
        Some((PathBuf::from(mount), PathBuf::from(root)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
30 22 0:26 / /sys/fs/cgroup/cpu rw shared:8 - cgroup cgroup rw,cpu
31 22 0:27 ROOT /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn the_own_cgroup_is_found_wherever_it_is_mounted() {
        let user = "/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope";
        for (root, own, expected) in [
            (
                "/",
                format!("8:pids:/\n0::{user}\n"),
                Some(format!("/sys/fs/cgroup/unified{user}")),
            ),
            (
                "/",
                "0::/\n".to_owned(),
                Some("/sys/fs/cgroup/unified/".to_owned()),
            ),
            // A container that sees only a part of the tree.
            (
                "/docker/1",
                "0::/docker/1/a\n".to_owned(),
                Some("/sys/fs/cgroup/unified/a".to_owned()),
            ),
            ("/docker/1", "0::/other\n".to_owned(), None),
            ("/", "8:pids:/\n".to_owned(), None),
        ] {
            let found = own_folder(&MOUNTS.replace("ROOT", root), &own);
            assert_eq!(found, expected.map(PathBuf::from), "{root} {own}");
        }
        assert_eq!(own_folder("", "0::/\n"), None);
    }

    #[test]
    fn a_name_says_whose_a_cgroup_is_and_others_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "app.slice/symphony-run-r-1.0",
            "app.slice/symphony-run-r-1.12/inner",
            "app.slice/symphony-run-r-10.0",
            "app.slice/symphony-run-r-1.x",
            "app.slice/symphony-run-r-1",
            "app.slice/x-symphony-run-r-1.0",
        ] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let mut found = cgroups_below(folder.path(), &RunId::parse("r-1").unwrap());
        found.sort();
        let expected = ["symphony-run-r-1.0", "symphony-run-r-1.12"];
        assert_eq!(
            found,
            expected.map(|name| folder.path().join("app.slice").join(name))
        );
        assert!(remove(&found[1]), "with what is inside of it");
        assert!(!found[1].exists());
    }

    #[test]
    fn a_folder_that_is_no_cgroup_is_not_used_and_not_left() {
        let folder = tempfile::tempdir().unwrap();
        let parent = CgroupParent::at(folder.path());
        assert!(parent.create(&RunId::parse("r-1").unwrap(), 0).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
