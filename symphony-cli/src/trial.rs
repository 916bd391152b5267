//! Trying the gates before an agent is paid: what a person sees meanwhile, and the result.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Serialize, Serializer};
use symphony_core::Timestamp;
use symphony_core::asker::Asker;
use symphony_core::config::{CommandLine, ProjectConfig};
use symphony_core::gates::{
    GateRepair, KnownGates, RedOnBase, base_red_text, telling_lines, way_to_repair,
};
use symphony_core::id::ProjectId;
use symphony_core::outside::BaseNotice;
use symphony_core::tick::HoldScope;
use symphony_core::trial::{Trial, TrialOutcome, TrialStep};
use symphony_core::wording::capitalised;
use symphony_runner::gates::record_trial;
use symphony_runner::installation::Installation;
use symphony_runner::repository::open_repository;
use symphony_runner::trial::{TrialRequest, TrialWatch, keep_trial};
use symphony_store::{Context, Project};
use symphony_view::text::{Page, compact_duration, one_line};
use symphony_view::write_refused;
use symphony_workspace::config_file::{CONFIG_FILE_NAME, remove_old_remarks};

use crate::app::App;
use crate::failure::Context as _;
use crate::interrupt::Interrupts;
use crate::output::Output;
use crate::permission::identify_asker;

/// Time of a trial unless the person says otherwise: a cold build of a large project, and its tests.
pub(crate) const SECONDS_DEFAULT: u64 = 900;
/// Longest trial: a day.
pub(crate) const SECONDS_MAX: u64 = 86_400;
/// Time between two frames of the spinner.
const FRAME: Duration = Duration::from_millis(120);
/// Lines of output that are shown of a red command; its log has all of them.
const LINES_MAX: usize = 8;
/// Characters of a command in the spinner's line.
const COMMAND_CHARS_MAX: usize = 60;

/// Tries set-up and gates on the base branch; Ctrl-C ends the trial and keeps what it found.
///
/// # Errors
/// When there is no base branch, or no checkout can be made. Red gates are no error.
pub(crate) fn try_gates(
    out: Output,
    installation: &Installation,
    project: &Project,
    config: &ProjectConfig,
    seconds: u64,
) -> anyhow::Result<Trial> {
    let mut spinner = Spinner {
        bar: out.is_watched().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(FRAME);
            bar.set_message("checking out the base branch (Ctrl-C ends the trial)");
            bar
        }),
        interrupts: Interrupts::listen().context("listen to Ctrl-C")?,
    };
    let request = TrialRequest {
        installation,
        project,
        config,
        limit: Duration::from_secs(seconds),
    };
    let tried = request.run(&mut spinner).context("try the gates");
    if let Some(bar) = &spinner.bar {
        bar.finish_and_clear();
    }
    let (trial, notices) = tried?;
    for notice in &notices {
        note_change(out, installation, notice)?;
    }
    Ok(trial)
}

/// Shows what changed while the gates ran, and keeps it in the inbox until a person dismisses it.
fn note_change(
    out: Output,
    installation: &Installation,
    notice: &BaseNotice,
) -> anyhow::Result<()> {
    let mut store = installation.require_store()?;
    store
        .note_base(&Context::system(Timestamp::now()), notice)
        .context("record what changed while the gates ran")?;
    out.warn(&format!(
        "{}. Symphony left it as it is; `symphony inbox` keeps this notice until you dismiss it.",
        capitalised(&notice.text)
    ));
    Ok(())
}

/// Records the result of a trial: what is red holds the project before its first worker, until it is green. An agent's trial is
/// only shown: its environment may be its own work.
///
/// # Errors
/// When the database cannot be written.
pub(crate) fn note_trial(
    app: &App,
    installation: &Installation,
    project: &Project,
    config: &ProjectConfig,
    trial: &Trial,
) -> anyhow::Result<()> {
    if matches!(identify_asker(&app.surroundings)?, Asker::Agent(_)) {
        return Ok(());
    }
    let mut store = installation.require_store()?;
    record_trial(&mut store, &App::as_human(), project, config, trial)
        .context("record the result of trying the gates")?;
    keep_trial(project, config, trial).context("save the result of trying the gates")?;
    // a file that is committed is changed by a person
    let repository = open_repository(project, config)?;
    if !repository.tracks(CONFIG_FILE_NAME)? {
        remove_old_remarks(&project.root, trial)
            .context("remove old comments from the configuration")?;
    }
    Ok(())
}

/// Advises to copy what a red command misses, and what is in the project's folder, where git ignores it: no checkout has it.
/// None where nothing is missing so.
pub(crate) fn copy_advice(
    project: &Project,
    config: &ProjectConfig,
    trial: &Trial,
) -> Option<String> {
    let repository = open_repository(project, config).ok()?;
    let is_left_out = |path: &String| {
        let parent = Path::new(path)
            .parent()
            .filter(|parent| *parent != Path::new(""));
        // what is ignored with its whole folder is made by tools
        let is_made =
            parent.is_some_and(|parent| repository.ignores(&format!("{}/", parent.display())));
        !is_made && project.root.join(path).is_file() && repository.ignores(path)
    };
    let red = trial.steps().filter(|step| step.is_red());
    let missing: BTreeSet<String> = red.flat_map(TrialStep::missing_files).collect();
    let missing: Vec<String> = missing.into_iter().filter(is_left_out).collect();
    if missing.is_empty() {
        return None;
    }
    let copied: BTreeSet<&String> = config.worktree.copy.iter().chain(&missing).collect();
    let copied: Vec<String> = copied
        .into_iter()
        .map(|path| format!("\"{path}\""))
        .collect();
    let (is, it) = if missing.len() == 1 {
        ("is", "it")
    } else {
        ("are", "them")
    };
    Some(format!(
        "{} {is} in your folder, but git ignores {it}, so no checkout has {it}: `symphony config set worktree.copy '[{}]'` \
         copies {it} into each",
        missing.join(", "),
        copied.join(", ")
    ))
}

struct Spinner {
    bar: Option<ProgressBar>,
    interrupts: Interrupts,
}

impl TrialWatch for Spinner {
    fn begins(&mut self, name: &str, command: &CommandLine) {
        if let Some(bar) = &self.bar {
            let command: String = command
                .to_string()
                .chars()
                .take(COMMAND_CHARS_MAX)
                .collect();
            let line = format!("trying {name}: {command} (Ctrl-C ends the trial)");
            bar.reset_elapsed();
            bar.set_message(one_line(&line).into_owned());
        }
    }

    fn ended(&mut self, step: &TrialStep) {
        if let Some(bar) = &self.bar {
            let took = compact_duration(step.duration_ms);
            bar.println(one_line(&format!("{}: {}, {took}", step.name, step.how())));
        }
    }

    fn is_stopped(&self) -> bool {
        self.interrupts.count() > 0
    }
}

/// Whether a red base keeps the agents of a project from being started, and what is under way.
#[derive(Debug, Clone)]
pub(crate) struct BaseHold {
    /// Whether it does. It does not when no one noted it, or `symphony resume` lifted the hold.
    is_on_hold: bool,
    /// The issues that are to repair gates.
    repairs: Vec<GateRepair>,
}

impl Serialize for BaseHold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if self.is_on_hold { "on_hold" } else { "none" })
    }
}

impl BaseHold {
    /// Reads whether a project is on hold for its base, and who repairs it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn load(installation: &Installation, project: &ProjectId) -> anyhow::Result<Self> {
        let scope = HoldScope::Gates(project.clone());
        let store = installation.require_store()?;
        Ok(Self {
            is_on_hold: store.holds()?.iter().any(|hold| hold.scope == scope),
            repairs: store.gate_repairs(project)?,
        })
    }
}

/// Writes how a trial came out, and whether the project is on hold for it now.
pub(crate) fn write_trial(trial: &Trial, hold: &BaseHold, page: &mut Page) {
    let commit: String = trial.commit.chars().take(10).collect();
    page.heading(&format!(
        "Tried in a fresh checkout of {} ({commit}):",
        trial.base
    ));
    let names = trial.steps().map(|step| step.name.chars().count());
    let width = names.max().unwrap_or_default();
    for step in trial.steps() {
        let took = compact_duration(step.duration_ms);
        let name = &step.name;
        let optional = if step.required { "" } else { " (optional)" };
        page.line(&match step.outcome {
            TrialOutcome::Passed => format!("  passed     {name:<width$}  in {took}{optional}"),
            TrialOutcome::Failed => {
                format!(
                    "  failed     {name:<width$}  {} after {took}{optional}",
                    step.how()
                )
            }
            TrialOutcome::Missing => {
                format!("  missing    {name:<width$}  {}{optional}", step.how())
            }
            TrialOutcome::NotTried => {
                format!("  not tried  {name:<width$}  {}{optional}", step.how())
            }
        });
        if step.is_red() {
            for line in telling_lines(&step.output, LINES_MAX) {
                page.line(&format!("               | {line}"));
            }
        }
    }
    write_refused(&trial.network, page);
    write_conclusion(trial, hold, page);
}

/// Says what a person has to do before agents start, command by command.
fn write_conclusion(trial: &Trial, hold: &BaseHold, page: &mut Page) {
    let blocking: Vec<&TrialStep> = trial.blocking().collect();
    if blocking.is_empty() {
        let passed = |step: &TrialStep| step.outcome == TrialOutcome::Passed;
        if trial.steps().all(passed) {
            page.line("All gates pass.");
        } else if trial
            .steps()
            .any(|step| step.outcome == TrialOutcome::NotTried)
        {
            page.line(
                "`symphony doctor --gates` tries the rest; `--try-limit SECONDS` allows more time.",
            );
        }
        return;
    }
    let names = names(&blocking);
    let verb = if blocking.len() == 1 { "is" } else { "are" };
    page.line(&format!(
        "{names} {verb} red on {}, so no change can pass. Before you start agents:",
        trial.base
    ));
    if let Some(programs) = missing_programs(&blocking) {
        page.line(&format!(
            "  install {programs}, or put its folder into PATH"
        ));
    }
    let failed: Vec<&TrialStep> = trial
        .gates
        .iter()
        .filter(|gate| gate.required && gate.is_red())
        .collect();
    if let Some(first) = failed.first() {
        let index = trial.gates.iter().position(|gate| gate.name == first.name);
        let index = index.unwrap_or_default();
        page.line(&format!(
            "  fix what makes {} fail on {}, and commit the fix; or change the command: symphony config set 'gates[{index}].command' 'COMMAND'",
            self::names(&failed),
            trial.base
        ));
    }
    if trial.setup.as_ref().is_some_and(TrialStep::is_red) {
        page.line(
            "  fix what the set-up needs (a program, the network), or change the command: symphony config set \
             worktree.setup 'COMMAND'",
        );
    }
    page.line("  try again: symphony doctor --gates (the whole output is in .symphony/trial/)");
    page.line(if hold.is_on_hold {
        "Until then the project is on hold and no agent starts: symphony inbox shows the hold."
    } else {
        "The project is not on hold: agents start anyway, and cost money for changes that cannot pass."
    });
    if let Some(gate) = failed
        .first()
        .filter(|_| !trial.setup.as_ref().is_some_and(TrialStep::is_red))
    {
        let text = base_red_text(&trial.base, &trial.commit, &[RedOnBase::from(*gate)]);
        let gates = KnownGates {
            names: Vec::new(),
            repairs: hold.repairs.clone(),
            has_moved: false,
        };
        let is_under_way = gates.repair_under_way(&text).is_some();
        if let Some(repair) = way_to_repair(&text, &gates) {
            let who = if is_under_way {
                "There is an issue to repair it"
            } else {
                "Or let an agent repair it"
            };
            page.line(&format!("{who}: {repair}"));
        }
    }
}

fn names(steps: &[&TrialStep]) -> String {
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    names.join(", ")
}

/// Returns the programs that were missing, as a person would list them.
fn missing_programs(steps: &[&TrialStep]) -> Option<String> {
    let mut programs: Vec<&str> = Vec::new();
    for step in steps {
        if step.outcome == TrialOutcome::Missing {
            let program = step.missing_program().unwrap_or("the missing program");
            if !programs.contains(&program) {
                programs.push(program);
            }
        }
    }
    (!programs.is_empty()).then(|| programs.join(", "))
}
