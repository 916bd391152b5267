//! `symphony run`: ticks in a loop, at once when a run ends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, RunId};
use symphony_core::tick::{Hold, Reason};
use symphony_runner::cancel::end_if_live;
use symphony_runner::installation::Installation;
use symphony_runner::tick::{TickOptions, TickOutcome, tick};
use symphony_store::{RunFilter, Store};
use symphony_view::Elsewhere;
use symphony_view::text::{Clock, plural};
use symphony_view::{DecisionView, PrNewsView, RunView, TickView, TodayView, lines_of};

use crate::app::App;
use crate::command::service::WorkflowArgs;
use crate::failure::{Context as _, Exit, sentence};
use crate::interrupt::Interrupts;
use crate::news::News;
use crate::progress::{Progress, Stream};
use crate::reap::reap_supervisors;
use crate::sandbox_notice::note_once;
use crate::standstill::{breakers_of, open_breakers, standstill, waiting_after, waiting_items};

/// Time between two checks of the runs.
const LOOK: Duration = Duration::from_millis(200);
/// Time after which a loop that ends when nothing is left to do looks again, when a tick did something that needs no waiting for.
const SETTLING: Duration = Duration::from_secs(2);
/// What is due within this time is waited for by a loop that ends when nothing is left to do: the first try after a failure is
/// due after ten seconds.
const DUE_SOON_MS: i64 = 15_000;
/// Waits that are not worth a word, in milliseconds.
const SHORT_WAIT_MS: i64 = 2_000;

/// What `run` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "After Ctrl-C no new agents start, and running agents continue. A second Ctrl-C within three seconds ends them, too.\n\n\
                  With --until-idle the command ends when no agent can continue. Before that it waits for all retries of failed issues, and \
                  for other work that is due within 15 seconds. If other work is due later, it prints what and when, and exits \
                  with 1. It also exits with 1 if something waits that no tick can start, for example because no provider can be \
                  used. Items in your inbox do not count: it prints how many there are and exits with 0. The scanner and \
                  background research run once, and once more after other work.\n\nWith --workflow it runs an unchanged WORKFLOW.md of openai/symphony: it polls Linear, and Codex \
                  works on each issue in a separate folder, without Symphony's sandbox and without gates. State and logs are in \
                  .symphony/service/ next to the file.\n\nExamples:\n  symphony run --until-idle\n  symphony run --workflow WORKFLOW.md --port 4000"
)]
pub(crate) struct RunArgs {
    /// Seconds between two ticks; when a run ends, the next tick follows at once
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    interval: u64,
    /// End when no agent is running and none can start
    #[arg(long = "until-idle")]
    until_idle: bool,
    #[command(flatten)]
    workflow: WorkflowArgs,
}

/// A tick as an object of the stream.
#[derive(Debug, Serialize)]
struct TickEvent<'a> {
    event: &'static str,
    at: Timestamp,
    #[serde(flatten)]
    tick: &'a TickView,
}

impl RunArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        if let Some(file) = &self.workflow.workflow {
            return self.workflow.run(app, file);
        }
        let (installation, mut store) = app.surroundings.all_projects(app.out)?;
        note_once(app.out, &installation, &mut store);
        let breakers = if self.until_idle {
            open_breakers(&installation, &mut store).context("run")?
        } else {
            BTreeSet::new()
        };
        let news = News::begin(&store).context("run")?;
        let interrupts = Interrupts::listen().context("listen to Ctrl-C")?;
        let mut watch = Loop {
            app,
            installation,
            store,
            interrupts,
            progress: Progress::new(app.out, Stream::Events),
            live: Vec::new(),
            told: Vec::new(),
            waits: BTreeSet::new(),
            news,
            breakers_now: breakers.clone(),
            holds: Vec::new(),
            dues: Vec::new(),
            breakers,
            idle_since: self.until_idle.then(Timestamp::now),
        };
        watch
            .go_on(Duration::from_secs(self.interval), self.until_idle)
            .context("run")
    }
}

/// The loop while it runs.
#[derive(Debug)]
struct Loop<'a> {
    app: &'a App,
    installation: Installation,
    store: Store,
    interrupts: Interrupts,
    progress: Progress,
    /// Runs whose end was not reported yet.
    live: Vec<RunId>,
    /// The problems of the last tick.
    told: Vec<String>,
    /// What the last tick found to be started later, and when.
    waits: BTreeSet<(String, Timestamp)>,
    news: News,
    /// Issues whose circuit breaker was open before the loop began.
    breakers: BTreeSet<IssueId>,
    /// Those whose breaker the last tick found open.
    breakers_now: BTreeSet<IssueId>,
    /// What the last tick found on hold.
    holds: Vec<Hold>,
    /// When what waits may continue by itself, as the last tick found it.
    dues: Vec<Timestamp>,
    /// Since when no run on an issue or a plan was live; only a loop that ends when nothing is left to do asks.
    idle_since: Option<Timestamp>,
}

impl Loop<'_> {
    fn go_on(&mut self, interval: Duration, until_idle: bool) -> anyhow::Result<Exit> {
        let mut tick = self.tick()?;
        loop {
            if until_idle && self.is_idle(&tick)? {
                let exit = self.end_idle(&tick)?;
                self.say_today()?;
                return Ok(exit);
            }
            // what a tick did itself may be followed by more at once
            let has_acted = !tick.actions.is_empty() && tick.problems.is_empty();
            let is_settling = until_idle && self.live.is_empty() && has_acted;
            let interval = if is_settling {
                interval.min(SETTLING)
            } else {
                interval
            };
            if self.watch(interval)? {
                self.leave()?;
                self.say_today()?;
                return Ok(Exit::Done);
            }
            tick = match self.tick() {
                // a file that is being edited, a database that is busy: the loop outlives it, as cron would
                Err(error) if !until_idle => self.failed(&error),
                tick => tick?,
            };
        }
    }

    /// Ends an idle loop: as a failure when something waits that nothing will start.
    fn end_idle(&mut self, tick: &TickView) -> anyhow::Result<Exit> {
        let (items, _) = waiting_items(&self.installation, &mut self.store)?;
        let paused = self.store.paused_since()?;
        let stuck = standstill(tick, &self.breakers, &self.breakers_now, paused);
        Ok(match stuck {
            None => {
                self.progress.say(&nothing_left(items.len()));
                Exit::Done
            }
            Some(reason) => {
                self.progress.say(&reason);
                Exit::Failed
            }
        })
    }

    /// Tells that a tick failed.
    fn failed(&mut self, error: &anyhow::Error) -> TickView {
        let problem = format!("the tick failed: {}", sentence(error));
        if !self.told.contains(&problem) {
            self.progress.say(&format!("Problem: {problem}"));
        }
        self.told = vec![problem];
        TickView::busy(None)
    }

    /// Makes a tick and tells what it did.
    fn tick(&mut self) -> anyhow::Result<TickView> {
        // what the files say may have changed since the last one
        self.installation = self
            .app
            .surroundings
            .installation_at(self.installation.root.clone())?;
        let mut pull_requests = self.show_prs()?;
        let options = TickOptions {
            idle_since: self.idle_since,
            ..TickOptions::default()
        };
        let newest = self.newest_run()?;
        let mut seen = Vec::new();
        let mut view = match tick(&self.installation, &mut self.store, options)? {
            TickOutcome::Done(report) => {
                lines_of(&report.events).for_each(|line| self.progress.say(&line));
                let items = waiting_after(&report, &self.store)?;
                let elsewhere =
                    Elsewhere::load(self.app.surroundings.typed_in().as_deref(), &self.store)?;
                self.breakers_now = breakers_of(&items);
                let waiting = self.news.of_inbox(items, &elsewhere);
                self.holds.clone_from(&report.snapshot.holds);
                seen.extend(report.snapshot.live.iter().map(|live| live.run.clone()));
                let mut view = TickView::done(report);
                elsewhere.decisions(&mut self.store, &mut view.decisions)?;
                view.waiting = waiting;
                view
            }
            TickOutcome::Busy(late) => TickView::busy(late.as_ref()),
        };
        pull_requests.extend(self.show_prs()?);
        view.pull_requests = pull_requests;
        view.today = Some(self.today()?);
        if self.app.out.is_json() {
            let at = Timestamp::now();
            self.app.out.event(&TickEvent {
                event: "tick",
                at,
                tick: &view,
            })?;
        } else {
            // a problem that lasts is reported once
            for problem in view.problems.iter().filter(|p| !self.told.contains(p)) {
                self.progress.say(&format!("Problem: {problem}"));
            }
            self.told.clone_from(&view.problems);
            for item in &view.waiting {
                self.progress.say(&item.announcement(&Clock::system()));
            }
        }
        self.say_waits(&view)?;
        let dues = view.decisions.iter();
        self.dues = dues.filter_map(DecisionView::due_by_itself).collect();
        let is_work = |run: &RunView| run.issue.is_some() || run.plan.is_some();
        if view.runs.iter().any(is_work) {
            // it may have left something to find
            self.idle_since = self.idle_since.map(|_| Timestamp::now());
        }
        // The tick decided by what was at work when it looked. What has ended since then, or has begun since and may
        // have ended, is watched as well: otherwise a loop that ends when nothing is left to do would end before the
        // judge of a pull request whose gates have just passed.
        let started = view.runs.iter().map(|run| run.id.clone());
        let began = self
            .newest_run()?
            .filter(|run| newest.as_ref() != Some(run));
        let live = self.store.live_runs()?.into_iter().map(|run| run.id);
        for id in started.chain(seen).chain(began).chain(live) {
            if !self.live.contains(&id) {
                self.live.push(id);
            }
        }
        Ok(view)
    }

    /// Returns the run that began last.
    fn newest_run(&self) -> anyhow::Result<Option<RunId>> {
        let newest = RunFilter {
            limit: Some(1),
            ..RunFilter::default()
        };
        Ok(self.store.runs(&newest)?.pop().map(|run| run.id))
    }

    /// Reports once what will start later by itself, and when.
    fn say_waits(&mut self, tick: &TickView) -> anyhow::Result<()> {
        if tick.busy {
            // it has looked at nothing
            return Ok(());
        }
        let clock = Clock::system();
        let mut waits = BTreeMap::new();
        for decision in &tick.decisions {
            if let Some(due) = decision.due() {
                waits.insert((decision.subject(), due), decision.line(&clock));
            }
        }
        let retries = if self.is_stopped(tick)? {
            Vec::new()
        } else {
            self.store.retries(None)?
        };
        for retry in retries {
            let (issue, due) = (retry.issue.to_string(), retry.due_at);
            let line = format!(
                "{issue} is tried again {}: {}",
                clock.until(due),
                retry.reason
            );
            waits.insert((issue, due), line);
        }
        let now = clock.now().as_millisecond();
        for ((subject, due), line) in &waits {
            let is_long = due.as_millisecond() - now > SHORT_WAIT_MS;
            if is_long && !self.waits.contains(&(subject.clone(), *due)) {
                self.progress.say(line);
            }
        }
        self.waits = waits.into_keys().collect();
        Ok(())
    }

    fn today(&self) -> anyhow::Result<TodayView> {
        let now = Timestamp::now();
        Ok(TodayView::load(&self.store, None, &self.holds, now)?)
    }

    /// Says at the end what was spent today, and when something is due.
    fn say_today(&self) -> anyhow::Result<()> {
        for (name, value) in self.today()?.fields(&Clock::system()) {
            self.progress.say(&format!("{name}: {value}"));
        }
        Ok(())
    }

    /// Shows what happened to pull requests since it was last shown.
    fn show_prs(&mut self) -> anyhow::Result<Vec<PrNewsView>> {
        let news = self.news.of_prs(&self.store)?;
        for pr in &news {
            self.progress.say(pr.line());
        }
        Ok(news)
    }

    /// Says whether nothing will happen by itself any more: what waits for a human or for a provider may wait for long.
    fn is_idle(&self, tick: &TickView) -> anyhow::Result<bool> {
        if tick.busy || !self.live.is_empty() || !tick.actions.is_empty() {
            return Ok(false);
        }
        let waits_shortly = tick.decisions.iter().any(DecisionView::waits_shortly);
        let stopped = self.is_stopped(tick)?;
        let retries = !stopped && !self.store.retries(None)?.is_empty();
        let soon = Timestamp::now().as_millisecond() + DUE_SOON_MS;
        let is_soon = |due: &Timestamp| due.as_millisecond() <= soon;
        let due_soon = !self.store.is_paused()? && self.dues.iter().any(is_soon);
        Ok(!waits_shortly && !retries && !due_soon)
    }

    /// Says whether a pause or a hold keeps back what has its time.
    fn is_stopped(&self, tick: &TickView) -> anyhow::Result<bool> {
        // a full spending cap holds its project without a record of its own
        let is_held = tick
            .decisions
            .iter()
            .flat_map(|decision| &decision.reasons)
            .any(|reason| matches!(reason.reason, Reason::Held { .. }));
        Ok(is_held || self.store.is_paused()? || !self.store.holds()?.is_empty())
    }

    /// Shows the runs until the next tick is due; says whether Ctrl-C was pressed.
    fn watch(&mut self, interval: Duration) -> anyhow::Result<bool> {
        let begun = Instant::now();
        let now = Timestamp::now();
        let waits = self.waits.iter().map(|(_, due)| *due);
        let due = waits
            .chain(self.dues.iter().copied())
            .filter(|due| *due > now)
            .min();
        loop {
            self.progress.look(&self.store, &self.live)?;
            reap_supervisors();
            if self.interrupts.count() > 0 {
                return Ok(true);
            }
            let before = self.live.len();
            self.live.retain(|id| !self.progress.has_told_end(id));
            if self.live.len() < before
                || begun.elapsed() >= interval
                || due.is_some_and(|due| due <= Timestamp::now())
            {
                return Ok(false);
            }
            self.interrupts.wait(LOOK);
        }
    }

    /// Leaves the agents to their supervisors, or ends them after a second Ctrl-C.
    fn leave(&mut self) -> anyhow::Result<()> {
        let live: Vec<RunId> = self
            .store
            .live_runs()?
            .into_iter()
            .map(|run| run.id)
            .collect();
        if live.is_empty() {
            return Ok(());
        }
        let agents = plural(live.len(), "agent");
        self.progress.say(&format!(
            "No new agent starts. {agents} still running; press Ctrl-C again to end them."
        ));
        if self.interrupts.wait_for_second() {
            return self.end(&live);
        }
        self.progress
            .say("They continue without this command: `symphony status` shows them.");
        Ok(())
    }

    fn end(&mut self, live: &[RunId]) -> anyhow::Result<()> {
        self.progress.say("Ending them. Their work is kept.");
        for id in live {
            end_if_live(&self.installation, &mut self.store, &App::as_human(), id)
                .with_context(|| format!("end run {id}"))?;
        }
        self.progress.look(&self.store, live)?;
        Ok(())
    }
}

/// Says that no agent has anything to do, and how much waits for a person.
fn nothing_left(waiting: usize) -> String {
    match waiting {
        0 => "All done: no issue is ready for an agent.".to_owned(),
        1 => "No issue is ready for an agent. 1 thing waits for you: `symphony inbox` shows it."
            .to_owned(),
        more => format!(
            "No issue is ready for an agent. {more} things wait for you: `symphony inbox` lists them."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_called_all_done_while_something_waits_for_a_person() {
        for (waiting, expected) in [
            (0, "All done: no issue is ready for an agent."),
            (
                1,
                "No issue is ready for an agent. 1 thing waits for you: `symphony inbox` shows it.",
            ),
            (
                2,
                "No issue is ready for an agent. 2 things wait for you: `symphony inbox` lists them.",
            ),
        ] {
            assert_eq!(nothing_left(waiting), expected);
        }
    }
}
