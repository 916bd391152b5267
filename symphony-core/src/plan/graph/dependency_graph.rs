//! The graph with its progress: for programs that run phases themselves.
#![expect(
    clippy::indexing_slicing,
    reason = "all indices are positions that the graph made, below the length of every table"
)]

use std::collections::BTreeSet;

use super::dag::Dag;
use super::error::GraphError;
use crate::id::PlanPhaseId;
use crate::plan::artifact::Artifact;
use crate::plan::artifacts::pass_on;
use crate::plan::phase::Phase;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Waiting,
    Ready,
    Complete,
    Failed,
    Blocked,
}

impl Standing {
    const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting for others",
            Self::Ready => "ready",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
    }
}

/// A graph of phases that knows which are complete, failed and ready, and passes artifacts on.
///
/// ```
/// # use symphony_core::plan::{DependencyGraph, Phase};
/// # fn phase(id: &str, dependencies: &[&str]) -> Phase {
/// #     serde_json::from_value(serde_json::json!({
/// #         "id": id, "title": id, "objective": id, "tasks": [id], "dependencies": dependencies,
/// #         "success_criteria": id
/// #     })).unwrap()
/// # }
/// let mut graph = DependencyGraph::new(&[phase("setup", &[]), phase("api", &["setup"])])?;
/// let setup = graph.ready()[0].clone();
/// assert_eq!(setup.as_str(), "setup");
/// graph.mark_complete(&setup, Vec::new())?;
/// assert_eq!(graph.ready()[0].as_str(), "api");
/// # Ok::<(), symphony_core::plan::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DependencyGraph {
    dag: Dag,
    standing: Vec<Standing>,
    /// How many sources of each phase are not complete.
    unmet: Vec<usize>,
    /// Place of each phase in level order.
    rank: Vec<usize>,
    /// Ready phases, by rank.
    ready: BTreeSet<usize>,
    artifacts: Vec<Vec<Artifact>>,
}

impl DependencyGraph {
    /// Builds the graph of a plan's phases; linear.
    ///
    /// # Errors
    /// As [`Dag::new`].
    pub fn new(phases: &[Phase]) -> Result<Self, GraphError> {
        let dag = Dag::new(phases)?;
        let count = dag.len();
        let mut graph = Self {
            standing: vec![Standing::Waiting; count],
            unmet: (0..count).map(|at| dag.sources(at).len()).collect(),
            rank: vec![0; count],
            ready: BTreeSet::new(),
            artifacts: vec![Vec::new(); count],
            dag,
        };
        for rank in 0..count {
            let at = graph.dag.order()[rank];
            graph.rank[at] = rank;
            if graph.unmet[at] == 0 {
                graph.standing[at] = Standing::Ready;
                graph.ready.insert(rank);
            }
        }
        Ok(graph)
    }

    /// Returns the fixed part of the graph.
    pub const fn dag(&self) -> &Dag {
        &self.dag
    }

    /// Returns the ids level by level, ties by position in the plan.
    pub fn levels(&self) -> Vec<Vec<&PlanPhaseId>> {
        self.dag.levels()
    }

    /// Returns the phases that can run: not ended, and all they wait for complete. In level order.
    pub fn ready(&self) -> Vec<&PlanPhaseId> {
        let id = |rank: &usize| &self.dag.ids()[self.dag.order()[*rank]];
        self.ready.iter().map(id).collect()
    }

    /// Records that a phase is complete, with what it produced; returns the phases that became ready.
    ///
    /// # Errors
    /// When the plan has no such phase, or it is not ready.
    pub fn mark_complete(
        &mut self,
        phase: &PlanPhaseId,
        artifacts: Vec<Artifact>,
    ) -> Result<Vec<PlanPhaseId>, GraphError> {
        let at = self.take_ready(phase)?;
        self.standing[at] = Standing::Complete;
        self.artifacts[at] = artifacts;
        let mut released = Vec::new();
        for dependent in self.dag.dependents(at) {
            self.unmet[*dependent] -= 1;
            if self.unmet[*dependent] == 0 && self.standing[*dependent] == Standing::Waiting {
                self.standing[*dependent] = Standing::Ready;
                self.ready.insert(self.rank[*dependent]);
                released.push(self.dag.ids()[*dependent].clone());
            }
        }
        Ok(released)
    }

    /// Records that a phase failed for good; returns the phases that it blocks, in level order.
    ///
    /// # Errors
    /// As [`DependencyGraph::mark_complete`].
    pub fn mark_failed(&mut self, phase: &PlanPhaseId) -> Result<Vec<PlanPhaseId>, GraphError> {
        let at = self.take_ready(phase)?;
        self.standing[at] = Standing::Failed;
        let mut blocked = Vec::new();
        let mut walk = vec![at];
        while let Some(at) = walk.pop() {
            for dependent in self.dag.dependents(at) {
                // No phase waits for one that is blocked already.
                if self.standing[*dependent] == Standing::Waiting {
                    self.standing[*dependent] = Standing::Blocked;
                    blocked.push(*dependent);
                    walk.push(*dependent);
                }
            }
        }
        blocked.sort_unstable_by_key(|at| self.rank[*at]);
        let id = |at: &usize| self.dag.ids()[*at].clone();
        Ok(blocked.iter().map(id).collect())
    }

    /// Returns what a phase gets from the phases it names in `artifacts_from`: in its order, then in order of
    /// production, each with `metadata.sourcePhase`. Empty for a phase that the plan does not have.
    pub fn artifacts_for(&self, phase: &PlanPhaseId) -> Vec<Artifact> {
        let Some(at) = self.dag.position(phase) else {
            return Vec::new();
        };
        let sources = self.dag.artifact_sources(at).iter();
        pass_on(
            sources.map(|source| (&self.dag.ids()[*source], self.artifacts[*source].as_slice())),
        )
    }

    fn take_ready(&mut self, phase: &PlanPhaseId) -> Result<usize, GraphError> {
        let at = self
            .dag
            .position(phase)
            .ok_or_else(|| GraphError::UnknownPhase {
                phase: phase.clone(),
            })?;
        if self.standing[at] != Standing::Ready {
            return Err(GraphError::NotReady {
                phase: phase.clone(),
                standing: self.standing[at].name(),
            });
        }
        self.ready.remove(&self.rank[at]);
        Ok(at)
    }
}
