//! The clients against servers that keep state and fail by script.

mod github_faults;
mod github_read;
mod github_write;
#[cfg(test)]
mod harness;
mod linear_faults;
mod linear_read;
mod linear_write;
mod network;
mod secrets;

#[cfg(feature = "emulate")]
mod emulate;
