//! The entries of the log, by kind.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{kinds::log_events, tracker::TrackerEntry};
use crate::id::{
    CommentId, DeliveryId, FindingId, IssueId, LearningId, PhaseName, PlanPhaseId, PrId, ProjectId,
    RunId,
};
use crate::issue::{FindingKind, IssueEvent, IssueState, IssueStatus, Priority, TriageOutcome};
use crate::plan::state::{PhaseOutcome, PlanEvent};
use crate::pull_request::{PrState, VerdictKind};
use crate::review_point::{AnswerKind, PointNumber, PointState, Severity};
use crate::{Timestamp, agent::AgentType, run::RunStatus, spending::CapScope, tick::HoldScope};
use crate::{contract::DeliveryState, failure::ErrorClass, outside::Evidence, outside::NoticeKind};
use crate::{project::WizardState, publication::PublicationState};

log_events!(
    /// Something that happened, as the log keeps it. What it is about and who wrote it are columns of their own. A field
    /// that was added after the first release has a serde default, because old databases hold entries without it.
    LogEvent {
        /// An issue was created.
        IssueAdded = "issue_added" {
            /// The state it began in.
            state: IssueState,
            /// Its title.
            title: String,
        },
        /// An issue changed its status.
        IssueMoved = "issue_moved" {
            /// What happened to it: enough to apply it again.
            event: IssueEvent,
            /// The status before.
            from: IssueStatus,
            /// The status after.
            to: IssueStatus,
        },
        /// Somebody edited fields of an issue.
        IssueEdited = "issue_edited" {
            /// The issue that has ended, so that it no longer depends on it, or is no longer its sub-task.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            released_from: Option<IssueId>,
            /// The labels that it did not have before.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            labels_added: Vec<String>,
            /// The priority, if the edit had one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            priority: Option<Priority>,
        },
        /// A person deleted an issue; its log stays.
        IssueDeleted = "issue_deleted" {
            /// Its title.
            title: String,
        },
        /// Intake looked at an issue.
        IssueTriaged = "issue_triaged" {
            /// Whether it changed anything.
            intake: TriageOutcome,
        },
        /// The failures and runs that count towards an issue's circuit breaker were set to zero.
        CountsCleared = "counts_cleared" {},
        /// Somebody commented on an issue.
        CommentAdded = "comment_added" {
            /// The comment.
            comment: CommentId,
        },
        /// An agent got a message of a person.
        MessageRead = "message_read" { /** The message. */ comment: CommentId },
        /// A tracker and an issue that is mirrored with it.
        Tracker = "tracker" (TrackerEntry),
        /// A person withdrew a message before an agent had read it.
        MessageWithdrawn = "message_withdrawn" {
            /// The comment that it is.
            comment: CommentId,
        },
        /// Somebody recorded a finding on an issue.
        FindingAdded = "finding_added" {
            /// The finding.
            finding: FindingId,
            /// What it is about.
            kind: FindingKind,
        },
        /// A person asked to delete an issue's branch with its worktree.
        BranchDeletionRequested = "branch_deletion_requested" {},
        /// An issue has a worktree now.
        WorktreePresent = "worktree_present" {},
        /// An issue's worktree was removed.
        WorktreeRemoved = "worktree_removed" {},
        /// A branch that the database did not know was saved before an issue's first run.
        BranchRescued = "branch_rescued" {
            /// The branch.
            branch: String,
            /// The ref that has its commits, or what was uncommitted in its worktree.
            rescue: String,
        },
        /// What an agent did after it had handed in its work was saved, and removed from the branch.
        WorkPutAside = "work_put_aside" {
            /// The ref that has it.
            rescue: String,
        },
        /// A run was claimed: it has its lock, and its supervisor starts next.
        RunClaimed = "run_claimed" {
            /// The agent's type.
            agent: AgentType,
            /// The attempt's number, from 1.
            attempt: u32,
            /// Whether a person works in its session, in a terminal.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            interactive: bool,
        },
        /// A person asked for the end of a run.
        RunCancelRequested = "run_cancel_requested" {},
        /// A run ended.
        RunEnded = "run_ended" {
            /// The status.
            status: RunStatus,
            /// Why it did not succeed.
            error: Option<ErrorClass>,
            /// Whether it counts towards the circuit breaker.
            #[serde(default)]
            counted: bool,
            /// Whether it ended the issue's phase.
            #[serde(default)]
            advanced: bool,
            /// The issue's failures in a row afterwards, unless they follow from the rest.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            failures: Option<u32>,
            /// The spending cap that ended it.
            #[serde(default)]
            cap: Option<CapScope>,
        },
        /// A run that was over tried to write, and was refused.
        WriteRefused = "write_refused" {},
        /// A pull request was opened, or its head moved.
        PullRequestOpened = "pr_created" {
            /// The pull request.
            pr: PrId,
            /// Its head commit.
            head: String,
        },
        /// The base of a pull request was renamed.
        PullRequestBaseMoved = "pr_base_moved" {
            /// The pull request.
            pr: PrId,
            /// The branch before.
            from: String,
            /// The branch now.
            to: String,
        },
        /// A pull request changed its state.
        PullRequestMoved = "pr_state" {
            /// The pull request.
            pr: PrId,
            /// The state after.
            state: PrState,
        },
        /// A worker proposed that nothing is left to do.
        DoneProposed = "done_proposed" {
            /// The proposal.
            pr: PrId,
            /// The commit of the base that it was made on.
            base: String,
        },
        /// A proposal that nothing is left to do changed its state.
        DoneMoved = "done_state" { /** The proposal. */ pr: PrId, /** The state after. */ state: PrState },
        /// Symphony ran the gates on a commit.
        GatesVerified = "gates_verified" {
            /// The pull request.
            pr: PrId,
            /// The commit.
            commit: String,
            /// Whether every required gate passed.
            green: bool,
            /// Those that passed only when they ran again.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            flaky: Vec<String>,
        },
        /// A person asked for the gates of a pull request to run again.
        GatesRequested = "gates_requested" {
            /// The pull request.
            pr: PrId,
        },
        /// The gates of a pull request could not be run, and are tried again later.
        GatesDelayed = "gates_delayed" {
            /// The pull request.
            pr: PrId,
            /// When they are tried again.
            until: Timestamp,
            /// Why they could not be run.
            problem: String,
        },
        /// A merge is about to move the base branch.
        MergeIntended = "merge_intended" {
            /// The pull request.
            pr: PrId,
            /// The base branch before.
            base_before: String,
            /// The base branch after.
            merged: String,
        },
        /// The base branch has the whole change of a pull request that Symphony did not merge.
        PullRequestMergedOutside = "pr_merged_outside" {
            /// The pull request.
            pr: PrId,
            /// The first commit of the base that has it.
            commit: String,
            /// How the base shows it.
            evidence: Evidence,
            /// Who merged it, if git says so.
            by: Option<String>,
        },
        /// Commits of an agent reached the base branch, or settings changed, in a way that a person has to look at.
        BaseNoticed = "base_noticed" {
            /// The kind of notice.
            kind: NoticeKind,
            /// The newest of them; the run, if it is about settings.
            commit: String,
            /// What happened, in words.
            text: String,
        },
        /// A person has seen a notice.
        BaseNoticeDismissed = "base_notice_dismissed" {
            /// Why it was made.
            kind: NoticeKind,
        },
        /// The command that publishes a pull request was started.
        PublicationBegun = "publication_begun" {
            /// The pull request.
            pr: PrId,
            /// The commit it publishes.
            commit: String,
        },
        /// The command that publishes a pull request ended.
        PublicationEnded = "publication_ended" {
            /// The pull request.
            pr: PrId,
            /// The state.
            state: PublicationState,
            /// The address it printed.
            url: Option<String>,
        },
        /// An agent delivered a phase.
        PhaseDelivered = "phase_claimed" {
            /// The delivery.
            #[serde(rename = "claim")]
            delivery: DeliveryId,
            /// The phase.
            phase: PhaseName,
            /// What the contract made of it.
            state: DeliveryState,
            /// Why the contract refused it, or what it warns of.
            reasons: Vec<String>,
        },
        /// A delivery was tied to a commit.
        DeliverySettled = "claim_settled" {
            /// The delivery.
            #[serde(rename = "claim")]
            delivery: DeliveryId,
            /// Whether it is accepted or waits for a judge.
            state: DeliveryState,
            /// The commit.
            commit: String,
        },
        /// The commit that a delivery is about moved.
        DeliveryHeadMoved = "claim_head_moved" {
            /// The delivery.
            #[serde(rename = "claim")]
            delivery: DeliveryId,
            /// The commit now.
            commit: String,
        },
        /// A delivery was closed without a verdict.
        DeliveryRejected = "claim_rejected" {
            /// The delivery.
            #[serde(rename = "claim")]
            delivery: DeliveryId,
            /// The reason.
            reason: String,
        },
        /// A judge or a person gave a verdict on a delivery.
        PhaseJudged = "phase_judged" {
            /// The delivery.
            #[serde(rename = "claim")]
            delivery: DeliveryId,
            /// The verdict.
            kind: VerdictKind,
            /// The commit it is about.
            commit: String,
        },
        /// A review raised a point.
        ReviewPointRaised = "review_point_raised" {
            /// Its number.
            point: PointNumber,
            /// How much it holds up.
            severity: Severity,
        },
        /// A review point was closed, or opened again.
        ReviewPointMoved = "review_point_moved" {
            /// Its number.
            point: PointNumber,
            /// Where it is now.
            state: PointState,
        },
        /// A review point was answered.
        ReviewPointAnswered = "review_point_answered" {
            /// Its number.
            point: PointNumber,
            /// What the answer says.
            answer: AnswerKind,
        },
        /// An accepted delivery took its issue to the next phase.
        PhaseAdvanced = "phase_advanced" {
            /// The delivery.
            #[serde(rename = "claim")]
            delivery: DeliveryId,
            /// The phase that ended.
            from: PhaseName,
            /// The phase that begins; `None` if it was the last.
            to: Option<PhaseName>,
        },
        /// A plan was started.
        PlanCreated = "plan_created" {
            /// The plan file's path.
            path: String,
            /// Its phases.
            phases: Vec<PlanPhaseId>,
        },
        /// Something happened to a plan or to one of its phases.
        PlanChanged = "plan_event" (PlanEvent),
        /// The outcome of a phase was reported while its run lives.
        PhaseOutcomeRecorded = "phase_outcome" {
            /// The phase.
            phase: PlanPhaseId,
            /// The run.
            run: RunId,
            /// The outcome.
            outcome: PhaseOutcome,
        },
        /// The target branch of a plan was renamed.
        PlanTargetMoved = "plan_target_moved" {
            /// The branch before.
            from: String,
            /// The branch now.
            to: String,
        },
        /// A plan's work was merged into its target branch.
        PlanMerged = "plan_merged" {
            /// The merge commit.
            commit: String,
        },
        /// A learning was recorded.
        LearningAdded = "learning_added" {
            /// The learning.
            learning: LearningId,
        },
        /// A learning whose work had been cancelled is proposed again: that work continues.
        LearningProposed = "learning_proposed" {
            /// The learning.
            learning: LearningId,
        },
        /// Another run found the same: its work is a source of the learning, too.
        LearningSeconded = "learning_seconded" {
            /// The learning.
            learning: LearningId,
        },
        /// A learning was accepted: prompts of other issues include it.
        LearningAccepted = "learning_accepted" {
            /// The learning.
            learning: LearningId,
        },
        /// A learning was dropped: the work that it comes from was cancelled.
        LearningDropped = "learning_dropped" {
            /// The learning.
            learning: LearningId,
        },
        /// A learning was retired: prompts no longer include it.
        LearningRetired = "learning_retired" {
            /// The learning.
            learning: LearningId,
        },
        /// The text of a learning was changed.
        LearningEdited = "learning_edited" {
            /// The learning.
            learning: LearningId,
            /// Its text until then.
            before: String,
            /// Its text from then on.
            after: String,
        },
        /// A retired learning was restored.
        LearningRestored = "learning_restored" {
            /// The learning.
            learning: LearningId,
        },
        /// Learnings were imported.
        LearningsImported = "learnings_imported" {
            /// How many are new.
            added: u64,
            /// How many were there already.
            skipped: u64,
        },
        /// Coverage of a concept by a file was recorded.
        CoverageRecorded = "coverage_recorded" {
            /// The file.
            file: String,
            /// The concept.
            concept: String,
        },
        /// A report on the health of the tests was recorded.
        TestHealthRecorded = "test_health_recorded" {
            /// How many tests there are.
            test_count: u64,
            /// How many of them are flagged.
            flags: u64,
        },
        /// A hold was placed: a global condition keeps runs from starting.
        HoldPlaced = "hold_placed" {
            /// What it covers.
            scope: HoldScope,
            /// When one run is let through as a probe.
            until: Timestamp,
            /// What class of error caused it.
            class: ErrorClass,
            /// What happened, in words.
            reason: String,
        },
        /// A hold was lifted: a probe got through, or a person tried what it is about.
        HoldLifted = "hold_lifted" {
            /// What it covered; `None` in entries of an older Symphony.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            scope: Option<HoldScope>,
        },
        /// A hold was dropped: nothing that hit its condition waits any longer.
        HoldDropped = "hold_dropped" {
            /// What it covered.
            scope: HoldScope,
        },
        /// A person lifted all holds.
        HoldsLifted = "holds_lifted" {
            /// How many.
            count: u64,
        },
        /// A backup, or an empty database, replaced the database.
        DatabaseRestored = "database_restored" {
            /// The number of the next issue, of each project whose numbers were raised.
            next_numbers: BTreeMap<ProjectId, u64>,
            /// Pull requests of which it is unknown whether they were published.
            unknown_publications: u64,
        },
        /// Dispatch was paused or resumed.
        DispatchPaused = "dispatch_paused" {
            /// Whether it is paused now.
            paused: bool,
        },
        /// A project was added.
        ProjectAdded = "project_added" {
            /// The prefix of its issues.
            prefix: String,
        },
        /// A project has another folder now.
        ProjectMoved = "project_moved" {
            /// The folder before.
            from: String,
            /// The folder now.
            to: String,
        },
        /// A person removed a project from the installation; its issues and runs stay recorded.
        ProjectRemoved = "project_removed" {},
        /// New issues of a project have another prefix from now on.
        PrefixRenamed = "prefix_renamed" {
            /// The prefix before.
            from: String,
            /// The prefix now.
            to: String,
        },
        /// The setup wizard configured a project; the payload is its settings.
        ProjectConfigured = "project_configured" (Value),
        /// A person wrote settings of a project; the payload is these.
        ProjectSettingsSet = "project_settings_set" (Value),
        /// A person let the setup wizard run again.
        WizardRestarted = "wizard_restarted" {},
        /// The setup wizard ended.
        WizardEnded = "wizard_ended" {
            /// The state of the wizard.
            wizard: WizardState,
        },
        /// The profile of an agent was overridden.
        ProfileOverrideSet = "profile_override_set" {
            /// The agent's type.
            agent: AgentType,
            /// The model.
            model: Option<String>,
            /// The length of its instructions, in characters.
            instructions_chars: Option<u64>,
        },
    }
);
