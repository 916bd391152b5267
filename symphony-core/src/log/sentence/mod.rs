//! Entries of the log as sentences.

mod issue;
mod plan;
mod quote;
mod run;
mod subject;
mod tracker;

use self::quote::quoted;
use super::event::LogEvent;
use super::fold::RunEnd;
use crate::publication::PublicationState;
use crate::pull_request::PrState;
use crate::wording::counted;

pub use subject::{Subject, short_run};

/// How many characters of a commit a sentence shows, as git abbreviates it.
const COMMIT_CHARS: usize = 8;
/// Describes an entry in one sentence, without a full stop. Who did it is not part of it.
///
/// Quoted texts (titles, reasons, errors) are cut to one line; whoever prints them neutralizes them for a terminal.
pub fn sentence(event: &LogEvent, about: &Subject<'_>) -> String {
    use LogEvent as E;
    match event {
        E::IssueAdded { state, title } => {
            let status = state.status();
            format!("{} was added in {status}: {}", about.issue(), quoted(title))
        }
        E::IssueMoved { event, from, to } => issue::moved(&about.issue(), event, *from, *to),
        E::IssueEdited {
            released_from: None,
            ..
        } => format!("{} was edited", about.issue()),
        E::IssueEdited {
            released_from: Some(gone),
            ..
        } => {
            format!("{} was released from {gone}", about.issue())
        }
        E::IssueDeleted { title } => format!("{} was deleted: {}", about.issue(), quoted(title)),
        E::IssueTriaged { intake } => issue::triaged(&about.issue(), *intake),
        E::CountsCleared {} => format!("The failed attempts at {} were reset", about.issue()),
        E::CommentAdded { .. } => format!("A comment was added to {}", about.issue()),
        E::MessageRead { .. } => format!("The agent on {} got a message", about.issue()),
        E::Tracker(entry) => tracker::happened(&about.issue(), entry),
        E::MessageWithdrawn { .. } => {
            format!("A message to the agent on {} was withdrawn", about.issue())
        }
        E::FindingAdded { kind, .. } => {
            let kind = kind.name().replace('_', " ");
            format!("A finding was recorded{}: {kind}", about.on_issue())
        }
        E::BranchDeletionRequested {} => format!(
            "The branch of {} will be deleted with its worktree",
            about.issue()
        ),
        E::WorktreePresent {} => format!("A worktree was made for {}", about.issue()),
        E::WorktreeRemoved {} => format!("The worktree of {} was removed", about.issue()),
        E::BranchRescued { branch, rescue } => {
            format!("The unknown branch {branch} was saved as {rescue}")
        }
        E::WorkPutAside { rescue } => {
            format!(
                "Work on {} after its hand-in was saved as {rescue}",
                about.issue()
            )
        }
        E::RunClaimed {
            interactive: true, ..
        } => {
            let (run, on_issue) = (about.run(), about.on_issue());
            format!("{run} started{on_issue}: a person opened its session")
        }
        E::RunClaimed { agent, attempt, .. } => {
            let run = about.run();
            // the first needs no number
            let number = match (about.issue, attempt) {
                (Some(_), 2..) => format!(", its run {attempt}"),
                _ => String::new(),
            };
            format!("{run} ({agent}) started{}{number}", about.on_issue())
        }
        E::RunCancelRequested {} => {
            format!("{}{} was asked to end", about.run(), about.on_issue())
        }
        E::RunEnded {
            status,
            error,
            counted,
            advanced,
            failures,
            cap,
        } => {
            let end = RunEnd {
                status: *status,
                error: *error,
                counted: *counted,
                advanced: *advanced,
                failures: *failures,
                cap: *cap,
            };
            run::ended(end, about)
        }
        E::WriteRefused {} => format!(
            "{} tried to write after its end and was refused",
            about.run()
        ),
        E::PullRequestOpened { pr, head } => {
            format!("Pull request {pr} was submitted on {}", commit(head))
        }
        E::PullRequestBaseMoved { pr, from, to } => {
            format!("The base of pull request {pr} is {to} now, not {from}")
        }
        E::DoneProposed { pr, base } => {
            format!(
                "Proposal {pr}, that nothing is left to do, was made on {}",
                commit(base)
            )
        }
        E::DoneMoved { pr, state } => format!("Proposal {pr} {}", pr_moved(*state)),
        E::PullRequestMoved { pr, state } => format!("Pull request {pr} {}", pr_moved(*state)),
        E::GatesRequested { pr } => {
            format!("A person asked for the gates of pull request {pr} to run again")
        }
        E::GatesDelayed { pr, problem, .. } => {
            format!(
                "The gates of pull request {pr} could not be run and will be retried: {problem}"
            )
        }
        E::GatesVerified {
            pr,
            commit: on,
            green,
            flaky,
        } => {
            let how = if *green {
                "Gates passed"
            } else {
                "A required gate failed"
            };
            let again = match flaky.as_slice() {
                [] => String::new(),
                names => format!("; {} only when it ran again", names.join(", ")),
            };
            format!("{how} on {} (pull request {pr}){again}", commit(on))
        }
        E::MergeIntended {
            pr,
            base_before,
            merged,
        } => format!(
            "Merging pull request {pr} moves the base from {} to {}",
            commit(base_before),
            commit(merged)
        ),
        E::PullRequestMergedOutside {
            pr,
            commit: on,
            evidence,
            by,
        } => {
            let by = by
                .as_ref()
                .map_or_else(String::new, |by| format!(" by {}", quoted(by)));
            format!(
                "Pull request {pr} was merged outside Symphony{by}: the base has it at {}, {}",
                commit(on),
                evidence.words()
            )
        }
        E::BaseNoticed { text, .. } => {
            format!("A notice for a person was recorded: {}", quoted(text))
        }
        E::BaseNoticeDismissed { .. } => "A person dismissed the notice".to_owned(),
        E::PublicationBegun { pr, commit: on } => {
            format!("Publishing pull request {pr} began on {}", commit(on))
        }
        E::PublicationEnded { pr, state, url } => match (state, url) {
            (PublicationState::Published, Some(url)) => {
                format!("Pull request {pr} was published at {}", quoted(url))
            }
            (PublicationState::Published, None) => format!("Pull request {pr} was published"),
            (PublicationState::Running, _) => format!("Pull request {pr} is being published"),
            (PublicationState::Failed, _) => format!("Publishing pull request {pr} failed"),
        },
        E::PhaseDelivered {
            delivery,
            phase,
            state,
            reasons,
        } => issue::delivered(*delivery, phase, *state, reasons, &about.on_issue()),
        E::DeliverySettled {
            delivery,
            state,
            commit: on,
        } => issue::settled(*delivery, *state, &commit(on)),
        E::DeliveryHeadMoved {
            delivery,
            commit: on,
        } => {
            format!("Delivery {delivery} is now about {}", commit(on))
        }
        E::DeliveryRejected { delivery, reason } => {
            format!("Delivery {delivery} was closed: {}", quoted(reason))
        }
        E::PhaseJudged {
            delivery,
            kind,
            commit: on,
        } => {
            format!("Delivery {delivery} was {kind} on {}", commit(on))
        }
        E::ReviewPointRaised { point, severity } => {
            format!(
                "Review point {point} ({severity}) was raised{}",
                about.on_issue()
            )
        }
        E::ReviewPointMoved { point, state } => {
            issue::point_moved(*point, *state, &about.on_issue())
        }
        E::ReviewPointAnswered { point, answer } => {
            issue::point_answered(*point, *answer, &about.on_issue())
        }
        E::PhaseAdvanced { from, to, .. } => match to {
            Some(to) => format!("{} finished phase {from} and is now in {to}", about.issue()),
            None => format!("{} finished its last phase, {from}", about.issue()),
        },
        E::PlanCreated { path, phases } => format!(
            "{} was started from {} with {}",
            about.plan(),
            quoted(path),
            counted(phases.len() as u64, "phase")
        ),
        E::PlanChanged(event) => plan::changed(&about.plan(), event),
        E::PhaseOutcomeRecorded { phase, outcome, .. } => plan::outcome(phase, outcome),
        E::PlanTargetMoved { from, to } => {
            format!("{} now goes to {to} instead of {from}", about.plan())
        }
        E::PlanMerged { commit: on } => format!("{} was merged as {}", about.plan(), commit(on)),
        E::LearningAdded { learning } => format!("Learning {learning} was recorded"),
        E::LearningProposed { learning } => {
            format!("Learning {learning} is proposed again: its issue was reopened")
        }
        E::LearningSeconded { learning } => {
            format!("Learning {learning} was found again by another run")
        }
        E::LearningAccepted { learning } => format!("Learning {learning} was accepted"),
        E::LearningDropped { learning } => {
            format!("Learning {learning} was dropped: its issue was cancelled")
        }
        E::LearningRetired { learning } => format!("Learning {learning} was retired"),
        E::LearningEdited { learning, .. } => {
            format!("The text of learning {learning} was changed")
        }
        E::LearningRestored { learning } => format!("Learning {learning} was restored"),
        E::LearningsImported { added, skipped } => format!(
            "{} imported; {skipped} existed already",
            were(*added, "learning")
        ),
        E::CoverageRecorded { file, concept } => {
            format!(
                "{} was recorded as covering {}",
                quoted(file),
                quoted(concept)
            )
        }
        E::TestHealthRecorded { test_count, flags } => format!(
            "The health of the tests was recorded: {}, {}",
            counted(*test_count, "test"),
            counted(*flags, "warning")
        ),
        E::HoldPlaced {
            scope,
            until,
            class,
            reason,
        } => {
            let for_ms = until
                .as_millisecond()
                .saturating_sub(about.at.as_millisecond());
            run::held(scope, for_ms, *class, &quoted(reason))
        }
        E::HoldLifted { scope } => run::lifted(scope.as_ref()),
        E::HoldDropped { scope } => {
            format!("The hold of {scope} was dropped: no item that met it is still waiting")
        }
        E::HoldsLifted { count } => format!("{} lifted", were(*count, "hold")),
        E::DispatchPaused { paused: true } => "Symphony was paused".to_owned(),
        E::DispatchPaused { paused: false } => "Symphony was resumed".to_owned(),
        E::DatabaseRestored { .. } => "The database was restored".to_owned(),
        E::ProjectMoved { from, to } => format!(
            "{} was moved from {} to {}",
            capital(&about.project()),
            quoted(from),
            quoted(to)
        ),
        E::ProjectRemoved {} => format!("{} was removed", capital(&about.project())),
        E::PrefixRenamed { from, to } => format!(
            "New issues of {} get the prefix {to} instead of {from}",
            about.project()
        ),
        E::ProjectAdded { prefix } => {
            format!(
                "{} was added with the prefix {prefix}",
                capital(&about.project())
            )
        }
        E::ProjectConfigured(_) => format!("The setup wizard configured {}", about.project()),
        E::ProjectSettingsSet(settings) => {
            let names = settings.as_object().into_iter().flat_map(|map| map.keys());
            let names = names.map(String::as_str).collect::<Vec<_>>().join(", ");
            format!(
                "Settings of {} were changed: {}",
                about.project(),
                quoted(&names)
            )
        }
        E::WizardRestarted {} => format!("The setup wizard of {} may run again", about.project()),
        E::WizardEnded { wizard } => {
            format!("The setup wizard of {} ended: {wizard}", about.project())
        }
        E::ProfileOverrideSet {
            agent,
            model,
            instructions_chars,
        } => run::overridden(agent, model.as_deref(), *instructions_chars),
        E::Unknown { kind, .. } => format!(
            "An entry that this version of Symphony cannot read was written: {}",
            quoted(kind)
        ),
    }
}

const fn pr_moved(state: PrState) -> &'static str {
    match state {
        PrState::Open => "was reopened",
        PrState::Approved => "was approved",
        PrState::Rejected => "was rejected",
        PrState::Merged => "was merged",
        PrState::Closed => "was closed",
        PrState::Confirmed => "was confirmed",
    }
}

fn commit(id: &str) -> String {
    id.chars().take(COMMIT_CHARS).collect()
}

/// Returns `1 hold was`, `2 holds were`.
fn were(count: u64, noun: &str) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(count, noun))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
