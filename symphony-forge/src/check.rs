//! What the checks of a forge mean: required ones hold a merge back, and send the work back when they fail.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_tracker::remote::ExternalId;

use crate::remote::{BranchRules, CheckResult, RemoteCheck, RerunAnswer};

/// How often a failed check of a commit is run again before it counts.
const RERUNS_MAX: u32 = 1;

/// A required check of a commit, as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenCheck {
    /// Its name.
    pub name: String,
    /// What became of it; waiting if the forge does not know it yet.
    pub result: CheckResult,
    /// How often Symphony had it run again.
    pub reruns: u32,
    /// The run that was seen last: after a rerun its old result is read for a while.
    pub run: Option<ExternalId>,
    /// Its page.
    pub url: Option<String>,
    /// Whether its failure was answered: the work was sent back, or a person was asked. Each failure is answered once.
    #[serde(default)]
    pub is_answered: bool,
    /// When it was first looked for in vain; `None` once the forge knows it.
    #[serde(default)]
    pub missing_since: Option<Timestamp>,
}

impl SeenCheck {
    /// Describes its result in a few words.
    pub fn how(&self) -> String {
        let how = match self.result {
            CheckResult::Waiting => "waiting",
            CheckResult::Passed => "passed",
            CheckResult::Failed => "failed",
        };
        match self.reruns {
            0 => how.to_owned(),
            _ => format!("{how} when it ran again"),
        }
    }
}

/// A required check that failed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedCheck {
    /// Its name.
    pub name: String,
    /// The job, whose log can be read.
    pub job: Option<ExternalId>,
    /// What it says of itself.
    pub summary: String,
    /// Its page.
    pub url: Option<String>,
}

/// A failed check that is to have a second run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// The job to run again.
    pub job: ExternalId,
    /// The check as it is sent back if it may not run again.
    pub red: RedCheck,
}

/// What the checks of a commit come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks {
    /// All required ones, by name.
    pub seen: Vec<SeenCheck>,
    /// Those to run again.
    pub again: Vec<Again>,
    /// Those that failed for good, and whose failure was not answered yet.
    pub red: Vec<RedCheck>,
}

impl Checks {
    /// Takes in what the forge answered to the wish for a second run. One that has to wait is asked for at the next look.
    pub fn answered(&mut self, again: &Again, answer: RerunAnswer) {
        let mut seen = self.seen.iter_mut();
        let Some(seen) = seen.find(|seen| seen.name == again.red.name) else {
            return;
        };
        match answer {
            RerunAnswer::Started => seen.reruns += 1,
            RerunAnswer::Busy => {}
            RerunAnswer::Refused => {
                seen.result = CheckResult::Failed;
                self.red.push(again.red.clone());
            }
        }
    }
}

/// Notes that whatever has failed was answered.
pub fn note_answer(seen: &mut [SeenCheck]) {
    let failed = seen
        .iter_mut()
        .filter(|check| check.result == CheckResult::Failed);
    for check in failed {
        check.is_answered = true;
    }
}

/// Returns whether a commit may be merged as far as its checks go.
pub fn all_passed(seen: &[SeenCheck]) -> bool {
    seen.iter().all(|check| check.result == CheckResult::Passed)
}

/// Returns the names of the checks that have to pass.
pub fn required(rules: &BranchRules, configured: &[String]) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = configured.iter().cloned().collect();
    names.extend(rules.required_checks.iter().flatten().cloned());
    names
}

/// Decides what the checks of a commit mean. `before` is what was seen of the same commit; `may_rerun` allows a second run.
///
/// A failed check counts once: a rerun that a person starts later and that fails again is not answered a second time.
pub fn plan_checks(
    required: &BTreeSet<String>,
    found: &[RemoteCheck],
    before: &[SeenCheck],
    may_rerun: bool,
) -> Checks {
    let by_name: BTreeMap<&str, &RemoteCheck> = found
        .iter()
        .map(|check| (check.name.as_str(), check))
        .collect();
    let mut checks = Checks::default();
    for name in required {
        let known = before.iter().find(|seen| seen.name == *name);
        let found = by_name.get(name.as_str()).copied();
        let seen = look(name, found, known, may_rerun, &mut checks);
        checks.seen.push(seen);
    }
    checks
}

fn look(
    name: &str,
    found: Option<&RemoteCheck>,
    known: Option<&SeenCheck>,
    may_rerun: bool,
    checks: &mut Checks,
) -> SeenCheck {
    let reruns = known.map_or(0, |known| known.reruns);
    let result = found.map_or(CheckResult::Waiting, |found| found.result);
    let was_answered = known.is_some_and(|known| known.is_answered);
    let mut seen = SeenCheck {
        name: name.to_owned(),
        result,
        reruns,
        run: found.and_then(|found| found.run.clone()),
        url: found.and_then(|found| found.url.clone()),
        // whatever passed and fails later is news
        is_answered: was_answered && result != CheckResult::Passed,
        missing_since: known
            .filter(|_| found.is_none())
            .and_then(|known| known.missing_since),
    };
    let Some(found) = found.filter(|found| found.result == CheckResult::Failed) else {
        return seen;
    };
    if was_answered {
        return seen;
    }
    let job = found.run.clone().filter(|_| found.is_job);
    let red = RedCheck {
        name: name.to_owned(),
        job: job.clone(),
        summary: found.summary.clone(),
        url: found.url.clone(),
    };
    if let Some(job) = job.filter(|_| may_rerun && reruns < RERUNS_MAX) {
        checks.again.push(Again { job, red });
        seen.result = CheckResult::Waiting;
        return seen;
    }
    // The forge shows the old result until the second run begins. A second run has an id of its own.
    let is_old = known.is_some_and(|known| {
        known.result == CheckResult::Waiting && known.reruns > 0 && known.run == found.run
    });
    if is_old && found.is_job {
        seen.result = CheckResult::Waiting;
        return seen;
    }
    checks.red.push(red);
    seen
}
