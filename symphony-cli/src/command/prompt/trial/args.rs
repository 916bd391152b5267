//! What `prompt trial` takes, and its course.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use symphony_core::config::ProviderName;
use symphony_core::prompt_trial::{
    CaseEnd, CaseOutcome, Pairing, PlannedCase, TrialName, case_outcome,
};
use symphony_core::prompt_trial::{CaseFacts, HandIn};
use symphony_core::unit::UsdMicros;
use symphony_runner::prompts::preview::provider_of;

use super::case::{Case, SetUp};
use super::drive::{Driven, drive, sum_up};
use super::folder::{Beginning, TrialFolder, remove};
use super::issues::read_issues;
use super::live;
use super::lock::TrialLock;
use super::sets::{NamedSet, both, check};
use super::view::{TrialView, outcome_line};
use crate::app::App;
use crate::document::{DocumentSource, read_text};
use crate::failure::{Exit, Stop};
use crate::interrupt::Interrupts;
use crate::place::Session;
use crate::progress::{Progress, Stream};
use crate::value::named;

/// What `prompt trial` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Each issue is done again in a throwaway repository that ends at its recorded base commit, with one of the two sets of \
                  prompts in place of `prompts_dir`. Which one is decided by a hash of the issue, half and half. The project itself is \
                  only read: nothing is merged or published. Agents and judges are paid as always: --max-cost and --max-tokens stop \
                  before the next case.\n\nCtrl-C stops a trial, and the same command goes on with it; so does --name alone. Cases are \
                  kept below `.symphony/trials/NAME`; remove the folder to begin again.\n\nThe report calls a measure higher or lower \
                  with B only where the 95% interval of the difference excludes none and each set has five cases.\n\n\
                  In real work, `prompts.trial` in the configuration gives a share of the issues the set B, and --live prints the same \
                  report on those that have ended.\n\n\
                  Examples:\n  symphony prompt record issues.json\n  symphony prompt trial --name shorter --set A=.symphony/prompts --set \
                  B=prompts-new --issues issues.json\n  symphony prompt trial --name shorter --report\n  symphony prompt trial --live"
)]
pub(crate) struct TrialArgs {
    /// The trial's name; it decides which issue gets which set
    #[arg(long, value_name = "NAME", default_value = "trial", value_parser = TrialName::parse)]
    name: TrialName,
    /// A set and its folder; both are needed to begin
    #[arg(long = "set", value_name = "A|B=DIR", requires = "issues")]
    sets: Vec<NamedSet>,
    /// The issues, as `symphony prompt record` writes them
    #[arg(long, value_name = "FILE", requires = "sets")]
    issues: Option<PathBuf>,
    /// The program that runs the agents; by default the project's
    #[arg(long, value_name = "PROVIDER", requires = "sets", value_parser = named(ProviderName::NAMES, ProviderName::parse))]
    provider: Option<ProviderName>,
    /// Do each issue with both sets
    #[arg(long, requires = "sets")]
    both: bool,
    /// Start no case once this many US dollars were spent, where the provider tells its costs
    #[arg(long, value_name = "USD", conflicts_with = "report")]
    max_cost: Option<f64>,
    /// Start no case once this many tokens were used
    #[arg(long, value_name = "TOKENS", conflicts_with = "report")]
    max_tokens: Option<u64>,
    /// Keep the throwaway repositories
    #[arg(long, conflicts_with = "report")]
    keep: bool,
    /// Only print the report on the cases that have ended
    #[arg(long, conflicts_with = "sets")]
    report: bool,
    /// Print the report on a trial in real work: the one in `prompts.trial`, or the named one
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
        let what = "run the trial";
        // held until the report is printed
        let (folder, _lock) = self.folder(app, &real).context(what)?;
        let stopped = if self.report {
            None
        } else {
            self.go_on(app, &real, &folder).context(what)?
        };
        let ended = ended(&folder)?.into_iter().map(|(_, outcome)| outcome);
        app.out
            .answer_long(&TrialView::new(&folder, ended.collect()))?;
        let hint = format!("`symphony prompt trial --name {}` goes on", self.name);
        match stopped {
            None => Ok(()),
            Some(Stopped::Limit(reason)) => {
                app.out.note(&format!("Stopped: {reason}. {hint}."));
                Ok(())
            }
            Some(Stopped::Failure(reason)) => {
                let message = format!("{what} to its end: {reason}");
                Err(Stop::new(Exit::Failed, message).hint(hint).into())
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
                let message = format!("find the trial {}: none was begun", self.name);
                Stop::new(Exit::NotFound, message)
                    .hint("begin one with `--set A=DIR --set B=DIR --issues FILE`")
            })?;
            let lock = if self.report {
                None
            } else {
                Some(TrialLock::take(&path, &self.name)?)
            };
            return Ok((begun, lock));
        };
        let sets = both(&self.sets, &app.surroundings.current)?;
        if sets.len() < 2 {
            return Err(Stop::new(Exit::Usage, "begin a trial: one set is missing")
                .hint("name both: `--set A=DIR --set B=DIR`")
                .into());
        }
        for (set, folder) in &sets {
            check(real, *set, folder)?;
        }
        let source = DocumentSource {
            input: issues.clone(),
        };
        let issues = read_issues(&issues.display().to_string(), &read_text(app, &source)?)?;
        let provider = provider_of(&real.installation, &real.config()?, self.provider);
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
            if let Some(limit) = self.limit(folder)? {
                return Ok(Some(Stopped::Limit(limit)));
            }
            progress.say(&format!(
                "{} with {} ({} of {})",
                planned.issue,
                planned.set,
                index + 1,
                cases.len()
            ));
            match self.one(app, real, folder, planned, (&mut progress, &interrupts))? {
                Ok(outcome) => progress.say(&outcome_line(&outcome)),
                Err(reason) => return Ok(Some(Stopped::Failure(reason))),
            }
        }
        Ok(None)
    }

    /// Runs one case and records what it came to; or says why the trial cannot go on.
    fn one(
        &self,
        app: &App,
        real: &Session,
        folder: &TrialFolder,
        planned: &PlannedCase,
        (progress, interrupts): (&mut Progress, &Interrupts),
    ) -> anyhow::Result<Result<CaseOutcome, String>> {
        let known = folder.issues.issues.iter();
        let issue = known
            .clone()
            .find(|issue| issue.id == planned.issue)
            .context("find the issue of a case")?;
        let case = Case {
            folder,
            planned,
            issue,
        };
        let outcome = match case.set_up(app, real)? {
            SetUp::Impossible(reason) => left_out(planned, reason),
            SetUp::Ready(mut session) => {
                match drive(&mut session, &issue.id, progress, interrupts)? {
                    Driven::Ended(end) => sum_up(&session, &issue.id, planned.set, end)?,
                    Driven::Outage(reason) => return Ok(Err(reason)),
                    Driven::Interrupted => return Ok(Err("it was interrupted".to_owned())),
                }
            }
        };
        folder.record(planned, &outcome)?;
        if !self.keep {
            case.clear(app)?;
            // the last case leaves no empty folder
            remove(&folder.work(planned))?;
        }
        Ok(Ok(outcome))
    }

    /// Returns which limit is reached, if one is.
    fn limit(&self, folder: &TrialFolder) -> anyhow::Result<Option<String>> {
        let ended = ended(folder)?;
        let tokens = ended.iter().map(|(_, outcome)| outcome.tokens.get());
        let tokens = tokens.fold(0, u64::saturating_add);
        if self.max_tokens.is_some_and(|limit| tokens >= limit) {
            return Ok(Some(format!("{tokens} tokens were used")));
        }
        let costs = ended.iter().filter_map(|(_, outcome)| outcome.cost);
        let usd: f64 = costs.map(UsdMicros::usd).sum();
        if self.max_cost.is_some_and(|limit| usd >= limit) {
            return Ok(Some(format!("${usd:.2} were spent")));
        }
        Ok(None)
    }
}

/// Returns the cases that have ended.
fn ended(folder: &TrialFolder) -> anyhow::Result<Vec<(PlannedCase, CaseOutcome)>> {
    let mut ended = Vec::new();
    for planned in folder.cases() {
        if let Some(outcome) = folder.outcome(&planned)? {
            ended.push((planned, outcome));
        }
    }
    Ok(ended)
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
