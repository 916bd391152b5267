//! Driving the issues: ticks, agents, and a person's merges, until all are done.

use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::issue::IssueStatus;
use symphony_core::pull_request::PrState;
use symphony_runner::merge::{MergeOptions, merge_pr};
use symphony_runner::session::Session;
use symphony_runner::tick::{TickOptions, TickOutcome, tick, wait_for};
use symphony_store::{IssueFilter, PrFilter};
use symphony_view::{lines_of, merged_sentence};

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::progress::Progress;

/// Ticks of a demo: a scripted one takes four, a real agent may need to be sent back some times.
const TICKS_MAX: usize = 60;
/// Longest pause between two ticks: the time of an appointment is not worth waiting longer for at once.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Ticks until every issue is done.
pub(super) fn drive(session: &mut Session, progress: &mut Progress) -> anyhow::Result<()> {
    for _ in 0..TICKS_MAX {
        let started = step(session, progress)?;
        wait_for(&session.installation, &started, |store| {
            Ok(progress.look(store, &started)?)
        })?;
        merge_approved(session, progress)?;
        if all_done(session)? {
            return Ok(());
        }
        if started.is_empty() && !wait_for_appointment(session)? {
            return Err(stuck(session)?.into());
        }
    }
    Err(stuck(session)?.into())
}

/// Makes a tick; returns the runs it started.
fn step(session: &mut Session, progress: &Progress) -> anyhow::Result<Vec<RunId>> {
    progress.say("$ symphony tick --wait");
    let options = TickOptions {
        wait_for_lock: true,
        ..TickOptions::default()
    };
    match tick(&session.installation, &mut session.store, options)? {
        TickOutcome::Done(report) => {
            lines_of(&report.events)
                .chain(report.problems)
                .for_each(|line| progress.say(&line));
            Ok(report.started.into_iter().map(|run| run.id).collect())
        }
        TickOutcome::Busy(_) => Ok(Vec::new()),
    }
}

/// Merges what a judge approved, as a person would.
fn merge_approved(session: &mut Session, progress: &Progress) -> anyhow::Result<()> {
    let filter = PrFilter {
        project: Some(session.project.id.clone()),
        state: Some(PrState::Approved),
        ..PrFilter::default()
    };
    for pr in session.store.prs(&filter)? {
        progress.say(&format!("$ symphony pr merge {}", pr.reference()));
        let merged = merge_pr(
            &session.installation,
            &mut session.store,
            &App::as_human(),
            pr.id,
            &MergeOptions::default(),
        )?;
        progress.say(&merged_sentence(&merged));
    }
    Ok(())
}

fn all_done(session: &Session) -> anyhow::Result<bool> {
    let filter = IssueFilter {
        project: Some(session.project.id.clone()),
        ..IssueFilter::default()
    };
    let issues = session.store.list_issues(&filter)?.items;
    Ok(issues
        .iter()
        .all(|issue| issue.state.status() == IssueStatus::Done))
}

/// Waits for the next appointment; says whether there is one.
fn wait_for_appointment(session: &Session) -> anyhow::Result<bool> {
    let Some(next) = session
        .store
        .retries(Some(&session.project.id))?
        .into_iter()
        .next()
    else {
        return Ok(false);
    };
    let ms = next
        .due_at
        .as_millisecond()
        .saturating_sub(Timestamp::now().as_millisecond());
    let pause = Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    std::thread::sleep(pause.min(PAUSE_MAX));
    Ok(true)
}

/// The error for a demo that does not go on: it names the first issue that is not done, and where to look.
fn stuck(session: &Session) -> anyhow::Result<Stop> {
    let filter = IssueFilter {
        project: Some(session.project.id.clone()),
        ..IssueFilter::default()
    };
    let issues = session.store.list_issues(&filter)?.items;
    let root = session.project.root.display();
    let Some(issue) = issues
        .iter()
        .find(|issue| issue.state.status() != IssueStatus::Done)
    else {
        return Ok(Stop::new(Exit::Failed, "the issues are not done"));
    };
    let message = format!("{} is still `{}`", issue.id, issue.state.status());
    let hint = format!(
        "`symphony -C '{root}' explain {}` and `symphony -C '{root}' runs logs {}` show why",
        issue.id, issue.id
    );
    Ok(Stop::new(Exit::Failed, message).hint(hint))
}
