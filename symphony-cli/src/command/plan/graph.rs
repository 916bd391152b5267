//! `symphony plan graph`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state::{PhaseStatus, PlanState};
use symphony_core::plan::view::{GraphFormat, render_graph};
use symphony_core::plan::{Dag, Phase};
use symphony_view::text::{Page, View};

use super::record::PlanChoice;
use super::source::load_plan;
use super::state::read_state;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::named;

/// What `plan graph` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony plan graph plan.md --format dot | dot -Tsvg > plan.svg"
)]
pub(crate) struct GraphArgs {
    /// The plan file; by default the one that `plan find` prints
    file: Option<PathBuf>,
    /// The output format
    #[arg(long, value_parser = named(GraphFormat::NAMES, GraphFormat::parse), default_value = "text")]
    format: GraphFormat,
    /// Draw the plan of this state file, with the state of each phase
    #[arg(long, value_name = "STATE", conflicts_with = "file")]
    state: Option<PathBuf>,
    /// Draw a plan that was started, named by its id or its file, with the state of each phase
    #[arg(short, long, value_name = "PLAN|FILE", conflicts_with_all = ["file", "state"])]
    plan: Option<String>,
}

/// In JSON `{"version", "phases": [{"id", "title", "level", "status"?}], "edges": [{"from", "to", "artifacts"}]}`;
/// levels count from 1.
#[derive(Debug, Serialize)]
struct Graph<'a> {
    phases: Vec<GraphNode<'a>>,
    edges: Vec<Edge<'a>>,
    #[serde(skip)]
    text: String,
}

#[derive(Debug, Serialize)]
struct GraphNode<'a> {
    id: &'a str,
    title: &'a str,
    level: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<PhaseStatus>,
}

#[derive(Debug, Serialize)]
struct Edge<'a> {
    from: &'a PlanPhaseId,
    to: &'a PlanPhaseId,
    artifacts: bool,
}

impl View for Graph<'_> {
    fn write(&self, page: &mut Page) {
        page.verbatim(&self.text);
    }
}

impl<'a> Graph<'a> {
    fn new(
        phases: &'a [Phase],
        dag: &'a Dag,
        state: Option<&PlanState>,
        format: GraphFormat,
    ) -> Self {
        let mut nodes = Vec::with_capacity(phases.len());
        let mut edges = Vec::new();
        for at in dag.order() {
            let level = dag.level_numbers().get(*at).map_or(0, |level| level + 1);
            let (Some(phase), Some(to)) = (phases.get(*at), dag.ids().get(*at)) else {
                continue;
            };
            nodes.push(GraphNode {
                id: &phase.id,
                title: &phase.title,
                level,
                status: state.map(|state| state.phase_status(to)),
            });
            let sources = dag.sources(*at).iter();
            edges.extend(sources.filter_map(|source| {
                Some(Edge {
                    from: dag.ids().get(*source)?,
                    to,
                    artifacts: dag.artifact_sources(*at).contains(source),
                })
            }));
        }
        Self {
            phases: nodes,
            edges,
            text: render_graph(phases, dag, state, format),
        }
    }
}

impl GraphArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        if let Some(file) = &self.state {
            let state = read_state(app, file)?;
            let phases = &state.plan.phases;
            let dag = Dag::new(phases)
                .with_context(|| format!("use the state file {}", file.display()))?;
            let graph = Graph::new(phases, &dag, Some(&state.to_state()), self.format);
            return app.out.answer_long(&graph);
        }
        if let Some(plan) = &self.plan {
            let mut session = app.session()?;
            let record = PlanChoice::of(plan).find(app, &mut session)?;
            let dag = record.dag()?;
            let phases = &record.document.phases;
            let graph = Graph::new(phases, &dag, Some(&record.state), self.format);
            return app.out.answer_long(&graph);
        }
        let source = load_plan(app, self.file.as_deref())?;
        let graph = Graph::new(&source.plan.phases, &source.dag, None, self.format);
        app.out.answer_long(&graph)
    }
}
