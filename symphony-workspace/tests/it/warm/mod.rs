//! Checkouts that start with kept build output: whatever is kept, no command passes that fails without it.

mod harness;
mod links;
#[cfg(feature = "ecosystems")]
mod node;
mod places;
#[cfg(feature = "ecosystems")]
mod python;
mod traps;
