//! Deaths of git ordered by a test (feature `failpoints`): a chosen call dies before its effect, after it, or leaving
//! its lock.
//!
//! A test in this process arms its own thread with [`GitFaults`]. Processes are armed by [`GIT_FAULTS_VARIABLE`], which
//! names a folder: each call is written to its file `calls`, one per line, and dies if the file `orders` has that line.
//! A line has the process's command, the call, how often the two occurred before, and in `orders` the death, separated
//! by tabs.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::place::Place;

/// The variable that names the folder with the orders.
pub const GIT_FAULTS_VARIABLE: &str = "SYMPHONY_GIT_FAULTS";

/// How a call of git dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GitDeath {
    /// It never ran.
    BeforeEffect,
    /// It had its effect, but its caller does not learn of it.
    AfterEffect,
    /// It took its locks, and had no other effect.
    LeavingLock,
    /// It deleted its ref, but left the ref's lock. Git removes them in this order.
    AfterDeletion,
}

impl GitDeath {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::BeforeEffect,
        Self::AfterEffect,
        Self::LeavingLock,
        Self::AfterDeletion,
    ];
    /// The deaths that any call that takes a lock can die.
    pub const OF_ANY: [Self; 3] = [Self::BeforeEffect, Self::AfterEffect, Self::LeavingLock];

    /// Returns the word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforeEffect => "before",
            Self::AfterEffect => "after",
            Self::LeavingLock => "leaving-lock",
            Self::AfterDeletion => "after-deletion",
        }
    }
}

/// A call of git, as a test records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCall {
    /// The subcommand and its arguments, in which names of commits, runs and times are replaced by `C`, `R` and `T`.
    pub line: String,
    /// The locks that it takes; empty for a call that only reads.
    pub locks: Vec<PathBuf>,
}

impl GitCall {
    /// Returns whether the call deletes a ref.
    pub fn deletes(&self) -> bool {
        self.line.starts_with("git update-ref") && self.line.contains(" -d ")
    }

    /// Returns whether the call changes anything but the object database.
    pub fn changes(&self) -> bool {
        let without_lock = [
            "git worktree add",
            "git worktree remove",
            "git worktree unlock",
            "git clean",
        ];
        !self.locks.is_empty()
            || without_lock
                .iter()
                .any(|words| self.line.starts_with(words))
    }
}

#[derive(Debug, Default)]
struct Armed {
    calls: Vec<GitCall>,
    order: Option<(usize, GitDeath)>,
}

thread_local! {
    static ARMED: RefCell<Option<Armed>> = const { RefCell::new(None) };
}

/// Until it is dropped, the calls of this thread are recorded, and one of them may die.
#[derive(Debug)]
pub struct GitFaults(());

impl GitFaults {
    /// Records the calls of this thread. The one with this number, from 0, dies.
    pub fn arm(order: Option<(usize, GitDeath)>) -> Self {
        let armed = Armed {
            calls: Vec::new(),
            order,
        };
        ARMED.with_borrow_mut(|slot| *slot = Some(armed));
        Self(())
    }

    /// Returns the calls so far.
    pub fn calls(&self) -> Vec<GitCall> {
        ARMED.with_borrow(|slot| {
            slot.as_ref()
                .map(|armed| armed.calls.clone())
                .unwrap_or_default()
        })
    }
}

impl Drop for GitFaults {
    fn drop(&mut self) {
        ARMED.with_borrow_mut(|slot| *slot = None);
    }
}

/// Returns the death that is ordered for a call. If that leaves locks, they have been created already.
pub(super) fn death_of(
    place: &Place,
    subcommand: &str,
    arguments: &[String],
    index: Option<&Path>,
) -> Option<GitDeath> {
    let call = || GitCall {
        line: plain_line(place, subcommand, arguments),
        locks: locks_of(place, subcommand, arguments, index),
    };
    let in_thread = ARMED.with_borrow_mut(|slot| {
        let armed = slot.as_mut()?;
        let number = armed.calls.len();
        let call = call();
        armed.calls.push(call.clone());
        let (_, death) = armed.order.filter(|(due, _)| *due == number)?;
        Some((call, death))
    });
    let due = in_thread.or_else(|| {
        let folder = PathBuf::from(std::env::var_os(GIT_FAULTS_VARIABLE)?);
        let call = call();
        let death = ordered(&folder, &call).expect("the test's folder can be read and written")?;
        Some((call, death))
    });
    let (call, death) = due?;
    if death == GitDeath::LeavingLock {
        call.locks.iter().for_each(|lock| make(lock));
    }
    Some(death)
}

/// Creates the lock of a ref that a call has deleted.
pub(super) fn leave_lock_of_deleted(place: &Place, subcommand: &str, arguments: &[String]) {
    if let Some(lock) = locks_of(place, subcommand, arguments, None).first() {
        make(lock);
    }
}

fn make(lock: &Path) {
    // Git creates the folder of a new ref with its lock.
    let made = lock.parent().map_or(Ok(()), fs::create_dir_all);
    // An existing lock is held by another process.
    drop(made.and_then(|()| File::create_new(lock)));
}

/// Records a call, and returns whether it dies.
fn ordered(folder: &Path, call: &GitCall) -> io::Result<Option<GitDeath>> {
    let mut calls = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(folder.join("calls"))?;
    // One at a time, so that each occurrence has its own number.
    calls.lock()?;
    let mut text = String::new();
    calls.read_to_string(&mut text)?;
    let kind = if call.changes() { "changes" } else { "reads" };
    let name = format!("{}\t{}", command_of(std::env::args().skip(1)), call.line);
    let before = text
        .lines()
        .filter(|line| line.rsplitn(3, '\t').nth(2) == Some(&name))
        .count();
    let line = format!("{name}\t{before}");
    writeln!(calls, "{line}\t{kind}")?;
    let orders = fs::read_to_string(folder.join("orders")).unwrap_or_default();
    let due = orders.lines().find_map(|order| {
        let (due, death) = order.rsplit_once('\t')?;
        (due == line).then(|| death.to_owned())
    });
    let death = due.and_then(|word| GitDeath::ALL.into_iter().find(|death| death.name() == word));
    if death.is_some() {
        let mut deaths = OpenOptions::new()
            .append(true)
            .create(true)
            .open(folder.join("deaths"))?;
        writeln!(deaths, "{line}")?;
    }
    Ok(death)
}

/// Returns the words of a process's own command, such as `pr merge` or `supervise --finish`.
fn command_of(arguments: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = arguments
        .filter(|word| word == "--finish" || word.chars().all(|c| c.is_ascii_lowercase()))
        .take(3)
        .collect();
    words.join(" ")
}

/// Turns a call into one line that is the same in each run of a test.
fn plain_line(place: &Place, subcommand: &str, arguments: &[String]) -> String {
    let root = place.common_dir.parent().unwrap_or(Path::new("/"));
    let root = format!("{}/", root.display());
    let mut line = format!("git {subcommand}");
    for argument in arguments {
        line.push(' ');
        line.push_str(&without_names(&argument.replace(&root, "")));
    }
    line.replace(['\n', '\t'], " ")
}

/// Replaces the names of commits, runs, times and folders of imports.
fn without_names(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut plain = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(is_part) {
        let (before, from) = rest.split_at(begin);
        let end = from.find(|c| !is_part(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        plain.push_str(before);
        // A folder of imported objects has a new name each time, by which no second life would come to the same call.
        let is_import = plain.ends_with("symphony-imports/");
        plain.push_str(if is_import { "I" } else { name_of(word) });
        rest = after;
    }
    plain.push_str(rest);
    plain
}

fn name_of(word: &str) -> &str {
    let hex = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
    let is_moment = || {
        let begin = word.get(..16).unwrap_or_default();
        begin.len() == 16 && begin.ends_with('Z') && begin.get(8..9) == Some("T")
    };
    match word.len() {
        40 | 64 if hex(word) => "C",
        36 if word.split('-').map(str::len).eq([8, 4, 4, 4, 12]) => "R",
        _ if is_moment() => "T",
        _ => word,
    }
}

/// Returns the locks that a call of git takes.
fn locks_of(
    place: &Place,
    subcommand: &str,
    arguments: &[String],
    index: Option<&Path>,
) -> Vec<PathBuf> {
    let locked = |path: PathBuf| {
        let mut name = path.into_os_string();
        name.push(".lock");
        PathBuf::from(name)
    };
    let of_ref = |name: &str| {
        let is_own = name == "HEAD" || name.starts_with("refs/worktree/");
        let folder = if is_own {
            &place.git_dir
        } else {
            &place.common_dir
        };
        locked(folder.join(name))
    };
    let reference = arguments
        .iter()
        .find(|word| *word == "HEAD" || word.starts_with("refs/"));
    let of_index = || locked(index.map_or_else(|| place.git_dir.join("index"), Path::to_owned));
    match subcommand {
        "update-ref" => {
            let mut locks: Vec<PathBuf> = reference.map(|name| of_ref(name)).into_iter().collect();
            if arguments.iter().any(|word| word == "-d") {
                locks.push(place.common_dir.join("packed-refs.lock"));
            }
            locks
        }
        // With a second name it writes, otherwise it reads.
        "symbolic-ref" if arguments.iter().any(|word| word.starts_with("refs/heads/")) => {
            vec![of_ref("HEAD")]
        }
        "read-tree" | "update-index" | "write-tree" | "commit" => vec![of_index()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_in_each_run() {
        let place = Place {
            git_dir: "/t/p/.git/worktrees/SYM-1".into(),
            common_dir: "/t/p/.git".into(),
            work_tree: "/t/p/.symphony-workspaces/SYM-1".into(),
        };
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let line = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            plain_line(&place, "update-ref", &words)
        };
        assert_eq!(
            line(&["refs/symphony/rescue/SYM-1/20261122T130000Z-2", commit]),
            "git update-ref refs/symphony/rescue/SYM-1/T C"
        );
        assert_eq!(
            line(&[
                "/t/p/.symphony-workspaces/_wizard-0198c0de-0000-7000-8000-000000000000",
                &format!("{commit}^{{tree}}")
            ]),
            "git update-ref .symphony-workspaces/_wizard-0198c0de-0000-7000-8000-000000000000 C^{tree}"
        );
        assert_eq!(
            line(&["0198c0de-0000-7000-8000-000000000000"]),
            "git update-ref R"
        );
    }

    #[test]
    fn the_command_of_a_process_is_its_words() {
        let command = |line: &str| command_of(line.split(' ').map(str::to_owned));
        assert_eq!(
            command("--db /x/y.db supervise --run 0198c0de-0000 --finish"),
            "supervise --finish"
        );
        assert_eq!(command("pr merge SYM-1"), "pr merge");
        assert_eq!(command("tick --wait"), "tick");
    }
}
