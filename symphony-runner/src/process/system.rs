//! The system underneath: Linux, or one on which no agent runs.

#[cfg(target_os = "linux")]
pub(super) use super::linux::*;
#[cfg(not(target_os = "linux"))]
pub(super) use super::unsupported::*;
