//! What holds over all of the crate: properties, and the table of conformance.
