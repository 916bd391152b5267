//! What was found so far.

use crate::nearest::nearest;
use crate::plan::document::json::Member;
use crate::plan::document::problem::{PlanProblem, PlanWarning, ProblemKind};

/// What was found so far.
#[derive(Debug, Default)]
pub(in crate::plan::document) struct Report {
    pub(in crate::plan::document) problems: Vec<PlanProblem>,
    pub(in crate::plan::document) warnings: Vec<PlanWarning>,
}

/// What an unknown field of an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan::document) enum Unknown {
    /// A problem: otherwise it would silently be ignored.
    Problem,
    /// A problem when it resembles a known field, else a warning.
    ProblemWhenMisspelt,
}

/// An object in a plan.
#[derive(Debug, Clone, Copy)]
pub(in crate::plan::document) struct Object<'a> {
    /// The phase it belongs to.
    pub(in crate::plan::document) index: Option<usize>,
    /// The phase's id.
    pub(in crate::plan::document) phase_id: Option<&'a str>,
    /// Its path in the phase or the plan, which ends in a dot unless it is empty.
    pub(in crate::plan::document) place: &'a str,
    /// What an unknown field of it is.
    pub(in crate::plan::document) unknown: Unknown,
}

impl Object<'_> {
    fn problem(&self, member: &Member, nearest: Option<&str>) -> PlanProblem {
        let meant = nearest.map(|name| format!(" (did you mean `{name}`?)"));
        PlanProblem {
            index: self.index,
            phase_id: self.phase_id.map(str::to_owned),
            field: format!("{}{}", self.place, member.name),
            message: format!("unknown field{}", meant.unwrap_or_default()),
            line: member.line,
            kind: ProblemKind::Schema,
        }
    }

    fn path(&self, name: &str) -> String {
        let phase = self.index.map(|index| format!("phases[{index}]."));
        format!("{}{}{name}", phase.unwrap_or_default(), self.place)
    }
}

/// Names that other tools use, and the fields that are meant.
const SYNONYMS: [(&str, &str); 12] = [
    ("name", "title"),
    ("goal", "objective"),
    ("description", "objective"),
    ("steps", "tasks"),
    ("depends_on", "dependencies"),
    ("dependsOn", "dependencies"),
    ("deps", "dependencies"),
    ("needs", "dependencies"),
    ("after", "dependencies"),
    ("context", "required_context"),
    ("acceptance_criteria", "success_criteria"),
    ("verify", "checks"),
];

fn meant_by(name: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == name);
    let synonym = synonym.map(|(_, meant)| *meant);
    synonym
        .filter(|meant| known.contains(meant))
        .or_else(|| nearest(name, known.iter().copied()))
}

/// Notes the fields of an object that are not known or are given twice.
pub(in crate::plan::document) fn check_fields(
    object: &Object<'_>,
    members: &[Member],
    known: &'static [&'static str],
    report: &mut Report,
) {
    let mut seen = 0_u64;
    for member in members {
        let Member { name, line, .. } = member;
        let Some(position) = known.iter().position(|field| field == name) else {
            let meant = meant_by(name, known);
            if object.unknown == Unknown::Problem || meant.is_some() {
                report.problems.push(object.problem(member, meant));
            } else {
                report.warnings.push(PlanWarning::UnknownField {
                    path: object.path(name),
                    line: *line,
                });
            }
            continue;
        };
        // one bit a field: no table has 64
        let bit = 1_u64 << (position % 64);
        if seen & bit != 0 {
            report.warnings.push(PlanWarning::RepeatedField {
                path: object.path(name),
                line: *line,
            });
        }
        seen |= bit;
    }
}
