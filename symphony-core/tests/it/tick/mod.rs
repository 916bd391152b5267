//! The plan of a tick: reasons, order, holds, repairs, and what holds for every snapshot.

mod asked;
mod done;
mod elsewhere;
mod fairness;
mod gate;
mod holds;
mod order;
mod outside;
mod project_agents;
mod properties;
mod reasons;
mod repairs;
mod rotation;
pub(crate) mod support;
mod trials;
