//! What was found so far.

use crate::nearest::nearest;
use crate::plan::document::json::Member;
use crate::plan::document::problem::{PlanProblem, PlanWarning};

/// What was found so far.
#[derive(Debug, Default)]
pub(in crate::plan::document) struct Report {
    pub(in crate::plan::document) problems: Vec<PlanProblem>,
    pub(in crate::plan::document) warnings: Vec<PlanWarning>,
}

/// Notes the fields of an object that are not known or are given twice; `place` makes the object's path, which ends
/// in a dot unless it is empty.
pub(in crate::plan::document) fn unknown_fields(
    place: impl Fn() -> String,
    members: &[Member],
    known: &'static [&'static str],
    report: &mut Report,
) {
    let mut seen = 0_u64;
    for Member { name, line, .. } in members {
        let path = || place() + name;
        let Some(position) = known.iter().position(|field| field == name) else {
            report.warnings.push(PlanWarning::UnknownField {
                path: path(),
                nearest: nearest(name, known.iter().copied()),
                line: *line,
            });
            continue;
        };
        // one bit a field: no table has 64
        let bit = 1_u64 << (position % 64);
        if seen & bit != 0 {
            report.warnings.push(PlanWarning::RepeatedField {
                path: path(),
                line: *line,
            });
        }
        seen |= bit;
    }
}
