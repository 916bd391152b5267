//! What was found so far.

use std::collections::BTreeSet;

use crate::nearest::nearest;
use crate::plan::document::json::Member;
use crate::plan::document::problem::{PlanProblem, PlanWarning};

/// What was found so far.
#[derive(Debug, Default)]
pub(in crate::plan::document) struct Report {
    pub(in crate::plan::document) problems: Vec<PlanProblem>,
    pub(in crate::plan::document) warnings: Vec<PlanWarning>,
}

/// Notes the fields of an object that are not known or are given twice; `place` is the object's path.
pub(in crate::plan::document) fn unknown_fields(
    place: &str,
    members: &[Member],
    known: &'static [&'static str],
    report: &mut Report,
) {
    let mut seen = BTreeSet::new();
    for Member { name, line, .. } in members {
        let path = || {
            if place.is_empty() {
                name.clone()
            } else {
                format!("{place}.{name}")
            }
        };
        if !known.contains(&name.as_str()) {
            report.warnings.push(PlanWarning::UnknownField {
                path: path(),
                nearest: nearest(name, known.iter().copied()),
                line: *line,
            });
        } else if !seen.insert(name.as_str()) {
            report.warnings.push(PlanWarning::RepeatedField {
                path: path(),
                line: *line,
            });
        }
    }
}
