//! Review points: read from a verdict's arguments, and answered before work is handed in.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::criteria::Criteria;
use symphony_core::review_point::{
    Lines, NewPoint, Place, PointChanges, PointDecision, PointMove, PointNumber, Severity,
    refuse_unanswered,
};
use symphony_store::Store;

use crate::answer::ToolError;
use crate::argument::named::Named;
use crate::identity::Identity;
use crate::review::criteria::about_criterion;

/// A point of a review: an earlier one by its `id`, or a new one by its `text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"text\": \"no test\", \"severity\": \"must\"} or {\"id\": 3, \"state\": \"closed\"}"
)]
#[schemars(inline)]
pub(crate) struct PointParam {
    /// The number of an earlier point. Omit it for a new one.
    id: Option<u32>,
    /// The new state of the earlier point.
    state: Option<Named<PointDecision>>,
    /// For a new point: what is wrong, what that leads to, and what has to be true instead. With `id`: why. At most 2,000 characters.
    text: Option<String>,
    /// How much a new point matters. Defaults to `must`.
    severity: Option<Named<Severity>>,
    /// The number of the acceptance criterion that you do not find met, for a new point about it.
    criterion: Option<u32>,
    /// The file that a new point is about, relative to the project.
    file: Option<String>,
    /// Its lines: `12`, or `12-20`.
    lines: Option<String>,
}

/// Reads the points of a verdict. The criteria are read only if a point refers to one.
pub(crate) fn changes(
    points: &[PointParam],
    read_criteria: impl FnOnce() -> Result<Criteria, ToolError>,
) -> Result<PointChanges, ToolError> {
    let mut changes = PointChanges::default();
    let criteria = if points.iter().any(|point| point.criterion.is_some()) {
        read_criteria()?
    } else {
        Criteria::default()
    };
    for (at, point) in points.iter().enumerate() {
        let wrong = |why: &str| ToolError::new(format!("points[{at}]: {why}"));
        match (point.id, point.state) {
            (Some(_), _) if point.criterion.is_some() => {
                return Err(wrong(
                    "`criterion` is for a new point, not for an earlier one (`id`)",
                ));
            }
            (Some(id), Some(state)) => changes.moved.push(PointMove {
                number: PointNumber::new(id),
                to: state.0.state(),
                remark: point.text.clone(),
            }),
            (None, None) => changes
                .new
                .push(new_point(point, &criteria).map_err(|why| wrong(&why))?),
            (Some(_), None) => {
                return Err(wrong(
                    "an earlier point (`id`) needs `state`: closed or reopened",
                ));
            }
            (None, Some(_)) => {
                return Err(wrong(
                    "`state` needs the `id` of an earlier point; a new point is always open",
                ));
            }
        }
    }
    Ok(changes)
}

fn new_point(point: &PointParam, criteria: &Criteria) -> Result<NewPoint, String> {
    let text = point
        .text
        .clone()
        .ok_or("a new point needs `text`, an earlier one `id` and `state`")?;
    let text = match point.criterion {
        Some(item) => about_criterion(criteria, item, &text)?,
        None => text,
    };
    let lines = point.lines.as_deref().map(Lines::parse).transpose();
    let lines = lines.map_err(|error| format!("lines: {error}"))?;
    if point.file.is_none() && lines.is_some() {
        return Err("`lines` needs `file`".to_owned());
    }
    Ok(NewPoint {
        severity: point
            .severity
            .map_or(Severity::Must, |Named(severity)| severity),
        text,
        place: point.file.clone().map(|file| Place { file, lines }),
    })
}

/// Refuses a hand-in while a must-point of the session's issue has no answer. Checked before everything else, so that
/// the agent does not run into it last.
pub(crate) fn require_answers(store: &Store, identity: &Identity) -> Result<(), ToolError> {
    let of = identity.own_issue()?.clone().into();
    Ok(refuse_unanswered(&store.review_points(&of)?)?)
}
