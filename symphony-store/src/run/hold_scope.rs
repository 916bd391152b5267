//! How the scope of a hold is stored.

use symphony_core::id::ProjectId;
use symphony_core::tick::HoldScope;

use crate::error::StoreError;

/// Returns the key under which a scope is stored.
pub(crate) fn scope_key(scope: &HoldScope) -> String {
    match scope {
        HoldScope::Provider(name) => format!("provider:{name}"),
        HoldScope::Model {
            provider,
            model: None,
        } => format!("model:{provider}"),
        HoldScope::Model {
            provider,
            model: Some(model),
        } => format!("model:{provider}:{model}"),
        HoldScope::Project(id) => format!("project:{id}"),
        HoldScope::Gates(id) => format!("gates:{id}"),
        HoldScope::Everything => "everything".to_owned(),
    }
}

/// Parses a stored scope.
pub(crate) fn scope_from(key: String) -> Result<HoldScope, StoreError> {
    if key == "everything" {
        return Ok(HoldScope::Everything);
    }
    match key.split_once(':') {
        Some(("provider", name)) => Ok(HoldScope::Provider(name.to_owned())),
        // Names of providers contain no colon, those of models may.
        Some(("model", of)) => Ok(match of.split_once(':') {
            Some((provider, model)) => HoldScope::Model {
                provider: provider.to_owned(),
                model: Some(model.to_owned()),
            },
            None => HoldScope::Model {
                provider: of.to_owned(),
                model: None,
            },
        }),
        Some((kind @ ("project" | "gates"), id)) => {
            let id = ProjectId::parse(id).map_err(|_id| invalid(key.clone()))?;
            Ok(if kind == "gates" {
                HoldScope::Gates(id)
            } else {
                HoldScope::Project(id)
            })
        }
        _ => Err(invalid(key)),
    }
}

pub(crate) fn invalid(found: String) -> StoreError {
    StoreError::InvalidRow {
        what: "hold scope",
        found,
    }
}
