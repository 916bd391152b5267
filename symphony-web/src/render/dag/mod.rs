//! A plan's phases as a drawing in layers, and as a list for small screens.

mod graph;
mod layout;
mod links;
mod place;
mod view;

pub use graph::{Graph, NODES_MAX, Node};
pub use view::{dag, list};
