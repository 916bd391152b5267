//! Global conditions: waiting for one is not a failure.

use crate::failure::ErrorClass;
use crate::run::RunError;
use crate::spending::{CapReached, CapScope};

/// Returns whether a run ended because of a global condition: waiting is not failing. An exhausted cap of the project,
/// which puts it on hold, is one too.
pub fn met_global_condition(error: Option<&RunError>, cap: Option<CapReached>) -> bool {
    let Some(class) = error.map(|error| error.class) else {
        return false;
    };
    let project_is_held = cap
        .is_some_and(|cap| matches!(cap.scope, CapScope::Project | CapScope::Day))
        && class == ErrorClass::BudgetExhausted;
    class.is_hold() || project_is_held
}
