//! Issues as lines of an export: what an import reads, checks and orders (spec: cli, `issue import / export`).
//!
//! Names (`parent`, `depends_on`) are identifiers or external ids, of the same document first, then of the project.

mod json_lines;
mod line;
mod markdown;

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::IssueStatus;
use crate::id::IssueId;

pub use json_lines::{read_json_lines, write_json_lines};
pub use line::{IssueLine, TransferProblem};
pub use markdown::{read_markdown, write_markdown};

/// Most issues of one document: an import is one transaction.
pub const IMPORT_ISSUES_MAX: usize = 10_000;

/// An issue that the project has already, by one of its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownIssue {
    /// Its id.
    pub id: IssueId,
    /// Its title.
    pub title: String,
}

/// Which issue a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssueRef {
    /// One that is there.
    Known(IssueId),
    /// One of the import, by its place in [`ImportPlan::add`].
    New(usize),
}

/// An issue to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedIssue {
    /// The line it comes from.
    pub line: usize,
    /// Its fields.
    pub fields: IssueLine,
    /// Its parent, which comes before it.
    pub parent: Option<IssueRef>,
    /// What it depends on, before or after it.
    pub depends_on: Vec<IssueRef>,
    /// Whether it was blocked and open parts of it are in the document: it waits for them here too.
    pub waits_for_parts: bool,
}

/// What an import does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportPlan {
    /// Issues to create, parents before their parts.
    pub add: Vec<PlannedIssue>,
    /// Lines whose issue is there already.
    pub skip: Vec<(usize, IssueId)>,
}

/// Decides what an import does.
///
/// A line is there already when its external id is, or when its identifier is and means an issue with the same title.
///
/// # Errors
/// Everything that is wrong, in the order of lines.
pub fn plan_import(
    lines: &[(usize, IssueLine)],
    known: &BTreeMap<String, KnownIssue>,
) -> Result<ImportPlan, Vec<TransferProblem>> {
    let mut problems = Vec::new();
    if lines.len() > IMPORT_ISSUES_MAX {
        let line = lines.get(IMPORT_ISSUES_MAX).map_or(0, |(line, _)| *line);
        problems.push(TransferProblem {
            line,
            problem: format!(
                "there are {} issues; at most {IMPORT_ISSUES_MAX} can be imported at once",
                lines.len()
            ),
        });
        return Err(problems);
    }
    let names = names_of(lines, &mut problems);
    let parents = resolve_all(lines, &names, known, &mut problems);
    let order = match in_order(lines.len(), |i| parents.get(i).and_then(|r| r.0.as_ref())) {
        Ok(order) => order,
        Err(i) => {
            push(
                &mut problems,
                lines,
                i,
                "it would be a part of its own sub-task",
            );
            Vec::new()
        }
    };
    if let Some(i) = dependency_cycle(&parents) {
        push(
            &mut problems,
            lines,
            i,
            "it depends on itself, directly or through others",
        );
    }
    if !problems.is_empty() {
        problems.sort();
        return Err(problems);
    }
    Ok(assemble(lines, known, &parents, &order))
}

type Resolved = (Option<Target>, Vec<Target>);

/// Which issue a name means, by the line of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Line(usize),
    Known(IssueId),
}

fn push(
    problems: &mut Vec<TransferProblem>,
    lines: &[(usize, IssueLine)],
    i: usize,
    problem: impl Into<String>,
) {
    let line = lines.get(i).map_or(0, |(line, _)| *line);
    let problem = problem.into();
    problems.push(TransferProblem { line, problem });
}

/// Maps the names of the document to its lines; identifiers win over external ids.
fn names_of<'a>(
    lines: &'a [(usize, IssueLine)],
    problems: &mut Vec<TransferProblem>,
) -> BTreeMap<&'a str, usize> {
    let mut names = BTreeMap::new();
    let mut external = BTreeSet::new();
    for (i, (_, line)) in lines.iter().enumerate() {
        for problem in line.problems() {
            push(problems, lines, i, problem);
        }
        if let Some(name) = &line.identifier
            && names.insert(name.as_str(), i).is_some()
        {
            push(
                problems,
                lines,
                i,
                format!("`{name}` is the identifier of an earlier line"),
            );
        }
    }
    for (i, (_, line)) in lines.iter().enumerate() {
        if let Some(name) = &line.external_id {
            if !external.insert(name.as_str()) {
                push(
                    problems,
                    lines,
                    i,
                    format!("`{name}` is the external id of an earlier line"),
                );
            }
            names.entry(name.as_str()).or_insert(i);
        }
    }
    names
}

fn resolve_all(
    lines: &[(usize, IssueLine)],
    names: &BTreeMap<&str, usize>,
    known: &BTreeMap<String, KnownIssue>,
    problems: &mut Vec<TransferProblem>,
) -> Vec<Resolved> {
    let mut resolved = Vec::new();
    for (i, (_, line)) in lines.iter().enumerate() {
        let mut find = |field: &str, name: &str| {
            let found = names
                .get(name)
                .map(|i| Target::Line(*i))
                .or_else(|| known.get(name).map(|known| Target::Known(known.id.clone())));
            if found.is_none() {
                push(
                    problems,
                    lines,
                    i,
                    format!(
                        "{field}: `{name}` is neither in the file nor an identifier or external id of the project"
                    ),
                );
            }
            found
        };
        let parent = line.parent.as_ref().and_then(|name| find("parent", name));
        let dependencies = line
            .depends_on
            .iter()
            .filter_map(|name| find("depends_on", name))
            .collect();
        resolved.push((parent, dependencies));
    }
    resolved
}

/// Orders lines so that each parent comes before its parts.
///
/// # Errors
/// A line whose parents form a circle.
fn in_order<'a>(
    count: usize,
    parent: impl Fn(usize) -> Option<&'a Target>,
) -> Result<Vec<usize>, usize> {
    let mut order = Vec::new();
    let mut placed = vec![false; count];
    for start in 0..count {
        let mut path = Vec::new();
        let mut next = Some(start);
        while let Some(i) = next.filter(|i| placed.get(*i) == Some(&false)) {
            if path.contains(&i) {
                return Err(start);
            }
            path.push(i);
            next = match parent(i) {
                Some(Target::Line(parent)) => Some(*parent),
                Some(Target::Known(_)) | None => None,
            };
        }
        for i in path.into_iter().rev() {
            if let Some(placed) = placed.get_mut(i) {
                *placed = true;
            }
            order.push(i);
        }
    }
    Ok(order)
}

/// Returns a line whose dependencies form a circle.
fn dependency_cycle(resolved: &[Resolved]) -> Option<usize> {
    // Lines leave when everything they depend on has left; what remains is a circle, or waits for one.
    let mut waits: Vec<BTreeSet<usize>> = resolved
        .iter()
        .map(|(_, dependencies)| {
            let lines = dependencies.iter().filter_map(|target| match target {
                Target::Line(i) => Some(*i),
                Target::Known(_) => None,
            });
            lines.collect()
        })
        .collect();
    let mut dependents: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, on) in waits.iter().enumerate() {
        for dependency in on {
            dependents.entry(*dependency).or_default().push(i);
        }
    }
    let mut free: Vec<usize> = (0..waits.len())
        .filter(|i| waits.get(*i).is_some_and(BTreeSet::is_empty))
        .collect();
    let mut left: BTreeSet<usize> = (0..waits.len()).collect();
    while let Some(i) = free.pop() {
        left.remove(&i);
        for dependent in dependents.remove(&i).unwrap_or_default() {
            if let Some(on) = waits.get_mut(dependent)
                && on.remove(&i)
                && on.is_empty()
            {
                free.push(dependent);
            }
        }
    }
    left.first().copied()
}

fn assemble(
    lines: &[(usize, IssueLine)],
    known: &BTreeMap<String, KnownIssue>,
    resolved: &[Resolved],
    order: &[usize],
) -> ImportPlan {
    let mut plan = ImportPlan::default();
    let mut places: BTreeMap<usize, IssueRef> = BTreeMap::new();
    for i in order {
        let Some((line, fields)) = lines.get(*i) else {
            continue;
        };
        if let Some(id) = is_there(fields, known) {
            places.insert(*i, IssueRef::Known(id.clone()));
            plan.skip.push((*line, id));
        } else {
            places.insert(*i, IssueRef::New(plan.add.len()));
            plan.add.push(PlannedIssue {
                line: *line,
                fields: fields.clone(),
                parent: None,
                depends_on: Vec::new(),
                waits_for_parts: false,
            });
        }
    }
    let place = |target: &Target| match target {
        Target::Line(i) => places.get(i).cloned(),
        Target::Known(id) => Some(IssueRef::Known(id.clone())),
    };
    for (i, (parent, dependencies)) in resolved.iter().enumerate() {
        if let Some(IssueRef::New(at)) = places.get(&i)
            && let Some(planned) = plan.add.get_mut(*at)
        {
            planned.parent = parent.as_ref().and_then(place);
            planned.depends_on = dependencies.iter().filter_map(place).collect();
        }
    }
    let with_open_parts: BTreeSet<usize> = plan
        .add
        .iter()
        .filter(|part| !part.fields.state().status().is_terminal())
        .filter_map(|part| match part.parent {
            Some(IssueRef::New(at)) => Some(at),
            _ => None,
        })
        .collect();
    for (at, issue) in plan.add.iter_mut().enumerate() {
        issue.waits_for_parts =
            issue.fields.status == IssueStatus::Blocked && with_open_parts.contains(&at);
    }
    plan
}

fn is_there(line: &IssueLine, known: &BTreeMap<String, KnownIssue>) -> Option<IssueId> {
    let by_external = line.external_id.as_ref().and_then(|name| known.get(name));
    let by_identifier = line
        .identifier
        .as_ref()
        .and_then(|name| known.get(name))
        .filter(|known| known.title == line.title);
    by_external.or(by_identifier).map(|known| known.id.clone())
}

#[cfg(test)]
mod tests;
