//! What the query of an address asks for.

use symphony_core::closed_set::UnknownName;
use symphony_core::id::{IssueId, PlanId, PrId};

use crate::asked::Asked;
use crate::server::Failure;

/// Returns a name of a closed set.
pub(super) fn named<T>(
    asked: &Asked,
    field: &str,
    parse: impl Fn(&str) -> Result<T, UnknownName>,
) -> Result<Option<T>, Failure> {
    let named = asked.query(field).map(parse).transpose();
    named.map_err(|error| Failure::Wrong(format!("{field}: {error}")))
}

/// Returns a number.
pub(super) fn number<T: std::str::FromStr>(
    asked: &Asked,
    field: &str,
) -> Result<Option<T>, Failure> {
    let number = asked.query(field).map(|text| {
        let wrong = |_| Failure::Wrong(format!("{field}: `{text}` is not a number in range"));
        text.parse().map_err(wrong)
    });
    number.transpose()
}

/// Returns whether something is wanted: `true` or `false`, by default not.
pub(super) fn flag(asked: &Asked, field: &str) -> Result<bool, Failure> {
    match asked.query(field) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => Err(Failure::Wrong(format!(
            "{field}: expected `true` or `false`, found `{other}`"
        ))),
    }
}

/// Returns an issue.
pub(super) fn issue(asked: &Asked, field: &str) -> Result<Option<IssueId>, Failure> {
    let issue = asked.query(field).map(IssueId::parse).transpose();
    issue.map_err(|error| Failure::Wrong(format!("{field}: {error}")))
}

/// Returns a plan.
pub(super) fn plan(asked: &Asked, field: &str) -> Result<Option<PlanId>, Failure> {
    let plan = asked.query(field).map(PlanId::parse).transpose();
    plan.map_err(|error| Failure::Wrong(format!("{field}: {error}")))
}

/// Returns the issue that an address names.
pub(super) fn issue_of(asked: &Asked) -> Result<IssueId, Failure> {
    IssueId::parse(&asked.id)
        .map_err(|_malformed| Failure::UnknownIssue(format!("there is no issue `{}`", asked.id)))
}

/// Returns the pull request that an address names.
pub(super) fn pr_of(asked: &Asked) -> Result<PrId, Failure> {
    let missing = || Failure::NotFound(format!("there is no pull request `{}`", asked.id));
    asked
        .id
        .parse()
        .map(PrId::new)
        .map_err(|_malformed| missing())
}

/// Returns the plan that an address names.
pub(super) fn plan_of(asked: &Asked) -> Result<PlanId, Failure> {
    PlanId::parse(&asked.id)
        .map_err(|_malformed| Failure::NotFound(format!("there is no plan `{}`", asked.id)))
}
