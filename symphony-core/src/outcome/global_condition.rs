//! Global conditions: waiting for one is no failure.

use crate::failure::ErrorClass;
use crate::run::RunError;
use crate::spending::{CapReached, CapScope};

/// Says whether a run ended for a global condition: waiting is not failing. A full cap of the project, which holds it, is
/// one too.
pub fn met_global_condition(error: Option<&RunError>, cap: Option<CapReached>) -> bool {
    let Some(class) = error.map(|error| error.class) else {
        return false;
    };
    let project_is_held = cap
        .is_some_and(|cap| matches!(cap.scope, CapScope::Project | CapScope::Day))
        && class == ErrorClass::BudgetExhausted;
    class.is_hold() || project_is_held
}
