//! Time that passes without anybody waiting for it: ten minutes at once, for all that is put off until then.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::Field;
use super::check::names_in;

/// One in so many rounds ten minutes pass: without them, locks that a killed git left pile up, and whatever meets one is put off.
const CHANCE: usize = 12;
/// What is younger may belong to a process that is about to go on: a claim in the making, a lock that git is just taking.
const SETTLED_MIN: Duration = Duration::from_secs(1);

const TEN_MINUTES: Duration = Duration::from_mins(10);

/// What grows older.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// All that is there.
    Any,
    /// What has been there for a moment: processes are at work.
    Settled,
}

impl Field {
    /// Lets ten minutes pass now and then, while processes are killed.
    pub(super) fn let_time_pass_by_chance(&mut self) {
        if self.chance.below(CHANCE) == 0 {
            self.let_ten_minutes_pass(Age::Settled);
            self.passed += 1;
        }
    }

    /// For locks that a killed git left, for runs that a killed tick began and did not claim, and for clean-ups that are put off
    /// since theirs was killed.
    pub(super) fn let_ten_minutes_pass(&self, age: Age) {
        for lock in self.project.git_locks() {
            make_older(&lock, age);
        }
        let unfinished = self.project.root.join(".symphony/unfinished");
        for run in names_in(&unfinished) {
            for path in [unfinished.join(&run), self.project.run_folder(&run)] {
                make_older(&path, age);
            }
        }
        let sooner = "UPDATE clean_up_fault SET due_at = due_at - 600000";
        self.database().execute(sooner, []).unwrap();
    }
}

/// Makes a file or folder look as if it was there ten minutes earlier. One that is gone meanwhile was in use.
fn make_older(path: &Path, age: Age) {
    let Ok(file) = File::open(path) else { return };
    let written = file.metadata().unwrap().modified().unwrap();
    let has_settled = written
        .elapsed()
        .is_ok_and(|elapsed| elapsed >= SETTLED_MIN);
    if age == Age::Any || has_settled {
        file.set_modified(written - TEN_MINUTES).unwrap();
    }
}
