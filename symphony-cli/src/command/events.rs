//! `symphony events`.

use std::time::Duration;

use clap::Args;
use symphony_core::id::IssueId;
use symphony_store::{EventFilter, EventRecord};
use symphony_view::EventView;
use symphony_view::text::{List, one_line};

use super::find_run;
use super::plan::named_plan;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::{RunReference, issue_id};

/// Time between two reads of a log that is followed.
const LOOK: Duration = Duration::from_millis(200);

/// What `events` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony events\n  symphony events --issue SYM-1 --follow\n  symphony events --json | jq -r .sentence"
)]
pub(crate) struct EventsArgs {
    /// Only events of this issue
    #[arg(short, long, value_name = "ISSUE", value_parser = issue_id)]
    issue: Option<IssueId>,
    /// Only events of this run, or of an issue's newest run
    #[arg(long, value_name = "RUN|ISSUE")]
    run: Option<RunReference>,
    /// Only events of this plan
    #[arg(long, value_name = "PLAN|FILE")]
    plan: Option<String>,
    /// Show at most this many events, the newest; 0 shows all
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    /// Keep printing new events; with `--run` until that run has ended
    #[arg(short, long)]
    follow: bool,
}

impl EventsArgs {
    /// Runs it.
    ///
    /// # Errors
    /// When the database cannot be read, the run, issue or plan does not exist, or the answer cannot be written.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        const SHOW: &str = "show the events";
        let session = app.session()?;
        let store = &session.store;
        if let Some(issue) = &self.issue {
            store.issue(issue).context(SHOW)?;
        }
        let named = |text: &String| named_plan(app, &session, text);
        let plan = self.plan.as_ref().map(named).transpose().context(SHOW)?;
        let run = match &self.run {
            Some(reference) => Some(find_run(store, reference).context(SHOW)?.id),
            None => None,
        };
        let mut filter = EventFilter {
            issue: self.issue.clone(),
            run,
            plan,
            after: 0,
            limit: (self.limit > 0).then_some(self.limit),
        };
        if !self.follow {
            return print_events(app, store.events(&filter).context(SHOW)?);
        }
        loop {
            // asked before reading: whatever was written before the end is read after it
            let is_over = match &filter.run {
                Some(run) => !store.run_status(run).context(SHOW)?.is_live(),
                None => false,
            };
            let events = store.events(&filter).context(SHOW)?;
            filter.after = events.last().map_or(filter.after, |event| event.id);
            filter.limit = None;
            print_as_they_come(app, events)?;
            if is_over {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Prints events: a table for a person, or one JSON object a line.
pub(super) fn print_events(app: &App, events: Vec<EventRecord>) -> anyhow::Result<()> {
    if app.out.is_json() {
        return print_as_they_come(app, events);
    }
    let events: List<_> = events.into_iter().map(EventView::from).collect();
    app.out.answer_long(&events)
}

/// Prints events as lines of their own, since later ones are not known yet.
fn print_as_they_come(app: &App, events: Vec<EventRecord>) -> anyhow::Result<()> {
    for event in events.into_iter().map(EventView::from) {
        if app.out.is_json() {
            app.out.event(&event)?;
        } else {
            app.out
                .write(&format!("{}\n", one_line(&event.timed_line())))?;
        }
    }
    Ok(())
}
