//! Checkouts that start with kept build output: whatever is kept, no command passes that fails without it.

mod harness;
mod places;
mod traps;
