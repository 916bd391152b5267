//! Named moments between an intent, its effect and its outcome, at which a test may kill the process.
//!
//! A test builds with the feature `failpoints` and sets `SYMPHONY_FAILPOINTS` to `NAME=FILE` pairs, separated by `;`,
//! which are armed one after the other. The first process that reaches the point creates the file, writes its command
//! line into it and kills itself as `kill -9` would; later processes pass. With `stop:` before the name it stops
//! instead, as by `kill -STOP`, until the test lets it go on. Without the feature [`Failpoint::reach`] is empty and no
//! variable is read.
//!
//! A test that dies more often than it can start processes calls `unwind_after` instead: its own thread unwinds at a point, which drops
//! all that was held in memory and keeps what was written.

/// The variable that names the points at which a process dies.
#[cfg(feature = "failpoints")]
pub const FAILPOINTS_VARIABLE: &str = "SYMPHONY_FAILPOINTS";

/// Where a thread was unwound: what `catch_unwind` of the test that asked for it returns.
#[cfg(feature = "failpoints")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unwound(pub Failpoint);

#[cfg(feature = "failpoints")]
thread_local! {
    /// How many points this thread still passes before it is unwound.
    static PASSES: std::cell::Cell<Option<usize>> = const { std::cell::Cell::new(None) };
}

/// Unwinds this thread at the point that it reaches after `passes` others, once, with [`Unwound`]; `None` lets it live.
#[cfg(feature = "failpoints")]
pub fn unwind_after(passes: Option<usize>) {
    PASSES.set(passes);
}

macro_rules! failpoints {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// A moment between an intent, its effect and its outcome, in the order in which an issue's life passes them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Failpoint { $($(#[$doc])* $variant),+ }

        impl Failpoint {
            /// All points, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the point's name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

failpoints! {
    /// The tick has its turn and has recorded that it began.
    TickRecorded = "tick.recorded",
    /// A run's lock file is made and held; the run is not claimed yet.
    TickLocked = "tick.locked",
    /// Runs are claimed; no supervisor was started.
    TickClaimed = "tick.claimed",
    /// A supervisor was started.
    TickLaunched = "tick.launched",
    /// What a dead supervisor left is ended; its exit handling was not started.
    TickSwept = "tick.swept",
    /// A run was taken away from its lost host; its end is not recorded.
    LostTakenBack = "lost.taken_back",
    /// A run was taken out of its pool; its end is not recorded.
    RunWithdrawn = "run.withdrawn",
    /// The supervisor that does the exit handling was started.
    TickFinishing = "tick.finishing",
    /// A supervisor has its run's lock, and has done nothing.
    SuperviseStarted = "supervise.started",
    /// The intended worktree of the issue is recorded; it does not exist.
    WorktreeIntended = "worktree.intended",
    /// The branch is made.
    WorktreeBranched = "worktree.branched",
    /// The worktree is registered, detached, empty and locked.
    WorktreeRegistered = "worktree.registered",
    /// It is on its branch, still empty.
    WorktreeOnBranch = "worktree.on_branch",
    /// Its files are there; it is still locked.
    WorktreeFilled = "worktree.filled",
    /// It is complete.
    WorktreeUnlocked = "worktree.unlocked",
    /// The latest base is in the folder; the branch has not moved.
    WorktreeBaseMoved = "worktree.base_moved",
    /// Configuration files are copied; the set-up command did not run.
    PrepareCopied = "prepare.copied",
    /// The set-up command ran; that it did is not recorded.
    PrepareSetUp = "prepare.set_up",
    /// The prompt files are written.
    PreparePrompts = "prepare.prompts",
    /// The start of the agent is recorded; it was not started.
    PrepareStarted = "prepare.started",
    /// The agent's own git folder is made; that is not noted yet.
    GitFolderMade = "git_folder.made",
    /// The run's socket is served; the agent was not started.
    AgentListening = "agent.listening",
    /// The agent was started.
    AgentSpawned = "agent.spawned",
    /// The agent and all its processes have ended.
    AgentEnded = "agent.ended",
    /// What is in the agent's git folder was taken over; that is not noted yet.
    GitFolderRead = "git_folder.read",
    /// The checkout is a linked worktree again; the note of the agent's folder is still there.
    GitFolderTaken = "git_folder.taken",
    /// A commit is checked out for its gates; none of them has run.
    GatesCheckedOut = "gates.checked_out",
    /// What the agent left is staged.
    CommitStaged = "commit.staged",
    /// The commit is made; no branch has it.
    CommitMade = "commit.made",
    /// The branch has the commit; an interrupted merge of the agent is not yet forgotten.
    CommitMoved = "commit.moved",
    /// Work after a pull request is saved; the branch still has it.
    ResetSaved = "reset.saved",
    /// The branch is back at the pull request's head; the folder is not.
    ResetMoved = "reset.moved",
    /// The folder is back too; untracked files are still there.
    ResetOverwritten = "reset.overwritten",
    /// The work of a plan's phase is committed; nothing was reported.
    PhaseCommitted = "phase.committed",
    /// It is recorded that the phase is complete; its work is not merged.
    PhaseCompleted = "phase.completed",
    /// The plan's base has its work; the end of its run is not recorded.
    PhaseMerged = "phase.merged",
    /// A gate ran; its result is in memory only.
    GateRan = "gate.ran",
    /// The agent's end is recorded; nothing was done with its work.
    FinishBegun = "finish.begun",
    /// The work is settled; the end of the run is not recorded.
    FinishSettled = "finish.settled",
    /// The end of the run is recorded; its prompts are still there.
    FinishRecorded = "finish.recorded",
    /// The files that must not outlive the run are removed; the note that they must be tidied still exists.
    RunTidied = "run.tidied",
    /// A plan's round is recorded; nothing of it was done.
    PlanDecided = "plan.decided",
    /// The round has acted; the state file is still the previous one.
    PlanActed = "plan.acted",
    /// The user's branch has a plan's work; that is not recorded.
    PlanReviewPlanned = "plan.review_planned",
    /// It is recorded; the plan's base is still there.
    PlanReviewOpened = "plan.review_opened",
    /// The reason for ending a stuck supervisor is recorded; it is still alive.
    WatchdogNoted = "watchdog.noted",
    /// A stuck supervisor is killed; its lock is free.
    WatchdogKilled = "watchdog.killed",
    /// A stuck tick is killed; its turn is free.
    WatchdogTickKilled = "watchdog.tick_killed",
    /// A human's request to end a run is recorded.
    CancelRequested = "cancel.requested",
    /// The merge result is made in the object database.
    MergePlanned = "merge.planned",
    /// The gates ran on the merge result; its temporary worktree is still there.
    MergeGated = "merge.gated",
    /// It is recorded that the merge is about to happen.
    MergeIntended = "merge.intended",
    /// The note of the move is in the repository; nothing has moved.
    MergeNoted = "merge.noted",
    /// The base's checkout has moved; the base has not.
    MergeCheckoutMoved = "merge.checkout_moved",
    /// The base has moved; the note is still there.
    MergeBaseMoved = "merge.base_moved",
    /// The base has moved; the merge is not recorded.
    MergeMoved = "merge.moved",
    /// A merge that was made outside is recorded; the worktree is still there.
    OutsideMergeRecorded = "outside.recorded",
    /// The look at a base branch is over; it is not recorded yet.
    BaseLooked = "outside.looked",
    /// A worker's proposal that nothing is left to do is recorded; the worker has not heard of it.
    DoneProposed = "done.proposed",
    /// A judge's verdict on it is recorded; the judge has not heard of it.
    DoneJudged = "done.judged",
    /// It is confirmed; the worktree is still there.
    DoneConfirmed = "done.confirmed",
    /// It is sent back to a worker, since the base has moved.
    DoneReturned = "done.returned",
    /// The merge is recorded; the worktree is still there.
    MergeRecorded = "merge.recorded",
    /// What only the worktree has is saved; it is still there.
    CleanSaved = "clean.saved",
    /// The worktree is removed; its branch is still there.
    CleanRemoved = "clean.removed",
    /// The branch is deleted, too; it is not recorded that there is no worktree.
    CleanUnrecorded = "clean.unrecorded",
    /// A page of a tracker's changes was read; nothing of it was carried out.
    TrackerRead = "tracker.read",
    /// A tracker's issue was added here; it is not linked.
    TrackerAdded = "tracker.added",
    /// What a tracker's issue changes here was carried out; that both sides agree is not recorded.
    TrackerSteps = "tracker.steps",
    /// That both sides agree is recorded; the next page was not asked for.
    TrackerSettled = "tracker.settled",
    /// A change is about to be sent to a tracker.
    TrackerSending = "tracker.sending",
    /// A tracker applied a change; its answer is not recorded.
    TrackerSent = "tracker.sent",
    /// A tracker's comment was taken in; what it asks for was not done.
    TrackerHeard = "tracker.heard",
    /// What a tracker's comment asks for was done; that is not recorded.
    TrackerActed = "tracker.acted",
    /// The log of mirrored issues was turned into changes; none was sent.
    TrackerLeft = "tracker.left",
    /// A branch is about to be pushed to the forge; that is recorded.
    ForgePushing = "forge.pushing",
    /// A branch was pushed.
    ForgePushed = "forge.pushed",
    /// A pull request was opened at the forge; its number is not recorded.
    ForgeOpened = "forge.opened",
    /// A review of the forge was taken in, with what it does here.
    ForgeHeard = "forge.heard",
    /// A failed check was run again at the forge; that is not recorded.
    ForgeRerun = "forge.rerun",
    /// A reply was written at the forge; that is not recorded.
    ForgeReplied = "forge.replied",
    /// A pull request was merged at the forge; the base here does not have it.
    ForgeMerged = "forge.merged",
    /// The base here has a merge of the forge; the pull request is not merged here.
    ForgeTaken = "forge.taken",
    /// The lock and the order of a worker of a `WORKFLOW.md` are there; the worker is not recorded.
    ServicePrepared = "service.prepared",
    /// A worker is recorded; it was not started.
    ServiceRecorded = "service.recorded",
    /// A worker has its lock; it has not written who it is.
    ServiceWorking = "service.working",
    /// A workspace was made; the hook that fills it did not run.
    ServiceFolderMade = "service.folder-made",
    /// An attempt has ended with its hooks; its worker did not write so.
    ServiceAttemptEnded = "service.attempt-ended",
    /// A worker wrote how it ended; it still lives.
    ServiceEndWritten = "service.end-written",
    /// The end of a worker was found; what follows is not recorded.
    ServiceEndFound = "service.end-found",
    /// What follows from the end of a worker is recorded; a worker that follows was not started.
    ServiceEndRecorded = "service.end-recorded",
    /// That a worker has to end is recorded; it was not asked.
    ServiceEndOrdered = "service.end-ordered",
    /// A retry is due, and its ticket may be worked on; nothing of it is recorded.
    ServiceRetryDue = "service.retry-due",
}

impl Failpoint {
    /// Dies here when a test asked for it.
    #[cfg(not(feature = "failpoints"))]
    #[inline]
    pub const fn reach(self) {}

    /// Dies here when a test asked for it.
    #[cfg(feature = "failpoints")]
    pub fn reach(self) {
        self.unwind_if_due();
        let Ok(armed) = std::env::var(FAILPOINTS_VARIABLE) else {
            return;
        };
        let mut pairs = armed.split(';').filter_map(|pair| pair.split_once('='));
        // In order: the next is armed when a process has died at the one before.
        let due = pairs.find(|(_, file)| !std::path::Path::new(file).exists());
        let Some((name, file)) = due else {
            return;
        };
        let (name, signal) = match name.strip_prefix("stop:") {
            Some(name) => (name, rustix::process::Signal::STOP),
            None => (name, rustix::process::Signal::KILL),
        };
        if name != self.name() {
            return;
        }
        // made new by the first, so that no one dies here twice
        if let Ok(mut made) = std::fs::File::create_new(file) {
            let line: Vec<String> = std::env::args().collect();
            let told = std::io::Write::write_all(&mut made, line.join(" ").as_bytes());
            debug_assert!(told.is_ok(), "the test's folder takes a file");
            let own = rustix::process::getpid();
            let sent = rustix::process::kill_process(own, signal);
            debug_assert!(sent.is_ok(), "a process may end or stop itself");
        }
    }

    #[cfg(feature = "failpoints")]
    fn unwind_if_due(self) {
        match PASSES.get() {
            None => {}
            Some(0) => {
                PASSES.set(None);
                // Not a panic: no message is printed, and no hook runs, as when a process is killed.
                std::panic::resume_unwind(Box::new(Unwound(self)));
            }
            Some(passes) => PASSES.set(Some(passes - 1)),
        }
    }
}
