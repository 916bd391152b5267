//! Set-up and gates: whether their programs are there, and with `symphony doctor --gates` how they come out on the base branch.

use serde::Serialize;
use symphony_core::config::ProjectConfig;
use symphony_core::gates::{KnownGates, ways_on};
use symphony_core::tick::HoldScope;
use symphony_core::trial::Trial;
use symphony_runner::environment::agent_search_path;
use symphony_runner::gates::has_moved;
use symphony_runner::installation::Installation;
use symphony_runner::provider::detect::find_program;
use symphony_store::Project;
use symphony_view::text::{Page, View};

use super::check::CheckView;
use super::programs::programs_of;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::trial::{BaseHold, copy_advice, note_trial, try_gates, write_trial};

/// A trial, and whether the project is on hold for it.
#[derive(Debug, Serialize)]
struct TrialView {
    #[serde(flatten)]
    trial: Trial,
    base_hold: BaseHold,
}

impl View for TrialView {
    fn write(&self, page: &mut Page) {
        write_trial(&self.trial, &self.base_hold, page);
    }
}

/// Looks for the programs of set-up and gates in the search path that these get. What the set-up itself brings is not
/// looked for, and nothing is run.
pub(super) fn check_gates(
    installation: &Installation,
    config: &ProjectConfig,
    project: &Project,
) -> CheckView {
    const CHECK: &str = "gates";
    const ADD: &str =
        "`symphony config set gates '[{\"name\": \"test\", \"command\": \"make test\"}]'`";
    if config.gates.is_empty() {
        let detail = "none: nothing verifies what agents do, so changes are marked `unverified`";
        return CheckView::warning(CHECK, detail, ADD);
    }
    if let Some(missing) = missing_programs(installation, config) {
        return CheckView::failed(CHECK, &missing, INSTALL);
    }
    if let Some((red, gates)) = known_red(installation, project, config) {
        let ways = ways_on(&red, &gates)
            .into_iter()
            .map(|way| format!("`{way}`"));
        let ways: Vec<String> = ways.collect();
        let detail = format!("red, so the project is on hold: {red}");
        return CheckView::failed(CHECK, &detail, ways.join(", or "));
    }
    let names: Vec<&str> = config.gates.iter().map(|gate| gate.name.as_str()).collect();
    let names = names.join(", ");
    if config.gates.iter().all(|gate| !gate.required) {
        let detail =
            format!("{names}: none of them is required, so changes are marked `unverified`");
        return CheckView::warning(CHECK, detail, ADD);
    }
    CheckView::ok(
        CHECK,
        format!("{names}: found their programs; `symphony doctor --gates` runs the gates"),
    )
}

/// What to do about a program that is missing.
pub(crate) const INSTALL: &str = "install it, put its folder into PATH, or change the command; `symphony doctor --gates` runs the gates";

/// Says which programs of set-up and gates are missing in the search path that these get; none where all are there.
pub(crate) fn missing_programs(
    installation: &Installation,
    config: &ProjectConfig,
) -> Option<String> {
    let path = agent_search_path(&installation.environment, &config.env);
    let setup = config.worktree.setup.iter().map(|line| ("set-up", line));
    let gates = config
        .gates
        .iter()
        .map(|gate| (gate.name.as_str(), &gate.command));
    let mut missing: Vec<String> = Vec::new();
    for (name, line) in setup.chain(gates) {
        for program in programs_of(line) {
            if find_program(program.as_ref(), &path).is_none() {
                missing.push(format!("`{program}` of {name}"));
            }
        }
    }
    (!missing.is_empty()).then(|| format!("{} not in the PATH that gates get", is_or_are(&missing)))
}

/// Returns what is known to be red on the base, and who repairs it. A database that cannot be read is another check's business.
fn known_red(
    installation: &Installation,
    project: &Project,
    config: &ProjectConfig,
) -> Option<(String, KnownGates)> {
    let store = installation.require_store().ok()?;
    let scope = HoldScope::Gates(project.id.clone());
    let hold = store.holds().ok()?.into_iter().find(|h| h.scope == scope)?;
    let gates = KnownGates {
        names: config.gates.iter().map(|gate| gate.name.clone()).collect(),
        repairs: store.gate_repairs(&project.id).unwrap_or_default(),
        has_moved: has_moved(project, config, &hold),
    };
    Some((hold.reason, gates))
}

fn is_or_are(names: &[impl AsRef<str>]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    format!("{} {verb}", names.join(", "))
}

/// Tries them, and fails when one of them keeps every change from passing.
pub(super) fn run(app: &App, seconds: u64) -> anyhow::Result<()> {
    let session = app.session()?;
    let config = session.config().context("try the gates")?;
    if config.gates.iter().all(|gate| !gate.required) {
        app.out.warn("no gate is required, so changes are marked `unverified`\n\
                      `symphony config set gates '[{\"name\": \"test\", \"command\": \"make test\"}]'` adds one");
    }
    let trial = try_gates(
        app.out,
        &session.installation,
        &session.project,
        &config,
        seconds,
    )?;
    note_trial(
        app,
        &session.installation,
        &session.project,
        &config,
        &trial,
    )?;
    let hold = BaseHold::load(&session.installation, &session.project.id)?;
    let view = TrialView {
        trial,
        base_hold: hold,
    };
    app.out.answer(&view)?;
    let trial = view.trial;
    if let Some(advice) = copy_advice(&session.project, &config, &trial) {
        app.out.warn(&advice);
    }
    let red: Vec<&str> = trial.blocking().map(|step| step.name.as_str()).collect();
    if red.is_empty() {
        return Ok(());
    }
    let message = format!("{} red on {}", is_or_are(&red), trial.base);
    Err(Stop::new(Exit::Failed, message).into())
}
