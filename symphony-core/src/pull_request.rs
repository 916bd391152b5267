//! Pull requests: Symphony's own record of a change that waits for a verdict and a merge.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::criteria::ChecklistEntry;
use crate::done::DoneProposal;
use crate::id::{PrId, ProjectId, RunId};
use crate::issue::CommentAuthor;
use crate::outside::merge::OutsideMerge;
use crate::run::{ProtectionLevel, SandboxRecord};
use crate::user::Attribution;

pub use crate::pull_request_of::PullRequestOf;

closed_set!(
    /// The state of a pull request.
    PrState, "pull request state", {
        /// Waits for gates and a verdict.
        Open = "open",
        /// Approved; waits for a human to merge.
        Approved = "approved",
        /// Sent back.
        Rejected = "rejected",
        /// Merged into the base.
        Merged = "merged",
        /// Closed by a human.
        Closed = "closed",
        /// A proposal that nothing is left to do, which was confirmed: its issue is done.
        Confirmed = "confirmed",
    }
);

impl PrState {
    /// Returns whether it still waits for something (`open`, `approved`).
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Approved)
    }
}

/// Most bytes of a diff that are kept in the record: many times what a judge sees; the rest is in git.
pub const DIFF_BYTES_MAX: usize = 1024 * 1024;

/// One file of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// Path, relative to the project.
    pub path: String,
    /// Its old path, if it was renamed; `None` in records of an older Symphony.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// Added lines; 0 for a binary file.
    pub insertions: u64,
    /// Removed lines; 0 for a binary file.
    pub deletions: u64,
}

/// A gate's result as the agent reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedGate {
    /// The gate's name.
    pub name: String,
    /// Whether it passed, by the agent's word.
    pub passed: bool,
    /// What the agent says of it.
    #[serde(default)]
    pub output: String,
}

/// The name of a failed set-up command among gates.
pub const SET_UP_GATE: &str = "set-up";

/// A gate's result as Symphony found it, on the recorded commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedGate {
    /// The gate's name.
    pub name: String,
    /// Whether a red one sends the change back.
    pub required: bool,
    /// Whether it passed.
    pub passed: bool,
    /// Exit code; `None` if its time limit ended it or it could not be started.
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The end of its output.
    pub output: String,
    /// Whether it did not run: the same gate had passed before on the same files, with the same set-up.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cached: bool,
    /// A digest of all that the result depends on besides the files: command, set-up, copied files, environment and
    /// toolchain. None in records of an older Symphony.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// Its other tries, none of which passed: those before this one if it passed, those after it if it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tries: Vec<FailedTry>,
}

/// A failed try of a gate, beside the one of its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTry {
    /// Exit code; `None` if it did not end on its own.
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The line of its output that best shows why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// The exit code of a shell if a file exists and cannot be executed.
const NOT_EXECUTABLE: i32 = 126;
/// The exit code of a shell if it finds no program of that name.
const NOT_FOUND: i32 = 127;

/// Returns whether a shell reported that a program is missing, or cannot be executed: that says nothing about the change.
pub(crate) const fn is_missing_program(exit_code: Option<i32>) -> bool {
    matches!(exit_code, Some(NOT_EXECUTABLE | NOT_FOUND))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl VerifiedGate {
    /// Returns whether it stops the change: required, and not passed.
    pub const fn is_red(&self) -> bool {
        self.required && !self.passed
    }

    /// Returns whether it passed after it had failed on the same files.
    pub const fn is_flaky(&self) -> bool {
        self.passed && !self.failed_tries.is_empty()
    }

    /// Describes its result in a few words: `passed`, `passed at try 2`, `failed with exit code 1 (2 tries)`.
    pub fn how(&self) -> String {
        let tries = self.failed_tries.len() + 1;
        match (self.passed, self.exit_code) {
            (true, _) if tries > 1 => format!("passed at try {tries}"),
            (true, _) => "passed".to_owned(),
            (false, code) => {
                let how = code.map_or_else(
                    || "did not end on its own".to_owned(),
                    |code| format!("failed with exit code {code}"),
                );
                let tries = if tries > 1 {
                    format!(" ({tries} tries)")
                } else {
                    String::new()
                };
                format!("{how}{tries}")
            }
        }
    }
}

/// The gates of a pull request, bound to the commit they ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedGates {
    /// The commit.
    pub commit: String,
    /// The results, in the order of the configuration.
    pub results: Vec<VerifiedGate>,
    /// The base commit that it was merged with for them; `None` if they ran on the commit itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_with: Option<String>,
}

impl VerifiedGates {
    /// The gates of a project without gates: nothing is verified.
    pub fn none_on(commit: &str) -> Self {
        Self {
            commit: commit.to_owned(),
            results: Vec::new(),
            merged_with: None,
        }
    }

    /// Returns whether every required gate passed.
    pub fn green(&self) -> bool {
        self.red().next().is_none()
    }

    /// Returns the required gates that did not pass.
    pub fn red(&self) -> impl Iterator<Item = &VerifiedGate> {
        self.results.iter().filter(|gate| gate.is_red())
    }

    /// Returns whether any gate could have stopped the change. If none could, nothing is verified.
    pub fn verify_something(&self) -> bool {
        self.results.iter().any(|gate| gate.required)
    }
}

/// When the gates of a pull request run, if they have not run on its head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatesWait {
    /// The earliest time at which they run.
    pub due_at: Timestamp,
    /// How often in a row they could not be run, through no fault of the change.
    pub tries: u32,
    /// Why they could not be run the last time.
    pub problem: Option<String>,
    /// Whether a person asked for them to run again, whatever passed before.
    pub fresh: bool,
}

closed_set!(
    /// Which way a verdict went.
    VerdictKind, "verdict", {
        /// For.
        Approved = "approved",
        /// Against.
        Rejected = "rejected",
    }
);

/// A verdict, bound to the commit it judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Approval or rejection.
    pub kind: VerdictKind,
    /// The author.
    pub author: CommentAuthor,
    /// The judge's run.
    pub run: Option<RunId>,
    /// The commit that was judged.
    pub commit: String,
    /// How the judge was protected; `none` makes an agent's verdict advisory.
    pub protection: ProtectionLevel,
    /// What confined the judge; `None` for a person, and in verdicts of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxRecord>,
    /// The comment.
    pub comment: String,
    /// The time.
    pub at: Timestamp,
    /// Why Symphony could not tell that a person gave it; `None` if it could, and for an agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// With what it was given, and as which user of the page.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// Whether a person approved whatever the gates find.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// How many characters of a commit the comment of a verdict shows.
const COMMENT_COMMIT_CHARS: usize = 10;

impl Verdict {
    /// Returns who gave it: the user of the page by name, else the kind of author.
    pub fn by(&self) -> &str {
        self.attribution.name_or(self.author.name())
    }

    /// Returns the comment for its issue, which ends with what was `said`; `None` if that is empty. It names the
    /// commit: whoever reads it later, even another judge, looks at a newer one.
    pub fn issue_comment(&self, pr: &PullRequest, said: &str) -> Option<String> {
        if said.is_empty() {
            return None;
        }
        let (what, id) = (pr.noun(), pr.id);
        let word = match self.kind {
            VerdictKind::Approved => "Approved",
            VerdictKind::Rejected => "Rejected",
        };
        let commit = self.commit.get(..COMMENT_COMMIT_CHARS);
        let commit = commit.unwrap_or(&self.commit);
        Some(format!("{word} {what} {id} at commit {commit}{said}"))
    }
}

/// A change that waits for a verdict and a merge, or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its id.
    pub id: PrId,
    /// The project.
    pub project: ProjectId,
    /// What it finishes.
    pub of: PullRequestOf,
    /// The run that opened it.
    pub run: Option<RunId>,
    /// Title.
    pub title: String,
    /// Body.
    pub body: String,
    /// Branch that holds the change.
    pub branch: String,
    /// Its base branch.
    pub base: String,
    /// Merge base at the time of the snapshot.
    pub base_commit: String,
    /// The commit that is judged and merged.
    pub head_commit: String,
    /// The diff, cut to its limit.
    pub diff: String,
    /// Its files.
    pub files: Vec<FileStat>,
    /// Gates as the agent reported them.
    pub reported_gates: Vec<ReportedGate>,
    /// What was answered to each acceptance criterion when it was opened; empty for an issue without criteria.
    pub checklist: Vec<ChecklistEntry>,
    /// Gates as Symphony found them.
    pub verified_gates: Option<VerifiedGates>,
    /// When they run, while they have not run on the head.
    pub gates_wait: GatesWait,
    /// The verdict.
    pub verdict: Option<Verdict>,
    /// Its state.
    pub state: PrState,
    /// The commit that came of the merge.
    pub merged_commit: Option<String>,
    /// How it was merged, when that was not Symphony.
    pub merged_outside: Option<OutsideMerge>,
    /// Set if this is not a change but the proposal that nothing is left to do: the head is the commit of the base that
    /// it was made on, the body its reason.
    pub proposal: Option<DoneProposal>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Returns how people call a pull request, depending on whether it proposes that nothing is left to do.
pub const fn noun(is_proposal: bool) -> &'static str {
    if is_proposal {
        "proposal"
    } else {
        "pull request"
    }
}

impl PullRequest {
    /// Returns the verified gates if they ran on the head commit.
    pub fn gates_of_head(&self) -> Option<&VerifiedGates> {
        self.verified_gates
            .as_ref()
            .filter(|gates| gates.commit == self.head_commit)
    }

    /// Returns whether the gates ran on the files of the head commit itself, not on its merge with the base.
    pub fn gates_ran_on_head_itself(&self) -> bool {
        self.gates_of_head()
            .is_some_and(|gates| gates.merged_with.is_none())
    }

    /// Returns the verdict if it judged the head commit.
    pub fn verdict_on_head(&self) -> Option<&Verdict> {
        self.verdict
            .as_ref()
            .filter(|verdict| verdict.commit == self.head_commit)
    }

    /// Returns its name for people: a pull request, or a proposal that nothing is left to do.
    pub const fn noun(&self) -> &'static str {
        noun(self.proposal.is_some())
    }

    /// Returns how a person refers to it in a command: its issue, or its number if it has none.
    pub fn reference(&self) -> String {
        self.of.reference(self.id)
    }

    /// Returns added and removed lines over all files.
    pub fn totals(&self) -> (u64, u64) {
        self.files.iter().fold((0, 0), |(added, removed), file| {
            (added + file.insertions, removed + file.deletions)
        })
    }
}
