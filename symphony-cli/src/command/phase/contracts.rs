//! Phase contracts: `symphony phase list` and `show`.

use clap::Args;
use serde::Serialize;
use symphony_core::contract::{PhaseContract, Pipeline};
use symphony_core::id::PhaseName;
use symphony_view::text::{List, Listed, Page, Table, View};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop, did_you_mean};

/// What `phase list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony phase list")]
pub(crate) struct PhaseListArgs {}

/// What `phase show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony phase show research")]
pub(crate) struct PhaseShowArgs {
    /// The phase
    #[arg(value_parser = |text: &str| PhaseName::parse(text))]
    phase: PhaseName,
}

/// A contract as it is shown.
#[derive(Debug, Serialize)]
struct PhaseView {
    #[serde(flatten)]
    contract: PhaseContract,
}

impl From<PhaseContract> for PhaseView {
    fn from(contract: PhaseContract) -> Self {
        Self { contract }
    }
}

impl Listed for PhaseView {
    fn write_all(items: &[Self], page: &mut Page) {
        let mut table = Table::new([
            "PHASE",
            "PROFILE",
            "VALIDATION",
            "NEXT",
            "SKIPPABLE",
            "DOCUMENT",
        ]);
        for view in items {
            let contract = &view.contract;
            table.row([
                contract.phase.to_string(),
                contract.dispatch_profile.to_string(),
                contract.mode().to_string(),
                contract
                    .next_phase
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string),
                if contract.skippable { "yes" } else { "no" }.to_owned(),
                contract
                    .artifact_path
                    .as_ref()
                    .map_or("", |path| path.template())
                    .to_owned(),
            ]);
        }
        page.table(&table);
    }
}

impl View for PhaseView {
    fn write(&self, page: &mut Page) {
        let contract = &self.contract;
        page.field("phase", contract.phase.as_str());
        page.field("profile", contract.dispatch_profile.name());
        page.field("validation", contract.mode().name());
        page.field(
            "artifact",
            contract
                .artifact_path
                .as_ref()
                .map_or("", |path| path.template()),
        );
        page.field("sections", &contract.required_sections.join(", "));
        page.field(
            "next",
            &contract
                .next_phase
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
        );
        for (name, sentences) in [
            ("done when", &contract.done_when),
            ("escalate if", &contract.escalate_if),
        ] {
            for sentence in sentences {
                page.field(name, sentence);
            }
        }
        page.heading("Prompt");
        page.verbatim(&contract.body);
    }
}

impl PhaseListArgs {
    #[expect(
        clippy::unused_self,
        reason = "every command's arguments run themselves"
    )]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let pipeline = pipeline(app)?;
        let views: List<PhaseView> = pipeline.iter().cloned().map(PhaseView::from).collect();
        app.out.answer_long(&views)
    }
}

impl PhaseShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let pipeline = pipeline(app)?;
        let contract = pipeline.get(&self.phase).ok_or_else(|| {
            Stop::new(
                Exit::NotFound,
                format!("there is no phase `{}`", self.phase),
            )
            .hint(did_you_mean(
                self.phase.as_str(),
                pipeline.iter().map(|contract| contract.phase.as_str()),
                "`symphony phase list` lists them",
            ))
        })?;
        app.out.answer_long(&PhaseView::from(contract.clone()))
    }
}

fn pipeline(app: &App) -> anyhow::Result<Pipeline> {
    let session = app.session()?;
    let config = session.installation.project_config(&session.project)?;
    let library = session.installation.library(&config);
    Ok(library.context("load the contracts")?.pipeline)
}
