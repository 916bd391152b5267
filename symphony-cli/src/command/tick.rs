//! `symphony tick`.

use std::collections::BTreeSet;

use clap::Args;
use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::tick::Reason;
use symphony_core::watchdog::Stuck;
use symphony_runner::installation::Installation;
use symphony_runner::outreach::publish::start_publisher;
use symphony_runner::tick::{TickOptions, TickOutcome, TickReport, tick, wait_for};
use symphony_view::Elsewhere;
use symphony_view::{RunView, StuckTickView, TickView, TodayView};

use crate::app::App;
use crate::command::service::{WorkflowTickArgs, tick_workflow};
use crate::failure::{Context as _, Exit, Stop};
use crate::news::News;
use crate::progress::{Progress, Stream};
use crate::sandbox_notice::note_once;
use crate::standstill::{breakers_of, open_breakers, standstill, waiting_items};

/// What `tick` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "A tick claims issues, starts agents and returns without waiting for them, because each run has its \
                  own supervisor. With --quiet it prints only problems, and each of them only once, however long it lasts, because cron mails whatever is printed.\n\n\
                  Example, as a line of a crontab:\n  * * * * * symphony -C /home/me/project --quiet tick"
)]
pub(crate) struct TickArgs {
    /// Wait until the runs that this tick starts have ended; if another tick is running, wait for it first
    #[arg(long)]
    wait: bool,
    /// Show what the tick would do, and why it would not do more
    #[arg(long = "dry-run", conflicts_with = "wait")]
    dry_run: bool,
    #[command(flatten)]
    workflow: WorkflowTickArgs,
}

impl TickArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        if let Some(file) = &self.workflow.workflow {
            return tick_workflow(app, file);
        }
        let (installation, mut store) = app.surroundings.all_projects(app.out)?;
        note_once(app.out, &installation, &mut store);
        let options = TickOptions {
            dry_run: self.dry_run,
            wait_for_lock: self.wait,
            ..TickOptions::default()
        };
        let breakers = if self.wait {
            open_breakers(&installation, &mut store).context("tick")?
        } else {
            BTreeSet::new()
        };
        let mut news = News::begin(&store).context("tick")?;
        let report = match tick(&installation, &mut store, options).context("tick")? {
            TickOutcome::Done(report) => report,
            TickOutcome::Busy(None) if self.wait => {
                let message = "another tick has been running for a minute";
                return Err(Stop::new(Exit::Busy, message)
                    .hint("`symphony status` shows what is running")
                    .into());
            }
            TickOutcome::Busy(late) => return busy(app, late.as_ref()),
        };
        let new_problems = report.new_problems.clone();
        let holds = report.snapshot.holds.clone();
        let mut view = self.view(app, &installation, report)?;
        let elsewhere =
            Elsewhere::load(app.surroundings.typed_in().as_deref(), &store).context("tick")?;
        let decisions = &mut view.decisions;
        elsewhere.decisions(&mut store, decisions).context("tick")?;
        let due = TodayView::load(&store, None, &holds, Timestamp::now());
        view.due = Some(due.context("tick")?);
        view.on_hold = holds.first().map(|hold| Reason::held(hold).brief());
        if self.wait {
            view.pull_requests = news.of_prs(&store).context("tick")?;
            let (items, holds) = waiting_items(&installation, &mut store).context("tick")?;
            let after = breakers_of(&items);
            view.waiting = news.of_inbox(items, &elsewhere);
            let today = TodayView::load(&store, None, &holds, Timestamp::now());
            view.today = Some(today.context("tick")?);
            let paused = store.paused_since().context("tick")?;
            // a tick that started something continues; the next tick takes what waits meanwhile
            view.standstill = if view.runs.is_empty() && view.live.is_empty() {
                standstill(&view, &breakers, &after, paused)
            } else {
                standstill(&TickView::default(), &breakers, &after, None)
            };
        }
        let quiet = app.out.is_quiet() && !app.out.is_json() && !self.dry_run;
        // with `--quiet` too: it is what cron mails, once while it lasts
        let told = if quiet { &new_problems } else { &view.problems };
        if !quiet {
            app.out.answer(&view)?;
        }
        if !app.out.is_json() {
            for problem in told {
                app.out.warn(problem);
            }
        }
        if self.wait
            && let Some(reason) = &view.standstill
        {
            app.out.note(reason);
            return Ok(Exit::Failed);
        }
        Ok(if view.problems.is_empty() {
            Exit::Done
        } else {
            Exit::Failed
        })
    }

    fn view(
        &self,
        app: &App,
        installation: &Installation,
        report: TickReport,
    ) -> anyhow::Result<TickView> {
        if self.dry_run {
            let live = &report.snapshot.live;
            return Ok(TickView::planned(&report.schedule, live, report.problems));
        }
        let started: Vec<RunId> = report.started.iter().map(|run| run.id.clone()).collect();
        let mut view = TickView::done(report);
        if self.wait && !started.is_empty() {
            view.runs = wait(app, installation, &started).context("wait for the runs")?;
            publish(installation).context("publish pull requests")?;
        }
        Ok(view)
    }
}

/// Publishes what the runs made ready, without waiting for the next tick.
fn publish(installation: &Installation) -> anyhow::Result<()> {
    let store = installation.require_store()?;
    if let Some(mut publisher) = start_publisher(installation, &store)? {
        publisher.wait()?;
    }
    Ok(())
}

/// Reports that another tick is running; one that is past a time limit is a failure, so that cron mails it.
fn busy(app: &App, late: Option<&Stuck>) -> anyhow::Result<Exit> {
    let view = TickView::busy(late);
    if !app.out.is_quiet() || app.out.is_json() || late.is_none() {
        app.out.answer(&view)?;
    }
    let Some(late) = late else {
        return Ok(Exit::Done);
    };
    if !app.out.is_json() {
        app.out.warn(&StuckTickView::from(late).text());
    }
    Ok(Exit::Busy)
}

/// Waits until runs are over and returns them as they ended.
fn wait(app: &App, installation: &Installation, runs: &[RunId]) -> anyhow::Result<Vec<RunView>> {
    let mut progress = Progress::quiet_about_ends(app.out, Stream::Silent);
    wait_for(installation, runs, |store| Ok(progress.look(store, runs)?))?;
    let store = installation.require_store()?;
    runs.iter()
        .map(|id| Ok(RunView::from(store.run(id)?)))
        .collect()
}
