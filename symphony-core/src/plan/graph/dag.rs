//! The fixed part: who waits for whom.
#![expect(
    clippy::indexing_slicing,
    reason = "all indices are positions of phases, made here and below the length of every table"
)]

use std::collections::BTreeMap;

use super::cycle::find_cycles;
use super::error::GraphError;
use crate::id::PlanPhaseId;
use crate::plan::phase::Phase;

/// A directed acyclic graph of phases. Phases are named by their position in the plan, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dag {
    ids: Vec<PlanPhaseId>,
    positions: BTreeMap<PlanPhaseId, usize>,
    sources: Vec<Vec<usize>>,
    artifact_sources: Vec<Vec<usize>>,
    dependents: Vec<Vec<usize>>,
    levels: Vec<usize>,
    order: Vec<usize>,
}

impl Dag {
    /// Builds the graph over dependencies and `artifacts_from` together; linear.
    ///
    /// # Errors
    /// When an id is malformed or used twice, a reference names no phase, or phases wait for each other.
    pub fn new(phases: &[Phase]) -> Result<Self, GraphError> {
        let (ids, positions) = index_ids(phases)?;
        let mut sources = Vec::with_capacity(phases.len());
        let mut artifact_sources = Vec::with_capacity(phases.len());
        let mut dependents = vec![Vec::new(); phases.len()];
        // The last phase that named a source: finds repetitions without a set per phase.
        let mut named_by = vec![usize::MAX; phases.len()];
        for (index, phase) in phases.iter().enumerate() {
            let resolve = |reference: &String| {
                let id = PlanPhaseId::parse(reference.as_str()).ok();
                let position = id.and_then(|id| positions.get(&id).copied());
                position.ok_or_else(|| GraphError::UnknownReference {
                    phase: ids[index].clone(),
                    reference: reference.clone(),
                })
            };
            let mut own = Vec::new();
            for reference in phase.sources() {
                let source = resolve(reference)?;
                if named_by[source] != index {
                    named_by[source] = index;
                    own.push(source);
                    dependents[source].push(index);
                }
            }
            sources.push(own);
            let mut artifacts = Vec::new();
            for reference in &phase.required_context.artifacts_from {
                let source = resolve(reference)?;
                // Marks in the upper half of the range, so that they cannot collide with those of the loop above.
                if named_by[source] != usize::MAX - 1 - index {
                    named_by[source] = usize::MAX - 1 - index;
                    artifacts.push(source);
                }
            }
            artifact_sources.push(artifacts);
        }
        if let Some(cycle) = find_cycles(&sources).first() {
            let path = cycle.iter().map(|node| ids[*node].clone()).collect();
            return Err(GraphError::Cycle { path });
        }
        let (levels, order) = sort(&sources, &dependents);
        Ok(Self {
            ids,
            positions,
            sources,
            artifact_sources,
            dependents,
            levels,
            order,
        })
    }

    /// Returns the number of phases.
    pub const fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there is no phase.
    pub const fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the position of a phase.
    pub fn position(&self, id: &PlanPhaseId) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// Returns all ids, by position.
    pub fn ids(&self) -> &[PlanPhaseId] {
        &self.ids
    }

    /// Returns the phases that the one at `position` waits for, each once; empty if there is no such phase.
    pub fn sources(&self, position: usize) -> &[usize] {
        self.sources.get(position).map_or(&[], Vec::as_slice)
    }

    /// Returns the phases whose artifacts the one at `position` uses, each once, in its order.
    pub fn artifact_sources(&self, position: usize) -> &[usize] {
        self.artifact_sources
            .get(position)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the phases that wait for the one at `position`, by position.
    pub fn dependents(&self, position: usize) -> &[usize] {
        self.dependents.get(position).map_or(&[], Vec::as_slice)
    }

    /// Returns the level of each phase, by position: 0 for those that wait for nothing, else one more than the
    /// highest level among those it waits for.
    pub fn level_numbers(&self) -> &[usize] {
        &self.levels
    }

    /// Returns the positions in level order, ties by position: a topological order.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Returns the ids level by level, ties by position.
    pub fn levels(&self) -> Vec<Vec<&PlanPhaseId>> {
        let count = self.levels.iter().max().map_or(0, |highest| highest + 1);
        let mut levels = vec![Vec::new(); count];
        for position in &self.order {
            levels[self.levels[*position]].push(&self.ids[*position]);
        }
        levels
    }
}

type Ids = (Vec<PlanPhaseId>, BTreeMap<PlanPhaseId, usize>);

fn index_ids(phases: &[Phase]) -> Result<Ids, GraphError> {
    let mut ids = Vec::with_capacity(phases.len());
    let mut positions = BTreeMap::new();
    for (index, phase) in phases.iter().enumerate() {
        let id = PlanPhaseId::parse(phase.id.as_str())
            .map_err(|source| GraphError::MalformedId { index, source })?;
        if let Some(first) = positions.insert(id.clone(), index) {
            return Err(GraphError::DuplicateId {
                id,
                first,
                second: index,
            });
        }
        ids.push(id);
    }
    Ok((ids, positions))
}

/// Kahn's algorithm: levels by position, and the order by level and position. The graph has no cycle.
fn sort(sources: &[Vec<usize>], dependents: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
    let mut unmet: Vec<usize> = sources.iter().map(Vec::len).collect();
    let mut levels = vec![0_usize; sources.len()];
    let mut queue: Vec<usize> = (0..sources.len()).filter(|at| unmet[*at] == 0).collect();
    let mut next = 0;
    while let Some(at) = queue.get(next).copied() {
        next += 1;
        for dependent in &dependents[at] {
            levels[*dependent] = levels[*dependent].max(levels[at] + 1);
            unmet[*dependent] -= 1;
            if unmet[*dependent] == 0 {
                queue.push(*dependent);
            }
        }
    }
    // buckets instead of a comparison sort keep the whole linear
    let mut buckets = vec![Vec::new(); levels.iter().max().map_or(0, |highest| highest + 1)];
    for (at, level) in levels.iter().enumerate() {
        buckets[*level].push(at);
    }
    (levels, buckets.concat())
}
