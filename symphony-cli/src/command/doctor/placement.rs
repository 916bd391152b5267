//! The service that hands out runs to workers.

use symphony_core::config::PlacementKind;
use symphony_runner::installation::Installation;
use symphony_runner::placement::{Entry, PlacementError, check_placement};

use super::check::CheckView;

const CHECK: &str = "placement";

/// Checks the service that `placement` names; `None` where the database gives runs out itself.
pub(super) fn check_service(installation: &Installation) -> Option<CheckView> {
    if installation.config.placement == PlacementKind::Queue {
        return None;
    }
    let address = installation.config.temporal.as_ref();
    let address = address.map_or("", |settings| settings.address.as_str());
    Some(match check_placement(installation) {
        Ok(Entry::OfItsOwn) => {
            CheckView::ok(CHECK, format!("Temporal at {address} hands out runs"))
        }
        Ok(Entry::Workflow) => CheckView::ok(
            CHECK,
            format!(
                "Temporal at {address} hands out runs, as workflows with one activity each: its namespace has no standalone activities"
            ),
        ),
        Err(error) => CheckView::failed(CHECK, &error, fix(&error)),
    })
}

fn fix(error: &PlacementError) -> &'static str {
    match error {
        PlacementError::NotBuilt => {
            "install it with `cargo install --path symphony-cli --features postgres,temporal`, or set `placement` to `queue`"
        }
        PlacementError::NoAddress => "set `temporal.address`, or `placement` to `queue`",
        PlacementError::NoNamespace { .. } => {
            "create it with `temporal operator namespace create`, or set `temporal.namespace` to one that exists"
        }
        _ => {
            "until Temporal answers, new runs wait and running ones continue; with `placement: queue` on all hosts, Symphony hands out runs without it"
        }
    }
}
