//! What holds beyond one module: the table of conformance.

#[cfg(test)]
mod conformance;
