//! What holds beyond one module: the table of conformance, and a whole file.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod whole_file;
