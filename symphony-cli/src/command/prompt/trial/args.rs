//! What `prompt trial` takes, and its course.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use symphony_core::config::NamedProvider;
use symphony_core::prompt_trial::{
    CaseEnd, CaseOutcome, Pairing, PlannedCase, PromptSet, TrialName, case_outcome,
};
use symphony_core::prompt_trial::{CaseFacts, HandIn};
use symphony_runner::prompts::library::PromptLibrary;
use symphony_runner::prompts::preview::provider_of;
use symphony_runner::session::Session;

use super::case::{Case, SetUp};
use super::drive::{Driven, drive, sum_up};
use super::folder::{Beginning, TrialFolder, remove};
use super::issues::read_issues;
use super::limits::Limits;
use super::live;
use super::lock::TrialLock;
use super::sets::{NamedSet, both, check};
use super::view::{TrialView, outcome_line};
use crate::app::App;
use crate::document::{DocumentSource, read_text};
use crate::failure::{Context as _, Exit, Stop};
use crate::interrupt::Interrupts;
use crate::progress::{Progress, Stream};
use crate::value::ProviderParser;

/// What `prompt trial` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Symphony repeats each issue in a throwaway repository whose history ends at the recorded base commit, with one of the two \
                  sets of prompts in place of `prompts_dir`. A hash of the trial's name and the issue decides which; each set gets half of the issues. The \
                  project itself is only read: nothing is merged or published. Agents and judges cost as much as in real work. --max-cost \
                  and --max-tokens are checked before each case; they also count cases that were interrupted and have to be \
                  repeated.\n\nPress Ctrl-C to stop a trial. The same command continues it, and so does --name alone; give the \
                  limits again. Finished cases are kept in `.symphony/trials/NAME`; remove the folder to start over.\n\nThe report says \
                  that a measure is higher or lower with B only if the 95% interval of the difference excludes 0 and each set has at \
                  least five cases.\n\nIn real work, `prompts.trial` in the configuration gives the set B to a share of the issues, and \
                  --live prints the same report on those that have ended.\n\n\
                  Examples:\n  symphony prompt record issues.json\n  symphony prompt trial --name shorter --set A=.symphony/prompts --set \
                  B=prompts-new --issues issues.json\n  symphony prompt trial --name shorter --report\n  symphony prompt trial --live"
)]
pub(crate) struct TrialArgs {
    /// The trial's name; it decides which issue gets which set
    #[arg(long, value_name = "NAME", default_value = "trial", value_parser = TrialName::parse)]
    name: TrialName,
    /// A set of prompts and its folder; a new trial needs both A and B
    #[arg(long = "set", value_name = "A|B=DIR", requires = "issues")]
    sets: Vec<NamedSet>,
    /// The issues to repeat, as `symphony prompt record` writes them
    #[arg(long, value_name = "FILE", requires = "sets")]
    issues: Option<PathBuf>,
    /// The program that runs the agents; by default the project's
    #[arg(long, value_name = "PROVIDER", requires = "sets", value_parser = ProviderParser)]
    provider: Option<NamedProvider>,
    /// Repeat each issue with both sets
    #[arg(long, requires = "sets")]
    both: bool,
    #[command(flatten)]
    limits: Limits,
    /// Keep the throwaway repositories
    #[arg(long, conflicts_with = "report")]
    keep: bool,
    /// Print the report on the cases that have ended, and run nothing
    #[arg(long, conflicts_with = "sets")]
    report: bool,
    /// Print the report on a trial in real work: NAME, or else the one in `prompts.trial`
    #[arg(
        long, value_name = "NAME", num_args = 0..=1, value_parser = TrialName::parse,
        conflicts_with_all = ["name", "sets", "issues", "provider", "both", "max_cost", "max_tokens", "keep", "report"]
    )]
    #[expect(
        clippy::option_option,
        reason = "clap's form of a flag whose value may be left out"
    )]
    live: Option<Option<TrialName>>,
}

/// Why a trial did not run to its end.
#[derive(Debug)]
enum Stopped {
    /// A limit of the command line.
    Limit(String),
    /// Something that the next case would meet, too, or Ctrl-C.
    Failure(String),
}

impl TrialArgs {
    pub(in crate::command::prompt) fn run(&self, app: &App) -> anyhow::Result<()> {
        let real = app.session()?;
        if let Some(name) = &self.live {
            return live::report(app, &real, name.as_ref());
        }
        let what = if self.report {
            "report on the trial"
        } else {
            "run the trial"
        };
        // held until the report is printed
        let (folder, _lock) = self.folder(app, &real).context(what)?;
        let stopped = if self.report {
            None
        } else {
            self.go_on(app, &real, &folder).context(what)?
        };
        let spent = folder.spending()?;
        app.out
            .answer_long(&TrialView::new(&folder, folder.ended()?, spent))?;
        if let Some(unseen) = self.limits.unseen(&spent) {
            app.out.warn(&unseen);
        }
        match stopped {
            None => Ok(()),
            Some(Stopped::Limit(reason)) => {
                app.out.note(&format!(
                    "The trial stopped before its next case: {reason}. To continue it, run the command again with a \
                     higher limit."
                ));
                Ok(())
            }
            Some(Stopped::Failure(reason)) => {
                let hint = format!("`{}` continues it", self.limits.command(&self.name));
                Err(Stop::new(Exit::Failed, reason).hint(hint)).context(what)
            }
        }
    }

    /// Begins the trial, or opens the one that was begun, with its lock; a report needs none.
    fn folder(
        &self,
        app: &App,
        real: &Session,
    ) -> anyhow::Result<(TrialFolder, Option<TrialLock>)> {
        let path = TrialFolder::place(&real.project.root, &self.name);
        let Some(issues) = &self.issues else {
            let begun = TrialFolder::open(path.clone())?.ok_or_else(|| {
                let name = &self.name;
                let message = format!("this project has no trial named {name}");
                Stop::new(Exit::NotFound, message).hint(format!(
                    "start it with `symphony prompt trial --name {name} --set A=DIR --set B=DIR --issues FILE`"
                ))
            })?;
            let lock = if self.report {
                None
            } else {
                Some(TrialLock::take(&path, &self.name)?)
            };
            return Ok((begun, lock));
        };
        let sets = self.checked_sets(app, real).inspect_err(|_refused| {
            if TrialFolder::is_begun(&path) {
                app.out.note(&format!(
                    "The trial {name} has its own copies of its sets: `symphony prompt trial --name {name}` continues it with them.",
                    name = self.name
                ));
            }
        })?;
        let source = DocumentSource {
            input: issues.clone(),
        };
        let issues = read_issues(&issues.display().to_string(), &read_text(app, &source)?)?;
        let provider = provider_of(&real.installation, &real.config()?, self.provider.clone());
        let beginning = Beginning {
            name: self.name.clone(),
            sets,
            provider,
            pairing: if self.both {
                Pairing::Both
            } else {
                Pairing::One
            },
            issues,
        };
        let lock = TrialLock::take(&path, &self.name)?;
        Ok((TrialFolder::begin(path, beginning)?, Some(lock)))
    }

    /// Returns the two sets of the command line, once they can be used.
    fn checked_sets(
        &self,
        app: &App,
        real: &Session,
    ) -> anyhow::Result<BTreeMap<PromptSet, PathBuf>> {
        let sets = both(&self.sets, &app.surroundings.current)?;
        if sets.len() < 2 {
            return Err(Stop::new(Exit::Usage, "one of the two sets is missing")
                .hint("name both: `--set A=DIR --set B=DIR`")
                .into());
        }
        for (set, folder) in &sets {
            for warning in check(real, *set, folder)? {
                app.out.warn(&warning);
            }
        }
        Self::warn_of_equal_sets(app, real, &sets)?;
        Ok(sets)
    }

    /// Says when the sets do not differ. A trial of equal sets is allowed: it shows how much chance alone makes them differ.
    fn warn_of_equal_sets(
        app: &App,
        real: &Session,
        sets: &BTreeMap<PromptSet, PathBuf>,
    ) -> anyhow::Result<()> {
        let shipped = &real.installation.shipped;
        let libraries = sets
            .values()
            .map(|folder| PromptLibrary::load(shipped, folder));
        let libraries = libraries.collect::<Result<Vec<_>, _>>()?;
        if let [a, b] = libraries.as_slice()
            && a.reads_like(b)?
        {
            app.out.warn(
                "Agents read the same texts with set A and set B, so any difference between the sets is chance.",
            );
        }
        Ok(())
    }

    /// Runs the cases that have not ended.
    fn go_on(
        &self,
        app: &App,
        real: &Session,
        folder: &TrialFolder,
    ) -> anyhow::Result<Option<Stopped>> {
        let interrupts = Interrupts::listen().context("listen to Ctrl-C")?;
        let mut progress = Progress::quiet_about_ends(app.out, Stream::Silent);
        let cases = folder.cases();
        for (index, planned) in cases.iter().enumerate() {
            if folder.outcome(planned)?.is_some() {
                continue;
            }
            folder.require_copies()?;
            let case = Case::of(folder, planned)?;
            // what a try that was cut off has spent counts, too
            case.settle(app)?;
            if let Some(limit) = self.limits.reached(&folder.spending()?) {
                return Ok(Some(Stopped::Limit(limit)));
            }
            progress.say(&format!(
                "{} with {} ({} of {})",
                planned.issue,
                planned.set,
                index + 1,
                cases.len()
            ));
            match self.one(app, real, &case, &mut progress, &interrupts)? {
                Ok(outcome) => progress.say(&outcome_line(&outcome)),
                Err(reason) => return Ok(Some(Stopped::Failure(reason))),
            }
        }
        Ok(None)
    }

    /// Runs one case and records its result; or says why the trial cannot continue.
    fn one(
        &self,
        app: &App,
        real: &Session,
        case: &Case<'_>,
        progress: &mut Progress,
        interrupts: &Interrupts,
    ) -> anyhow::Result<Result<CaseOutcome, String>> {
        let (planned, id) = (case.planned, &case.issue.id);
        let outcome = match case.set_up(app, real)? {
            SetUp::Impossible(reason) => left_out(planned, reason),
            SetUp::Ready(mut session) => {
                let driven = drive(&mut session, id, progress, interrupts)?;
                case.settle(app)?;
                match driven {
                    Driven::Ended(end) => sum_up(&session, id, planned.set, end)?,
                    Driven::Outage(reason) => return Ok(Err(reason)),
                    Driven::Interrupted => return Ok(Err("it was interrupted".to_owned())),
                }
            }
        };
        case.folder.record(planned, &outcome)?;
        if !self.keep {
            case.clear(app)?;
            // the last case leaves no empty folder
            remove(&case.folder.work(planned))?;
        }
        Ok(Ok(outcome))
    }
}

fn left_out(planned: &PlannedCase, reason: String) -> CaseOutcome {
    case_outcome(CaseFacts {
        issue: planned.issue.clone(),
        set: planned.set,
        end: CaseEnd::LeftOut { reason },
        has_gates: false,
        first: HandIn::None,
        runs: Vec::new(),
    })
}
