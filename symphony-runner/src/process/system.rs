//! The system below: Linux, or one on which agents do not run.

#[cfg(target_os = "linux")]
pub(super) use super::linux::*;
#[cfg(not(target_os = "linux"))]
pub(super) use super::unsupported::*;
